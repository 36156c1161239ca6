// SPDX-License-Identifier: BSD-2-Clause
/*
 * Uses all the time it gets, on every vCPU, and prints what it got each second.
 * No FP instruction, no exit except for the line. For scheduling tests.
 *
 * Arguments: seconds=N (default 5).
 */
#include <stdio.h>
#include "check.h"
#include "smp.h"
#include "timer.h"
#include "trap.h"

const bool trap_keeps_fp = false;

static uint64_t seconds;
static uint64_t work[MAX_VCPUS];

/*
 * Turns until the counter reaches `end`. A turn is some hundred instructions.
 */
static void burn_until(uint64_t end)
{
	unsigned id = vcpu_id();

	while (now() < end) {
		for (volatile int i = 0; i < 100; i++)
			;
		__atomic_store_n(&work[id], work[id] + 1, __ATOMIC_RELAXED);
	}
}

static void other(void)
{
	burn_until(now() + seconds * timer_freq());
}

static uint64_t all_work(void)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < MAX_VCPUS; i++)
		sum += __atomic_load_n(&work[i], __ATOMIC_RELAXED);
	return sum;
}

int main(int, char **)
{
	uint64_t start = now(), last = 0;

	seconds = arg_u64("seconds", 5);
	smp_boot(other);
	for (uint64_t i = 1; i <= seconds; i++) {
		burn_until(start + i * timer_freq());
		say("busy: second %lu work %lu", i, all_work() - last);
		last = all_work();
	}
	smp_join();
	say("busy: total %lu", all_work());
	return 0;
}
