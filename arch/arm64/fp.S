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

	.text
	.global	fp_simd_save
	.type	fp_simd_save, %function
fp_simd_save:				/* x0 = struct arch_fp */
	each	stp, x0
	mrs	x1, fpcr
	mrs	x2, fpsr
	str	x1, [x0, #FP_FPCR]
	str	x2, [x0, #FP_FPSR]
	ret

	.global	fp_simd_load
	.type	fp_simd_load, %function
fp_simd_load:				/* x0 = struct arch_fp */
	each	ldp, x0
	ldr	x1, [x0, #FP_FPCR]
	ldr	x2, [x0, #FP_FPSR]
	msr	fpcr, x1
	msr	fpsr, x2
	ret
