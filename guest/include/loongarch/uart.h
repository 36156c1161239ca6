// SPDX-License-Identifier: BSD-2-Clause
/*
 * The 16550 console. Output goes through printf; this is the rest.
 */
#ifndef GUEST_LOONGARCH_UART_H
#define GUEST_LOONGARCH_UART_H

#include <stdint.h>
#include "irq.h"

#define UART_RBR	0	/* THR when written */
#define UART_IER	1
#define UART_IIR	2	/* FCR when written */
#define UART_LCR	3
#define UART_MCR	4
#define UART_LSR	5
#define UART_MSR	6
#define UART_SCR	7

#define UART_IER_RX	0x01
#define UART_LSR_DR	0x01
#define UART_LSR_THRE	0x20

uint64_t uart_base(void);

/* Calls fn for each byte received, from the interrupt, on this vCPU. */
void uart_on_rx(void (*fn)(char c));

#endif
