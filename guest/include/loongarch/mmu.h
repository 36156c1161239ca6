// SPDX-License-Identifier: BSD-2-Clause
/*
 * Translation through page tables, for addresses outside of the windows: the
 * low half for privilege level 3 only (segment 0 is a window of level 0), the
 * high half for both. One set of tables for all vCPUs and ASIDs; who changes an
 * entry invalidates it. And a way to run code at level 3.
 */
#ifndef GUEST_LOONGARCH_MMU_H
#define GUEST_LOONGARCH_MMU_H

#include <stdint.h>
#include "csr.h"
#include "trap.h"

#define PAGE		4096ull
#define HIGH_VA		0xffff800000000000ull

/* Valid, writable, cached; of level 0 or of all levels. */
#define MAP_KERNEL	(TLBELO_V | TLBELO_D | TLBELO_MAT_CC)
#define MAP_USER	(MAP_KERNEL | TLBELO_PLV)

/* The calling vCPU translates by the tables from now on. */
void mmu_init_vcpu(void);

/* The leaf of a page of 4 KiB; tables are made as needed. */
uint64_t *mmu_leaf(uint64_t va);

/* Sets a leaf (0: nothing there) and invalidates the page on this vCPU. */
void mmu_map(uint64_t va, uint64_t entry);

/* The page of one address, global or of the current ASID, on this vCPU. */
static inline void mmu_invalidate(uint64_t va)
{
	asm volatile("invtlb 6, %0, %1" ::"r"(csr_read(CSR_ASID) & ASID_ASID),
		     "r"(va)
		     : "memory");
}

static inline void mmu_invalidate_all(void)
{
	asm volatile("invtlb 0, $zero, $zero" ::: "memory");
}

/*
 * Runs code at level 3 until user_stop(): PC, `prmd` for its level and
 * interrupt enable, a0 and a1, and a stack pointer. FP registers are not kept.
 * Returns what user_stop() was given.
 */
uint64_t user_run(uint64_t pc, uint64_t prmd, const uint64_t args[2],
		  uint64_t sp);

/* In a handler of an exception from level 3: user_run() returns `value`. */
void user_stop(struct trap_frame *frame, uint64_t value);

#endif
