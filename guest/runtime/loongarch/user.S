// SPDX-License-Identifier: BSD-2-Clause
/*
 * To level 3 and back. SAVE7 is the stack for exceptions from there: below what
 * user_run() has saved, so that user_stop() only has to come back to it.
 */
#include "csr.h"

	.macro	kept insn
	.irp	n, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	\insn	$r\n, $sp, 8 * (\n - 20)
	.endr
	\insn	$ra, $sp, 0
	.endm

	.text
	.globl	user_run
user_run:			/* (pc, prmd, args, sp) */
	addi.d	$sp, $sp, -112
	kept	st.d
	csrrd	$t0, CSR_SAVE7
	st.d	$t0, $sp, 96
	move	$t0, $sp
	csrwr	$t0, CSR_SAVE7
	csrwr	$a0, CSR_ERA
	csrwr	$a1, CSR_PRMD
	move	$sp, $a3
	ld.d	$a0, $a2, 0
	ld.d	$a1, $a2, 8
	ertn

	/* By ERTN to level 0, $sp as it was above, the value in $a0. */
	.globl	user_back
user_back:
	ld.d	$t0, $sp, 96
	csrwr	$t0, CSR_SAVE7
	kept	ld.d
	addi.d	$sp, $sp, 112
	ret
