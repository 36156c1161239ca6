// SPDX-License-Identifier: BSD-2-Clause
/*
 * A storm of SGIs, every vCPU to every other and to itself, with 15 numbers at
 * once. Two SGIs of one number pending at one vCPU are one, so a sender first
 * takes the slot of (vCPU, number), and the handler gives it back: then each
 * SGI sent must come exactly once. The slot is free while the SGI is still
 * active, so that the next one often meets it active. The last number goes to
 * all others at once.
 *
 * Arguments: count=N SGIs of all vCPUs together (default 100000); seed=S;
 * all=N rounds of the one to all (default 20).
 */
#include <stdio.h>
#include "check.h"
#include "irq.h"
#include "random.h"
#include "smp.h"
#include "timer.h"

#define NR_SGIS		16
#define SGI_ALL		(NR_SGIS - 1)
#define LIMIT_US	20000000

/* 1 while an SGI is on its way, by receiver and number. */
static unsigned on_its_way[MAX_VCPUS][NR_SGIS];

/* Each written by its vCPU alone. */
static struct {
	alignas(64) uint64_t sent;
	uint64_t taken;
	uint64_t twice;
	uint64_t full;		/* found no free slot */
	uint64_t naps;
	unsigned numbers;	/* bit for each SGI number that came */
} stats[MAX_VCPUS];

static struct barrier barrier;
static uint64_t count, seed;
static unsigned nr;

static void on_sgi(unsigned intid)
{
	unsigned self = vcpu_id();

	if (__atomic_exchange_n(&on_its_way[self][intid], 0, __ATOMIC_ACQ_REL))
		stats[self].taken++;
	else
		stats[self].twice++;
	stats[self].numbers |= 1u << intid;
}

static void on_timer([[maybe_unused]] unsigned intid)
{
	timer_off(TIMER_VIRT);
}

static bool take_slot(unsigned to, unsigned intid)
{
	unsigned free = 0;

	return __atomic_compare_exchange_n(&on_its_way[to][intid], &free, 1,
					   false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

/* Sends one SGI to somebody who has room for it. */
static void send_one(uint64_t *random)
{
	unsigned self = vcpu_id();

	for (;;) {
		uint64_t mpidr = machine.mpidr[random_below(random, nr)];
		unsigned intid = random_below(random, SGI_ALL);

		if (take_slot(vcpu_of(mpidr), intid)) {
			sgi_to(mpidr, intid);
			stats[self].sent++;
			return;
		}
		stats[self].full++;
		irq_take();
	}
}

/* Sleeps until an SGI or a timer comes. */
static void nap(uint64_t *random)
{
	timer_at(TIMER_VIRT, now() + us_to_ticks(random_below(random, 200)));
	irq_wait();
	stats[vcpu_id()].naps++;
}

/*
 * Sends this vCPU's part. Interrupts are taken now after each, now after many,
 * so that they also meet more pending ones than there are list registers.
 */
static void storm(void)
{
	uint64_t random = random_start(seed, vcpu_id());
	uint64_t mine = count / nr;

	while (stats[vcpu_id()].sent < mine) {
		unsigned batch = 1 + random_below(&random, 24);

		while (batch-- && stats[vcpu_id()].sent < mine)
			send_one(&random);
		irq_take();
		if (random_below(&random, 8) == 0)
			nap(&random);
	}
	timer_off(TIMER_VIRT);
}

/* How many SGIs are still on their way when they had time enough. */
static unsigned left_over(void)
{
	uint64_t end = now() + us_to_ticks(LIMIT_US);
	unsigned left;

	do {
		left = 0;
		for (unsigned i = 0; i < MAX_VCPUS; i++)
			for (unsigned k = 0; k < NR_SGIS; k++)
				left += __atomic_load_n(&on_its_way[i][k],
							__ATOMIC_ACQUIRE);
	} while (left && now() < end);
	return left;
}

static void test_broadcast(uint64_t rounds)
{
	uint64_t done = 0;

	while (done < rounds) {
		for (unsigned i = 1; i < nr; i++)
			if (take_slot(vcpu_of(machine.mpidr[i]), SGI_ALL))
				stats[vcpu_id()].sent++;
		sgi_others(SGI_ALL);
		if (left_over())
			break;
		done++;
	}
	CHECK_EQ(done, rounds, "sgi-to-all-comes-to-each");
}

static void take_part(void)
{
	for (unsigned i = 0; i < NR_SGIS; i++)
		irq_on(i, on_sgi);
	irq_on(machine.vtimer_irq, on_timer);
	barrier_wait(&barrier, nr);
	storm();
	irq_enable();
	barrier_wait(&barrier, nr);
}

static void other(void)
{
	take_part();
	/* Until vCPU 0 has seen the last one arrive. */
	barrier_wait(&barrier, nr);
	irq_disable();
}

static void summary(uint64_t ticks)
{
	uint64_t sent = 0, taken = 0, twice = 0, full = 0, naps = 0;
	unsigned deaf = 0;

	for (unsigned i = 0; i < nr; i++) {
		unsigned id = vcpu_of(machine.mpidr[i]);

		sent += stats[id].sent;
		taken += stats[id].taken;
		twice += stats[id].twice;
		full += stats[id].full;
		naps += stats[id].naps;
		deaf += (stats[id].numbers & 0x7fff) != 0x7fff;
	}
	say("ipi: %lu SGIs in %lu ms, %lu naps, %lu times no slot free", sent,
	    ticks_to_us(ticks) / 1000, naps, full);
	CHECK_EQ(taken, sent, "each-sent-is-taken");
	CHECK_EQ(twice, 0, "none-comes-twice");
	if (count / nr >= 1000)
		CHECK_EQ(deaf, 0, "all-numbers-come-to-all");
}

int main(int, char **)
{
	uint64_t start;

	count = arg_u64("count", 100000);
	seed = arg_u64("seed", 1);
	nr = machine.nr_vcpus;
	if (!CHECK_EQ(smp_boot(other), nr - 1, "all-started"))
		return report();
	start = now();
	take_part();
	start = now() - start;
	CHECK_EQ(left_over(), 0, "none-is-lost");
	test_broadcast(nr > 1 ? arg_u64("all", 20) : 0);
	barrier_wait(&barrier, nr);
	smp_join();
	summary(start);
	CHECK_EQ(irq_spurious(), 0, "no-stray-interrupt");
	return report();
}
