/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The EL1 and EL0 system registers of a vCPU, as one table each. A row is
 * (field, name of the register for code at EL2 with E2H=1, reset value); save,
 * load, reset and dump are generated from the rows, so a register that is in
 * the table cannot be forgotten anywhere. Registers with their own rules
 * (timers, interrupt controller, FP) are elsewhere.
 */
#ifndef ARCH_EL1_H
#define ARCH_EL1_H

#include <stdbool.h>
#include <stdint.h>

/* SCTLR_EL1 after reset: the bits that are RES1 without optional features. */
#define SCTLR_EL1_RESET	UINT64_C(0x30d00980)

/*
 * Registers of the EL1&0 context. _EL12 names: at E2H=1 the plain names mean
 * EL2's own registers (Arm ARM, "VHE register redirection").
 */
#define EL1_REGS(X)							\
	X(sctlr, sctlr_el12, SCTLR_EL1_RESET)				\
	X(cpacr, cpacr_el12, 0)						\
	X(ttbr0, ttbr0_el12, 0)						\
	X(ttbr1, ttbr1_el12, 0)						\
	X(tcr, tcr_el12, 0)						\
	X(mair, mair_el12, 0)						\
	X(amair, amair_el12, 0)						\
	X(afsr0, afsr0_el12, 0)						\
	X(afsr1, afsr1_el12, 0)						\
	X(esr, esr_el12, 0)						\
	X(far, far_el12, 0)						\
	X(elr, elr_el12, 0)						\
	X(spsr, spsr_el12, 0)						\
	X(vbar, vbar_el12, 0)						\
	X(contextidr, contextidr_el12, 0)				\
	X(cntkctl, cntkctl_el12, 0)					\
	X(sp_el1, sp_el1, 0)						\
	X(sp_el0, sp_el0, 0)						\
	X(tpidr_el0, tpidr_el0, 0)					\
	X(tpidrro_el0, tpidrro_el0, 0)					\
	X(tpidr_el1, tpidr_el1, 0)					\
	X(par, par_el1, 0)						\
	X(csselr, csselr_el1, 0)					\
	X(mdscr, mdscr_el1, 0)						\
	X(mdccint, mdccint_el1, 0)

struct el1_ctx {
#define X(field, reg, reset) uint64_t field;
	EL1_REGS(X)
#undef X
};

/* Breakpoints and watchpoints: value and control, as many as implemented. */
#define DBG_MAX	16

struct dbg_ctx {
	uint64_t bvr[DBG_MAX], bcr[DBG_MAX];
	uint64_t wvr[DBG_MAX], wcr[DBG_MAX];
	uint64_t claim;		/* CLAIM tags */
	uint64_t oslk;		/* OS Lock, 0 or 1 */
	bool used;		/* the guest has touched a debug register */
};

/* Pointer authentication keys, low and high halves; by encoding since the
 * names need the extension. */
#define PAUTH_REGS(X)							\
	X(apia_lo, S3_0_C2_C1_0)					\
	X(apia_hi, S3_0_C2_C1_1)					\
	X(apib_lo, S3_0_C2_C1_2)					\
	X(apib_hi, S3_0_C2_C1_3)					\
	X(apda_lo, S3_0_C2_C2_0)					\
	X(apda_hi, S3_0_C2_C2_1)					\
	X(apdb_lo, S3_0_C2_C2_2)					\
	X(apdb_hi, S3_0_C2_C2_3)					\
	X(apga_lo, S3_0_C2_C3_0)					\
	X(apga_hi, S3_0_C2_C3_1)

struct pauth_ctx {
#define X(field, reg) uint64_t field;
	PAUTH_REGS(X)
#undef X
};

#endif
