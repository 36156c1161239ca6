// SPDX-License-Identifier: BSD-2-Clause
/*
 * Moves its vCPU between the CPUs of the machine by hypercall, with everything
 * live that has to move along: an armed timer, a pending SGI, vector registers
 * and system registers. Needs Nestling and two CPUs.
 *
 * Arguments: rounds=N (default 50); late=US is the lateness allowed for the
 * timer (default 5000000).
 */
#include <stdio.h>
#include "check.h"
#include "fp.h"
#include "hcall.h"
#include "irq.h"
#include "own.h"
#include "smp.h"
#include "timer.h"
#include "trap.h"

#define SGI	4
#define AHEAD_US 20000

const bool trap_keeps_fp = FP_KEPT;

static volatile unsigned sgis;
static volatile bool fired;
static volatile uint64_t fired_at;

static struct {
	uint64_t refused, elsewhere, fp, sysregs, sgis, missed, early, worst;
} bad;

static void on_sgi([[maybe_unused]] unsigned intid)
{
	sgis++;
}

static void on_timer([[maybe_unused]] unsigned intid)
{
	fired_at = now();
	fired = true;
	timer_off(TIMER_VIRT);
}

static void wait_timer(uint64_t due)
{
	uint64_t limit = due + 5 * timer_freq();

	while (!fired && now() < limit)
		irq_wait();
	if (!fired)
		bad.missed++;
	else if (fired_at < due)
		bad.early++;
	else if (fired_at - due > bad.worst)
		bad.worst = fired_at - due;
}

static void one_round(uint64_t round, unsigned to)
{
	uint64_t due = now() + us_to_ticks(AHEAD_US);
	struct fp_state want, got;
	unsigned before = sgis;
	int64_t result;

	fired = false;
	timer_at(TIMER_VIRT, due);
	own_set(round * 0x9e3779b97f4a7c15);
	sgi_to(machine.mpidr[0], SGI);
	fp_pattern(&want, 0, round);
	fp_load(&want);
	result = nestling(NESTLING_MIGRATE, to);
	fp_store(&got);
	bad.refused += result != 0;
	bad.elsewhere += nestling_stat(NESTLING_STAT_PCPU) != (int64_t)to;
	bad.fp |= fp_compare(&want, &got);
	bad.sysregs += own_wrong(round * 0x9e3779b97f4a7c15);
	irq_take();
	bad.sgis += sgis != before + 1;
	wait_timer(due);
}

int main(int, char **)
{
	uint64_t rounds = arg_u64("rounds", 50);

	if (!on_nestling() || nestling(NESTLING_MIGRATE, 1) != 0) {
		skip("migrate", "needs Nestling with two CPUs");
		return 0;
	}
	CHECK_EQ(nestling(NESTLING_MIGRATE, 100000), NESTLING_INVALID,
		 "absent-cpu");
	CHECK_EQ(nestling(NESTLING_MIGRATE, ~0ull), NESTLING_INVALID,
		 "impossible-cpu");
	irq_on(SGI, on_sgi);
	irq_on(machine.vtimer_irq, on_timer);
	for (uint64_t round = 0; round < rounds; round++)
		one_round(round, round % 2);
	CHECK_EQ(bad.refused, 0, "moves");
	CHECK_EQ(bad.elsewhere, 0, "arrives-at-once");
	CHECK_EQ(bad.fp, 0, "vector-registers");
	CHECK_EQ(bad.sysregs, 0, "system-registers");
	CHECK_EQ(bad.sgis, 0, "pending-sgi");
	CHECK_EQ(bad.missed, 0, "timer-comes");
	CHECK_EQ(bad.early, 0, "timer-not-early");
	CHECK_IN(ticks_to_us(bad.worst), 0, arg_u64("late", 5000000),
		 "timer-on-time");
	return report();
}
