// SPDX-License-Identifier: BSD-2-Clause
// objs: core/dev.c core/pl011.c core/pl031.c core/virtio_empty.c
// objs: core/ns16550.c core/ls7a_rtc.c
// objs: core/timer.c core/gfdt.c core/fdtcheck.c core/image.c
/*
 * Emulated devices as a guest sees them: every offset and width, the PL011's
 * interrupts in the orders that drivers use them, the PL031's alarm.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dev.h"
#include "fake.h"
#include "timer.h"

#define UART	UINT64_C(0x09000000)
#define RTC	UINT64_C(0x09010000)
#define VIRTIO	UINT64_C(0x0a000000)
#define UART_IRQ 1
#define RTC_IRQ	2

enum { DR = 0, RSR = 4, FR = 0x18, IBRD = 0x24, FBRD = 0x28, LCRH = 0x2c,
       CR = 0x30, IFLS = 0x34, IMSC = 0x38, RIS = 0x3c, MIS = 0x40,
       ICR = 0x44, DMACR = 0x48 };
enum { RX = 0x10, TX = 0x20, RT = 0x40, OE = 0x400 };

static const struct vm_config cfg = {
	.name = "t",
	.nr_vcpus = 1,
	.memory = 2 * MiB,
};
static struct vm *vm;
static unsigned int more;

void console_input_more(struct vm *)
{
	more++;
}

static int setup(void **)
{
	fake_cpus_init(1);
	fake_time = 0;
	fake_wallclock = 0;
	memset(fake_irq, 0, sizeof(fake_irq));
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

static uint64_t rd_size(gpa_t gpa, uint8_t size)
{
	struct mmio m = { .gpa = gpa, .size = size, .value = ~UINT64_C(0) };

	assert_true(dev_access(vm, &m));
	return m.value;
}

static void wr_size(gpa_t gpa, uint64_t value, uint8_t size)
{
	struct mmio m = {
		.gpa = gpa,
		.size = size,
		.value = value,
		.write = true,
	};

	assert_true(dev_access(vm, &m));
}

static uint32_t rd(gpa_t gpa)
{
	return (uint32_t)rd_size(gpa, 4);
}

static void wr(gpa_t gpa, uint32_t value)
{
	wr_size(gpa, value, 4);
}

/* ---- the bus ----------------------------------------------------------- */

static bool there(gpa_t gpa, uint8_t size)
{
	struct mmio m = { .gpa = gpa, .size = size };

	return dev_access(vm, &m);
}

static void bus_bounds(void **)
{
	assert_false(there(UART - 1, 1));
	assert_false(there(UART - 4, 8));
	assert_true(there(UART, 1));
	assert_true(there(UART + 0xffc, 4));
	assert_false(there(UART + 0xffd, 4));
	assert_false(there(UART + 0xffc, 8));
	assert_false(there(UART + 0x1000, 1));
	assert_true(there(VIRTIO + 0x3fff, 1));
	assert_false(there(VIRTIO + 0x4000, 1));
	assert_false(there(0, 8));
	assert_false(there(UINT64_MAX, 1));
	assert_false(there(UINT64_MAX - 3, 8));
}

/* Misaligned: reads 0, writes nothing. Eight bytes: two registers. */
static void bus_widths(void **)
{
	wr(UART + IBRD, 0x1234);
	wr(UART + FBRD, 0x15);
	assert_int_equal(rd_size(UART + IBRD + 1, 4), 0);
	assert_int_equal(rd_size(UART + IBRD + 2, 4), 0);
	assert_int_equal(rd_size(UART + IBRD - 1, 2), 0);
	assert_int_equal(rd_size(UART + IBRD, 8), 0);	/* not aligned to 8 */
	wr_size(UART + IBRD + 1, 0xffff, 2);
	assert_int_equal(rd(UART + IBRD), 0x1234);
	assert_int_equal(rd_size(UART + IBRD, 1), 0x34);
	assert_int_equal(rd_size(UART + IBRD + 1, 1), 0x12);
	assert_int_equal(rd_size(UART + IBRD, 2), 0x1234);
	assert_int_equal(rd_size(UART + IBRD + 2, 2), 0);
	assert_int_equal(rd_size(UART + FBRD, 8), 0x15);
	wr_size(UART + FBRD, UINT64_C(0x6000000007), 8);
	assert_int_equal(rd(UART + FBRD), 7);
	assert_int_equal(rd(UART + LCRH), 0x60);
	assert_int_equal(rd_size(UART + FBRD, 8), UINT64_C(0x6000000007));
	wr_size(UART + IBRD, 0, 8);
	assert_int_equal(rd(UART + IBRD), 0x1234);
	wr_size(UART + IBRD, 0xabcdef12, 1);
	assert_int_equal(rd(UART + IBRD), 0x12);
}

/* Every offset and width of every device: no crash, and neighbours stay. */
static void bus_sweep(void **)
{
	static const uint8_t sizes[] = { 1, 2, 4, 8 };

	for (const struct dev_place *p = arch_machine; p->size; p++)
		for (uint64_t off = 0; off < p->size; off++)
			for (unsigned int s = 0; s < 4; s++) {
				uint64_t v;

				if (off + sizes[s] > p->size)
					continue;
				v = rd_size(p->base + off, sizes[s]);
				if (s < 3)
					assert_int_equal(v >> 8 * sizes[s], 0);
				wr_size(p->base + off, ~UINT64_C(0), sizes[s]);
			}
	dev_reset(vm);
	assert_int_equal(rd(UART + IBRD), 0);
}

static void virtio_is_empty(void **)
{
	for (unsigned int slot = 0; slot < 32; slot++) {
		gpa_t base = VIRTIO + slot * 0x200;

		assert_int_equal(rd(base), 0x74726976);
		assert_int_equal(rd(base + 4), 2);
		assert_int_equal(rd(base + 8), 0);
		assert_int_equal(rd_size(base + 1, 1), 0x69);
		wr(base + 0x70, 0xff);
		for (unsigned int off = 0x10; off < 0x200; off += 4)
			assert_int_equal(rd(base + off), 0);
	}
}

/* ---- PL011 ------------------------------------------------------------- */

static void uart_registers(void **)
{
	static const struct {
		uint16_t off;
		uint32_t reset, writable;
	} regs[] = {
		{ RSR, 0, 0 },
		{ 0x20, 0, 0xff },
		{ IBRD, 0, 0xffff },
		{ FBRD, 0, 0x3f },
		{ LCRH, 0, 0xff },
		{ CR, 0x300, 0xff87 },
		{ IFLS, 0x12, 0x3f },
		{ IMSC, 0, 0x7ff },
		{ RIS, 0, 0 },
		{ MIS, 0, 0 },
		{ ICR, 0, 0 },
		{ DMACR, 0, 7 },
		{ 0x4c, 0, 0 },
		{ 0x8, 0, 0 },
		{ 0x1c, 0, 0 },
		{ 0xfdc, 0, 0 },
	};
	static const uint8_t id[] = { 0x11, 0x10, 0x14, 0, 0xd, 0xf0, 5, 0xb1 };

	for (unsigned int i = 0; i < ARRAY_SIZE(regs); i++) {
		assert_int_equal(rd(UART + regs[i].off), regs[i].reset);
		wr(UART + regs[i].off, ~0u);
		assert_int_equal(rd(UART + regs[i].off), regs[i].writable);
	}
	dev_reset(vm);
	for (unsigned int i = 0; i < ARRAY_SIZE(regs); i++)
		assert_int_equal(rd(UART + regs[i].off), regs[i].reset);
	for (unsigned int i = 0; i < 8; i++) {
		assert_int_equal(rd(UART + 0xfe0 + 4 * i), id[i]);
		assert_int_equal(rd_size(UART + 0xfe0 + 4 * i, 1), id[i]);
	}
	assert_int_equal(rd(UART + FR), 0x90);
}

static void uart_sends(void **)
{
	wr(UART + DR, 'a');
	wr_size(UART + DR, 'b', 1);
	wr_size(UART + DR, 0x163, 2);
	assert_string_equal(fake_uart, "abc");
	assert_int_equal(rd(UART + FR), 0x90);	/* empty and not busy */
}

/* UART-02: the order of FreeBSD's driver and of Linux's. */
static void uart_tx_interrupt(void **)
{
	wr(UART + IMSC, TX);
	assert_false(fake_irq[UART_IRQ]);	/* reset raises none */
	wr(UART + IMSC, 0);
	for (unsigned int i = 0; i < 1000; i++) {
		wr(UART + DR, 'x');
		assert_false(fake_irq[UART_IRQ]);
		wr(UART + IMSC, TX);
		assert_true(fake_irq[UART_IRQ]);
		assert_int_equal(rd(UART + MIS), TX);
		wr(UART + ICR, TX);
		assert_false(fake_irq[UART_IRQ]);
		wr(UART + DR, 'x');
		assert_true(fake_irq[UART_IRQ]);
		wr(UART + IMSC, 0);
		assert_false(fake_irq[UART_IRQ]);
		assert_int_equal(rd(UART + RIS), TX);
		wr(UART + ICR, TX);
	}
}

static void uart_receives(void **)
{
	wr(UART + LCRH, 0x70);
	wr(UART + IMSC, RX | RT);
	for (unsigned int i = 0; i < 16; i++) {
		assert_int_equal(rd(UART + FR) & 0x40, 0);
		assert_true(dev_input(vm, (uint8_t)('a' + i)));
		assert_true(fake_irq[UART_IRQ]);
	}
	assert_false(dev_input(vm, 'x'));
	assert_int_equal(rd(UART + FR), 0xc0);
	more = 0;
	for (unsigned int i = 0; i < 16; i++) {
		assert_true(fake_irq[UART_IRQ]);
		assert_int_equal(rd_size(UART + DR + 1, 1), 0);	/* pops none */
		assert_int_equal(rd(UART + DR), 'a' + i);
	}
	assert_int_equal(more, 32);
	assert_false(fake_irq[UART_IRQ]);
	assert_int_equal(rd(UART + RIS), 0);
	assert_int_equal(rd(UART + FR), 0x90);
	assert_int_equal(rd(UART + DR), 0);
}

static void uart_one_byte_without_fifo(void **)
{
	assert_true(dev_input(vm, 'x'));
	assert_false(dev_input(vm, 'y'));
	assert_int_equal(rd(UART + FR), 0xc0);
	assert_int_equal(rd(UART + DR), 'x');
	assert_true(dev_input(vm, 'y'));
}

/* UART-03 from the guest's side: clear after drain must not lose a byte. */
static void uart_clear_after_drain(void **)
{
	wr(UART + LCRH, 0x10);
	wr(UART + IMSC, RX | RT);
	dev_input(vm, '1');
	assert_int_equal(rd(UART + DR), '1');
	dev_input(vm, '2');		/* between drain and clear */
	wr(UART + ICR, RX | RT);
	assert_true(fake_irq[UART_IRQ]);
	/* A guest that only clears is interrupted no more. */
	wr(UART + ICR, RX | RT);
	assert_false(fake_irq[UART_IRQ]);
	dev_input(vm, '3');
	assert_true(fake_irq[UART_IRQ]);
	assert_int_equal(rd(UART + DR), '2');
	assert_int_equal(rd(UART + DR), '3');
	assert_false(fake_irq[UART_IRQ]);
}

static void uart_loop_back(void **)
{
	wr(UART + CR, 0x381);
	wr(UART + DR, 'l');
	wr(UART + DR, 'm');		/* overruns: the FIFO is off */
	assert_string_equal(fake_uart, "");
	assert_int_equal(rd(UART + RIS) & OE, OE);
	assert_int_equal(rd(UART + DR), 0x800 | 'l');
	assert_int_equal(rd(UART + RSR), 8);
	wr(UART + RSR, 0);
	assert_int_equal(rd(UART + RSR), 0);
	wr(UART + ICR, OE);
	assert_int_equal(rd(UART + RIS) & OE, 0);
}

static void uart_stopped_vm_takes_nothing(void **)
{
	vm->state = VM_STOPPED;
	assert_false(dev_input(vm, 'x'));
	vm->state = VM_RUNNING;
	assert_true(dev_input(vm, 'x'));
}

static void reset_drops_the_line(void **)
{
	wr(UART + IMSC, TX);
	wr(UART + DR, 'x');
	assert_true(fake_irq[UART_IRQ]);
	dev_reset(vm);
	assert_false(fake_irq[UART_IRQ]);
	fake_irq_calls = 0;
	for (unsigned int i = 0; i < 10; i++)
		rd(UART + FR);
	assert_int_equal(fake_irq_calls, 0);	/* nothing changed */
}

/* ---- PL031 ------------------------------------------------------------- */

enum { RTCDR = 0, RTCMR = 4, RTCLR = 8, RTCCR = 0xc, RTCIMSC = 0x10,
       RTCRIS = 0x14, RTCMIS = 0x18, RTCICR = 0x1c };

static void seconds(uint64_t n)
{
	fake_time += n * fake_hz;
	timer_run(&this_cpu()->timers, fake_time);
}

static void rtc_counts(void **)
{
	static const uint8_t id[] = { 0x31, 0x10, 0x14, 0, 0xd, 0xf0, 5, 0xb1 };

	assert_int_equal(rd(RTC + RTCDR), 0);
	seconds(5);
	assert_int_equal(rd(RTC + RTCDR), 5);
	wr(RTC + RTCLR, 0xfffffffe);
	assert_int_equal(rd(RTC + RTCLR), 0xfffffffe);
	assert_int_equal(rd(RTC + RTCDR), 0xfffffffe);
	seconds(3);
	assert_int_equal(rd(RTC + RTCDR), 1);
	assert_int_equal(rd(RTC + RTCCR), 1);
	wr(RTC + RTCCR, 0);
	assert_int_equal(rd(RTC + RTCCR), 1);
	fake_wallclock = 1700000000;
	dev_reset(vm);
	assert_int_equal(rd(RTC + RTCDR), 1700000000);
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(rd(RTC + 0xfe0 + 4 * i), id[i]);
}

static void rtc_alarm(void **)
{
	wr(RTC + RTCMR, 10);
	assert_false(timer_next(&this_cpu()->timers) != TIMER_NEVER);
	wr(RTC + RTCIMSC, 1);
	for (unsigned int i = 0; i < 9; i++) {
		seconds(1);
		assert_false(fake_irq[RTC_IRQ]);
	}
	seconds(1);
	assert_true(fake_irq[RTC_IRQ]);
	assert_int_equal(rd(RTC + RTCRIS), 1);
	assert_int_equal(rd(RTC + RTCMIS), 1);
	assert_int_equal(timer_next(&this_cpu()->timers), TIMER_NEVER);
	wr(RTC + RTCIMSC, 0);
	assert_false(fake_irq[RTC_IRQ]);
	assert_int_equal(rd(RTC + RTCRIS), 1);
	assert_int_equal(rd(RTC + RTCMIS), 0);
	wr(RTC + RTCIMSC, 1);
	assert_true(fake_irq[RTC_IRQ]);
	wr(RTC + RTCICR, 1);
	assert_false(fake_irq[RTC_IRQ]);
	seconds(20);
	assert_false(fake_irq[RTC_IRQ]);
}

static void rtc_alarm_moves(void **)
{
	wr(RTC + RTCIMSC, 1);
	wr(RTC + RTCMR, 100);
	seconds(1);
	wr(RTC + RTCMR, 3);		/* earlier */
	seconds(2);
	assert_true(fake_irq[RTC_IRQ]);
	wr(RTC + RTCICR, 1);
	wr(RTC + RTCMR, 20);
	wr(RTC + RTCLR, 18);		/* the clock is set */
	seconds(1);
	assert_false(fake_irq[RTC_IRQ]);
	seconds(1);
	assert_true(fake_irq[RTC_IRQ]);
	wr(RTC + RTCICR, 1);
	wr(RTC + RTCMR, 20);		/* now: at once */
	assert_true(fake_irq[RTC_IRQ]);
	dev_reset(vm);
	assert_false(fake_irq[RTC_IRQ]);
	seconds(100);
	assert_false(fake_irq[RTC_IRQ]);
}

/* A reset while the timer is armed, then a new alarm: one timer only. */
static void rtc_reset_with_timer(void **)
{
	wr(RTC + RTCIMSC, 1);
	wr(RTC + RTCMR, 2);
	dev_reset(vm);
	wr(RTC + RTCIMSC, 1);
	wr(RTC + RTCMR, 2);
	seconds(1);
	seconds(1);
	assert_true(fake_irq[RTC_IRQ]);
	assert_int_equal(timer_next(&this_cpu()->timers), TIMER_NEVER);
}

/* Another pCPU changes the alarm: the armed timer stays where it is. */
static void rtc_two_cpus(void **)
{
	fake_cpus_init(2);
	wr(RTC + RTCIMSC, 1);
	wr(RTC + RTCMR, 5);
	fake_cpu = cpus[1];
	fake_time = fake_hz / 2;
	wr(RTC + RTCMR, 2);
	assert_int_equal(timer_next(&cpus[0]->timers), fake_hz);
	assert_int_equal(timer_next(&cpus[1]->timers), TIMER_NEVER);
	fake_cpu = cpus[0];
	seconds(1);
	seconds(1);
	assert_true(fake_irq[RTC_IRQ]);
	assert_int_equal(timer_next(&cpus[0]->timers), TIMER_NEVER);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(bus_bounds),
		TEST(bus_widths),
		TEST(bus_sweep),
		TEST(virtio_is_empty),
		TEST(uart_registers),
		TEST(uart_sends),
		TEST(uart_tx_interrupt),
		TEST(uart_receives),
		TEST(uart_one_byte_without_fifo),
		TEST(uart_clear_after_drain),
		TEST(uart_loop_back),
		TEST(uart_stopped_vm_takes_nothing),
		TEST(reset_drops_the_line),
		TEST(rtc_counts),
		TEST(rtc_alarm),
		TEST(rtc_alarm_moves),
		TEST(rtc_reset_with_timer),
		TEST(rtc_two_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
