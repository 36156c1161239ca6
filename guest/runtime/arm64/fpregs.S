// SPDX-License-Identifier: BSD-2-Clause
/*
 * All vector registers to and from memory, for tests of who owns them.
 */
#include "arm64/fp.h"

	.arch	armv8.4-a
	.text

	.macro	each_q insn
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
	\insn	q\n, [x0, #16 * \n]
	.endr
	.irp	n, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21
	\insn	q\n, [x0, #16 * \n]
	.endr
	.irp	n, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	\insn	q\n, [x0, #16 * \n]
	.endr
	.endm

	.globl	fp_load
fp_load:
	each_q	ldr
	add	x0, x0, #FP_STATE_FPCR
	ldp	x4, x5, [x0]
	msr	fpcr, x4
	msr	fpsr, x5
	ret

	.globl	fp_store
fp_store:
	each_q	str
	mrs	x4, fpcr
	mrs	x5, fpsr
	add	x0, x0, #FP_STATE_FPCR
	stp	x4, x5, [x0]
	ret
