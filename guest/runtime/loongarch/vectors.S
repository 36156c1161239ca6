// SPDX-License-Identifier: BSD-2-Clause
/*
 * Exception entries of the guest. trap_vector saves the whole frame, on the
 * interrupted stack, or coming from level 3 on the one in SAVE7, which is the
 * vCPU's own or what was last used when level 3 was entered; then it calls
 * trap_entry(frame). FP registers are saved too unless the image sets
 * trap_keeps_fp to false. SAVE6 is scratch. refill_vector walks the page tables
 * in the standard way.
 */
#include "csr.h"
#include "layout.h"

	.macro	each_fpr insn
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, \
		16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	\insn	$f\n, $sp, FRAME_F + 8 * \n
	.endr
	.endm

	.text
	.balign	4096
	.globl	trap_vector
trap_vector:
	csrwr	$t0, CSR_SAVE6
	csrrd	$t0, CSR_PRMD
	andi	$t0, $t0, PRMD_PPLV
	beqz	$t0, 1f
	csrwr	$sp, CSR_SAVE7
	move	$t0, $sp		/* own stack's top */
	csrrd	$sp, CSR_SAVE7		/* level 3's */
	st.d	$sp, $t0, -FRAME_SIZE + 3 * 8
	addi.d	$sp, $t0, -FRAME_SIZE
	csrwr	$t0, CSR_SAVE7
	b	2f
1:	addi.d	$t0, $sp, -FRAME_SIZE
	st.d	$sp, $t0, 3 * 8
	move	$sp, $t0
2:	csrrd	$t0, CSR_SAVE6
	.irp	n, 0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, \
		17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	st.d	$r\n, $sp, 8 * \n
	.endr
	csrrd	$t0, CSR_ERA
	st.d	$t0, $sp, FRAME_ERA
	csrrd	$t0, CSR_PRMD
	st.d	$t0, $sp, FRAME_PRMD
	csrrd	$t0, CSR_ESTAT
	st.d	$t0, $sp, FRAME_ESTAT
	csrrd	$t0, CSR_BADV
	st.d	$t0, $sp, FRAME_BADV
	csrrd	$t0, CSR_BADI
	st.d	$t0, $sp, FRAME_BADI

	la.pcrel $s0, trap_keeps_fp
	ld.bu	$s0, $s0, 0
	beqz	$s0, 3f
	each_fpr fst.d
	movfcsr2gr $t0, $fcsr0
	st.d	$t0, $sp, FRAME_FCSR
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7
	movcf2gr $t0, $fcc\n
	st.b	$t0, $sp, FRAME_FCC + \n
	.endr
3:	move	$a0, $sp
	bl	trap_entry

	beqz	$s0, 4f
	each_fpr fld.d
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7
	ld.bu	$t0, $sp, FRAME_FCC + \n
	movgr2cf $fcc\n, $t0
	.endr
	ld.d	$t0, $sp, FRAME_FCSR
	movgr2fcsr $fcsr0, $t0
4:	csrwr	$zero, CSR_SAVE6
	ld.d	$t0, $sp, FRAME_ERA
	csrwr	$t0, CSR_ERA
	ld.d	$t0, $sp, FRAME_PRMD
	csrwr	$t0, CSR_PRMD
	.irp	n, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, \
		17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	ld.d	$r\n, $sp, 8 * \n
	.endr
	ld.d	$sp, $sp, 3 * 8
	ertn

	.balign	4096
	.globl	refill_vector
refill_vector:
	csrwr	$t0, CSR_TLBRSAVE
	csrrd	$t0, CSR_PGD
	lddir	$t0, $t0, 3
	lddir	$t0, $t0, 2
	lddir	$t0, $t0, 1
	ldpte	$t0, 0
	ldpte	$t0, 1
	tlbfill
	csrrd	$t0, CSR_TLBRSAVE
	ertn
