/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The only code of the hypervisor that names FP registers. The caller has
 * opened CPTR_EL2.FPEN for EL2 (fp.c).
 */
#include "offsets.h"

	.arch_extension fp
	.arch_extension simd

	.macro	each op, base
	\op	q0, q1, [\base, #FP_V + 32 * 0]
	\op	q2, q3, [\base, #FP_V + 32 * 1]
	\op	q4, q5, [\base, #FP_V + 32 * 2]
	\op	q6, q7, [\base, #FP_V + 32 * 3]
	\op	q8, q9, [\base, #FP_V + 32 * 4]
	\op	q10, q11, [\base, #FP_V + 32 * 5]
	\op	q12, q13, [\base, #FP_V + 32 * 6]
	\op	q14, q15, [\base, #FP_V + 32 * 7]
	\op	q16, q17, [\base, #FP_V + 32 * 8]
	\op	q18, q19, [\base, #FP_V + 32 * 9]
	\op	q20, q21, [\base, #FP_V + 32 * 10]
	\op	q22, q23, [\base, #FP_V + 32 * 11]
	\op	q24, q25, [\base, #FP_V + 32 * 12]
	\op	q26, q27, [\base, #FP_V + 32 * 13]
	\op	q28, q29, [\base, #FP_V + 32 * 14]
	\op	q30, q31, [\base, #FP_V + 32 * 15]
	.endm

	/* Z0..Z31 to or from x0, each a vector long. */
	.macro	each_z op, base
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, \
		16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	\op	z\n, [\base, #\n, mul vl]
	.endr
	.endm

	.macro	each_p op, base
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	\op	p\n, [\base, #\n, mul vl]
	.endr
	.endm

	.macro	control_save base
	mrs	x1, fpcr
	mrs	x2, fpsr
	str	x1, [\base, #FP_FPCR]
	str	x2, [\base, #FP_FPSR]
	.endm

	.macro	control_load base
	ldr	x1, [\base, #FP_FPCR]
	ldr	x2, [\base, #FP_FPSR]
	msr	fpcr, x1
	msr	fpsr, x2
	.endm

	.text
	.global	fp_simd_save
	.type	fp_simd_save, %function
fp_simd_save:				/* x0 = struct arch_fp */
	each	stp, x0
	control_save x0
	ret

	.global	fp_simd_load
	.type	fp_simd_load, %function
fp_simd_load:				/* x0 = struct arch_fp */
	each	ldp, x0
	control_load x0
	ret

	.arch_extension sve

	.macro	pred_save base
	each_p	str, \base
	rdffr	p0.b
	str	p0, [\base, #16, mul vl]
	.endm

	.macro	pred_load base
	ldr	p0, [\base, #16, mul vl]
	wrffr	p0.b
	each_p	ldr, \base
	.endm

	.global	fp_sve_save
	.type	fp_sve_save, %function
fp_sve_save:				/* clobbers P0 */
	add	x3, x0, #FP_Z
	add	x4, x0, #FP_P
	each_z	str, x3
	pred_save x4
	control_save x0
	ret

	.global	fp_sve_load
	.type	fp_sve_load, %function
fp_sve_load:
	add	x3, x0, #FP_Z
	add	x4, x0, #FP_P
	each_z	ldr, x3
	pred_load x4
	control_load x0
	ret

	.global	fp_pred_save
	.type	fp_pred_save, %function
fp_pred_save:				/* clobbers P0 */
	add	x4, x0, #FP_P
	pred_save x4
	ret

	.global	fp_pred_load
	.type	fp_pred_load, %function
fp_pred_load:
	add	x4, x0, #FP_P
	pred_load x4
	ret

	/* Right after fp_sve_save: are the bits of Z above 127 all zero? If so,
	 * also writes V. Clobbers Z0 and P. */
	.global	fp_sve_narrow
	.type	fp_sve_narrow, %function
fp_sve_narrow:				/* x0 = struct arch_fp */
	.irp	n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, \
		16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	orr	z0.d, z0.d, z\n\().d
	.endr
	ptrue	p0.b
	ptrue	p1.b, vl16
	bic	p0.b, p0/z, p0.b, p1.b
	cmpne	p0.b, p0/z, z0.b, #0
	b.any	1f
	ldr	q0, [x0, #FP_Z]
	each	stp, x0
	mov	w0, #1
	ret
1:	mov	w0, wzr
	ret

	.global	fp_sve_bytes
	.type	fp_sve_bytes, %function
fp_sve_bytes:			/* of a vector at EL2, now */
	rdvl	x0, #1
	ret
