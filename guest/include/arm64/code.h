// SPDX-License-Identifier: BSD-2-Clause
/*
 * Runs single instructions that are only known at run time. Each vCPU has a
 * slot in a page that is written at one address and executed at another.
 */
#ifndef GUEST_CODE_H
#define GUEST_CODE_H

#include <stdint.h>

/* Where the page of slots can be executed; far from everything else. */
#define CODE_VA		0x10000000000ull

/* MRS Xt and MSR Xt of the register with this encoding, Xt = x0. */
#define INSN_MRS(op0, op1, crn, crm, op2)                                      \
	(0xd5300000u | SYSREG_ENC(op0, op1, crn, crm, op2))
#define INSN_MSR(op0, op1, crn, crm, op2)                                      \
	(0xd5100000u | SYSREG_ENC(op0, op1, crn, crm, op2))
#define SYSREG_ENC(op0, op1, crn, crm, op2)                                    \
	((uint32_t)(((op0) & 1) << 19 | (op1) << 16 | (crn) << 12 |            \
		    (crm) << 8 | (op2) << 5))

#define INSN_NOP	0xd503201fu

/*
 * Executes one word at EL1 with x0..x3 from `x`, which holds x0..x3 afterwards.
 * The word must not branch, nor change SP or x19 and up. Returns the ESR of the
 * exception it took, or 0.
 */
uint64_t code_run(uint32_t insn, uint64_t x[4]);

/* MRS and MSR through code_run. The words are those of the macros above. */
uint64_t code_mrs(uint32_t mrs, uint64_t *value);
uint64_t code_msr(uint32_t msr, uint64_t value);

/* Used by the runtime: maps the page. */
void code_init(void);

#endif
