// SPDX-License-Identifier: BSD-2-Clause
/*
 * PL011, polled for output. Until the device tree has been read the UART of
 * QEMU's virt machine is assumed, which is the guest machine's too.
 */
#include "../runtime.h"
#include "guest.h"
#include "io.h"
#include "uart.h"

#define DEFAULT_BASE	0x09000000

static void (*rx_fn)(char c);

uint64_t uart_base(void)
{
	return machine.uart.base ? machine.uart.base : DEFAULT_BASE;
}

void console_putc(char c)
{
	while (io_read32(uart_base() + UART_FR) & UART_FR_TXFF)
		;
	io_write8(uart_base() + UART_DR, (uint8_t)c);
}

static void rx_irq([[maybe_unused]] unsigned intid)
{
	io_write32(uart_base() + UART_ICR, UART_INT_RX | UART_INT_RT);
	while (!(io_read32(uart_base() + UART_FR) & UART_FR_RXFE))
		rx_fn((char)io_read32(uart_base() + UART_DR));
}

void uart_on_rx(void (*fn)(char c))
{
	rx_fn = fn;
	io_write32(uart_base() + UART_LCRH, UART_LCRH_WLEN8);
	io_write32(uart_base() + UART_CR,
		   UART_CR_EN | UART_CR_TXE | UART_CR_RXE);
	irq_on(machine.uart_irq, rx_irq);
	io_write32(uart_base() + UART_IMSC, UART_INT_RX | UART_INT_RT);
}
