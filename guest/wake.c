// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sleep against wake-up. Pairs of vCPUs hand a number to and fro; each side
 * sleeps until it comes, by WFI or CPU_SUSPEND with an SGI to wake it, or by
 * WFE with SEV. Random delays on both sides move the wake-up over the moment
 * between the last look and the sleep, and a timer of the sleeper's own often
 * fires in the same moment. Then a barrier of all vCPUs who sleep in it.
 *
 * Only the first of a pair has a timer behind its sleep, so that a wake-up lost
 * on either side is seen and counted. Nothing else would wake the second.
 *
 * Arguments: rounds=N handshakes of all pairs together (default 100000);
 * barriers=N (default 500); seed=S; wfe=N: one sleep in N is by WFE (default 4
 * with two vCPUs, 256 with more).
 */
#include <stdio.h>
#include "check.h"
#include "hcall.h"
#include "irq.h"
#include "random.h"
#include "smp.h"
#include "timer.h"

#define SGI_WAKE	1
#define LOST_US		10000000
#define LOST_LIMIT	3

/* How a side sleeps in one round, and so how it has to be woken. */
enum manner {
	BY_WFI,
	BY_SUSPEND,
	BY_WFI_AND_TIMER,
	BY_WFE,
	MANNERS,
};

/* What one side of a pair waits on and counts. */
static struct side {
	alignas(64) uint64_t word;	/* the last round handed over */
	alignas(64) uint64_t random;
	uint64_t sleeps[MANNERS];
	uint64_t timers;		/* races with a timer */
	uint64_t early;
	uint64_t lost;
	uint64_t worst;			/* ticks of a handshake */
	volatile bool fired;
	volatile bool late;
} sides[MAX_VCPUS];

static struct barrier barrier;
static uint64_t rounds, barriers, seed, wfe_share;
static unsigned nr;
static volatile bool gave_up;

static struct side *self(void)
{
	return &sides[vcpu_id()];
}

static void on_wake([[maybe_unused]] unsigned intid)
{
}

static void on_virt([[maybe_unused]] unsigned intid)
{
	struct side *s = self();

	if (timer_now(TIMER_VIRT) < timer_read_cval(TIMER_VIRT))
		s->early++;
	s->fired = true;
	timer_ctl(TIMER_VIRT, 0);
}

/* The one behind the sleep of a first side. */
static void on_phys([[maybe_unused]] unsigned intid)
{
	self()->late = true;
	timer_ctl(TIMER_PHYS, 0);
}

static void guard_begin(void)
{
	self()->late = false;
	timer_at(TIMER_PHYS, timer_now(TIMER_PHYS) + us_to_ticks(LOST_US));
}

static void guard_end(void)
{
	timer_ctl(TIMER_PHYS, 0);
}

/*
 * Both sides know how a side sleeps in a round. WFE is not an exit on every
 * machine: with more vCPUs than CPUs it then costs whole time slices.
 */
static enum manner manner_of(unsigned id, uint64_t round)
{
	uint64_t hash = (round * 64 + id + seed) * 0x9e3779b97f4a7c15 >> 32;

	if (hash % wfe_share == 0)
		return BY_WFE;
	return (enum manner)(hash >> 8) % BY_WFE;
}

static void dawdle(struct side *s)
{
	unsigned turns = random_below(&s->random, 8) == 0
				 ? random_below(&s->random, 20000)
				 : random_below(&s->random, 300);

	for (volatile unsigned i = 0; i < turns; i++)
		;
}

static void sleep_once(enum manner manner)
{
	if (manner == BY_WFE) {
		wfe();
		return;
	}
	if (manner == BY_SUSPEND) {
		psci(PSCI_CPU_SUSPEND | PSCI_64, 0, 0, 0);
		irq_take();
		return;
	}
	irq_wait();
}

static void hand_over(unsigned to, uint64_t round)
{
	__atomic_store_n(&sides[to].word, round, __ATOMIC_RELEASE);
	if (manner_of(to, round) == BY_WFE)
		sev();
	else
		sgi_to(mpidr_of(to), SGI_WAKE);
}

/* Until the number has come, and the timer too if one takes part. */
static bool all_came(struct side *s, uint64_t round, enum manner manner)
{
	return __atomic_load_n(&s->word, __ATOMIC_ACQUIRE) == round &&
	       (manner != BY_WFI_AND_TIMER || s->fired);
}

static void wait_for(unsigned id, uint64_t round)
{
	struct side *s = &sides[id];
	enum manner manner = manner_of(id, round);

	if (manner == BY_WFI_AND_TIMER) {
		s->fired = false;
		s->timers++;
		timer_at(TIMER_VIRT,
			 now() + us_to_ticks(random_below(&s->random, 100)));
	}
	dawdle(s);
	while (!all_came(s, round, manner) && !s->late && !gave_up) {
		s->sleeps[manner]++;
		sleep_once(manner);
	}
	irq_take();
}

/*
 * A wake-up is lost: says where everything stands, and wakes the other side
 * until it goes on.
 */
static void lost_one(unsigned id, uint64_t round)
{
	struct side *s = &sides[id];

	say("wake: vCPU %u in round %lu has %lu, vCPU %u has %lu (%u, %u)", id,
	    round, s->word, id + 1, sides[id + 1].word, manner_of(id, round),
	    manner_of(id + 1, round));
	if (++s->lost > LOST_LIMIT)
		gave_up = true;
	while (!all_came(s, round, BY_WFI) && !gave_up) {
		sev();
		sgi_to(mpidr_of(id + 1), SGI_WAKE);
		delay_us(1000);
	}
	if (gave_up) {
		sev();
		sgi_others(SGI_WAKE);
	}
}

/* The side that begins, and looks whether the answer comes. */
static void first(unsigned id, uint64_t count)
{
	struct side *s = &sides[id];

	for (uint64_t round = 1; round <= count && !gave_up; round++) {
		uint64_t start = now();

		guard_begin();
		hand_over(id + 1, round);
		wait_for(id, round);
		guard_end();
		if (s->late)
			lost_one(id, round);
		if (now() - start > s->worst)
			s->worst = now() - start;
		dawdle(s);
	}
}

static void second(unsigned id, uint64_t count)
{
	for (uint64_t round = 1; round <= count && !gave_up; round++) {
		wait_for(id, round);
		dawdle(&sides[id]);
		hand_over(id - 1, round);
	}
}

/* --- all together --------------------------------------------------------- */

static struct {
	alignas(64) unsigned arrived;
	alignas(64) uint64_t turn;
} meeting;

static void meet(unsigned id, uint64_t turn)
{
	if (__atomic_add_fetch(&meeting.arrived, 1, __ATOMIC_ACQ_REL) == nr) {
		__atomic_store_n(&meeting.arrived, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&meeting.turn, turn, __ATOMIC_RELEASE);
		sgi_others(SGI_WAKE);
		return;
	}
	while (__atomic_load_n(&meeting.turn, __ATOMIC_ACQUIRE) != turn &&
	       !sides[id].late)
		irq_wait();
}

static void meetings(unsigned id)
{
	struct side *s = &sides[id];

	for (uint64_t turn = 1; turn <= barriers; turn++) {
		/* Not in the first, where the pairs wait for each other. */
		if (id == 0 && turn > 1)
			guard_begin();
		dawdle(s);
		meet(id, turn);
		guard_end();
		while (s->late &&
		       __atomic_load_n(&meeting.turn, __ATOMIC_ACQUIRE) !=
			       turn) {
			sgi_others(SGI_WAKE);
			delay_us(1000);
		}
		s->lost += s->late;
		s->late = false;
	}
}

/* -------------------------------------------------------------------------- */

static void take_part(void)
{
	unsigned id = vcpu_id();
	uint64_t each = rounds / (nr / 2);

	sides[id].random = random_start(seed, id);
	irq_on(SGI_WAKE, on_wake);
	irq_on(machine.vtimer_irq, on_virt);
	irq_on(machine.ptimer_irq, on_phys);
	barrier_wait(&barrier, nr);
	if (id % 2)
		second(id, each);
	else if (id + 1 < nr)
		first(id, each);
	sides[id].late = false;
	meetings(id);
}

static void summary(uint64_t ticks)
{
	uint64_t sleeps[MANNERS] = { 0 }, timers = 0, early = 0, lost = 0;
	uint64_t worst = 0, done = ~0ull;

	for (unsigned i = 0; i < nr; i++) {
		const struct side *s = &sides[i];

		for (unsigned m = 0; m < MANNERS; m++)
			sleeps[m] += s->sleeps[m];
		timers += s->timers;
		early += s->early;
		lost += s->lost;
		worst = s->worst > worst ? s->worst : worst;
		if (i < nr / 2 * 2 && s->word < done)
			done = s->word;
	}
	say("wake: %lu handshakes of %u pairs in %lu ms, worst %lu us",
	    done * (nr / 2), nr / 2, ticks_to_us(ticks) / 1000,
	    ticks_to_us(worst));
	say("wake: %lu WFI, %lu with a timer, %lu CPU_SUSPEND, %lu WFE",
	    sleeps[BY_WFI], sleeps[BY_WFI_AND_TIMER], sleeps[BY_SUSPEND],
	    sleeps[BY_WFE]);
	CHECK_EQ(lost, 0, "no-wake-up-lost");
	CHECK_EQ(done, rounds / (nr / 2), "handshakes");
	CHECK_EQ(early, 0, "no-timer-early");
	CHECK(timers > 0 && sleeps[BY_WFI] > 0 && sleeps[BY_SUSPEND] > 0,
	      "slept-in-each-manner");
	CHECK_EQ(meeting.turn, barriers, "meetings");
}

int main(int, char **)
{
	uint64_t start;

	rounds = arg_u64("rounds", 100000);
	barriers = arg_u64("barriers", 500);
	seed = arg_u64("seed", 1);
	nr = machine.nr_vcpus;
	wfe_share = arg_u64("wfe", nr > 2 ? 256 : 4);
	if (nr < 2 || !wfe_share) {
		skip("everything", "needs two vCPUs and wfe=1 or more");
		return 0;
	}
	if (!CHECK_EQ(smp_boot(take_part), nr - 1, "all-started"))
		return report();
	start = now();
	take_part();
	start = now() - start;
	smp_join();
	summary(start);
	CHECK_EQ(irq_spurious(), 0, "no-stray-interrupt");
	return report();
}
