/* SPDX-License-Identifier: BSD-2-Clause */
/* Driver of the host's PL011 UARTs. */
#ifndef ARM64_PL011DRV_H
#define ARM64_PL011DRV_H

#include "types.h"

/* Gives port 0 or 1 its registers and interrupt; output works from now on. */
void pl011_attach(unsigned int port, volatile void *base, unsigned int intid);

/* Switches reception by interrupt on; returns the INTID, 0: no such port. */
unsigned int pl011_enable_rx(unsigned int port);

/* Handles @intid if it belongs to a UART: host_uart_rx() for each byte. */
bool pl011_irq(unsigned int intid);

#endif
