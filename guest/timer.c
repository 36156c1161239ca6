// SPDX-License-Identifier: BSD-2-Clause
/*
 * The generic timer, virtual and physical: register read-back, one-shots at
 * many distances (never early, on time), far deadlines, sleep, masks, the level
 * of the interrupt line, and the counter.
 *
 * Arguments: naps=N sleeps of 10 ms for each timer (default 50); late=US is the
 * lateness allowed (default 5000000): one-shots get three attempts to keep it,
 * and nine of ten sleeps must, because the machine below may have other things
 * to do; rtc=0 leaves out the comparison of two seconds with the clock.
 */
#include <stdio.h>
#include "check.h"
#include "io.h"
#include "irq.h"
#include "timer.h"

static const char *const timer_names[] = { "cntv", "cntp" };

static volatile unsigned fired[2];
static volatile uint64_t fired_at[2];
static volatile bool only_mask;
static uint64_t late_us;

static void on_timer(enum timer timer)
{
	fired_at[timer] = timer_now(timer);
	fired[timer]++;
	timer_ctl(timer, only_mask ? TIMER_ENABLE | TIMER_IMASK : 0);
}

static void on_virt([[maybe_unused]] unsigned intid)
{
	on_timer(TIMER_VIRT);
}

static void on_phys([[maybe_unused]] unsigned intid)
{
	on_timer(TIMER_PHYS);
}

/* Sleeps until `timer` fired or `us` passed; the other timer ends the sleep. */
static bool wait_fired(enum timer timer, uint64_t us)
{
	enum timer other = !timer;

	fired[other] = 0;
	timer_at(other, timer_now(other) + us_to_ticks(us));
	irq_disable();
	while (!fired[timer] && !fired[other])
		irq_wait();
	timer_ctl(other, 0);
	irq_enable();
	return fired[timer] != 0;
}

static void test_readback(enum timer timer)
{
	const char *name = timer_names[timer];
	static const uint64_t values[] = { 0, ~0ull, 1ull << 63,
					   0x123456789abcdef0 };
	uint64_t before, after, cval;

	timer_ctl(timer, 0);
	for (unsigned i = 0; i < 4; i++) {
		timer_cval(timer, values[i]);
		CHECK_EQ(timer_read_cval(timer), values[i], "%s-cval-%u", name,
			 i);
	}
	timer_cval(timer, ~0ull);
	timer_ctl(timer, TIMER_IMASK);
	CHECK_EQ(timer_read_ctl(timer), TIMER_IMASK, "%s-ctl-imask", name);
	timer_ctl(timer, ~0ull);
	CHECK_EQ(timer_read_ctl(timer), TIMER_ENABLE | TIMER_IMASK,
		 "%s-ctl-istatus-is-read-only", name);
	timer_cval(timer, 0);
	CHECK_EQ(timer_read_ctl(timer), 7, "%s-ctl-istatus", name);
	timer_ctl(timer, 0);

	before = timer_now(timer);
	timer_tval(timer, 0x80000000);
	after = timer_now(timer);
	cval = timer_read_cval(timer);
	CHECK(cval - (before - 0x80000000) <= after - before,
	      "%s-tval-is-signed", name);
	before = timer_now(timer);
	timer_tval(timer, 1000000);
	after = timer_now(timer);
	cval = timer_read_cval(timer);
	CHECK_IN(cval, before + 1000000, after + 1000000, "%s-tval-to-cval",
		 name);
	before = timer_now(timer);
	cval = timer_read_tval(timer);
	after = timer_now(timer);
	CHECK_IN((uint32_t)(timer_read_cval(timer) - cval), (uint32_t)before,
		 (uint32_t)after, "%s-cval-to-tval", name);
}

/* One deadline, `us` from now, may be in the past. Lateness in us, or ~0. */
static uint64_t one_shot(enum timer timer, int64_t us)
{
	const char *name = timer_names[timer];
	uint64_t start = timer_now(timer);
	uint64_t cval = start + (us < 0 ? -us_to_ticks((uint64_t)-us)
					: us_to_ticks((uint64_t)us));
	uint64_t due = us < 0 ? start : cval;

	fired[timer] = 0;
	timer_at(timer, cval);
	if (!wait_fired(timer, 3000000)) {
		CHECK(false, "%s-shot-%ldus-fires", name, (long)us);
		return ~0ull;
	}
	if (fired_at[timer] < due || fired[timer] != 1) {
		CHECK(fired_at[timer] >= due, "%s-shot-%ldus-not-early", name,
		      (long)us);
		CHECK_EQ(fired[timer], 1, "%s-shot-%ldus-once", name,
			 (long)us);
		return ~0ull;
	}
	return ticks_to_us(fired_at[timer] - due);
}

static void test_shot(enum timer timer, int64_t us)
{
	uint64_t best = ~0ull;

	for (int i = 0; i < 3 && best > late_us; i++) {
		uint64_t late = one_shot(timer, us);

		best = late < best ? late : best;
	}
	CHECK_IN(best, 0, late_us, "%s-shot-%ldus", timer_names[timer],
		 (long)us);
}

static void test_extremes(enum timer timer)
{
	static const struct {
		const char *name;
		uint64_t cval;
		bool fires;
	} rows[] = {
		{ "all-ones", ~0ull, false },
		{ "bit-63", 1ull << 63, false },
		{ "signed-max", (1ull << 63) - 1, false },
		{ "zero", 0, true },
		{ "one", 1, true },
	};
	static const uint32_t tvals[] = { 0x7fffffff, 0x80000000, 0 };
	bool due;

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fired[timer] = 0;
		timer_at(timer, rows[i].cval);
		CHECK_EQ(wait_fired(timer, 20000), rows[i].fires, "%s-cval-%s",
			 timer_names[timer], rows[i].name);
		timer_ctl(timer, 0);
	}
	for (unsigned i = 0; i < 3; i++) {
		fired[timer] = 0;
		timer_tval(timer, tvals[i]);
		timer_ctl(timer, TIMER_ENABLE);
		/* 2^31 ticks ago may be before the counter began. */
		due = timer_read_cval(timer) <= timer_now(timer);
		CHECK_EQ(wait_fired(timer, 20000), due,
			 "%s-tval-%#x", timer_names[timer], tvals[i]);
		timer_ctl(timer, 0);
	}
	test_shot(timer, 2000);
}

/* Sleeps with no other wake source at all. */
static void test_naps(enum timer timer, uint64_t naps)
{
	uint64_t worst = 0, early = 0, late = 0;

	for (uint64_t i = 0; i < naps; i++) {
		uint64_t due = timer_now(timer) + us_to_ticks(10000);

		irq_disable();
		fired[timer] = 0;
		timer_at(timer, due);
		while (!fired[timer])
			irq_wait();
		irq_enable();
		if (fired_at[timer] < due) {
			early++;
			continue;
		}
		if (fired_at[timer] - due > worst)
			worst = fired_at[timer] - due;
		late += fired_at[timer] - due > us_to_ticks(late_us);
	}
	CHECK_EQ(early, 0, "%s-naps-not-early", timer_names[timer]);
	CHECK_IN(late, 0, naps / 10, "%s-naps-on-time", timer_names[timer]);
	say("timer: %s worst of %lu naps %lu us late", timer_names[timer], naps,
	    ticks_to_us(worst));
}

/* Gives the timer two seconds to fire, and a moment to fire once too often. */
static unsigned times_fired(enum timer timer)
{
	uint64_t end = now() + 2 * timer_freq();

	while (!fired[timer] && now() < end)
		;
	delay_us(5000);
	return fired[timer];
}

static void test_mask(enum timer timer)
{
	const char *name = timer_names[timer];

	fired[timer] = 0;
	timer_cval(timer, 0);
	timer_ctl(timer, TIMER_ENABLE | TIMER_IMASK);
	delay_us(5000);
	CHECK_EQ(fired[timer], 0, "%s-imask-holds", name);
	CHECK_EQ(timer_read_ctl(timer), 7, "%s-imask-istatus", name);
	timer_ctl(timer, TIMER_ENABLE);
	CHECK_EQ(times_fired(timer), 1, "%s-unmask-fires", name);
}

/* The interrupt is the level of the timer's output. */
static void test_level(enum timer timer)
{
	const char *name = timer_names[timer];
	unsigned irq = timer_irq(timer);

	only_mask = true;
	fired[timer] = 0;
	timer_at(timer, 0);
	CHECK_EQ(times_fired(timer), 1, "%s-handler-masks-only-once", name);
	only_mask = false;
	timer_ctl(timer, 0);

	irq_disable_id(irq);
	fired[timer] = 0;
	timer_at(timer, 0);
	delay_us(1000);
	CHECK_EQ(irq_bit(GICD_ISPENDR, irq), 1, "%s-disabled-is-pending", name);
	CHECK_EQ(fired[timer], 0, "%s-disabled-does-not-fire", name);
	timer_cval(timer, ~0ull);
	delay_us(1000);
	CHECK_EQ(irq_bit(GICD_ISPENDR, irq), 0, "%s-lowered-not-pending", name);
	irq_enable_id(irq);
	delay_us(5000);
	CHECK_EQ(fired[timer], 0, "%s-lowered-does-not-fire", name);

	irq_disable_id(irq);
	timer_at(timer, 0);
	delay_us(1000);
	irq_enable_id(irq);
	CHECK_EQ(times_fired(timer), 1, "%s-enabled-late-fires", name);
	CHECK_EQ(irq_bit(GICD_ISACTIVER, irq), 0, "%s-not-left-active", name);
	timer_ctl(timer, 0);
}

static void test_counter(enum timer timer)
{
	uint64_t last = timer_now(timer), back = 0;

	for (int i = 0; i < 100000; i++) {
		uint64_t count = timer_now(timer);

		if (count < last)
			back++;
		last = count;
	}
	CHECK_EQ(back, 0, "%s-counter-monotone", timer_names[timer]);
}

/* Two seconds of the PL031 against the counter. */
static void test_rtc(void)
{
	uint64_t start, ticks, limit = now() + 5 * timer_freq();
	uint32_t second;

	if (!machine.rtc.size) {
		skip("counter-against-rtc", "no PL031");
		return;
	}
	second = io_read32(machine.rtc.base);
	while (io_read32(machine.rtc.base) == second && now() < limit)
		;
	start = now();
	second = io_read32(machine.rtc.base);
	while (io_read32(machine.rtc.base) - second < 2 && now() < limit)
		;
	ticks = now() - start;
	CHECK_IN(ticks, timer_freq() / 100 * 190, timer_freq() / 100 * 210,
		 "counter-against-rtc");
}

static void test_timer(enum timer timer)
{
	static const int64_t shots[] = { 0,    -1,   -1000,  10,   50,
					 100,  500,  1000,   5000, 10000,
					 20000, 100000 };

	test_counter(timer);
	test_readback(timer);
	for (unsigned i = 0; i < sizeof(shots) / sizeof(shots[0]); i++)
		test_shot(timer, shots[i]);
	test_extremes(timer);
	test_mask(timer);
	test_level(timer);
	test_naps(timer, arg_u64("naps", 50));
}

int main(int, char **)
{
	late_us = arg_u64("late", 5000000);
	CHECK(timer_freq() >= 1000000, "frequency");
	irq_on(machine.vtimer_irq, on_virt);
	irq_on(machine.ptimer_irq, on_phys);
	irq_enable();
	test_timer(TIMER_VIRT);
	test_timer(TIMER_PHYS);
	if (arg_u64("rtc", 1))
		test_rtc();
	CHECK_EQ(irq_spurious(), 0, "no-stray-interrupt");
	return report();
}
