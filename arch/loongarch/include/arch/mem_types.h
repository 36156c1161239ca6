/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Guest memory structures that are embedded by value in arch/types.h: virtual
 * TLB, shadow contexts, the real ASIDs of a pCPU.
 */
#ifndef ARCH_MEM_TYPES_H
#define ARCH_MEM_TYPES_H

#include <stdint.h>

struct vm_slot;

/* Per pCPU: allocation of real ASIDs. */
struct asid_cpu {
	uint64_t generation;
	uint32_t next;
};

/* refill.c: the guest's refill handler as it was last read. */
struct refill_code {
	uint64_t word[6];	/* two instructions each */
	uint8_t scratch;	/* register it saves, 0: unusual code */
	uint8_t levels;
	uint8_t level[4];	/* operands of LDDIR */
};

/* Per vCPU: only the pCPU that has it loaded. */
struct la_mem {
	struct refill_code refill;
	const struct vm_slot *tables;	/* where table_read() found RAM */
	struct vtlb *vtlb;
	struct shadow *shadow;
	uint32_t insn;		/* the load or store of an MMIO exit */
};

#endif
