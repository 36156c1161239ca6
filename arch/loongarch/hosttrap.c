// SPDX-License-Identifier: BSD-2-Clause
/*
 * What is printed when the hypervisor itself has failed. Reads nothing that may
 * fault: the stack only where there is RAM.
 */
#include "cpu.h"
#include "csr.h"
#include "host.h"
#include "la.h"
#include "mmu.h"
#include "vm.h"

#define STACK_WORDS	32
#define FRAMES		16

typedef unsigned long long ull;

static const char *ecode_name(uint64_t ecode)
{
	static const char *const name[ECODES] = {
		[ECODE_INT] = "interrupt",
		[ECODE_PIL] = "load from an invalid page",
		[ECODE_PIS] = "store to an invalid page",
		[ECODE_PIF] = "fetch from an invalid page",
		[ECODE_PME] = "store to a clean page",
		[ECODE_PNR] = "load from an unreadable page",
		[ECODE_PNX] = "fetch from a page of data",
		[ECODE_PPI] = "page privilege",
		[ECODE_ADE] = "address error",
		[ECODE_ALE] = "alignment",
		[ECODE_BCE] = "bound check",
		[ECODE_SYS] = "system call",
		[ECODE_BRK] = "breakpoint",
		[ECODE_INE] = "no such instruction",
		[ECODE_IPE] = "instruction privilege",
		[ECODE_FPD] = "FP access",
		[ECODE_SXD] = "LSX access",
		[ECODE_ASXD] = "LASX access",
		[ECODE_FPE] = "FP exception",
		[ECODE_WPE] = "watchpoint",
		[ECODE_BTD] = "LBT access",
		[ECODE_BTE] = "LBT exception",
	};
	const char *n = ecode < ECODES ? name[ecode] : NULL;

	return n ? n : "unnamed code";
}

static void dump_regs(const struct arch_regs *r)
{
	log_error("  pc  %016llx ra  %016llx", (ull)r->pc, (ull)r->r[1]);
	for (unsigned int i = 2; i < 32; i += 3)
		log_error("  r%-2u %016llx r%-2u %016llx r%-2u %016llx",
			  i, (ull)r->r[i], i + 1, (ull)r->r[i + 1],
			  i + 2, (ull)r->r[i + 2]);
}

static bool readable(uint64_t addr, uint64_t size)
{
	return is_aligned(addr, 8) && mmu_is_ram(addr, size);
}

/* A frame: $fp points behind the return address and the caller's $fp. */
static void dump_frames(uint64_t fp)
{
	for (unsigned int i = 0; i < FRAMES; i++) {
		const uint64_t *end = (const uint64_t *)fp;

		if (!readable(fp - 16, 16))
			return;
		log_error("  called from %016llx", (ull)end[-1]);
		if (end[-2] <= fp)
			return;
		fp = end[-2];
	}
}

static void dump_stack(uint64_t sp)
{
	sp = align_down(sp, 16);
	for (unsigned int i = 0; i < STACK_WORDS; i += 4, sp += 32) {
		const uint64_t *w = (const uint64_t *)sp;

		if (!readable(sp, 32))
			return;
		log_error("  %012llx: %016llx %016llx %016llx %016llx",
			  (ull)sp, (ull)w[0], (ull)w[1], (ull)w[2],
			  (ull)w[3]);
	}
}

void arch_panic_dump(void)
{
	struct cpu *c = this_cpu();
	uint64_t sp;

	__asm__ volatile("move %0, $sp" : "=r"(sp));
	log_error("CPU %u, sp %llx, PGDL %llx, ASID %llx", c->id, (ull)sp,
		  (ull)csr_read(CSR_PGDL), (ull)csr_read(CSR_ASID));
	log_error("stack:");
	dump_stack(sp);
	dump_frames((uintptr_t)__builtin_frame_address(0));
	if (c->loaded)
		arch_vcpu_dump(c->loaded);
}

void la_host_trap(const struct arch_regs *r, uint64_t sp)
{
	uint64_t estat = csr_read(CSR_ESTAT);
	uint64_t merr = csr_read(CSR_MERRCTL);

	if (!stack_intact(this_cpu()->arch.stack_top))
		log_error("the stack has overflowed");
	log_error("registers at the fault, sp %llx:", (ull)sp);
	dump_regs(r);
	dump_stack(sp);
	dump_frames(r->r[22]);
	if (merr & MERRCTL_ISMERR)
		panic("machine error: MERRCTL %llx MERRINFO %llx %llx",
		      (ull)merr, (ull)csr_read(CSR_MERRINFO1),
		      (ull)csr_read(CSR_MERRINFO2));
	panic("exception at PLV 0 (%s): ESTAT %llx BADV %llx BADI %llx",
	      ecode_name(field(estat, 21, 16)), (ull)estat,
	      (ull)csr_read(CSR_BADV), (ull)csr_read(CSR_BADI));
}
