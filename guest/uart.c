// SPDX-License-Identifier: BSD-2-Clause
/*
 * The PL011: registers and widths, flags after output, the transmit interrupt
 * in the orders that drivers use, and with echo=1 the receive interrupt: it
 * then says what it got of each line until one is "quit".
 *
 * Arguments: echo=1; bytes=N of the transmit test (default 100).
 */
#include <stdio.h>
#include <string.h>
#include "check.h"
#include "io.h"
#include "timer.h"
#include "uart.h"

#define LIMIT_US 2000000

static uint64_t base;
static volatile unsigned tx_irqs;
static volatile bool keep_mask;

static void on_tx([[maybe_unused]] unsigned intid)
{
	tx_irqs++;
	if (keep_mask)
		io_write32(base + UART_ICR, UART_INT_TX);
	else
		io_write32(base + UART_IMSC, 0);
}

static bool wait_flags(uint32_t mask, uint32_t value)
{
	uint64_t end = now() + us_to_ticks(LIMIT_US);

	while ((io_read32(base + UART_FR) & mask) != value)
		if (now() > end)
			return false;
	return true;
}

static bool wait_tx(unsigned count)
{
	uint64_t end = now() + us_to_ticks(LIMIT_US);

	while (tx_irqs < count)
		if (now() > end)
			return false;
	return true;
}

static void test_registers(void)
{
	static const struct {
		const char *name;
		unsigned offset;
		uint32_t value, mask;
	} rows[] = {
		{ "ibrd", UART_IBRD, 0x5aa5, 0xffff },
		{ "fbrd", UART_FBRD, 0x2a, 0x3f },
		{ "lcrh", UART_LCRH, 0x70, 0xff },
		{ "cr", UART_CR, 0x301, 0x301 },
		{ "ifls", UART_IFLS, 0x12, 0x3f },
		{ "imsc", UART_IMSC, 0x7ff & ~UART_INT_TX, 0x7ff },
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t reg = base + rows[i].offset;
		uint32_t old = io_read32(reg);

		io_write32(reg, rows[i].value);
		CHECK_EQ(io_read32(reg) & rows[i].mask, rows[i].value,
			 "%s-read-back", rows[i].name);
		CHECK_EQ(io_read16(reg) & rows[i].mask, rows[i].value,
			 "%s-16-bits", rows[i].name);
		CHECK_EQ(io_read8(reg) & rows[i].mask & 0xff,
			 rows[i].value & 0xff, "%s-8-bits", rows[i].name);
		io_write32(reg, old);
	}
	io_write32(base + UART_IMSC, 0);
	CHECK_EQ(io_read32(base + UART_MIS), 0, "nothing-masked-in");
}

static void test_flags(void)
{
	CHECK(wait_flags(UART_FR_BUSY | UART_FR_TXFE, UART_FR_TXFE),
	      "idle-after-output");
	for (unsigned width = 1; width <= 4; width *= 2) {
		if (width == 1)
			io_write8(base + UART_DR, '\n');
		else if (width == 2)
			io_write16(base + UART_DR, '\n');
		else
			io_write32(base + UART_DR, '\n');
		CHECK(wait_flags(UART_FR_BUSY | UART_FR_TXFE | UART_FR_TXFF,
				 UART_FR_TXFE),
		      "idle-after-a-%u-byte-store", width);
	}
}

static void put(void)
{
	io_write32(base + UART_DR, '.');
}

/* Byte first, then the mask; and mask first. Both must interrupt. */
static void test_transmit(uint64_t bytes)
{
	unsigned lost = 0, masked, cleared;
	uint32_t raised;

	irq_on(machine.uart_irq, on_tx);
	irq_enable();
	for (uint64_t i = 0; i < bytes; i++) {
		tx_irqs = 0;
		put();
		io_write32(base + UART_IMSC, UART_INT_TX);
		lost += !wait_tx(1);
	}
	say("%s", "");
	CHECK_EQ(lost, 0, "byte-then-mask");
	keep_mask = true;
	tx_irqs = 0;
	io_write32(base + UART_ICR, UART_INT_TX);
	io_write32(base + UART_IMSC, UART_INT_TX);
	for (uint64_t i = 0; i < bytes; i++) {
		unsigned before = tx_irqs;

		put();
		lost += !wait_tx(before + 1);
	}
	io_write32(base + UART_IMSC, 0);
	tx_irqs = 0;
	put();
	delay_us(5000);
	masked = tx_irqs;
	/* No output in between: a check's own line would raise it again. */
	io_write32(base + UART_ICR, UART_INT_TX);
	raised = io_read32(base + UART_RIS) & UART_INT_TX;
	io_write32(base + UART_IMSC, UART_INT_TX);
	delay_us(5000);
	cleared = tx_irqs - masked;
	io_write32(base + UART_IMSC, 0);
	irq_on(machine.uart_irq, nullptr);
	irq_disable();
	say("%s", "");
	CHECK_EQ(lost, 0, "mask-then-byte");
	CHECK_EQ(masked, 0, "masked-is-silent");
	CHECK_EQ(raised, 0, "icr-clears");
	CHECK_EQ(cleared, 0, "cleared-is-silent");
}

static char line[256];
static volatile unsigned length;
static volatile bool complete;

static void on_rx(char c)
{
	if (c == '\r' || c == '\n')
		complete = length > 0;
	else if (length < sizeof(line) - 1 && !complete)
		line[length++] = c;
}

static void echo(void)
{
	uart_on_rx(on_rx);
	say("uart: listening");
	for (;;) {
		while (!complete) {
			wfi();
			irq_enable();
			isb();
			irq_disable();
		}
		line[length] = '\0';
		say("uart: got \"%s\", %u bytes", line, length);
		if (strcmp(line, "quit") == 0)
			break;
		length = 0;
		complete = false;
	}
}

int main(int, char **)
{
	base = uart_base();
	test_registers();
	test_flags();
	test_transmit(arg_u64("bytes", 100));
	if (arg_u64("echo", 0))
		echo();
	CHECK_EQ(irq_spurious(), 0, "no-stray-interrupt");
	return report();
}
