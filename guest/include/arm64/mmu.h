// SPDX-License-Identifier: BSD-2-Clause
/*
 * Stage 1 of the guest: 4 KiB granule, 48-bit addresses in TTBR0, everything
 * mapped one to one by the runtime (text read-only and executable, the rest
 * not), TTBR1 off. Tables come from a fixed pool and are not freed.
 */
#ifndef GUEST_MMU_H
#define GUEST_MMU_H

#include <stdint.h>
#include "guest.h"

/* What a mapping allows. Sums of these. */
#define MAP_WRITE	0x01
#define MAP_EXEC	0x02	/* from EL1, or from EL0 with MAP_USER */
#define MAP_DEVICE	0x04	/* Device-nGnRE rather than Normal write-back */
#define MAP_USER	0x08	/* EL0 has the same access */
#define MAP_NC		0x10	/* Normal non-cacheable */

/* A set of tables; ASIDs keep their translations apart. */
struct mmu {
	uint64_t *root;
	unsigned asid;
};

extern struct mmu mmu_kernel;
extern uint64_t mmu_kernel_root[512];

/*
 * Maps or changes pages; addresses and size are multiples of PAGE_SIZE. Uses
 * 2 MiB and 1 GiB blocks where it can, splits them where it must, and breaks
 * before it makes. False when the pool is empty. One vCPU at a time.
 */
bool mmu_map(struct mmu *mmu, uint64_t va, uint64_t pa, uint64_t size,
	     unsigned flags);
void mmu_unmap(struct mmu *mmu, uint64_t va, uint64_t size);

/* An empty set of tables. False when the pool is empty. */
bool mmu_new(struct mmu *mmu, unsigned asid);

/* TTBR0_EL1 value of a set. */
uint64_t mmu_ttbr(const struct mmu *mmu);

/* Makes instructions written at addr visible to execution, all vCPUs. */
void icache_sync(const void *addr, uint64_t size);

/* Used by the runtime: builds mmu_kernel from the machine and goes on it. */
void mmu_init(void);

/* TCR_EL1 while on any of these tables. */
extern uint64_t mmu_tcr;

#endif
