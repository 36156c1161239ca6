// SPDX-License-Identifier: BSD-2-Clause
/*
 * setjmp and longjmp, which newlib has not for LoongArch: the callee-saved
 * registers of the lp64d ABI (ra, tp, sp, r21..r31, f24..f31).
 */
	.macro	both op, fop
	\op	$ra, $a0, 0
	\op	$tp, $a0, 8
	\op	$sp, $a0, 16
	.irp	n, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	\op	$r\n, $a0, (\n - 18) * 8
	.endr
	.irp	n, 24, 25, 26, 27, 28, 29, 30, 31
	\fop	$f\n, $a0, (\n - 10) * 8
	.endr
	.endm

	.text
	.globl	setjmp
setjmp:
	both	st.d, fst.d
	move	$a0, $zero
	ret

	.globl	longjmp
longjmp:
	both	ld.d, fld.d
	move	$a0, $a1
	bnez	$a0, 1f
	li.w	$a0, 1
1:	ret
