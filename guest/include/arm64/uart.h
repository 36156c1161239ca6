// SPDX-License-Identifier: BSD-2-Clause
/*
 * The PL011 console. Output goes through printf; this is the rest.
 */
#ifndef GUEST_UART_H
#define GUEST_UART_H

#include <stdint.h>
#include "irq.h"

#define UART_DR		0x00
#define UART_RSR	0x04
#define UART_FR		0x18
#define UART_IBRD	0x24
#define UART_FBRD	0x28
#define UART_LCRH	0x2c
#define UART_CR		0x30
#define UART_IFLS	0x34
#define UART_IMSC	0x38
#define UART_RIS	0x3c
#define UART_MIS	0x40
#define UART_ICR	0x44
#define UART_PERIPH_ID	0xfe0

#define UART_FR_BUSY	0x08
#define UART_FR_RXFE	0x10
#define UART_FR_TXFF	0x20
#define UART_FR_TXFE	0x80
#define UART_INT_RX	0x10
#define UART_INT_TX	0x20
#define UART_INT_RT	0x40
#define UART_CR_EN	0x001
#define UART_CR_TXE	0x100
#define UART_CR_RXE	0x200
#define UART_LCRH_WLEN8	0x60

uint64_t uart_base(void);

/* Calls fn for each byte received, from the interrupt, on this vCPU. */
void uart_on_rx(void (*fn)(char c));

#endif
