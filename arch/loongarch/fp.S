/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The only code of the hypervisor that names FP registers. The caller has
 * opened EUEN for the width. FCSR0 last on load, so that nothing here can raise
 * a flag in it; the condition flags as one byte each.
 */
#include "offsets.h"

	.macro	each op, reg, base
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, \
		16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	\op	$\reg\n, \base, FP_X + 32 * \n
	.endr
	.endm

	.macro	save_control base
	movfcsr2gr $t0, $fcsr0
	st.w	$t0, \base, FP_FCSR
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7
	movcf2gr $t0, $fcc\n
	st.b	$t0, \base, FP_FCC + \n
	.endr
	.endm

	.macro	load_control base
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7
	ld.bu	$t0, \base, FP_FCC + \n
	movgr2cf $fcc\n, $t0
	.endr
	ld.w	$t0, \base, FP_FCSR
	movgr2fcsr $fcsr0, $t0
	.endm

	.macro	function name
	.section .text.\name, "ax"
	.globl	\name
	.type	\name, %function
\name:
	.endm

	/* \name_save, \name_load: all state of a width; $a0 = struct arch_fp.
	 * \name_save_regs, \name_load_regs: the 32 registers only. */
	.macro	width name, st, ld, reg
	function fp_\name\()_save
	each	\st, \reg, $a0
	save_control $a0
	ret

	function fp_\name\()_load
	each	\ld, \reg, $a0
	load_control $a0
	ret

	function fp_\name\()_save_regs
	each	\st, \reg, $a0
	ret

	function fp_\name\()_load_regs
	each	\ld, \reg, $a0
	ret
	.endm

	width	scalar, fst.d, fld.d, f
	width	lsx, vst, vld, vr
	width	lasx, xvst, xvld, xr
