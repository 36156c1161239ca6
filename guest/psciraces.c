// SPDX-License-Identifier: BSD-2-Clause
/*
 * PSCI calls that meet: several callers switch one vCPU on, and exactly one of
 * them does it; AFFINITY_INFO while it comes and goes; and a baton that each
 * vCPU hands on by starting the next one and going off itself, the boot vCPU
 * included.
 *
 * Arguments: rounds=N of the first (default 300); laps=N of the baton (default
 * 100).
 */
#include <stdio.h>
#include <stdlib.h>
#include "check.h"
#include "hcall.h"
#include "irq.h"
#include "smp.h"
#include "timer.h"

#define MAX_CALLERS	4
#define LIMIT_US	20000000

enum { IS_ON, IS_OFF, IS_PENDING };

static struct barrier barrier;
static unsigned nr, nr_callers, target;
static uint64_t rounds, laps;

static volatile int64_t results[MAX_CALLERS];
static unsigned runs;			/* of the target */
static volatile uint64_t release;	/* the round it may end */
static struct {
	uint64_t winners, losers, wrong, stuck, states;
} counts;

static int32_t affinity(unsigned id)
{
	return (int32_t)psci(PSCI_AFFINITY_INFO | PSCI_64, mpidr_of(id), 0, 0);
}

/* Waits for the vCPU to be off; counts answers that no state has. */
static bool wait_off(unsigned id)
{
	uint64_t end = now() + us_to_ticks(LIMIT_US);
	int32_t state;

	while ((state = affinity(id)) != IS_OFF) {
		counts.states += state != IS_ON && state != IS_PENDING;
		if (now() > end)
			return false;
	}
	return true;
}

/* --- several callers ------------------------------------------------------ */

static void come_and_go(void)
{
	uint64_t run = __atomic_add_fetch(&runs, 1, __ATOMIC_RELEASE);

	while (release < run)
		;
}

/* Judged by the first caller when all have called. */
static void judge(uint64_t round)
{
	unsigned winners = 0;

	for (unsigned i = 0; i < nr_callers; i++) {
		if (results[i] == PSCI_SUCCESS)
			winners++;
		else if ((int32_t)results[i] == PSCI_ALREADY_ON ||
			 (int32_t)results[i] == PSCI_ON_PENDING)
			counts.losers++;
		else
			counts.wrong++;
	}
	counts.winners += winners == 1;
	release = round;
	counts.stuck += !wait_off(target);
	counts.wrong += __atomic_load_n(&runs, __ATOMIC_ACQUIRE) != round;
}

static void call_rounds(unsigned caller)
{
	for (uint64_t round = 1; round <= rounds; round++) {
		barrier_wait(&barrier, nr_callers);
		results[caller] = vcpu_power_on(target);
		barrier_wait(&barrier, nr_callers);
		if (caller == 0)
			judge(round);
	}
}

static unsigned callers;

static void call(void)
{
	call_rounds(__atomic_add_fetch(&callers, 1, __ATOMIC_RELAXED));
}

static void test_callers(void)
{
	nr_callers = nr - 1 < MAX_CALLERS ? nr - 1 : MAX_CALLERS;
	target = vcpu_of(machine.mpidr[nr - 1]);
	vcpu_prepare(target, come_and_go);
	for (unsigned i = 1; i < nr_callers; i++)
		vcpu_start(vcpu_of(machine.mpidr[i]), call);
	call_rounds(0);
	for (unsigned i = 1; i < nr_callers; i++)
		wait_off(vcpu_of(machine.mpidr[i]));
	say("psciraces: %u callers, %lu rounds, %lu too late", nr_callers,
	    rounds, counts.losers);
	CHECK_EQ(counts.winners, rounds, "exactly-one-success");
	CHECK_EQ(counts.losers, rounds * (nr_callers - 1), "others-are-told");
	CHECK_EQ(counts.wrong, 0, "each-success-runs-once");
	CHECK_EQ(counts.stuck, 0, "goes-off");
	CHECK_EQ(counts.states, 0, "affinity-info-values");
}

/* --- the baton ------------------------------------------------------------ */

static uint64_t handed;		/* how often the baton changed hands */
static volatile unsigned holders;
static uint64_t two_holders, late_off;

[[noreturn]] static void finish(void)
{
	CHECK_EQ(handed, laps * nr, "baton-laps");
	CHECK_EQ(two_holders, 0, "baton-has-one-holder");
	CHECK_EQ(late_off, 0, "next-is-off");
	CHECK_EQ(irq_spurious(), 0, "no-stray-interrupt");
	exit(report());
}

/*
 * The holder gives the baton up, then starts the next vCPU, which may still be
 * on its way off from its last turn, and goes off when it returns.
 */
static void hand_on(void)
{
	unsigned index = 0, next;

	two_holders += __atomic_add_fetch(&holders, 1, __ATOMIC_ACQ_REL) != 1;
	if (handed == laps * nr)
		finish();
	while (vcpu_of(machine.mpidr[index]) != vcpu_id())
		index++;
	next = vcpu_of(machine.mpidr[(index + 1) % nr]);
	handed++;
	late_off += !wait_off(next);
	__atomic_sub_fetch(&holders, 1, __ATOMIC_ACQ_REL);
	if (vcpu_start(next, hand_on) != PSCI_SUCCESS) {
		say("psciraces: vCPU %u cannot be started", next);
		guest_exit(1);
	}
}

/* -------------------------------------------------------------------------- */

int main(int, char **)
{
	rounds = arg_u64("rounds", 300);
	laps = arg_u64("laps", 100);
	nr = machine.nr_vcpus;
	if (nr < 3 || !on_nestling()) {
		skip("everything", "needs three vCPUs, and QEMU's PSCI says "
				   "success to each caller");
		return 0;
	}
	test_callers();
	hand_on();
	irq_disable();
	psci(PSCI_CPU_OFF, 0, 0, 0);
	CHECK(false, "boot-vcpu-goes-off");
	return report();
}
