// SPDX-License-Identifier: BSD-2-Clause
/*
 * GICv3 of the guest. INTIDs 0..31 belong to a vCPU each, 32 and up to all.
 * The runtime puts everything in group 1 at priority 0xa0 and opens the CPU
 * interface; nothing is enabled until irq_on().
 */
#ifndef GUEST_IRQ_H
#define GUEST_IRQ_H

#include <stdint.h>

#define IRQ_SPI		32
#define IRQ_LIMIT	1020
#define IRQ_PRIO	0xa0

/* Handlers run with IRQs masked, after the acknowledge, before the EOI. */
typedef void (*irq_fn)(unsigned intid);

/*
 * Handler for an INTID (for those below 32: of the calling vCPU), and its
 * enable bit. nullptr disables it again. An interrupt without a handler counts
 * as spurious and is disabled.
 */
void irq_on(unsigned intid, irq_fn fn);

/* Sets the handler alone, leaving the enable bit as it is. */
void irq_handler(unsigned intid, irq_fn fn);

/*
 * Replaces the whole IRQ exception of the calling vCPU: fn acknowledges for
 * itself. nullptr puts the normal one back.
 */
void irq_hook(void (*fn)(void));

/*
 * With IRQs masked: sleeps until an interrupt is pending, or not at all when
 * one is already, and takes what is there. IRQs are masked again after it, so
 * that a condition set by a handler can be tested before the next sleep.
 */
void irq_wait(void);

/* The second half alone: takes what is pending. */
void irq_take(void);

/* Interrupts without handler so far, all vCPUs. */
unsigned irq_spurious(void);

/* Register frame with the bits of an INTID: GICD, or this vCPU's SGI frame. */
uint64_t irq_frame(unsigned intid);

/* RD frame of a vCPU, found by GICR_TYPER; 0 when there is none. */
uint64_t gicr_frame(uint64_t mpidr);

/* Bit of an INTID in an array of one bit each (GICD_ISENABLER and so on). */
bool irq_bit(unsigned offset, unsigned intid);
void irq_write_bit(unsigned offset, unsigned intid);

void irq_enable_id(unsigned intid);
void irq_disable_id(unsigned intid);
void irq_priority(unsigned intid, unsigned priority);
void irq_edge(unsigned intid, bool edge);

/* Sends an SGI to the vCPU with this MPIDR, or to all others. */
void sgi_to(uint64_t mpidr, unsigned intid);
void sgi_others(unsigned intid);

/* CPU interface and redistributor of the calling vCPU. Run by the runtime. */
void irq_init_vcpu(void);
void irq_init(void);

/* Offsets in GICD; in the SGI frame of a redistributor they are the same. */
#define GICD_CTLR	0x0000
#define GICD_TYPER	0x0004
#define GICD_IIDR	0x0008
#define GICD_IGROUPR	0x0080
#define GICD_ISENABLER	0x0100
#define GICD_ICENABLER	0x0180
#define GICD_ISPENDR	0x0200
#define GICD_ICPENDR	0x0280
#define GICD_ISACTIVER	0x0300
#define GICD_ICACTIVER	0x0380
#define GICD_IPRIORITYR	0x0400
#define GICD_ICFGR	0x0c00
#define GICD_IGRPMODR	0x0d00
#define GICD_IROUTER	0x6000
#define GICD_PIDR2	0xffe8

#define GICR_CTLR	0x0000
#define GICR_IIDR	0x0004
#define GICR_TYPER	0x0008
#define GICR_WAKER	0x0014
#define GICR_SGI	0x10000
#define GICR_STRIDE	0x20000

#define GICD_CTLR_GRP1	0x02
#define GICD_CTLR_ARE	0x10

#endif
