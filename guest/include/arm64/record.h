// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a vCPU's registers held at its first instruction. The entry code stores
 * it before it uses anything, so that an image can see what the hypervisor left
 * behind. Shared with assembly. One register of the list is lost for want of a
 * place to keep it: TPIDR_EL1 of the boot vCPU, TTBR1_EL1 of the others.
 */
#ifndef GUEST_ARM64_RECORD_H
#define GUEST_ARM64_RECORD_H

/* System registers that every arm64 CPU has, in the order of the record. */
#define ENTRY_SYSREGS(X)                                                       \
	X(0, currentel)                                                        \
	X(1, daif)                                                             \
	X(2, spsel)                                                            \
	X(3, nzcv)                                                             \
	X(4, sctlr_el1)                                                        \
	X(5, actlr_el1)                                                        \
	X(6, cpacr_el1)                                                        \
	X(7, ttbr0_el1)                                                        \
	X(8, ttbr1_el1)                                                        \
	X(9, tcr_el1)                                                          \
	X(10, mair_el1)                                                        \
	X(11, amair_el1)                                                       \
	X(12, vbar_el1)                                                        \
	X(13, esr_el1)                                                         \
	X(14, far_el1)                                                         \
	X(15, afsr0_el1)                                                       \
	X(16, afsr1_el1)                                                       \
	X(17, par_el1)                                                         \
	X(18, contextidr_el1)                                                  \
	X(19, tpidr_el0)                                                       \
	X(20, tpidrro_el0)                                                     \
	X(21, tpidr_el1)                                                       \
	X(22, sp_el0)                                                          \
	X(23, elr_el1)                                                         \
	X(24, spsr_el1)                                                        \
	X(25, cntkctl_el1)                                                     \
	X(26, cntv_ctl_el0)                                                    \
	X(27, cntv_cval_el0)                                                   \
	X(28, cntp_ctl_el0)                                                    \
	X(29, cntp_cval_el0)                                                   \
	X(30, csselr_el1)                                                      \
	X(31, mdscr_el1)                                                       \
	X(32, mdccint_el1)                                                     \
	X(33, oslsr_el1)                                                       \
	X(34, cntvct_el0)

#define ENTRY_NR_SYSREGS	36	/* one spare keeps the rest aligned */

/* Byte offsets: x0..x30 and SP, then system registers, q0..q31, FPCR, FPSR. */
#define RECORD_GPR	0
#define RECORD_SYSREG	(32 * 8)
#define RECORD_FP	(RECORD_SYSREG + ENTRY_NR_SYSREGS * 8)
#define RECORD_FPCR	(RECORD_FP + 32 * 16)
#define RECORD_SIZE	(RECORD_FPCR + 16)

#ifndef __ASSEMBLY__
#include <stdint.h>

struct entry_record {
	uint64_t x[31];
	uint64_t sp;
	uint64_t sysreg[ENTRY_NR_SYSREGS];
	uint64_t q[32][2];
	uint64_t fpcr;
	uint64_t fpsr;
};

static_assert(sizeof(struct entry_record) == RECORD_SIZE);

/* One for each vCPU number. */
extern struct entry_record entry_records[];

/* Names of the system registers, nullptr for the spare. */
extern const char *const entry_sysreg_names[ENTRY_NR_SYSREGS];
#endif

#endif
