// SPDX-License-Identifier: BSD-2-Clause
/*
 * First instructions of the boot vCPU and of the others. Stores the entry
 * record, clears BSS, gets vectors, a stack and the MMU, then calls C. What is
 * written while the MMU is off goes to memory past the caches; it is
 * invalidated there before they are switched on, because they may hold older
 * copies.
 */
#include "arm64/record.h"
#include "layout.h"

	.arch	armv8.4-a

	.macro	sysreg_store index, reg
	mrs	x28, \reg
	str	x28, [x29, #RECORD_SYSREG + 8 * \index]
	.endm

/*
 * Stores all registers to the record at x29. The caller stores x28 and x29
 * itself when it has changed them. Clobbers x28; FP is on afterwards.
 */
	.macro	record
	stp	x0, x1, [x29]
	stp	x2, x3, [x29, #16]
	stp	x4, x5, [x29, #32]
	stp	x6, x7, [x29, #48]
	stp	x8, x9, [x29, #64]
	stp	x10, x11, [x29, #80]
	stp	x12, x13, [x29, #96]
	stp	x14, x15, [x29, #112]
	stp	x16, x17, [x29, #128]
	stp	x18, x19, [x29, #144]
	stp	x20, x21, [x29, #160]
	stp	x22, x23, [x29, #176]
	stp	x24, x25, [x29, #192]
	stp	x26, x27, [x29, #208]
	str	x28, [x29, #224]
	mov	x28, sp
	stp	x30, x28, [x29, #240]
#define X(index, reg) sysreg_store index, reg;
	ENTRY_SYSREGS(X)
#undef X
	mov	x28, #3 << 20			// CPACR_EL1.FPEN
	msr	cpacr_el1, x28
	isb
	add	x28, x29, #RECORD_FP
	stp	q0, q1, [x28]
	stp	q2, q3, [x28, #32]
	stp	q4, q5, [x28, #64]
	stp	q6, q7, [x28, #96]
	stp	q8, q9, [x28, #128]
	stp	q10, q11, [x28, #160]
	stp	q12, q13, [x28, #192]
	stp	q14, q15, [x28, #224]
	stp	q16, q17, [x28, #256]
	stp	q18, q19, [x28, #288]
	stp	q20, q21, [x28, #320]
	stp	q22, q23, [x28, #352]
	stp	q24, q25, [x28, #384]
	stp	q26, q27, [x28, #416]
	stp	q28, q29, [x28, #448]
	stp	q30, q31, [x28, #480]
	mrs	x28, fpcr
	str	x28, [x29, #RECORD_FPCR]
	mrs	x28, fpsr
	str	x28, [x29, #RECORD_FPCR + 8]
	.endm

	.macro	address reg, symbol
	adrp	\reg, \symbol
	add	\reg, \reg, :lo12:\symbol
	.endm

/*
 * Vectors and stack of the vCPU whose number is in x0. Clobbers x0..x2.
 */
	.macro	vectors_and_stack
	address	x1, vectors
	msr	vbar_el1, x1
	msr	spsel, #1
	address	x1, stacks
	add	x0, x0, #1
	mov	x2, #STACK_SIZE
	madd	x1, x0, x2, x1
	mov	sp, x1
	mov	x29, xzr
	mov	x30, xzr
	.endm

	.section .text.entry, "ax"
	.globl	_start
_start:
	msr	tpidr_el1, x29			// its value is the price
	address	x29, entry_records
	record
	mrs	x28, tpidr_el1
	str	x28, [x29, #232]
	ldr	x19, [x29]			// device tree

	address	x0, __bss_start
	address	x1, __bss_end
1:	stp	xzr, xzr, [x0], #16
	cmp	x0, x1
	b.lo	1b

	mov	x0, xzr
	vectors_and_stack
	mov	x0, x19
	bl	mmu_boot_tables
	mov	x20, x0				// TTBR0
	address	x0, __noinit_start
	address	x1, __bss_end
	bl	dcache_invalidate
	mov	x0, x20
	address	x1, mmu_tcr
	ldr	x1, [x1]
	bl	mmu_switch_on
	mov	x0, x19
	bl	runtime_main
	b	.

/*
 * A vCPU started by CPU_ON. x0: its number. TTBR0 and TCR lie in memory,
 * cleaned by the vCPU that made the call.
 */
	.globl	secondary_start
secondary_start:
	msr	ttbr1_el1, x29
	msr	tpidr_el1, x28
	mov	x28, #RECORD_SIZE
	address	x29, entry_records
	madd	x29, x0, x28, x29
	mrs	x28, tpidr_el1
	record
	mrs	x28, ttbr1_el1
	str	x28, [x29, #232]
	ldr	x19, [x29]			// number of this vCPU
	mov	x20, x29

	mov	x0, x19
	vectors_and_stack
	mov	x0, x20
	add	x1, x20, #RECORD_SIZE
	bl	dcache_invalidate
	address	x2, secondary_mmu
	ldp	x0, x1, [x2]
	bl	mmu_switch_on
	mov	x0, x19
	bl	secondary_main
	b	.

// Invalidates the data caches from x0 up to x1, to memory. Clobbers x0..x3.
	.globl	dcache_invalidate
dcache_invalidate:
	mrs	x2, ctr_el0
	ubfx	x2, x2, #16, #4			// DminLine, log2 of words
	mov	x3, #4
	lsl	x3, x3, x2
	sub	x2, x3, #1
	bic	x0, x0, x2
	dsb	sy
1:	dc	ivac, x0
	add	x0, x0, x3
	cmp	x0, x1
	b.lo	1b
	dsb	sy
	ret

// MMU and caches on. x0: TTBR0_EL1, x1: TCR_EL1. Clobbers x2.
	.globl	mmu_switch_on
mmu_switch_on:
	ldr	x2, =MMU_MAIR
	msr	mair_el1, x2
	msr	tcr_el1, x1
	msr	ttbr0_el1, x0
	msr	ttbr1_el1, xzr
	isb
	tlbi	vmalle1
	dsb	nsh
	ic	iallu
	dsb	nsh
	isb
	ldr	x2, =MMU_SCTLR
	msr	sctlr_el1, x2
	isb
	ret
	.ltorg
