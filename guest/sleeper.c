// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sleeps and wakes by its timer, again and again, on every vCPU; says how late
 * it was woken at worst. No FP instruction. For scheduling tests.
 *
 * Arguments: seconds=N (default 5); period=US (default 10000); late=US is the
 * lateness that makes it fail (default 0: none does); timer=phys uses CNTP.
 */
#include <stdio.h>
#include <string.h>
#include "check.h"
#include "irq.h"
#include "smp.h"
#include "timer.h"
#include "trap.h"

const bool trap_keeps_fp = false;

static enum timer timer;
static uint64_t seconds, period, late;
static volatile bool fired[MAX_VCPUS];
static uint64_t worst[MAX_VCPUS], naps[MAX_VCPUS], early[MAX_VCPUS];

static void on_timer([[maybe_unused]] unsigned intid)
{
	timer_off(timer);
	fired[vcpu_id()] = true;
}

static void nap(unsigned id)
{
	uint64_t due = timer_now(timer) + us_to_ticks(period), woken;

	fired[id] = false;
	timer_at(timer, due);
	while (!fired[id])
		irq_wait();
	woken = timer_now(timer);
	naps[id]++;
	if (woken < due)
		early[id]++;
	else if (woken - due > worst[id])
		worst[id] = woken - due;
}

static void sleep_on(void)
{
	unsigned id = vcpu_id();
	uint64_t end = now() + seconds * timer_freq();

	irq_on(timer_irq(timer), on_timer);
	while (now() < end)
		nap(id);
}

int main(int, char **)
{
	seconds = arg_u64("seconds", 5);
	period = arg_u64("period", 10000);
	late = arg_u64("late", 0);
	if (strcmp(arg_str("timer", "virt"), "phys") == 0)
		timer = TIMER_PHYS;
	smp_boot(sleep_on);
	sleep_on();
	smp_join();
	for (unsigned i = 0; i < machine.nr_vcpus; i++) {
		unsigned id = vcpu_of(machine.mpidr[i]);

		say("sleeper: vcpu %u naps %lu worst %lu us late", id, naps[id],
		    ticks_to_us(worst[id]));
		CHECK(naps[id] > 0, "vcpu%u-slept", id);
		CHECK_EQ(early[id], 0, "vcpu%u-never-early", id);
		if (late)
			CHECK_IN(ticks_to_us(worst[id]), 0, late,
				 "vcpu%u-on-time", id);
	}
	return report();
}
