// SPDX-License-Identifier: BSD-2-Clause
/*
 * Several vCPUs: who they are, interrupts between them with sleep in between,
 * and memory that they fight for. With one vCPU only the first part runs.
 *
 * Arguments: rounds=N of the ping-pong with each other vCPU (default 2000);
 * count=N increments under each lock by each vCPU (default 20000).
 */
#include <stdio.h>
#include "check.h"
#include "irq.h"
#include "smp.h"
#include "timer.h"

#define SGI_PING	1
#define SGI_PONG	2
#define SGI_ALL		3
#define STALL_US	2000000
#define STALL_LIMIT	20

static uint64_t rounds, count;
static struct barrier barrier;
static unsigned nr;

static volatile bool stop[MAX_VCPUS];
static unsigned pings[MAX_VCPUS], alls[MAX_VCPUS];
static unsigned pongs;
static volatile bool timed_out;
static bool known[MAX_VCPUS];

static void on_ping([[maybe_unused]] unsigned intid)
{
	__atomic_add_fetch(&pings[vcpu_id()], 1, __ATOMIC_RELEASE);
	sgi_to(machine.mpidr[0], SGI_PONG);
}

static void on_pong([[maybe_unused]] unsigned intid)
{
	__atomic_add_fetch(&pongs, 1, __ATOMIC_RELEASE);
}

static void on_all([[maybe_unused]] unsigned intid)
{
	__atomic_add_fetch(&alls[vcpu_id()], 1, __ATOMIC_RELEASE);
}

static void on_timer([[maybe_unused]] unsigned intid)
{
	timer_off(TIMER_VIRT);
	timed_out = true;
}

/* --- who ------------------------------------------------------------------ */

/* Does the calling vCPU find itself in the tree? */
static void note_self(void)
{
	unsigned id = vcpu_id();

	for (unsigned i = 0; i < nr; i++)
		if (vcpu_of(machine.mpidr[i]) == id)
			known[id] = vcpu_is(machine.mpidr[i]);
}

static void test_identity(void)
{
	unsigned wrong = 0, same = 0;

	for (unsigned i = 0; i < nr; i++) {
		wrong += !known[vcpu_of(machine.mpidr[i])];
		for (unsigned k = 0; k < i; k++)
			same += machine.mpidr[k] == machine.mpidr[i];
	}
	CHECK_EQ(wrong, 0, "number-is-what-the-tree-says");
	CHECK_EQ(same, 0, "number-unique");
}

/* --- interrupts ----------------------------------------------------------- */

/* One round trip; false after a long silence, in which nothing came back. */
static bool ping(uint64_t mpidr, uint64_t *worst, unsigned *stalls)
{
	unsigned before = __atomic_load_n(&pongs, __ATOMIC_ACQUIRE);
	uint64_t start = now();

	sgi_to(mpidr, SGI_PING);
	while (__atomic_load_n(&pongs, __ATOMIC_ACQUIRE) == before) {
		timed_out = false;
		timer_at(TIMER_VIRT, now() + us_to_ticks(STALL_US));
		while (__atomic_load_n(&pongs, __ATOMIC_ACQUIRE) == before &&
		       !timed_out)
			irq_wait();
		if (timed_out && ++*stalls > STALL_LIMIT)
			return false;
	}
	timer_off(TIMER_VIRT);
	if (now() - start > *worst)
		*worst = now() - start;
	return true;
}

static void test_ping_pong(unsigned id, uint64_t mpidr)
{
	uint64_t worst = 0, start = now(), done = 0;
	unsigned stalls = 0;

	while (done < rounds && ping(mpidr, &worst, &stalls))
		done++;
	CHECK_EQ(done, rounds, "vcpu%u-ping-pong", id);
	CHECK_EQ(pings[id], done, "vcpu%u-pings-counted", id);
	say("smp: vcpu %u, %lu round trips of %lu us, worst %lu us, %u stalls",
	    id, done, done ? ticks_to_us(now() - start) / done : 0,
	    ticks_to_us(worst), stalls);
	/* The machine below may be busy: a stall now and then is its own. */
	CHECK_IN(stalls, 0, 3, "vcpu%u-stalls", id);
}

static void test_broadcast(void)
{
	unsigned wrong = 0;

	for (unsigned round = 1; round <= 20; round++) {
		uint64_t end = now() + 2 * timer_freq();

		sgi_others(SGI_ALL);
		for (unsigned i = 1; i < nr; i++) {
			unsigned id = vcpu_of(machine.mpidr[i]);

			while (__atomic_load_n(&alls[id], __ATOMIC_ACQUIRE) <
				       round &&
			       now() < end)
				;
			wrong += alls[id] != round;
		}
	}
	irq_take();
	CHECK_EQ(wrong, 0, "broadcast-reaches-all-once");
	CHECK_EQ(alls[vcpu_id()], 0, "broadcast-not-to-self");
}

/* --- memory --------------------------------------------------------------- */

static struct spinlock lock;
static volatile uint64_t plain;
static uint64_t exclusive, atomic;

static void fight(void)
{
	barrier_wait(&barrier, nr);
	for (uint64_t i = 0; i < count; i++) {
		spin_lock(&lock);
		plain = plain + 1;
		spin_unlock(&lock);
		add_exclusive(&exclusive);
		__atomic_add_fetch(&atomic, 1, __ATOMIC_RELAXED);
	}
	barrier_wait(&barrier, nr);
}

static void test_memory(void)
{
	uint64_t start = now();

	fight();
	CHECK_EQ(plain, nr * count, "lock");
	CHECK_EQ(exclusive, nr * count, "exclusives");
	CHECK_EQ(atomic, nr * count, "atomics");
	say("smp: %lu increments each in %lu ms", nr * count,
	    ticks_to_us(now() - start) / 1000);
}

/* -------------------------------------------------------------------------- */

static void other(void)
{
	unsigned id = vcpu_id();

	note_self();
	irq_on(SGI_PING, on_ping);
	irq_on(SGI_ALL, on_all);
	barrier_wait(&barrier, nr);
	while (!stop[id])
		irq_wait();
	fight();
}

/* Sends the others on, who sleep with interrupts masked between wakes. */
static void stop_all(void)
{
	for (unsigned i = 1; i < nr; i++)
		stop[vcpu_of(machine.mpidr[i])] = true;
	dsb();
	sgi_others(SGI_ALL);
}

int main(int, char **)
{
	rounds = arg_u64("rounds", 2000);
	count = arg_u64("count", 20000);
	nr = machine.nr_vcpus;
	note_self();
	if (!CHECK_EQ(smp_boot(other), nr - 1, "all-started"))
		return report();
	irq_on(SGI_PONG, on_pong);
	irq_on(SGI_ALL, on_all);
	irq_on(machine.vtimer_irq, on_timer);
	barrier_wait(&barrier, nr);
	test_identity();
	if (nr == 1) {
		skip("the-rest", "the VM has one vCPU");
		return report();
	}
	for (unsigned i = 1; i < nr; i++)
		test_ping_pong(vcpu_of(machine.mpidr[i]), machine.mpidr[i]);
	test_broadcast();
	stop_all();
	test_memory();
	smp_join();
	CHECK_EQ(irq_spurious(), 0, "no-stray-interrupt");
	return report();
}
