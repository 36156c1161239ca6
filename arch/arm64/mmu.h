/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hypervisor's own stage-1 translation (EL2&0 regime): one set of tables
 * for all CPUs, 48-bit addresses, 4 KiB granule. RAM and devices are mapped at
 * VA = PA; stacks in a window of their own with unmapped guard pages between.
 * Nothing is writable and executable, and no RAM but our own text executable.
 */
#ifndef ARM64_MMU_H
#define ARM64_MMU_H

#include "types.h"

/* What a mapping allows; all are EL2 only. */
enum mmu_attr {
	MMU_RW,			/* normal memory, no execution */
	MMU_RO,
	MMU_RX,
	MMU_DEVICE,		/* Device-nGnRE, read-write */
	MMU_GUARD,		/* nothing, and nothing else may go there */
};

/* Register values every CPU turns its MMU on with; read with the MMU off. */
struct mmu_regs {
	uint64_t mair, tcr;
	uint64_t ttbr, sctlr;
};

extern struct mmu_regs mmu_regs;

/*
 * Boot CPU with the MMU off: maps the image and the device tree @fdt and
 * fills mmu_regs.
 */
void mmu_boot(const void *fdt);

/*
 * Maps what is not mapped yet of [va, va+size) to @pa, all page aligned;
 * existing mappings stay as they are. Boot CPU before the others start, or any
 * CPU later (takes a lock). Panics when no table page is left.
 */
void mmu_map(uint64_t va, paddr_t pa, uint64_t size, enum mmu_attr attr);

/* A mapped stack of @pages pages for CPU @cpu; returns its top. */
uint64_t mmu_map_stack(unsigned int cpu, paddr_t pa, unsigned int pages);

/* Is @va mapped? For the stack dump of a panic. */
bool mmu_mapped(uint64_t va);

/* Cleans [p, p+size) to the point of coherency: for readers with caches off. */
void mmu_clean(const void *p, uint64_t size);

#endif
