// SPDX-License-Identifier: BSD-2-Clause
/*
 * All memory of the VM: what nobody has written yet must be zero, whoever had
 * it before, and every word must hold what is written to it. The patterns stay
 * behind at the end, for the next VM that gets the memory.
 *
 * Arguments: passes=N (default 2); vm=K goes into the patterns.
 */
#include <stdio.h>
#include "check.h"
#include "guest.h"

#define MAX_REGIONS	8
#define HEAP_IN_USE	0x100000

static struct region list[MAX_REGIONS];
static unsigned nr_list;
static uint64_t first_bad;

static uint64_t words(void)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < nr_list; i++)
		bytes += list[i].size;
	return bytes / 8;
}

/* How many words differ from what `value` says. */
static uint64_t differing(uint64_t (*value)(uint64_t addr, uint64_t key),
			  uint64_t key)
{
	uint64_t count = 0;

	for (unsigned i = 0; i < nr_list; i++) {
		uint64_t end = list[i].base + list[i].size;

		for (uint64_t addr = list[i].base; addr < end; addr += 8) {
			const uint64_t *word = (const uint64_t *)addr;

			if (*word != value(addr, key) && count++ == 0)
				first_bad = addr;
		}
	}
	return count;
}

static uint64_t zero(uint64_t, uint64_t)
{
	return 0;
}

static uint64_t pattern(uint64_t addr, uint64_t key)
{
	return (addr ^ key << 48) * 0x9e3779b97f4a7c15;
}

static void fill(uint64_t key)
{
	for (unsigned i = 0; i < nr_list; i++) {
		uint64_t end = list[i].base + list[i].size;

		for (uint64_t addr = list[i].base; addr < end; addr += 8)
			*(uint64_t *)addr = pattern(addr, key);
	}
}

/* The runtime's own allocations begin where the heap does. */
static void leave_heap(void)
{
	struct region heap = heap_region();

	for (unsigned i = 0; i < nr_list; i++)
		if (list[i].base == heap.base) {
			list[i].base += HEAP_IN_USE;
			list[i].size -= HEAP_IN_USE;
		}
}

int main(int, char **)
{
	uint64_t passes = arg_u64("passes", 2), vm = arg_u64("vm", 0);
	uint64_t dirty;

	/* Before anything prints: printing allocates. */
	nr_list = free_regions(list, MAX_REGIONS);
	dirty = differing(zero, 0);
	say("memtest: %lu MiB in %u pieces", words() >> 17, nr_list);
	if (dirty)
		say("memtest: first used word at %#lx", first_bad);
	CHECK_EQ(dirty, 0, "memory-is-zero-at-first");

	leave_heap();
	for (uint64_t pass = 0; pass < passes; pass++) {
		uint64_t key = vm << 8 | pass, bad;

		fill(key);
		bad = differing(pattern, key);
		if (bad)
			say("memtest: first wrong word at %#lx", first_bad);
		CHECK_EQ(bad, 0, "pass-%lu", pass);
	}
	return report();
}
