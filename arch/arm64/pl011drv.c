// SPDX-License-Identifier: BSD-2-Clause
/*
 * Host PL011 UARTs (Arm DDI 0183): port 0 the console, port 1 the debugger.
 * Output waits for room. Input is by interrupt: the interrupt is cleared
 * before the FIFO is drained, so a character that arrives meanwhile raises it
 * again; cleared afterwards it would be lost for good. What was received before
 * input is enabled (a script that was there first) waits for the first
 * interrupt, which board.c makes pending.
 */
#include "pl011drv.h"

#include "arch.h"
#include "host.h"

#define DR	0x00
#define FR	0x18
#define LCRH	0x2c
#define CR	0x30
#define IFLS	0x34
#define IMSC	0x38
#define ICR	0x44

#define FR_TXFF		BIT(5)
#define FR_RXFE		BIT(4)
#define LCRH_8BIT_FIFO	0x70
#define CR_ENABLE	0x301		/* UART, TX, RX */
#define IFLS_RX_1_8	0x00
#define INT_RX		BIT(4)
#define INT_RX_TIMEOUT	BIT(6)

struct uart {
	volatile char *base;
	unsigned int intid;
};

static struct uart uarts[2];

void pl011_attach(unsigned int port, volatile void *base, unsigned int intid)
{
	uarts[port].base = base;
	uarts[port].intid = intid;
}

unsigned int pl011_enable_rx(unsigned int port)
{
	struct uart *u = &uarts[port];

	if (!u->base)
		return 0;
	/* Turning the FIFOs on empties them: not while something is there.
	 * Baud rate stays as firmware left it. */
	if (arch_mmio_read32(u->base + FR) & FR_RXFE)
		arch_mmio_write32(u->base + LCRH, LCRH_8BIT_FIFO);
	arch_mmio_write32(u->base + IFLS, IFLS_RX_1_8);
	arch_mmio_write32(u->base + CR, CR_ENABLE);
	arch_mmio_write32(u->base + ICR, 0x7ff);
	arch_mmio_write32(u->base + IMSC, INT_RX | INT_RX_TIMEOUT);
	return u->intid;
}

bool pl011_irq(unsigned int intid)
{
	for (unsigned int port = 0; port < ARRAY_SIZE(uarts); port++) {
		volatile char *b = uarts[port].base;

		if (!b || uarts[port].intid != intid)
			continue;
		arch_mmio_write32(b + ICR, INT_RX | INT_RX_TIMEOUT);
		while (!(arch_mmio_read32(b + FR) & FR_RXFE))
			host_uart_rx(port, (uint8_t)arch_mmio_read32(b + DR));
		return true;
	}
	return false;
}

void arch_uart_putc(unsigned int port, uint8_t ch)
{
	volatile char *b = uarts[port & 1].base;

	if (!b)
		return;
	while (arch_mmio_read32(b + FR) & FR_TXFF)
		arch_relax();
	arch_mmio_write32(b + DR, ch);
}

bool arch_uart_present(unsigned int port)
{
	return port < ARRAY_SIZE(uarts) && uarts[port].base;
}
