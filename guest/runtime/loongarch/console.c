// SPDX-License-Identifier: BSD-2-Clause
/*
 * 16550, polled for output. Until the device tree has been read the UART of
 * QEMU's virt machine is assumed, which is the guest machine's too.
 */
#include "../runtime.h"
#include "guest.h"
#include "io.h"
#include "uart.h"

#define DEFAULT_BASE	0x1fe001e0

static void (*rx_fn)(char c);

uint64_t uart_base(void)
{
	return machine.uart.base ? machine.uart.base : DEFAULT_BASE;
}

void console_putc(char c)
{
	while (!(io_read8(uart_base() + UART_LSR) & UART_LSR_THRE))
		;
	io_write8(uart_base() + UART_RBR, (uint8_t)c);
}

static void rx_irq([[maybe_unused]] unsigned intid)
{
	while (io_read8(uart_base() + UART_LSR) & UART_LSR_DR)
		rx_fn((char)io_read8(uart_base() + UART_RBR));
}

void uart_on_rx(void (*fn)(char c))
{
	rx_fn = fn;
	io_write8(uart_base() + UART_LCR, 0x03);
	io_write8(uart_base() + UART_MCR, 0x0b);
	irq_on(machine.uart_irq, rx_irq);
	io_write8(uart_base() + UART_IER, UART_IER_RX);
}
