/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Guest memory structures that are embedded by value in arch/types.h: virtual
 * TLB, shadow contexts, the real ASIDs of a pCPU.
 */
#ifndef ARCH_MEM_TYPES_H
#define ARCH_MEM_TYPES_H

#include <stdint.h>

/* Per pCPU: allocation of real ASIDs. */
struct asid_cpu {
	uint64_t generation;
	uint32_t next;
};

/* Per vCPU: only the pCPU that has it loaded. */
struct la_mem {
	struct vtlb *vtlb;
	struct shadow *shadow;
	uint32_t insn;		/* the load or store of an MMIO exit */
};

#endif
