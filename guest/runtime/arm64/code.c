// SPDX-License-Identifier: BSD-2-Clause
/*
 * The page of instruction slots, one cache line for each vCPU. A slot is
 * written by its own vCPU only.
 */
#include "code.h"
#include "../runtime.h"
#include "mmu.h"
#include "smp.h"

#define SLOT_WORDS	16
#define INSN_RET	0xd65f03c0u

alignas(4096) static uint32_t slots[MAX_VCPUS][SLOT_WORDS];

static_assert(sizeof(slots) <= PAGE_SIZE);

void code_init(void)
{
	mmu_map(&mmu_kernel, CODE_VA, (uint64_t)slots, PAGE_SIZE, MAP_EXEC);
}

uint64_t code_run(uint32_t insn, uint64_t x[4])
{
	unsigned id = vcpu_id();
	register uint64_t *regs asm("x19") = x;
	register uint64_t entry asm("x20") = CODE_VA + id * sizeof(slots[0]);

	if (slots[id][0] != insn || slots[id][1] != INSN_RET) {
		slots[id][0] = insn;
		slots[id][1] = INSN_RET;
		icache_sync(slots[id], 8);
		/* The same bytes at the address where they run. */
		asm volatile("ic ivau, %0\n\tdsb ish\n\tisb" ::"r"(entry)
			     : "memory");
	}
	trap_arm();
	asm volatile("ldp x0, x1, [x19]\n\t"
		     "ldp x2, x3, [x19, #16]\n\t"
		     "blr x20\n\t"
		     "dsb sy\n\tisb\n\t"
		     "stp x0, x1, [x19]\n\t"
		     "stp x2, x3, [x19, #16]"
		     : "+r"(regs), "+r"(entry)
		     :
		     : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8",
		       "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16",
		       "x17", "x18", "x30", "memory", "cc");
	return trap_result().esr;
}

uint64_t code_mrs(uint32_t mrs, uint64_t *value)
{
	uint64_t x[4] = { 0 };
	uint64_t esr = code_run(mrs, x);

	*value = x[0];
	return esr;
}

uint64_t code_msr(uint32_t msr, uint64_t value)
{
	uint64_t x[4] = { value };

	return code_run(msr, x);
}
