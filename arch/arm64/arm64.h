/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of arch/arm64 share about exits. Everything here runs on the
 * pCPU that has the vCPU loaded, IRQs masked.
 */
#ifndef ARM64_ARM64_H
#define ARM64_ARM64_H

#include "arch.h"
#include "types.h"
#include "vcpu.h"

/* Which vector an exit came by; known to entry.S. */
enum exit_source { SRC_SYNC, SRC_IRQ, SRC_SERROR, SRC_AARCH32 };

/* What a handler decided. */
enum exit_action {
	ACT_RESUME,		/* go on in the guest */
	ACT_LEAVE,		/* v->arch.exit describes an exit for core */
};

/* entry.S */
void arm64_enter(struct vcpu *v);

/* Called by entry.S for every exit; 0: resume the guest. */
unsigned int exit_handle(struct vcpu *v, enum exit_source src);

/* General register @n of the guest as an instruction reads it: 31 is zero. */
static inline uint64_t reg_read(const struct vcpu *v, unsigned int n)
{
	return n == 31 ? 0 : v->arch.regs.x[n];
}

static inline void reg_write(struct vcpu *v, unsigned int n, uint64_t val)
{
	if (n != 31)
		v->arch.regs.x[n] = val;
}

/*
 * Steps over the trapped instruction as its execution would: PC, and the
 * PSTATE bits that an instruction consumes.
 */
void exit_skip(struct vcpu *v);

/* inject.c: exceptions to the guest's EL1, by its live registers. */
void inject_undef(struct vcpu *v);
/* External abort for a data access or fetch at VA @far. */
void inject_sea(struct vcpu *v, uint64_t far, bool fetch);
/* The same for a stage-1 table walk. */
void inject_walk_sea(struct vcpu *v, uint64_t far, bool fetch);
/* Any synchronous exception with syndrome @esr; FAR is left alone. */
void inject_sync(struct vcpu *v, uint64_t esr);

/* abort.c: data and instruction aborts of stage 2. */
enum exit_action abort_handle(struct vcpu *v, bool fetch);

/* trapreg.c: trapped MRS, MSR and system instructions. */
enum exit_action trapreg_handle(struct vcpu *v);

/* psci.c: HVC and SMC; the PC is behind an HVC, at an SMC. */
enum exit_action psci_call(struct vcpu *v);

/* ctx.c: debug registers become part of the vCPU's context from now on. */
void dbg_use(struct vcpu *v);
/* Recomputes MDCR_EL2 for @v and writes it if it changed. */
void dbg_traps(struct vcpu *v);

/* arm64fp.c: what this CPU has, closed for guests. Once per CPU. */
void fp_cpu_init(struct cpu *c);

/* idreg.c: value @v sees of the ID register (op0 3, op1 0, CRn 0). */
void idreg_init(void);
uint64_t idreg_value(const struct vcpu *v, unsigned int crm, unsigned int op2);
/* Hardware features that code outside of idreg.c must know. */
bool cpu_has_pauth(void);
bool cpu_has_sve(void);
uint64_t cpu_pa_range(void);	/* ID_AA64MMFR0_EL1.PARange */
bool cpu_has_fwb(void);
bool cpu_has_mops(void);
bool cpu_has_ras(void);
bool cpu_has_fgt(void);
bool cpu_has_fgt2(void);
bool cpu_has_mpam(void);
bool cpu_has_hcx(void);
bool cpu_has_nmi(void);
unsigned int cpu_breakpoints(void);
unsigned int cpu_watchpoints(void);

/* Boards: UARTs and the end of the machine. */
void board_init(void);
void board_enable_irqs(void);
void board_irq(unsigned int intid);
/* Functions of firmware, SMC conduit. */
int64_t firmware_call(uint64_t fn, uint64_t a, uint64_t b, uint64_t c);

#endif
