// SPDX-License-Identifier: BSD-2-Clause
/*
 * Page tables of four levels, as refill_vector walks them: an absent directory
 * entry points to a table that leads to itself, whose entries are not valid.
 * The lock is for making tables; a leaf is written as a whole.
 */
#include "mmu.h"
#include "../runtime.h"
#include "lock.h"

#define ENTRIES		512
#define TABLES		64

void user_back(void);

extern uint64_t empty_root[ENTRIES];

static uint64_t root[ENTRIES] __attribute__((aligned(4096)));
static uint64_t tables[TABLES][ENTRIES] __attribute__((aligned(4096)));
static unsigned used;
static struct spinlock lock;
static bool ready;

static uint64_t *fill(uint64_t *table, uint64_t entry)
{
	for (unsigned i = 0; i < ENTRIES; i++)
		table[i] = entry;
	return table;
}

void mmu_init_vcpu(void)
{
	spin_lock(&lock);
	if (!ready)
		fill(root, (uint64_t)empty_root);
	ready = true;
	spin_unlock(&lock);
	csr_write(CSR_PGDL, (uint64_t)root);
	csr_write(CSR_PGDH, (uint64_t)root);
	mmu_invalidate_all();
}

/* A table below `level`, whose entries are absent. */
static uint64_t *make(unsigned level)
{
	if (used == TABLES)
		guest_exit(EXIT_CRASH);
	return fill(tables[used++], level > 1 ? (uint64_t)empty_root : 0);
}

uint64_t *mmu_leaf(uint64_t va)
{
	uint64_t *table = root;

	spin_lock(&lock);
	for (unsigned level = 3; level; level--) {
		uint64_t *e = &table[va >> (12 + 9 * level) & (ENTRIES - 1)];

		if (*e == (uint64_t)empty_root)
			*e = (uint64_t)make(level);
		table = (uint64_t *)*e;
	}
	spin_unlock(&lock);
	return &table[va >> 12 & (ENTRIES - 1)];
}

void mmu_map(uint64_t va, uint64_t entry)
{
	__atomic_store_n(mmu_leaf(va), entry, __ATOMIC_RELEASE);
	mmu_invalidate(va);
}

void user_stop(struct trap_frame *frame, uint64_t value)
{
	frame->r[3] = csr_read(CSR_SAVE7);
	frame->r[4] = value;
	frame->era = (uint64_t)user_back;
	frame->prmd = 0;
}
