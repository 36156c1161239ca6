// SPDX-License-Identifier: BSD-2-Clause
/*
 * Offsets of structure fields that assembly uses. Compiled to text from which
 * the build makes offsets.h, then again with CHECK, where each line asserts
 * that the generated value is right.
 */
#include "cpu.h"
#include "csr.h"
#include "vcpu.h"

/* entry.S takes the vCPU's address for that of its registers. */
static_assert(offsetof(struct vcpu, arch.regs.r) == 0);

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
OFF(CPU_STACK_TOP, offsetof(struct cpu, arch.stack_top))
OFF(CPU_PANIC_STACK, offsetof(struct cpu, arch.panic_stack))
OFF(VCPU_PC, offsetof(struct vcpu, arch.regs.pc))
OFF(VCPU_HOST_SP, offsetof(struct vcpu, arch.host_sp))
OFF(REGS_PC, offsetof(struct arch_regs, pc))
OFF(REGS_SIZE, (sizeof(struct arch_regs) + 15) & ~15ull)
OFF(PRMD_GUEST, PRMD_PPLV | PRMD_PIE)
OFF(CRMD_PAGING, CRMD_PG)
OFF(FP_X, offsetof(struct arch_fp, x))
OFF(FP_FCC, offsetof(struct arch_fp, fcc))
OFF(FP_FCSR, offsetof(struct arch_fp, fcsr))
#ifndef CHECK
}
#endif
