// SPDX-License-Identifier: BSD-2-Clause
/*
 * Exception vectors of the guest: each saves the whole frame on the interrupted
 * EL1 stack and calls trap_entry(frame, vector). The vector registers are saved
 * too unless the image sets trap_keeps_fp to false. Slots are placed by
 * address, so one that grows too long does not assemble. Also the HVC and SMC
 * calls.
 */
#include "layout.h"

	.arch	armv8.4-a
	.text

	.macro	vector number
	.org	vectors + \number * 0x80
	sub	sp, sp, #FRAME_SIZE
	stp	x0, x1, [sp]
	mov	x0, #\number
	.if	\number >= 8 || \number < 4
	mrs	x1, sp_el0
	.else
	add	x1, sp, #FRAME_SIZE
	.endif
	str	x1, [sp, #FRAME_SP]
	b	trap_save
	.endm

	.balign	2048
	.globl	vectors
vectors:
	vector	0
	vector	1
	vector	2
	vector	3
	vector	4
	vector	5
	vector	6
	vector	7
	vector	8
	vector	9
	vector	10
	vector	11
	vector	12
	vector	13
	vector	14
	vector	15
	.org	vectors + 0x800

// sp: frame with x0, x1 and SP in it, x0: vector number.
trap_save:
	stp	x2, x3, [sp, #16]
	stp	x4, x5, [sp, #32]
	stp	x6, x7, [sp, #48]
	stp	x8, x9, [sp, #64]
	stp	x10, x11, [sp, #80]
	stp	x12, x13, [sp, #96]
	stp	x14, x15, [sp, #112]
	stp	x16, x17, [sp, #128]
	stp	x18, x19, [sp, #144]
	stp	x20, x21, [sp, #160]
	stp	x22, x23, [sp, #176]
	stp	x24, x25, [sp, #192]
	stp	x26, x27, [sp, #208]
	stp	x28, x29, [sp, #224]
	str	x30, [sp, #240]
	mrs	x2, elr_el1
	mrs	x3, spsr_el1
	stp	x2, x3, [sp, #FRAME_ELR]
	mrs	x2, esr_el1
	mrs	x3, far_el1
	stp	x2, x3, [sp, #FRAME_ESR]
	mov	x19, x0

	// x20: whether the vector registers are in the frame
	adrp	x20, trap_keeps_fp
	ldrb	w20, [x20, :lo12:trap_keeps_fp]
	cbz	w20, 1f
	add	x2, sp, #FRAME_Q
	stp	q0, q1, [x2]
	stp	q2, q3, [x2, #32]
	stp	q4, q5, [x2, #64]
	stp	q6, q7, [x2, #96]
	stp	q8, q9, [x2, #128]
	stp	q10, q11, [x2, #160]
	stp	q12, q13, [x2, #192]
	stp	q14, q15, [x2, #224]
	stp	q16, q17, [x2, #256]
	stp	q18, q19, [x2, #288]
	stp	q20, q21, [x2, #320]
	stp	q22, q23, [x2, #352]
	stp	q24, q25, [x2, #384]
	stp	q26, q27, [x2, #416]
	stp	q28, q29, [x2, #448]
	stp	q30, q31, [x2, #480]
	mrs	x3, fpcr
	mrs	x4, fpsr
	add	x2, sp, #FRAME_FPCR
	stp	x3, x4, [x2]
1:
	mov	x0, sp
	mov	x1, x19
	bl	trap_entry

	cbz	w20, 2f
	add	x2, sp, #FRAME_Q
	ldp	q0, q1, [x2]
	ldp	q2, q3, [x2, #32]
	ldp	q4, q5, [x2, #64]
	ldp	q6, q7, [x2, #96]
	ldp	q8, q9, [x2, #128]
	ldp	q10, q11, [x2, #160]
	ldp	q12, q13, [x2, #192]
	ldp	q14, q15, [x2, #224]
	ldp	q16, q17, [x2, #256]
	ldp	q18, q19, [x2, #288]
	ldp	q20, q21, [x2, #320]
	ldp	q22, q23, [x2, #352]
	ldp	q24, q25, [x2, #384]
	ldp	q26, q27, [x2, #416]
	ldp	q28, q29, [x2, #448]
	ldp	q30, q31, [x2, #480]
	add	x2, sp, #FRAME_FPCR
	ldp	x3, x4, [x2]
	msr	fpcr, x3
	msr	fpsr, x4
2:
	// Whoever came on SP_EL0 has it in the frame.
	ldr	x2, [sp, #FRAME_SP]
	cmp	x19, #4
	b.lo	3f
	cmp	x19, #8
	b.lo	4f
3:	msr	sp_el0, x2
4:	ldp	x2, x3, [sp, #FRAME_ELR]
	msr	elr_el1, x2
	msr	spsr_el1, x3
	ldp	x2, x3, [sp, #16]
	ldp	x4, x5, [sp, #32]
	ldp	x6, x7, [sp, #48]
	ldp	x8, x9, [sp, #64]
	ldp	x10, x11, [sp, #80]
	ldp	x12, x13, [sp, #96]
	ldp	x14, x15, [sp, #112]
	ldp	x16, x17, [sp, #128]
	ldp	x18, x19, [sp, #144]
	ldp	x20, x21, [sp, #160]
	ldp	x22, x23, [sp, #176]
	ldp	x24, x25, [sp, #192]
	ldp	x26, x27, [sp, #208]
	ldp	x28, x29, [sp, #224]
	ldr	x30, [sp, #240]
	ldp	x0, x1, [sp]
	add	sp, sp, #FRAME_SIZE
	eret

// x0: struct smccc, loaded before and stored after the call.
	.macro	smccc_call name, insn
	.globl	\name
\name:
	stp	x29, x30, [sp, #-32]!
	mov	x29, sp
	stp	x19, x18, [sp, #16]
	mov	x19, x0
	ldp	x16, x17, [x19, #128]
	ldp	x14, x15, [x19, #112]
	ldp	x12, x13, [x19, #96]
	ldp	x10, x11, [x19, #80]
	ldp	x8, x9, [x19, #64]
	ldp	x6, x7, [x19, #48]
	ldp	x4, x5, [x19, #32]
	ldp	x2, x3, [x19, #16]
	ldp	x0, x1, [x19]
	\insn
	stp	x0, x1, [x19]
	stp	x2, x3, [x19, #16]
	stp	x4, x5, [x19, #32]
	stp	x6, x7, [x19, #48]
	stp	x8, x9, [x19, #64]
	stp	x10, x11, [x19, #80]
	stp	x12, x13, [x19, #96]
	stp	x14, x15, [x19, #112]
	stp	x16, x17, [x19, #128]
	ldp	x19, x18, [sp, #16]
	ldp	x29, x30, [sp], #32
	ret
	.endm

	smccc_call smccc_hvc, "hvc #0"
	smccc_call smccc_smc, "smc #0"
