// SPDX-License-Identifier: BSD-2-Clause
/*
 * All FP or vector registers to and from memory, for tests of who owns them.
 */
#include "csr.h"
#include "fp.h"

	.macro	each insn, prefix
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, \
		16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	\insn	$\prefix\n, $a0, 32 * \n
	.endr
	.endm

	.text
	.globl	fp_load
fp_load:
	ld.d	$t1, $a0, FP_STATE_LEVEL
	/* EUEN: 1, 3 or 7. */
	li.w	$t0, 2
	sll.w	$t0, $t0, $t1
	addi.d	$t0, $t0, -1
	csrwr	$t0, CSR_EUEN
	li.w	$t0, 1
	beqz	$t1, 1f
	beq	$t1, $t0, 2f
	each	xvld, xr
	b	3f
1:	each	fld.d, f
	b	3f
2:	each	vld, vr
3:	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7
	ld.bu	$t0, $a0, FP_STATE_FCC + \n
	movgr2cf $fcc\n, $t0
	.endr
	ld.d	$t0, $a0, FP_STATE_FCSR
	movgr2fcsr $fcsr0, $t0
	ret

	.globl	fp_store
fp_store:
	csrrd	$t1, CSR_EUEN
	li.w	$t0, 3
	bltu	$t1, $t0, 1f
	beq	$t1, $t0, 2f
	each	xvst, xr
	b	3f
1:	each	fst.d, f
	b	3f
2:	each	vst, vr
3:	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7
	movcf2gr $t0, $fcc\n
	st.b	$t0, $a0, FP_STATE_FCC + \n
	.endr
	movfcsr2gr $t0, $fcsr0
	st.d	$t0, $a0, FP_STATE_FCSR
	movgr2fcsr $fcsr0, $zero
	ret
