// SPDX-License-Identifier: BSD-2-Clause
/*
 * Interrupts of the guest under one numbering: 0..15 vectors of the
 * inter-processor interrupt, 16 + n bit n of ESTAT.IS, both of the calling
 * vCPU; 32 + n input n of the PCH-PIC, which go to the boot vCPU. Nothing is
 * enabled until irq_on().
 */
#ifndef GUEST_LOONGARCH_IRQ_H
#define GUEST_LOONGARCH_IRQ_H

#include <stdint.h>

#define IRQ_LINE	16
#define IRQ_TIMER	(IRQ_LINE + 11)
#define IRQ_SPI		32
#define IRQ_LIMIT	(IRQ_SPI + 64)

/* Handlers run with interrupts masked, after what raised them is cleared: the
 * timer's TICLR, the IPI's vector, the EIOINTC's bit. */
typedef void (*irq_fn)(unsigned intid);

/*
 * Handler for an interrupt (below 32: of the calling vCPU), and its enable
 * bits. nullptr disables it again. An interrupt without a handler counts as
 * spurious and is disabled.
 */
void irq_on(unsigned intid, irq_fn fn);

/*
 * Replaces the whole interrupt exception of the calling vCPU. nullptr puts the
 * normal one back.
 */
void irq_hook(void (*fn)(void));

/*
 * With interrupts masked: sleeps until an interrupt is pending, or not at all
 * when one is already, and takes what is there. Interrupts are masked again
 * after it, so that a condition set by a handler can be tested before the next
 * sleep.
 */
void irq_wait(void);

/* The second half alone: takes what is pending. */
void irq_take(void);

/* Interrupts without handler so far, all vCPUs. */
unsigned irq_spurious(void);

/* Sends IPI vector 0..15 to the vCPU with this number, or to all others. */
void sgi_to(uint64_t cpu, unsigned vector);
void sgi_others(unsigned vector);

/* Run by the runtime. */
void irq_init_vcpu(void);
void irq_init(void);

#endif
