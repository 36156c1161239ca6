// SPDX-License-Identifier: BSD-2-Clause
/*
 * Deadlines of both timers on every vCPU at once: random distances, also past
 * ones and two in the same moment, met while spinning, while masked, in WFI or
 * CPU_SUSPEND, and after moves to another CPU. Each must come once and never
 * early; how late is printed as a distribution, for the machine below may have
 * other things to do.
 *
 * Arguments: shots=N for each vCPU (default 1000); seed=S.
 */
#include <stdio.h>
#include "check.h"
#include "hcall.h"
#include "irq.h"
#include "random.h"
#include "smp.h"
#include "timer.h"

#define MAX_US		3000
#define LOST_US		20000000
#define NR_BINS		8
#define FAR		(1ull << 63)

enum { SPIN, SPIN_MASKED, SLEEP, SUSPEND, WAYS };

static const char *const timer_names[] = { "cntv", "cntp" };

/* One for each vCPU, written by it alone. */
static struct state {
	alignas(64) uint64_t random;
	volatile unsigned fired[2];
	volatile uint64_t fired_at[2];
	uint64_t early[2];
	uint64_t again[2];	/* fired more than once */
	uint64_t lost[2];
	uint64_t worst[2];
	uint64_t bins[2][NR_BINS];
	uint64_t moves;
} states[MAX_VCPUS];

static uint64_t shots, seed;
static unsigned nr_cpus;

static void fire(enum timer timer)
{
	struct state *s = &states[vcpu_id()];

	s->fired_at[timer] = timer_now(timer);
	s->fired[timer]++;
	timer_ctl(timer, 0);
}

static void on_virt([[maybe_unused]] unsigned intid)
{
	fire(TIMER_VIRT);
}

static void on_phys([[maybe_unused]] unsigned intid)
{
	fire(TIMER_PHYS);
}

/* To a random CPU, with whatever is armed or pending. */
static void move(struct state *s)
{
	if (nr_cpus < 2)
		return;
	if (nestling(NESTLING_MIGRATE, random_below(&s->random, nr_cpus)) == 0)
		s->moves++;
}

/* Lateness below 10 us, 100 us, ... */
static void put_in_bin(struct state *s, enum timer timer, uint64_t ticks)
{
	uint64_t us = ticks_to_us(ticks);
	unsigned bin = 0;

	for (uint64_t limit = 10; us >= limit && bin < NR_BINS - 1; limit *= 10)
		bin++;
	s->bins[timer][bin]++;
	if (ticks > s->worst[timer])
		s->worst[timer] = ticks;
}

static void judge(struct state *s, enum timer timer, uint64_t armed,
		  uint64_t due)
{
	if (s->fired[timer] == 0) {
		s->lost[timer]++;
		return;
	}
	s->again[timer] += s->fired[timer] > 1;
	if (s->fired_at[timer] < due)
		s->early[timer]++;
	else
		put_in_bin(s, timer,
			   s->fired_at[timer] - (due > armed ? due : armed));
}

/* Some time of the given way, in which interrupts may come. */
static void pass_time(struct state *s, unsigned way, enum timer timer)
{
	uint64_t end = now() + us_to_ticks(200);

	switch (way) {
	case SLEEP:
		irq_wait();
		break;
	case SUSPEND:
		psci(PSCI_CPU_SUSPEND | PSCI_64, 0, 0, 0);
		irq_take();
		break;
	case SPIN:
		irq_enable();
		while (!s->fired[timer] && now() < end)
			;
		irq_disable();
		break;
	default:
		while (!(timer_read_ctl(timer) & TIMER_ISTATUS) && now() < end)
			;
		irq_take();
		break;
	}
}

/* The other timer ends the sleep when this one does not come at all. */
static void await(struct state *s, enum timer timer, unsigned way)
{
	enum timer other = !timer;
	uint64_t limit = now() + us_to_ticks(LOST_US);

	while (!s->fired[timer] && now() < limit) {
		if (s->fired[other] || timer_read_ctl(other) == 0)
			timer_at(other, timer_now(other) +
						us_to_ticks(LOST_US + 1000000));
		pass_time(s, way, timer);
	}
}

/* Nothing comes of a deadline in the far future, here or elsewhere. */
static void far_away(struct state *s, enum timer timer)
{
	timer_at(timer, FAR);
	move(s);
	delay_us(50);
	irq_take();
	s->again[timer] += s->fired[timer];
}

static uint64_t random_deadline(struct state *s, enum timer timer)
{
	uint64_t ticks = us_to_ticks(random_below(&s->random, MAX_US));

	switch (random_below(&s->random, 8)) {
	case 0:
		return 0;
	case 1:
		return timer_now(timer) - ticks;
	case 2:
	case 3:
		return timer_now(timer) + us_to_ticks(20);
	default:
		return timer_now(timer) + ticks;
	}
}

static void one_shot(struct state *s)
{
	enum timer timer = random_below(&s->random, 2);
	enum timer other = !timer;
	bool both = random_below(&s->random, 3) == 0;
	unsigned way = random_below(&s->random, WAYS);
	uint64_t armed[2], due[2];

	s->fired[0] = s->fired[1] = 0;
	if (random_below(&s->random, 16) == 0)
		far_away(s, timer);
	due[timer] = random_deadline(s, timer);
	armed[timer] = timer_now(timer);
	timer_at(timer, due[timer]);
	if (both) {
		due[other] = due[timer];
		armed[other] = timer_now(other);
		timer_at(other, due[other]);
	}
	if (random_below(&s->random, 4) == 0)
		move(s);
	await(s, timer, way);
	if (both) {
		if (!s->fired[other])
			await(s, other, way);
		judge(s, other, armed[other], due[other]);
	}
	timer_ctl(timer, 0);
	timer_ctl(other, 0);
	irq_take();
	judge(s, timer, armed[timer], due[timer]);
}

static void run(void)
{
	struct state *s = &states[vcpu_id()];

	s->random = random_start(seed, vcpu_id());
	irq_on(machine.vtimer_irq, on_virt);
	irq_on(machine.ptimer_irq, on_phys);
	for (uint64_t i = 0; i < shots; i++)
		one_shot(s);
}

static void summary(enum timer timer)
{
	static const char *const limits[NR_BINS] = { "10us", "100us", "1ms",
						     "10ms", "100ms", "1s",
						     "10s", "more" };
	uint64_t early = 0, again = 0, lost = 0, worst = 0, all = 0, half = 0;
	const char *name = timer_names[timer];
	uint64_t bins[NR_BINS] = { 0 };
	unsigned middle = 0;

	for (unsigned i = 0; i < MAX_VCPUS; i++) {
		const struct state *s = &states[i];

		early += s->early[timer];
		again += s->again[timer];
		lost += s->lost[timer];
		worst = s->worst[timer] > worst ? s->worst[timer] : worst;
		for (unsigned b = 0; b < NR_BINS; b++) {
			bins[b] += s->bins[timer][b];
			all += s->bins[timer][b];
		}
	}
	for (; middle < NR_BINS - 1; middle++)
		if ((half += bins[middle]) * 2 >= all)
			break;
	CHECK_EQ(early, 0, "%s-never-early", name);
	CHECK_EQ(again, 0, "%s-once", name);
	CHECK_EQ(lost, 0, "%s-never-lost", name);
	say("deadlines: %s %lu shots, half less than %s late, worst %lu us",
	    name, all, limits[middle], ticks_to_us(worst));
	for (unsigned b = 0; b < NR_BINS; b++)
		if (bins[b])
			say("deadlines: %s %lu < %s", name, bins[b], limits[b]);
	CHECK(all > 0, "%s-fired", name);
}

int main(int, char **)
{
	uint64_t moves = 0;

	shots = arg_u64("shots", 1000);
	seed = arg_u64("seed", 1);
	while (nestling(NESTLING_MIGRATE, nr_cpus) == 0)
		nr_cpus++;
	CHECK_EQ(smp_boot(run), machine.nr_vcpus - 1, "all-started");
	run();
	smp_join();
	for (unsigned i = 0; i < MAX_VCPUS; i++)
		moves += states[i].moves;
	say("deadlines: %u CPUs, %lu moves", nr_cpus, moves);
	CHECK(moves > 0 || nr_cpus < 2, "moved");
	summary(TIMER_VIRT);
	summary(TIMER_PHYS);
	CHECK_EQ(irq_spurious(), 0, "no-stray-interrupt");
	return report();
}
