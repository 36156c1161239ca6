// SPDX-License-Identifier: BSD-2-Clause
// objs: core/dev.c core/pl011.c core/pl031.c core/virtio_empty.c
// objs: core/ns16550.c core/ls7a_rtc.c core/timer.c core/gfdt.c
// objs: core/fdtcheck.c core/image.c
/*
 * The devices of the LoongArch machine as a guest sees them, and images on a
 * machine whose RAM begins with tables and the device tree, with addresses at
 * which no code can run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <libfdt.h>

#include "dev.h"
#include "elf.h"
#include "fake.h"
#include "gfdt.h"

#define UART		UINT64_C(0x1fe001e0)
#define RTC		UINT64_C(0x100d0100)
#define UART_IRQ	2
#define HIGH		UINT64_C(0x9000000000000000)

const struct dev_place arch_machine[] = {
	{ DEV_LS7A_RTC, RTC, 0x100, 6 },
	{ DEV_NS16550, UART, 0x100, UART_IRQ },
	{ 0, 0, 0, 0 },
};

const struct guest_ram arch_ram = {
	.bank = { { 0, 256 * MiB }, { 0x80000000, 256 * MiB } },
	.reserved = 2 * MiB,
	.dtb = 1 * MiB,
};

const uint16_t arch_elf_machine = ELF_MACHINE_LOONGARCH;

const char *arch_entry_refused(uint64_t entry)
{
	return entry >> 47 ? "no code there" : NULL;
}

static struct vm_config cfg;
static struct vm *vm;

static int setup(void **)
{
	fake_cpus_init(1);
	fake_time = 0;
	fake_wallclock = 0;
	memset(fake_irq, 0, sizeof(fake_irq));
	cfg = (struct vm_config){
		.name = "t",
		.nr_vcpus = 1,
		.memory = 16 * MiB,
	};
	vm = fake_vm(&cfg);
	dev_init(vm);
	dev_reset(vm);
	fake_uart_clear();
	return 0;
}

static int teardown(void **)
{
	fake_vm_free(vm);
	return 0;
}

static uint32_t rd(gpa_t gpa, uint8_t size)
{
	struct mmio m = { .gpa = gpa, .size = size, .value = ~UINT64_C(0) };

	assert_true(dev_access(vm, &m));
	return (uint32_t)m.value;
}

static void wr(gpa_t gpa, uint8_t size, uint64_t value)
{
	struct mmio m = {
		.gpa = gpa, .size = size, .value = value, .write = true
	};

	assert_true(dev_access(vm, &m));
}

/* ---- 16550 ------------------------------------------------------------- */

enum { DATA, IER, IIR, LCR, MCR, LSR, MSR, SCR };

static uint8_t reg(unsigned int n)
{
	return (uint8_t)rd(UART + n, 1);
}

static void set(unsigned int n, uint8_t val)
{
	wr(UART + n, 1, val);
}

static void uart_registers(void **)
{
	assert_int_equal(reg(IER), 0);
	assert_int_equal(reg(IIR), 1);
	assert_int_equal(reg(LSR), 0x60);
	assert_int_equal(reg(MSR), 0xb0);
	set(IER, 0xff);
	assert_int_equal(reg(IER), 0x0f);
	set(IER, 0);
	set(SCR, 0xa5);
	assert_int_equal(reg(SCR), 0xa5);
	set(LCR, 0x83);
	set(DATA, 0x12);
	set(IER, 0x34);
	assert_int_equal(reg(DATA), 0x12);
	assert_int_equal(reg(IER), 0x34);
	set(LCR, 3);
	assert_int_equal(reg(LCR), 3);
	assert_int_equal(reg(IER), 0);
	assert_int_equal(rd(UART + 8, 1), 0);
	assert_int_equal(rd(UART + 0xfc, 4), 0);
	/* Nothing of this was output. */
	assert_string_equal(fake_uart, "");
}

static void uart_sends(void **)
{
	set(DATA, 'a');
	wr(UART, 4, 'b');
	set(DATA, '\n');
	assert_string_equal(fake_uart, "ab\n");
}

static void uart_tx_interrupt(void **)
{
	set(DATA, 'x');
	assert_false(fake_irq[UART_IRQ]);
	/* Enabling it raises it, the transmitter being empty. */
	set(IER, 2);
	assert_true(fake_irq[UART_IRQ]);
	assert_int_equal(reg(IIR), 2);
	assert_false(fake_irq[UART_IRQ]);
	assert_int_equal(reg(IIR), 1);
	set(DATA, 'x');
	assert_true(fake_irq[UART_IRQ]);
	set(IER, 0);
	assert_false(fake_irq[UART_IRQ]);
	set(IER, 2);
	assert_true(fake_irq[UART_IRQ]);
}

/* As many as fit; the level of the trigger only changes what IIR says. */
static void uart_receives(void **)
{
	assert_true(dev_input(vm, 'a'));
	assert_false(dev_input(vm, 'b'));
	assert_int_equal(reg(LSR), 0x61);
	assert_int_equal(reg(DATA), 'a');
	assert_int_equal(reg(LSR), 0x60);
	set(IIR, 0x81);		/* FIFO on, trigger 8 */
	set(IER, 1);
	for (char c = 'a'; c < 'a' + 16; c++) {
		assert_true(dev_input(vm, (uint8_t)c));
		assert_true(fake_irq[UART_IRQ]);
		assert_int_equal(reg(IIR), c < 'a' + 7 ? 0xcc : 0xc4);
	}
	assert_false(dev_input(vm, 'z'));
	for (char c = 'a'; c < 'a' + 16; c++) {
		assert_true(fake_irq[UART_IRQ]);
		assert_int_equal(reg(DATA), c);
	}
	assert_false(fake_irq[UART_IRQ]);
	assert_int_equal(reg(DATA), 0);
	assert_true(dev_input(vm, 'q'));
	set(IIR, 0x83);		/* clears it */
	assert_false(fake_irq[UART_IRQ]);
	assert_int_equal(reg(LSR), 0x60);
}

/* Line status before data before transmission. */
static void uart_priority(void **)
{
	set(IER, 7);
	set(MCR, 0x10);
	set(DATA, 1);
	set(DATA, 2);		/* overrun */
	assert_int_equal(reg(IIR), 6);
	assert_int_equal(reg(LSR), 0x63);
	assert_int_equal(reg(IIR), 4);
	assert_int_equal(reg(DATA), 1);
	assert_int_equal(reg(IIR), 2);
	assert_int_equal(reg(IIR), 1);
	assert_string_equal(fake_uart, "");
}

/* What drivers probe: the outputs come back as the modem's lines. */
static void uart_loop_back(void **)
{
	static const struct {
		uint8_t mcr, msr;
	} rows[] = {
		{ 0x1a, 0x90 },
		{ 0x15, 0x60 },
		{ 0x10, 0x04 },
		{ 0x1f, 0xf0 },
		{ 0x1b, 0xb0 },
	};

	set(MCR, 0x10);
	reg(MSR);
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		set(MCR, rows[i].mcr);
		if (rows[i].mcr == 0x10)
			assert_int_equal(reg(MSR) & 0xf4, rows[i].msr);
		else
			assert_int_equal(reg(MSR) & 0xf0, rows[i].msr);
	}
	set(IER, 8);
	assert_int_equal(reg(MSR) & 0xf, 0);
	assert_false(fake_irq[UART_IRQ]);
	set(MCR, 0x10);
	assert_true(fake_irq[UART_IRQ]);
	assert_int_equal(reg(IIR), 0);
	assert_int_equal(reg(MSR), 0x0b);
	assert_false(fake_irq[UART_IRQ]);
	/* What is typed waits. */
	assert_false(dev_input(vm, 'a'));
	set(MCR, 0);
	assert_true(dev_input(vm, 'a'));
}

/* ---- RTC --------------------------------------------------------------- */

enum { WRITE0 = 0x24, WRITE1 = 0x28, READ0 = 0x2c, READ1 = 0x30, MATCH0 = 0x34,
       CTRL = 0x40, RTC_WRITE = 0x64, RTC_READ = 0x68 };

static void assert_date(uint32_t year, uint32_t month, uint32_t day,
			uint32_t second_of_day)
{
	uint32_t toy = rd(RTC + READ0, 4);

	assert_int_equal(rd(RTC + READ1, 4), year - 1900);
	assert_int_equal(toy >> 26, month);
	assert_int_equal(toy >> 21 & 31, day);
	assert_int_equal((toy >> 16 & 31) * 3600 + (toy >> 10 & 63) * 60 +
				 (toy >> 4 & 63), second_of_day);
}

static void rtc_calendar(void **)
{
	static const struct {
		uint64_t seconds;
		uint32_t year, month, day;
	} rows[] = {
		{ 0, 1970, 1, 1 },
		{ 951782400, 2000, 2, 29 },
		{ 951868800, 2000, 3, 1 },
		{ 1709164800, 2024, 2, 29 },
		{ 1798675200, 2026, 12, 31 },
		{ 4107542400, 2100, 3, 1 },
		{ 4107456000, 2100, 2, 28 },
	};

	fake_wallclock = 1;
	assert_int_equal(rd(RTC + READ0, 4), 0);
	assert_int_equal(rd(RTC + READ1, 4), 0);
	wr(RTC + CTRL, 4, 0x2900);
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		fake_wallclock = rows[i].seconds + 45296;
		assert_date(rows[i].year, rows[i].month, rows[i].day, 45296);
	}
}

static void rtc_set(void **)
{
	fake_wallclock = 1000000000;
	wr(RTC + WRITE1, 4, 50);	/* not enabled: without effect */
	wr(RTC + CTRL, 4, 0x2900);
	assert_date(2001, 9, 9, 6400);
	wr(RTC + WRITE1, 4, 124);
	wr(RTC + WRITE0, 4, 2u << 26 | 28u << 21 | 23u << 16 | 59u << 10 |
			    59u << 4);
	assert_date(2024, 2, 28, 86399);
	fake_wallclock++;
	assert_date(2024, 2, 29, 0);
	/* Nonsense neither hangs nor traps. */
	wr(RTC + WRITE1, 4, UINT32_MAX);
	wr(RTC + WRITE0, 4, UINT32_MAX);
	wr(RTC + WRITE0, 4, 0);
	wr(RTC + WRITE1, 4, 0);
	assert_int_equal(rd(RTC + READ1, 4), 0);
}

static void rtc_counter(void **)
{
	assert_int_equal(rd(RTC + RTC_READ, 4), 0);
	wr(RTC + CTRL, 4, 0x2900);
	fake_time = fake_hz * 3 + fake_hz / 2;
	assert_int_equal(rd(RTC + RTC_READ, 4), 32768 * 3 + 16384);
	wr(RTC + RTC_WRITE, 4, 5);
	assert_int_equal(rd(RTC + RTC_READ, 4), 5);
	fake_time += fake_hz;
	assert_int_equal(rd(RTC + RTC_READ, 4), 5 + 32768);
	wr(RTC + MATCH0, 4, 0x1234);
	assert_int_equal(rd(RTC + MATCH0, 4), 0x1234);
	assert_int_equal(rd(RTC + MATCH0, 1), 0x34);
	assert_int_equal(rd(RTC + 0xf0, 4), 0);
	dev_reset(vm);
	assert_int_equal(rd(RTC + RTC_READ, 4), 0);
}

/* ---- images ------------------------------------------------------------ */

static alignas(8) uint8_t file[4096];

static struct elf_segment *make_elf(uint64_t entry, uint64_t paddr)
{
	struct elf_header *eh = (void *)file;
	struct elf_segment *s = (void *)(file + sizeof(*eh));

	memset(file, 0, sizeof(file));
	memcpy(eh->ident, ELF_MAGIC, 4);
	eh->ident[ELF_CLASS] = ELF_CLASS_64;
	eh->ident[ELF_DATA] = ELF_DATA_LITTLE;
	eh->type = ELF_TYPE_EXEC;
	eh->machine = ELF_MACHINE_LOONGARCH;
	eh->entry = entry;
	eh->phoff = sizeof(*eh);
	eh->phentsize = sizeof(*s);
	eh->phnum = 1;
	s->type = ELF_LOAD;
	s->vaddr = entry;
	s->paddr = paddr;
	s->offset = 1024;
	s->filesz = s->memsz = 1024;
	cfg.kernel = (struct blob){ file, sizeof(file) };
	return s;
}

static void refused(int err, const char *message)
{
	struct image_layout l;
	char want[200];

	fake_uart_clear();
	assert_int_equal(image_load(vm, &l), err);
	snprintf(want, sizeof(want), "t: %s\n", message);
	assert_string_equal(fake_uart, want);
}

static void image_places(void **)
{
	static uint8_t ramdisk[5000];
	struct image_layout l;

	make_elf(0x200000, 0x200000);
	cfg.ramdisk = (struct blob){ ramdisk, sizeof(ramdisk) };
	assert_int_equal(image_load(vm, &l), 0);
	assert_int_equal(l.entry, 0x200000);
	assert_int_equal(l.dtb, 0x100000);
	assert_int_equal(l.ramdisk, 16 * MiB - 0x2000);
	assert_int_equal(gfdt_build(vm, &l), 0);
	assert_int_equal(fdt_magic(vm_ram(vm, 0x100000, 4)), FDT_MAGIC);
	/* No device there wants the clock of the other machine. */
	assert_true(fdt_path_offset(vm_ram(vm, 0x100000, 4), "/apb-pclk") < 0);
}

static void image_refused(void **)
{
	make_elf(0x1ff000, 0x1ff000);
	refused(ERR_INVAL, "kernel: ELF segment 0x1ff000..0x1ff400 is outside "
			   "memory 0x200000..0x1000000");
	make_elf(HIGH + 0x200000, 0x200000);
	refused(ERR_INVAL, "kernel: runs at 0x9000000000200000: no code there");
	/* A ramdisk that leaves no room between tables and the end. */
	make_elf(0x200000, 0x200000);
	cfg.ramdisk = (struct blob){ file, 15 * MiB };
	refused(ERR_NOMEM, "ramdisk: 15728640 bytes and the device tree do not "
			   "fit into memory behind the kernel's 1024");
}

/* Its physical addresses are no help: Linux runs in the window. */
static void linux_refused(void **)
{
	static const uint32_t magic = 0x818223cd;
	static const uint64_t head[] = { 0x201000, 0x100000, 0x200000 };

	memset(file, 0, sizeof(file));
	memcpy(file, "MZ", 2);
	memcpy(file + 8, head, sizeof(head));
	memcpy(file + 56, &magic, sizeof(magic));
	cfg.kernel = (struct blob){ file, sizeof(file) };
	refused(ERR_INVAL, "kernel: runs at 0x9000000000201000: no code there");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(uart_registers),
		TEST(uart_sends),
		TEST(uart_tx_interrupt),
		TEST(uart_receives),
		TEST(uart_priority),
		TEST(uart_loop_back),
		TEST(rtc_calendar),
		TEST(rtc_set),
		TEST(rtc_counter),
		TEST(image_places),
		TEST(image_refused),
		TEST(linux_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
