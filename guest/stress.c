// SPDX-License-Identifier: BSD-2-Clause
/*
 * Memory under load from all vCPUs: each fills a part of the heap, and in the
 * next round somebody else checks it, so that every vCPU reads what each other
 * has written. Beside that neighbouring bytes of one line, one for each vCPU,
 * which no other vCPU's store may take along, and a count by exclusives.
 *
 * Arguments: rounds=N (default 2 for each vCPU, at least 20); kib=N of each
 * part (default 256).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "random.h"
#include "smp.h"
#include "timer.h"

#define BYTE_TURNS	1000

static uint64_t *parts;
static uint64_t rounds, words;
static struct barrier barrier;
static unsigned nr;

alignas(64) static volatile uint8_t bytes[MAX_VCPUS];
static uint64_t counter;
static uint64_t wrong[MAX_VCPUS], lost_bytes[MAX_VCPUS];

static uint64_t pattern(uint64_t round, uint64_t part, uint64_t i)
{
	return (round << 48 ^ part << 40 ^ i) * 0x9e3779b97f4a7c15;
}

/* Half of it word by word, half copied from there and changed in place. */
static void fill(uint64_t round, unsigned part)
{
	uint64_t *to = parts + part * words, half = words / 2;

	for (uint64_t i = 0; i < half; i++)
		to[i] = pattern(round, part, i);
	memcpy(to + half, to, half * 8);
	for (uint64_t i = half; i < words; i++)
		to[i] ^= pattern(round, part, i - half) ^
			 pattern(round, part, i);
}

static uint64_t differing(uint64_t round, unsigned part)
{
	const uint64_t *from = parts + part * words;
	uint64_t count = 0;

	for (uint64_t i = 0; i < words; i++)
		count += from[i] != pattern(round, part, i);
	return count;
}

static void share_a_line(unsigned id)
{
	for (unsigned i = 0; i < BYTE_TURNS; i++) {
		uint8_t before = bytes[id];

		bytes[id] = (uint8_t)(before + 1);
		__atomic_add_fetch(&counter, 1, __ATOMIC_RELAXED);
		lost_bytes[id] += bytes[id] != (uint8_t)(before + 1);
	}
}

static void run(void)
{
	unsigned id = vcpu_id();

	for (uint64_t round = 0; round < rounds; round++) {
		fill(round, (unsigned)((id + round) % nr));
		share_a_line(id);
		barrier_wait(&barrier, nr);
		wrong[id] += differing(round,
				       (unsigned)((id + round * 3 + 1) % nr));
		barrier_wait(&barrier, nr);
	}
}

int main(int, char **)
{
	uint64_t bad = 0, lost = 0, start;

	nr = machine.nr_vcpus;
	rounds = arg_u64("rounds", nr > 10 ? 2 * nr : 20);
	words = arg_u64("kib", 256) * 128;
	parts = malloc(nr * words * 8);
	if (!CHECK(parts != nullptr, "memory"))
		return report();
	if (!CHECK_EQ(smp_boot(run), nr - 1, "all-started"))
		return report();
	start = now();
	run();
	smp_join();
	for (unsigned i = 0; i < MAX_VCPUS; i++) {
		bad += wrong[i];
		lost += lost_bytes[i];
	}
	say("stress: %lu rounds, %lu MiB written and checked in %lu ms", rounds,
	    rounds * nr * words >> 17, ticks_to_us(now() - start) / 1000);
	CHECK_EQ(bad, 0, "each-reads-what-others-wrote");
	CHECK_EQ(lost, 0, "bytes-of-one-line");
	CHECK_EQ(counter, rounds * nr * BYTE_TURNS, "exclusive-count");
	return report();
}
