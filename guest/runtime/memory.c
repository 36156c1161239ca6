// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which RAM belongs to nobody, and the heap in the largest part of it. Computed
 * from `machine` alone, before malloc is first used.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "guest.h"
#include "smp.h"

#define MAX_REGIONS	16

static uint64_t round_up(uint64_t value)
{
	return (value + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1);
}

static uint64_t round_down(uint64_t value)
{
	return value & ~(PAGE_SIZE - 1);
}

/* Takes `used` out of list[i], which may split it. Returns the new count. */
static unsigned cut(struct region *list, unsigned count, unsigned i,
		    uint64_t from, uint64_t to)
{
	uint64_t base = list[i].base;
	uint64_t end = base + list[i].size;

	if (to <= base || from >= end)
		return count;
	list[i].size = from > base ? from - base : 0;
	if (to < end && count < MAX_REGIONS) {
		list[count].base = to;
		list[count].size = end - to;
		count++;
	}
	return count;
}

unsigned free_regions(struct region *out, unsigned max)
{
	const struct region *used[] = { &machine.image, &machine.dtb,
					&machine.initrd };
	struct region list[MAX_REGIONS];
	unsigned count = 0, kept = 0;

	for (unsigned i = 0; i < machine.nr_ram; i++)
		list[count++] = machine.ram[i];
	for (unsigned u = 0; u < sizeof(used) / sizeof(used[0]); u++) {
		uint64_t from = round_down(used[u]->base);
		uint64_t to = round_up(used[u]->base + used[u]->size);
		unsigned before = count;

		if (used[u]->size == 0)
			continue;
		for (unsigned i = 0; i < before; i++)
			count = cut(list, count, i, from, to);
	}
	for (unsigned i = 0; i < count; i++)
		if (list[i].size && kept < max)
			out[kept++] = list[i];
	return kept;
}

struct region heap_region(void)
{
	struct region list[MAX_REGIONS];
	struct region best = { 0 };
	unsigned count = free_regions(list, MAX_REGIONS);

	for (unsigned i = 0; i < count; i++)
		if (list[i].size > best.size)
			best = list[i];
	return best;
}

void *_sbrk(ptrdiff_t increment);

void *_sbrk(ptrdiff_t increment)
{
	static struct region heap;
	static uint64_t used;
	uint64_t old;

	if (heap.size == 0)
		heap = heap_region();
	if (increment > (ptrdiff_t)(heap.size - used) ||
	    increment < -(ptrdiff_t)used) {
		errno = ENOMEM;
		return (void *)-1;
	}
	old = heap.base + used;
	used += (uint64_t)increment;
	return (void *)old;
}

/* malloc may be used on any vCPU. newlib calls these around it. */
static struct spinlock malloc_lock;

struct _reent;
void __malloc_lock(struct _reent *reent);
void __malloc_unlock(struct _reent *reent);

void __malloc_lock([[maybe_unused]] struct _reent *reent)
{
	spin_lock(&malloc_lock);
}

void __malloc_unlock([[maybe_unused]] struct _reent *reent)
{
	spin_unlock(&malloc_lock);
}
