// SPDX-License-Identifier: BSD-2-Clause
/*
 * What differs between boards, all from the host device tree: UARTs, clock,
 * power control and so the end of the machine.
 */
#include "arch.h"
#include "host.h"
#include "hostirq.h"
#include "nestling.h"

#include <libfdt.h>
#include <string.h>

/* LS7A RTC (Loongson 7A1000 manual, chapter 20): time of year, control. */
#define TOY_READ0	0x2c
#define TOY_READ1	0x30	/* years since 1900 */
#define RTC_CTRL	0x40
#define CTRL_EO		BIT(8)	/* oscillator */
#define CTRL_TOYEN	BIT(11)
#define RTC_SIZE	0x100

#define UART_SIZE	8

static bool nested;		/* we are a guest of Nestling ourselves */
static volatile char *rtc;
static volatile char *power_reg;
static uint8_t power_value;

static uint32_t number(int node, const char *prop, uint32_t missing)
{
	int len;
	const fdt32_t *p = fdt_getprop(host_fdt(), node, prop, &len);

	return p && len == 4 ? fdt32_ld(p) : missing;
}

static bool enabled(int node)
{
	const char *status = fdt_getprop(host_fdt(), node, "status", NULL);

	return !status || !strcmp(status, "okay") || !strcmp(status, "ok");
}

/* The node that /chosen/stdout-path names, without options behind ':'. */
static int stdout_node(void)
{
	const void *fdt = host_fdt();
	int chosen = fdt_path_offset(fdt, "/chosen"), len;
	const char *path = fdt_getprop(fdt, chosen, "stdout-path", &len);
	const char *end;

	if (!path || len <= 0)
		return -1;
	end = memchr(path, ':', (size_t)len);
	return fdt_path_offset_namelen(fdt, path,
				       end ? (int)(end - path) : len - 1);
}

static void attach(int node, unsigned int port)
{
	uint32_t shift = number(node, "reg-shift", 0);
	paddr_t base;
	uint64_t size;

	if (!enabled(node) || shift > 3 ||
	    !fdt_reg(host_fdt(), node, &base, &size) ||
	    size < UINT64_C(UART_SIZE) << shift)
		return;
	uart_attach(port, arch_map_device(base, size), shift, fdt_irq(node, 0));
}

static void find_uarts(void)
{
	int console = stdout_node(), node = -1;

	for (;;) {
		node = fdt_node_offset_by_compatible(host_fdt(), node,
						     "ns16550a");
		if (node < 0)
			break;
		if (console < 0)
			console = node;
		if (node == console)
			attach(node, 0);
		else if (!arch_uart_present(1))
			attach(node, 1);
	}
}

static void find_rtc(void)
{
	int node = fdt_node_offset_by_compatible(host_fdt(), -1,
						 "loongson,ls7a-rtc");
	paddr_t base;
	uint64_t size;

	if (node < 0 || !fdt_reg(host_fdt(), node, &base, &size) ||
	    size < RTC_SIZE)
		return;
	rtc = arch_map_device(base, size);
	arch_mmio_write32(rtc + RTC_CTRL, arch_mmio_read32(rtc + RTC_CTRL) |
						  CTRL_EO | CTRL_TOYEN);
}

/* syscon-poweroff: a byte to be written into another node's registers. */
static void find_power(void)
{
	const void *fdt = host_fdt();
	int node = fdt_node_offset_by_compatible(fdt, -1, "syscon-poweroff");
	int regs = fdt_node_offset_by_phandle(fdt, number(node, "regmap", 0));
	uint32_t off = number(node, "offset", 0);
	paddr_t base;
	uint64_t size;

	if (node < 0 || regs < 0 || !fdt_reg(fdt, regs, &base, &size) ||
	    off >= size || number(regs, "reg-io-width", 1) != 1)
		return;
	power_reg = (volatile char *)arch_map_device(base, size) + off;
	power_value = (uint8_t)number(node, "value", 0);
}

/* Days from 1970-01-01 to the first of a month of the Gregorian calendar. */
static uint64_t days_before(uint64_t year, uint64_t month)
{
	static const uint16_t start[12] = { 0,	 31,  59,  90,	120, 151,
					    181, 212, 243, 273, 304, 334 };
	/* Leap days before this month; the year's own from March on. */
	uint64_t y = month > 2 ? year : year - 1;
	uint64_t leaps = y / 4 - y / 100 + y / 400;

	return (year - 1970) * 365 + start[month - 1] + leaps - 477;
}

uint64_t arch_wallclock(void)
{
	uint64_t toy, year, month;

	if (!rtc)
		return 0;
	/* The year may change between the reads, so it is read again. */
	do {
		year = arch_mmio_read32(rtc + TOY_READ1);
		toy = arch_mmio_read32(rtc + TOY_READ0);
	} while (year != arch_mmio_read32(rtc + TOY_READ1));
	year += 1900;
	month = field(toy, 31, 26);
	if (year < 1970 || year > 9999 || month < 1 || month > 12)
		return 0;
	return ((days_before(year, month) + field(toy, 25, 21) - 1) * 24 +
		field(toy, 20, 16)) * 3600 +
	       field(toy, 15, 10) * 60 + field(toy, 9, 4);
}

void board_init(void)
{
	find_uarts();
	find_rtc();
	find_power();
	nested = !fdt_node_check_compatible(host_fdt(), 0,
					    "nestling,loongarch");
}

void board_enable_irqs(void)
{
	for (unsigned int port = 0; port < 2; port++) {
		int input = uart_enable_rx(port);

		if (input >= 0)
			hostirq_enable((unsigned int)input);
	}
}

/* Hypercall to a Nestling below us: number in a0, argument in a1. */
static void call_exit(int status)
{
	__asm__ volatile("move $a0, %0\n\tmove $a1, %1\n\thvcl 0"
			 : : "r"((uint64_t)NESTLING_EXIT), "r"((uint64_t)status)
			 : "$a0", "$a1", "memory");
}

static void power_off(void)
{
	if (power_reg)
		arch_mmio_write8(power_reg, power_value);
}

void arch_poweroff(int status)
{
	if (nested)
		call_exit(status);
	if (status)
		pvpanic_fail();
	else
		power_off();
	/* QEMU stops at its next chance; without pvpanic just power off. */
	for (uint64_t end = arch_time() + arch_time_hz() / 4;
	     arch_time() < end;)
		arch_relax();
	power_off();
	for (;;)
		arch_cpu_idle();
}
