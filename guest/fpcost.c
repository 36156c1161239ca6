// SPDX-License-Identifier: BSD-2-Clause
/*
 * What FP registers add to switches between vCPUs. The vCPUs of this VM, and of
 * other VMs with this image, take turns; in each turn a vCPU uses FP registers
 * as it was told. Prints for each vCPU what ROUNDS turns of all took, in
 * instructions under icount, and what the hypervisor's counters of this vCPU
 * say about its own turns.
 *
 * Arguments: touch=LIST and touch1=LIST, for vCPU 0 and the others: a letter
 * for each use in a turn, n nothing, f scalar, l LSX or FPSIMD, x LASX or SVE;
 * turns that differ separated by commas, repeated. rounds=N (default 1000);
 * by=yield: turns end with the hypercall; by=token: two vCPUs wake each other.
 */
#include <stdio.h>
#include <string.h>
#include "check.h"
#include "fpuse.h"
#include "guest.h"
#include "hcall.h"
#include "smp.h"
#include "timer.h"

#define WARM	20	/* turns before */
#define MORE	40	/* turns after, for those that still measure */

enum { TRAPS, SAVES, LOADS, WIDENS, BYTES, COUNTERS };

static const char *const names[COUNTERS] = { "traps", "saves", "loads",
					     "widens", "bytes" };
static const unsigned indices[COUNTERS] = {
	NESTLING_STAT_FP_TRAPS, NESTLING_STAT_FP_SAVES, NESTLING_STAT_FP_LOADS,
	NESTLING_STAT_FP_WIDENS, NESTLING_STAT_FP_BYTES
};

static struct {
	alignas(64) uint64_t count[COUNTERS];
	uint64_t ticks;
} result[MAX_VCPUS];

static uint64_t rounds;
static bool by_token;
static const char *touch[2];

/* Uses FP as the next turn of the list says; returns the one after it. */
static const char *use(const char *list, const char *at)
{
	for (; *at && *at != ','; at++)
		fp_use(*at);
	return *at ? at + 1 : list;
}

static void end_turn(unsigned self)
{
	if (!by_token) {
		nestling(NESTLING_YIELD, 0);
		return;
	}
	token_send(!self);
	token_wait();
}

static const char *turns(unsigned self, const char *at, uint64_t n)
{
	const char *list = touch[self != 0];

	while (n--) {
		at = use(list, at);
		end_turn(self);
	}
	return at;
}

static void counters(uint64_t *out)
{
	for (unsigned i = 0; i < COUNTERS; i++)
		out[i] = (uint64_t)nestling(NESTLING_STAT, indices[i]);
}

static void take_turns(void)
{
	unsigned self = vcpu_id();
	const char *at = touch[self != 0];
	uint64_t before[COUNTERS], after[COUNTERS], start;

	fp_use_all();
	token_listen();
	if (by_token && self)
		token_wait();
	at = turns(self, at, WARM);
	counters(before);
	start = now();
	at = turns(self, at, rounds);
	result[self].ticks = now() - start;
	counters(after);
	turns(self, at, MORE);
	/* The other one has waited once before its first turn. */
	if (by_token && !self)
		token_send(1);
	for (unsigned i = 0; i < COUNTERS; i++)
		result[self].count[i] = after[i] - before[i];
}

static void report_vcpu(unsigned id)
{
	printf("FP vcpu %u rounds %lu instructions %lu", id, rounds,
	       result[id].ticks * INSTRUCTIONS_PER_TICK);
	for (unsigned i = 0; i < COUNTERS; i++)
		printf(" %s %lu", names[i], result[id].count[i]);
	printf("\n");
}

int main(int, char **)
{
	on_nestling();
	rounds = arg_u64("rounds", 1000);
	by_token = strcmp(arg_str("by", "yield"), "token") == 0;
	touch[0] = arg_str("touch", "n");
	touch[1] = arg_str("touch1", touch[0]);
	if (by_token && machine.nr_vcpus != 2)
		return 2;
	smp_boot(take_turns);
	take_turns();
	smp_join();
	for (unsigned i = 0; i < machine.nr_vcpus; i++)
		report_vcpu(i);
	return 0;
}
