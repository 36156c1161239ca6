// SPDX-License-Identifier: BSD-2-Clause
/*
 * An ordinary guest beside a hostile one: for some seconds it keeps checking
 * its memory, vector registers, thread registers, timer and interrupts, and
 * says whether anything of that was ever touched from outside.
 *
 * Arguments: seconds=N (default 10); vm=K goes into the patterns; late=US is
 * the lateness allowed for its timer (default 0: any).
 */
#include <stdio.h>
#include <stdlib.h>
#include "check.h"
#include "fp.h"
#include "irq.h"
#include "own.h"
#include "smp.h"
#include "timer.h"
#include "trap.h"

#define SGI		5
#define WORDS		(4u << 20 >> 3)
#define FP_TURNS	20000

const bool trap_keeps_fp = FP_KEPT;

static unsigned vm;
static uint64_t *memory;

static struct {
	uint64_t rounds;
	uint64_t memory;
	uint64_t fp;
	uint64_t sysregs;
	uint64_t intc;
	uint64_t sgis;
	uint64_t early;
	uint64_t missed;
	uint64_t worst;
} bad;

static volatile unsigned sgis;
static volatile bool fired;
static volatile uint64_t fired_at;

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

static uint64_t word_of(uint64_t i, uint64_t round)
{
	return (i * 8 + 1) * 0x9e3779b97f4a7c15 ^ (uint64_t)vm << 56 ^ round;
}

static void fill_memory(uint64_t round)
{
	for (uint64_t i = 0; i < WORDS; i++)
		memory[i] = word_of(i, round);
}

static void check_memory(uint64_t round)
{
	for (uint64_t i = 0; i < WORDS; i++)
		bad.memory += memory[i] != word_of(i, round);
}

static void check_fp(uint64_t round)
{
	struct fp_state want, got;

	fp_pattern(&want, vm, round);
	fp_load(&want);
	for (unsigned i = 0; i < FP_TURNS; i++)
		asm volatile("nop");
	wfi();
	fp_store(&got);
	bad.fp |= fp_compare(&want, &got);
}

static void check_sysregs(uint64_t round)
{
	uint64_t want = word_of(round, round);

	own_set(want);
	for (unsigned i = 0; i < FP_TURNS; i++)
		asm volatile("nop");
	bad.sysregs += own_wrong(want);
}

static void check_intc(void)
{
	unsigned before = sgis;
	uint64_t end;

	bad.intc += intc_wrong(SGI, machine.vtimer_irq);
	sgi_to(machine.mpidr[0], SGI);
	irq_enable();
	end = now() + timer_freq() / 10;
	while (sgis == before && now() < end)
		;
	delay_us(50);
	irq_disable();
	bad.sgis += sgis != before + 1;
}

/* A deadline 2 ms ahead; whatever else is checked, it comes. */
static void arm(uint64_t due)
{
	fired = false;
	timer_at(TIMER_VIRT, due);
}

static void check_timer(uint64_t due)
{
	uint64_t limit = due + 5 * timer_freq();

	irq_enable();
	while (!fired && now() < limit)
		;
	irq_disable();
	if (!fired)
		bad.missed++;
	else if (fired_at < due)
		bad.early++;
	else if (fired_at - due > bad.worst)
		bad.worst = fired_at - due;
}

static void one_round(uint64_t round)
{
	uint64_t due = now() + us_to_ticks(2000);

	check_sysregs(round);
	check_intc();
	arm(due);
	check_fp(round);
	check_timer(due);
	check_memory(round);
	fill_memory(round + 1);
	bad.rounds++;
}

int main(int, char **)
{
	uint64_t end = now() + arg_u64("seconds", 10) * timer_freq();
	uint64_t late = arg_u64("late", 0);

	vm = (unsigned)arg_u64("vm", 1);
	memory = malloc(WORDS * 8);
	if (!CHECK(memory != nullptr, "malloc"))
		return report();
	irq_on(SGI, on_sgi);
	irq_on(machine.vtimer_irq, on_timer);
	intc_set();
	fill_memory(0);
	for (uint64_t round = 0; now() < end; round++)
		one_round(round);
	say("neighbour: %lu rounds, timer %lu us late at worst", bad.rounds,
	    ticks_to_us(bad.worst));
	CHECK(bad.rounds > 0, "rounds");
	CHECK_EQ(bad.memory, 0, "memory");
	CHECK_EQ(bad.fp, 0, "vector-registers");
	CHECK_EQ(bad.sysregs, 0, "system-registers");
	CHECK_EQ(bad.intc, 0, "controller-registers");
	CHECK_EQ(bad.sgis, 0, "own-sgis");
	CHECK_EQ(bad.missed, 0, "timer-comes");
	CHECK_EQ(bad.early, 0, "timer-not-early");
	CHECK_EQ(irq_spurious(), 0, "no-stray-interrupt");
	if (late)
		CHECK_IN(ticks_to_us(bad.worst), 0, late, "timer-on-time");
	return report();
}
