// SPDX-License-Identifier: BSD-2-Clause
/*
 * What differs between boards, all from the host device tree: UARTs, firmware
 * (PSCI), the end of the machine. Also the message for machines that cannot
 * run the hypervisor at all, which is printed with the MMU off.
 */
#include "arm64.h"
#include "console.h"
#include "gic.h"
#include "host.h"
#include "nestling.h"
#include "pl011drv.h"
#include "sysreg.h"

#include <libfdt.h>
#include <string.h>

#define PSCI_SYSTEM_OFF	0x84000008
#define SPI_BASE	32
#define REG_SIZE	0x1000

static bool nested;		/* we are a guest of Nestling ourselves */
static const volatile char *rtc;

int64_t firmware_call(uint64_t fn, uint64_t a, uint64_t b, uint64_t c)
{
	register uint64_t x0 __asm__("x0") = fn;
	register uint64_t x1 __asm__("x1") = a;
	register uint64_t x2 __asm__("x2") = b;
	register uint64_t x3 __asm__("x3") = c;

	__asm__ volatile("smc #0"
			 : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3)
			 :
			 : "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11",
			   "x12", "x13", "x14", "x15", "x16", "x17", "memory");
	return (int64_t)x0;
}

/* Address and INTID of a UART node; false when it is not usable. */
static bool uart_node(const void *fdt, int node, paddr_t *base,
		      unsigned int *intid)
{
	int len, ilen;
	const fdt32_t *reg = fdt_getprop(fdt, node, "reg", &len);
	const fdt32_t *irq = fdt_getprop(fdt, node, "interrupts", &ilen);
	const char *status = fdt_getprop(fdt, node, "status", NULL);

	if (!reg || len < 16 || !irq || ilen < 12)
		return false;
	if (status && strcmp(status, "okay") != 0)
		return false;
	*base = (uint64_t)fdt32_to_cpu(reg[0]) << 32 | fdt32_to_cpu(reg[1]);
	*intid = fdt32_to_cpu(irq[1]) + SPI_BASE;
	return true;
}

/* The node that /chosen/stdout-path names, without options behind ':'. */
static int stdout_node(const void *fdt)
{
	int chosen = fdt_path_offset(fdt, "/chosen"), len;
	const char *path = fdt_getprop(fdt, chosen, "stdout-path", &len);
	const char *end;

	if (!path || len <= 0)
		return -1;
	end = memchr(path, ':', (size_t)len);
	return fdt_path_offset_namelen(fdt, path,
				       end ? (int)(end - path) : len - 1);
}

static void attach(const void *fdt, int node, unsigned int port, bool mmu)
{
	paddr_t base;
	unsigned int intid;

	if (!uart_node(fdt, node, &base, &intid))
		return;
	/* Without the MMU every address is its own device mapping. */
	pl011_attach(port, mmu ? arch_map_device(base, REG_SIZE) :
				 (volatile void *)base, intid);
}

static void find_uarts(const void *fdt, bool mmu)
{
	int console = stdout_node(fdt), node = -1;

	for (;;) {
		node = fdt_node_offset_by_compatible(fdt, node, "arm,pl011");
		if (node < 0)
			break;
		if (console < 0)
			console = node;
		if (node == console)
			attach(fdt, node, 0, mmu);
		else if (!arch_uart_present(1))
			attach(fdt, node, 1, mmu);
	}
}

static bool is_nestling(void)
{
	/* Four words come back; two of them are enough to be sure. */
	register uint64_t x0 __asm__("x0") = NESTLING_UID;
	register uint64_t x1 __asm__("x1") = 0;
	register uint64_t x2 __asm__("x2") = 0;
	register uint64_t x3 __asm__("x3") = 0;

	__asm__ volatile("smc #0"
			 : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3)
			 : : "memory");
	return (uint32_t)x0 == NESTLING_UID_W0 &&
	       (uint32_t)x1 == NESTLING_UID_W1 &&
	       (uint32_t)x2 == NESTLING_UID_W2 &&
	       (uint32_t)x3 == NESTLING_UID_W3;
}

/* PL031: the data register, at offset 0, counts seconds since 1970. */
static void find_rtc(const void *fdt)
{
	int node = fdt_node_offset_by_compatible(fdt, -1, "arm,pl031"), len;
	const fdt32_t *reg = node < 0 ? NULL :
					fdt_getprop(fdt, node, "reg", &len);

	if (reg && len >= 16)
		rtc = arch_map_device((uint64_t)fdt32_to_cpu(reg[0]) << 32 |
					      fdt32_to_cpu(reg[1]), REG_SIZE);
}

uint64_t arch_wallclock(void)
{
	return rtc ? arch_mmio_read32(rtc) : 0;
}

void board_init(void)
{
	find_uarts(host_fdt(), true);
	find_rtc(host_fdt());
	nested = is_nestling();
}

void board_enable_irqs(void)
{
	for (unsigned int port = 0; port < 2; port++) {
		unsigned int intid = pl011_enable_rx(port);

		if (!intid)
			continue;
		gic_enable_spi(intid, 0);
		/* Characters that are there raise no interrupt any more. */
		gic_set_pending(intid);
	}
}

void board_irq(unsigned int intid)
{
	if (!pl011_irq(intid))
		log_warn("host interrupt %u has no handler", intid);
}

void arch_poweroff(int status)
{
	if (nested)
		firmware_call(NESTLING_EXIT, (uint64_t)status, 0, 0);
	if (status)
		pvpanic_fail();
	else
		firmware_call(PSCI_SYSTEM_OFF, 0, 0, 0);
	/* QEMU stops at its next chance; without pvpanic just power off. */
	for (uint64_t end = arch_time() + arch_time_hz() / 4;
	     arch_time() < end;)
		arch_relax();
	firmware_call(PSCI_SYSTEM_OFF, 0, 0, 0);
	for (;;)
		__asm__ volatile("wfi");
}

static void raw_puts(const char *s)
{
	for (; *s; s++)
		arch_uart_putc(0, (uint8_t)*s);
}

/*
 * Called by head.S with the MMU off when the CPU is not at EL2 (@reason 0) or
 * has no VHE (1). At EL1 not even the per-CPU pointer exists, so this uses
 * nothing but the UART.
 */
[[noreturn]] void boot_unfit(const void *fdt, unsigned int reason);
void boot_unfit(const void *fdt, unsigned int reason)
{
	static const char *const text[] = {
		"machine: not started at EL2 (QEMU: -M "
		"virt,virtualization=on)",
		"machine: this CPU has no VHE (FEAT_VHE, Armv8.1), which the "
		"hypervisor needs",
	};

	if (fdt && !fdt_check_header(fdt))
		find_uarts(fdt, false);
	raw_puts("nestling: ");
	raw_puts(text[reason & 1]);
	raw_puts("\r\n\x1enestling status 2\r\n");
	host_set_fdt(fdt);
	pvpanic_init();
	pvpanic_fail();
	if (reason)
		firmware_call(PSCI_SYSTEM_OFF, 0, 0, 0);
	else
		__asm__ volatile("mov w0, %w0\n\thvc #0"
				 : : "r"(PSCI_SYSTEM_OFF)
				 : "x0", "x1", "x2", "x3", "memory");
	for (;;)
		__asm__ volatile("wfi");
}
