// SPDX-License-Identifier: BSD-2-Clause
/*
 * One instruction at level 0 with all registers loaded, from which the caller
 * comes back whatever it does to CSRs but EENTRY, TLBRENTRY, SAVE6, SAVE7 and
 * window 0: try.h.
 */
#include "csr.h"
#include "layout.h"

#define FRAME		112

	.macro	kept insn
	.irp	n, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	\insn	$r\n, $sp, 8 * (\n - 20)
	.endr
	\insn	$ra, $sp, 0
	\insn	$tp, $sp, 96
	.endm

	.text
	.globl	try_run
try_run:			/* (code, registers) */
	addi.d	$sp, $sp, -FRAME
	kept	st.d
	move	$t0, $sp		/* if the level changes */
	csrwr	$t0, CSR_SAVE7
	st.d	$t0, $sp, 104
	la.pcrel $ra, try_back
	csrwr	$ra, CSR_ERA		/* if it is ERTN */
	la.pcrel $ra, try_back
	csrwr	$zero, CSR_PRMD
	move	$t8, $a0
	.irp	n, 2, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, \
		21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	ld.d	$r\n, $a1, 8 * \n
	.endr
	ld.d	$a1, $a1, 8 * 5
	jr	$t8

	/* $sp is as above; nothing else is known. */
	.globl	try_back
try_back:
	csrwr	$zero, CSR_TLBRERA
	csrwr	$zero, CSR_MERRCTL
	csrwr	$zero, CSR_ECFG
	li.w	$t0, CRMD_KERNEL
	csrwr	$t0, CSR_CRMD
	li.w	$t0, EUEN_FPE
	csrwr	$t0, CSR_EUEN
	li.d	$t0, DMW_DEVICES
	csrwr	$t0, CSR_DMW1
	csrwr	$zero, CSR_DMW2
	csrwr	$zero, CSR_DMW3
	ld.d	$t0, $sp, 104
	csrwr	$t0, CSR_SAVE7
	kept	ld.d
	addi.d	$sp, $sp, FRAME
	ret
