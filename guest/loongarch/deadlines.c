// SPDX-License-Identifier: BSD-2-Clause
/*
 * The timer of every vCPU at once: random distances, one-shot and periodic, met
 * while spinning, masked or in IDLE, stopped or changed at the last moment, and
 * after moves to another CPU. One-shots come once and never early, a periodic
 * timer not more often than time allows, a stopped one not at all. How late is
 * printed, for the machine below may have other things to do.
 *
 * Arguments: shots=N for each vCPU (default 500); seed=S.
 */
#include <stdio.h>
#include "check.h"
#include "hcall.h"
#include "irq.h"
#include "random.h"
#include "smp.h"
#include "timer.h"

#define MAX_US	2000
#define LOST_US	20000000

enum { SPIN, MASKED, SLEEP, WAYS };

/* One for each vCPU, written by it alone. */
static struct state {
	alignas(64) uint64_t random;
	volatile unsigned fired;
	volatile uint64_t fired_at;
	uint64_t early, again, lost, stopped, often, readback;
	uint64_t worst, shots, moves;
} states[MAX_VCPUS];

static uint64_t shots, seed;
static unsigned nr_cpus;

static void on_timer([[maybe_unused]] unsigned intid)
{
	struct state *s = &states[vcpu_id()];

	s->fired_at = now();
	s->fired++;
}

/* To a random CPU, with whatever is armed or pending. */
static void move(struct state *s)
{
	if (nr_cpus > 1 && random_below(&s->random, 4) == 0 &&
	    nestling(NESTLING_MIGRATE, random_below(&s->random, nr_cpus)) == 0)
		s->moves++;
}

/* Some time of the given way, in which interrupts may come. */
static void pass_time(unsigned way)
{
	uint64_t end = now() + us_to_ticks(100);

	if (way == SLEEP) {
		irq_wait();
		return;
	}
	if (way == SPIN)
		irq_enable();
	while (now() < end && !(csr_read(CSR_ESTAT) & ESTAT_TI))
		;
	irq_disable();
	irq_take();
}

static void one_shot(struct state *s)
{
	uint64_t ticks = us_to_ticks(random_below(&s->random, MAX_US)) & ~3ull;
	unsigned way = random_below(&s->random, WAYS);
	uint64_t start = now(), limit = start + us_to_ticks(LOST_US);

	s->fired = 0;
	csr_write(CSR_TCFG, ticks | TCFG_EN);
	move(s);
	while (!s->fired && now() < limit)
		pass_time(way);
	s->lost += !s->fired;
	s->early += s->fired && s->fired_at < start + ticks;
	/* Hardware leaves EN as it is, QEMU clears it. */
	s->readback += (csr_read(CSR_TCFG) | TCFG_EN) != (ticks | TCFG_EN);
	delay_us(20);
	irq_take();
	s->again += s->fired > 1;
	if (s->fired && s->fired_at - start - ticks > s->worst)
		s->worst = s->fired_at - start - ticks;
	s->shots++;
}

/* What is stopped, or put off, around the moment it is due does not come after
 * its pending bit was cleared. */
static void stopped(struct state *s)
{
	uint64_t ticks = us_to_ticks(20 + random_below(&s->random, 40)) & ~3ull;
	uint64_t end = now() + ticks + random_below(&s->random, 200);

	s->fired = 0;
	csr_write(CSR_TCFG, ticks | TCFG_EN);
	while (now() < end)
		;
	csr_write(CSR_TCFG, random_below(&s->random, 2) ?
				    0 :
				    TCFG_INITVAL | TCFG_EN);
	csr_write(CSR_TICLR, TICLR_CLR);
	move(s);
	delay_us(100);
	irq_take();
	s->stopped += s->fired;
	csr_write(CSR_TCFG, 0);
}

static void periodic(struct state *s)
{
	uint64_t ticks = us_to_ticks(100 + random_below(&s->random, 400)) &
			 ~3ull;
	unsigned want = 1 + random_below(&s->random, 5);
	unsigned way = random_below(&s->random, WAYS);
	uint64_t start = now(), limit = start + us_to_ticks(LOST_US), passed;

	s->fired = 0;
	csr_write(CSR_TCFG, ticks | TCFG_PERIODIC | TCFG_EN);
	move(s);
	while (s->fired < want && now() < limit)
		pass_time(way);
	s->readback += csr_read(CSR_TCFG) !=
		       (ticks | TCFG_PERIODIC | TCFG_EN);
	s->readback += csr_read(CSR_TVAL) > ticks;
	timer_off(TIMER_VIRT);
	passed = now() - start;
	s->lost += s->fired < want;
	s->often += s->fired > passed / ticks;
}

static void run(void)
{
	struct state *s = &states[vcpu_id()];

	s->random = random_start(seed, vcpu_id());
	irq_on(machine.vtimer_irq, on_timer);
	for (uint64_t i = 0; i < shots; i++) {
		switch (random_below(&s->random, 8)) {
		case 0:
			periodic(s);
			break;
		case 1:
			stopped(s);
			break;
		default:
			one_shot(s);
			break;
		}
	}
}

int main(int, char **)
{
	struct state sum = { 0 };

	shots = arg_u64("shots", 500);
	seed = arg_u64("seed", 1);
	while (nestling(NESTLING_MIGRATE, nr_cpus) == 0)
		nr_cpus++;
	CHECK_EQ(smp_boot(run), machine.nr_vcpus - 1, "all-started");
	run();
	smp_join();
	for (unsigned i = 0; i < MAX_VCPUS; i++) {
		const struct state *s = &states[i];

		sum.early += s->early;
		sum.again += s->again;
		sum.lost += s->lost;
		sum.stopped += s->stopped;
		sum.often += s->often;
		sum.readback += s->readback;
		sum.moves += s->moves;
		sum.shots += s->shots;
		sum.worst = s->worst > sum.worst ? s->worst : sum.worst;
	}
	say("deadlines: %lu shots, worst %lu us late, %u CPUs, %lu moves",
	    sum.shots, ticks_to_us(sum.worst), nr_cpus, sum.moves);
	CHECK(sum.shots > 0, "shots");
	CHECK(sum.moves > 0 || nr_cpus < 2, "moved");
	CHECK_EQ(sum.early, 0, "never-early");
	CHECK_EQ(sum.again, 0, "once");
	CHECK_EQ(sum.lost, 0, "never-lost");
	CHECK_EQ(sum.stopped, 0, "stopped-is-silent");
	CHECK_EQ(sum.often, 0, "period-is-kept");
	CHECK_EQ(sum.readback, 0, "registers");
	CHECK_EQ(irq_spurious(), 0, "no-stray-interrupt");
	return report();
}
