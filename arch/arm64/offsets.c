// SPDX-License-Identifier: BSD-2-Clause
/*
 * Offsets of structure fields that assembly uses. Compiled to text from which
 * the build makes offsets.h, then again with CHECK, where each line asserts
 * that the generated value is right.
 */
#include "cpu.h"
#include "vcpu.h"

#include "mmu.h"

/* entry.S takes the vCPU's address for that of its registers. */
static_assert(offsetof(struct vcpu, arch.regs.x) == 0);

#ifdef CHECK
#define OFF(sym, val) static_assert((val) == sym, #sym);
#else
#define OFF(sym, val) __asm__("\n@@ " #sym " %0" : : "i"(val));
#endif

#ifndef CHECK
void offsets(void);
void offsets(void)
{
#endif
OFF(LINK_ADDRESS, 0x40200000)
OFF(CPU_ID, offsetof(struct cpu, arch.id))
OFF(CPU_STACK_TOP, offsetof(struct cpu, arch.stack_top))
OFF(CPU_PANIC_STACK, offsetof(struct cpu, arch.panic_stack))
OFF(VCPU_PC, offsetof(struct vcpu, arch.regs.pc))
OFF(VCPU_PSTATE, offsetof(struct vcpu, arch.regs.pstate))
OFF(REGS_SIZE, (sizeof(struct arch_regs) + 15) & ~15ull)
OFF(VCPU_ESR, offsetof(struct vcpu, arch.esr))
OFF(FP_V, offsetof(struct arch_fp, v))
OFF(FP_P, offsetof(struct arch_fp, p))
OFF(FP_Z, offsetof(struct arch_fp, z))
OFF(FP_FPCR, offsetof(struct arch_fp, fpcr))
OFF(FP_FPSR, offsetof(struct arch_fp, fpsr))
OFF(MMU_REGS_MAIR, offsetof(struct mmu_regs, mair))
OFF(MMU_REGS_TTBR, offsetof(struct mmu_regs, ttbr))
#ifndef CHECK
}
#endif
