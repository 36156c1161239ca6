// SPDX-License-Identifier: BSD-2-Clause
/*
 * What is printed when the hypervisor itself has failed, and a guest's
 * registers for the monitor and for messages. Reads nothing that may fault.
 */
#include "arm64.h"
#include "cpu.h"
#include "host.h"
#include "mmu.h"
#include "sysreg.h"
#include "vm.h"

#define STACK_WORDS	32
#define FRAMES		16

typedef unsigned long long ull;

static const char *ec_name(uint64_t esr)
{
	static const char *const name[64] = {
		[EC_UNKNOWN] = "undefined instruction",
		[EC_WFX] = "WFI or WFE",
		[EC_FP] = "FP access",
		[EC_BTI] = "branch target",
		[EC_ILLEGAL] = "illegal execution state",
		[EC_HVC64] = "HVC",
		[EC_SMC64] = "SMC",
		[EC_SYSREG] = "system register",
		[EC_SVE] = "SVE access",
		[EC_ERET] = "ERET",
		[EC_IABT_LOW] = "instruction abort of a guest",
		[EC_IABT_CUR] = "instruction abort",
		[EC_PC_ALIGN] = "PC alignment",
		[EC_DABT_LOW] = "data abort of a guest",
		[EC_DABT_CUR] = "data abort",
		[EC_SP_ALIGN] = "SP alignment",
		[EC_SERROR] = "SError",
		[EC_BRK64] = "BRK",
	};
	const char *n = name[ESR_EC(esr)];

	return n ? n : "unnamed class";
}

static void dump_regs(const struct arch_regs *r)
{
	log_error("  pc  %016llx pstate %08llx", (ull)r->pc, (ull)r->pstate);
	for (unsigned int i = 0; i < 30; i += 3)
		log_error("  x%-2u %016llx x%-2u %016llx x%-2u %016llx",
			  i, (ull)r->x[i], i + 1, (ull)r->x[i + 1],
			  i + 2, (ull)r->x[i + 2]);
	log_error("  x30 %016llx", (ull)r->x[30]);
}

void arch_vcpu_dump(struct vcpu *v)
{
	log_error("VM %s vCPU %u, last exit: %s, ESR %llx FAR %llx",
		  v->vm->cfg->name, v->id, ec_name(v->arch.esr),
		  (ull)v->arch.esr, (ull)v->arch.far);
	dump_regs(&v->arch.regs);
}

/* Return addresses along the frame records, as far as they make sense. */
static void dump_frames(uint64_t fp)
{
	for (unsigned int i = 0; i < FRAMES; i++) {
		const uint64_t *rec = (const uint64_t *)fp;

		if (!fp || (fp & 15) || !mmu_mapped(fp))
			return;
		log_error("  called from %016llx", (ull)rec[1]);
		if (rec[0] <= fp)
			return;
		fp = rec[0];
	}
}

static void dump_stack(uint64_t sp)
{
	sp = align_down(sp, 16);
	for (unsigned int i = 0; i < STACK_WORDS; i += 4, sp += 32) {
		const uint64_t *w = (const uint64_t *)sp;

		if (!mmu_mapped(sp) || !mmu_mapped(sp + 31))
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

	__asm__ volatile("mov %0, sp" : "=r"(sp));
	log_error("CPU %u, sp %llx, HCR_EL2 %llx, VTTBR_EL2 %llx", c->id,
		  (ull)sp, (ull)sysreg_read(hcr_el2),
		  (ull)sysreg_read(vttbr_el2));
	log_error("stack:");
	dump_stack(sp);
	dump_frames((uintptr_t)__builtin_frame_address(0));
	if (c->loaded)
		arch_vcpu_dump(c->loaded);
}

/* An exception in the hypervisor itself; entry.S, on the panic stack. */
[[noreturn]] void exit_own_fault(const struct arch_regs *r,
				 unsigned int vector, uint64_t sp);
void exit_own_fault(const struct arch_regs *r, unsigned int vector, uint64_t sp)
{
	static const char *const kind[] = { "exception", "IRQ", "FIQ",
					    "SError" };
	uint64_t esr = sysreg_read(esr_el1);

	log_error("registers at the fault, sp %llx:", (ull)sp);
	dump_regs(r);
	dump_stack(sp);
	dump_frames(r->x[29]);
	panic("%s at EL2 (%s): ESR %llx FAR %llx", kind[vector & 3],
	      ec_name(esr), (ull)esr, (ull)sysreg_read(far_el1));
}

/* entry.S refused to return to a PSTATE that is not the guest's. */
[[noreturn]] void exit_bad_pstate(const struct vcpu *v);
void exit_bad_pstate(const struct vcpu *v)
{
	panic("entry into VM %s vCPU %u with PSTATE %llx", v->vm->cfg->name,
	      v->id, (ull)v->arch.regs.pstate);
}
