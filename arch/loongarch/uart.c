// SPDX-License-Identifier: BSD-2-Clause
/*
 * Host 16550 UARTs (National Semiconductor PC16550D): port 0 the console, port
 * 1 the debugger. Output waits for room. Input is by interrupt, which the UART
 * takes back when its FIFO has been read empty.
 */
#include "arch.h"
#include "host.h"
#include "hostirq.h"

#define RBR		0	/* read; THR when written */
#define IER		1
#define FCR		2
#define LCR		3
#define MCR		4
#define LSR		5

#define IER_RX		BIT(0)
#define FCR_ENABLE	0x01	/* FIFOs on, interrupt at the first byte */
#define LCR_8N1		0x03
#define MCR_DTR_RTS_OUT2 0x0b	/* OUT2 lets the interrupt out on PCs */
#define LSR_DATA	BIT(0)
#define LSR_THR_EMPTY	BIT(5)

struct uart {
	volatile char *base;
	unsigned int shift;	/* registers are 1 << shift bytes apart */
	int irq;		/* PCH-PIC input, negative: none */
};

static struct uart uarts[2];

static volatile char *reg(const struct uart *u, unsigned int n)
{
	return u->base + (n << u->shift);
}

void uart_attach(unsigned int port, volatile void *base, unsigned int shift,
		 int irq)
{
	uarts[port] = (struct uart){ base, shift, irq };
}

int uart_enable_rx(unsigned int port)
{
	struct uart *u = &uarts[port];

	if (!u->base || u->irq < 0)
		return ERR_NOENT;
	/* Baud rate stays as firmware left it. */
	arch_mmio_write8(reg(u, IER), 0);
	arch_mmio_write8(reg(u, LCR), LCR_8N1);
	arch_mmio_write8(reg(u, FCR), FCR_ENABLE);
	arch_mmio_write8(reg(u, MCR), MCR_DTR_RTS_OUT2);
	arch_mmio_write8(reg(u, IER), IER_RX);
	return u->irq;
}

bool uart_irq(unsigned int input)
{
	for (unsigned int port = 0; port < ARRAY_SIZE(uarts); port++) {
		const struct uart *u = &uarts[port];

		if (!u->base || u->irq != (int)input)
			continue;
		while (arch_mmio_read8(reg(u, LSR)) & LSR_DATA)
			host_uart_rx(port, arch_mmio_read8(reg(u, RBR)));
		return true;
	}
	return false;
}

void arch_uart_putc(unsigned int port, uint8_t ch)
{
	const struct uart *u = &uarts[port & 1];

	if (!u->base)
		return;
	while (!(arch_mmio_read8(reg(u, LSR)) & LSR_THR_EMPTY))
		arch_relax();
	arch_mmio_write8(reg(u, RBR), ch);
}

bool arch_uart_present(unsigned int port)
{
	return port < ARRAY_SIZE(uarts) && uarts[port].base;
}
