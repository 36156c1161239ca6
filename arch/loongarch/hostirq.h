/* SPDX-License-Identifier: BSD-2-Clause */
/* Host interrupts, timer and UART of the LoongArch machine; hypervisor only. */
#ifndef LOONGARCH_HOSTIRQ_H
#define LOONGARCH_HOSTIRQ_H

#include "types.h"

/* Number of @node's interrupt @index in its controller, or ERR_NOENT. */
int fdt_irq(int node, unsigned int index);

/* First address and size in the reg property of @node; false: unusable. */
bool fdt_reg(const void *fdt, int node, paddr_t *base, uint64_t *size);

/*
 * Extended interrupt controller and PCH-PIC, from the device tree; all inputs
 * masked. Boot CPU, once. What this CPU may be interrupted by: timer, IPI, and
 * on the boot CPU devices.
 */
void hostirq_init(void);
void hostirq_cpu_init(void);

/* Routes PCH-PIC input @input, level triggered, to the boot CPU; unmasked. */
void hostirq_enable(unsigned int input);

/* timer.c: rate of the counter, once; the timer of this CPU; its interrupt. */
void timer_discover(void);
void timer_cpu_init(void);
void timer_irq(void);

/* A deadline was added to this CPU's queue: at the latest then. */
void timer_by(uint64_t deadline);

/* uart.c: registers and interrupt of port 0 or 1; output works afterwards. */
void uart_attach(unsigned int port, volatile void *base, unsigned int shift,
		 int irq);

/* Reception by interrupt on; returns the input, negative: none. */
int uart_enable_rx(unsigned int port);

/* Handles PCH-PIC @input if it belongs to a UART. */
bool uart_irq(unsigned int input);

/* board.c: UARTs, clock and power control of the device tree. */
void board_init(void);
void board_enable_irqs(void);

#endif
