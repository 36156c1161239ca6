// SPDX-License-Identifier: BSD-2-Clause
/*
 * One lock, wanted by all vCPUs all the time: a plain spin lock, a ticket lock
 * whose waiters use WFE, and a spin lock whose waiters yield to the hypervisor.
 * Whoever holds it may lose its CPU, and with tickets so may the next in line;
 * everybody must get on all the same. What each vCPU got is printed.
 *
 * Arguments: ms=N for each lock (default 1000).
 */
#include <stdio.h>
#include "check.h"
#include "hcall.h"
#include "random.h"
#include "smp.h"
#include "timer.h"

#define LIMIT_US	120000000
#define WORDS		64

enum kind { SPIN, TICKET, YIELD, KINDS };

static const char *const names[] = { "spin", "ticket", "yield" };

static struct {
	alignas(64) unsigned next;	/* tickets given out, or 1: locked */
	alignas(64) unsigned serving;
} lock;

/* Under the lock. All words are equal whenever it is free. */
static volatile uint64_t words[WORDS];
static uint64_t torn;

static uint64_t got[MAX_VCPUS];	/* times each vCPU had the lock */
static struct barrier barrier;
static uint64_t deadline, limit;
static unsigned nr;

static bool try_lock(void)
{
	return !__atomic_load_n(&lock.next, __ATOMIC_RELAXED) &&
	       !__atomic_exchange_n(&lock.next, 1, __ATOMIC_ACQUIRE);
}

static void take(enum kind kind)
{
	unsigned mine;

	if (kind != TICKET) {
		while (!try_lock())
			if (kind == YIELD)
				nestling(NESTLING_YIELD, 0);
		return;
	}
	mine = __atomic_fetch_add(&lock.next, 1, __ATOMIC_RELAXED);
	while (__atomic_load_n(&lock.serving, __ATOMIC_ACQUIRE) != mine)
		wfe();
}

static void give(enum kind kind)
{
	if (kind == TICKET) {
		__atomic_store_n(&lock.serving, lock.serving + 1,
				 __ATOMIC_RELEASE);
		sev();
	} else {
		__atomic_store_n(&lock.next, 0, __ATOMIC_RELEASE);
	}
}

static void hold(void)
{
	uint64_t value = words[0];

	for (unsigned i = 0; i < WORDS; i++) {
		torn += words[i] != value;
		words[i] = value + 1;
	}
}

/* True as soon as everybody has had the lock. */
static bool all_had_it(void)
{
	for (unsigned i = 0; i < nr; i++)
		if (!__atomic_load_n(&got[vcpu_of(machine.mpidr[i])],
				     __ATOMIC_RELAXED))
			return false;
	return true;
}

static bool goes_on(void)
{
	uint64_t time = now();

	return time < deadline || (time < limit && !all_had_it());
}

static void fight(enum kind kind)
{
	unsigned id = vcpu_id();
	uint64_t random = random_start(kind, id);

	barrier_wait(&barrier, nr);
	while (goes_on()) {
		unsigned pause = random_below(&random, 1000);

		take(kind);
		hold();
		give(kind);
		__atomic_store_n(&got[id], got[id] + 1, __ATOMIC_RELAXED);
		for (volatile unsigned i = 0; i < pause; i++)
			;
	}
	barrier_wait(&barrier, nr);
}

static void begin(void)
{
	lock.next = lock.serving = 0;
	torn = 0;
	for (unsigned i = 0; i < WORDS; i++)
		words[i] = 0;
	for (unsigned i = 0; i < MAX_VCPUS; i++)
		got[i] = 0;
	deadline = now() + us_to_ticks(arg_u64("ms", 1000) * 1000);
	limit = now() + us_to_ticks(LIMIT_US);
}

static void summary(enum kind kind, uint64_t ticks)
{
	uint64_t sum = 0, least = ~0ull, most = 0;

	for (unsigned i = 0; i < nr; i++) {
		uint64_t n = got[vcpu_of(machine.mpidr[i])];

		sum += n;
		least = n < least ? n : least;
		most = n > most ? n : most;
	}
	say("contend: %s %lu times in %lu ms, each vCPU %lu to %lu",
	    names[kind], sum, ticks_to_us(ticks) / 1000, least, most);
	CHECK_EQ(words[0], sum, "%s-counts", names[kind]);
	CHECK_EQ(torn, 0, "%s-excludes", names[kind]);
	CHECK(least > 0, "%s-everybody-gets-on", names[kind]);
}

static void other(void)
{
	for (enum kind kind = 0; kind < KINDS; kind++) {
		barrier_wait(&barrier, nr);
		fight(kind);
	}
}

int main(int, char **)
{
	nr = machine.nr_vcpus;
	if (!CHECK_EQ(smp_boot(other), nr - 1, "all-started"))
		return report();
	for (enum kind kind = 0; kind < KINDS; kind++) {
		uint64_t start = now();

		begin();
		barrier_wait(&barrier, nr);
		fight(kind);
		summary(kind, now() - start);
	}
	smp_join();
	return report();
}
