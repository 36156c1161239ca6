// SPDX-License-Identifier: BSD-2-Clause
/*
 * Into the jail and out of it. The way out trusts no register and no memory
 * until it has put the translation registers right: everything it needs is in
 * its instructions. It lies in text, mapped one to one in all tables, so it
 * runs the same with the MMU off. x19..x30 and SP of the caller wait in the
 * record of this vCPU.
 */
#include "arm64/jail.h"
#include "layout.h"

	.arch	armv8.4-a
	.text

	.macro	constant reg, value
	movz	\reg, #((\value) & 0xffff)
	movk	\reg, #(((\value) >> 16) & 0xffff), lsl #16
	.endm

// \reg: record of this vCPU. Clobbers \tmp.
	.macro	record_of reg, tmp
	mrs	\reg, mpidr_el1
	ubfx	\tmp, \reg, #8, #8
	and	\reg, \reg, #0xf
	add	\reg, \reg, \tmp, lsl #4
	and	\reg, \reg, #31
	mov	\tmp, #JAIL_SIZE
	mul	\reg, \reg, \tmp
	adrp	\tmp, jail_records
	add	\tmp, \tmp, :lo12:jail_records
	add	\reg, \reg, \tmp
	.endm

/*
 * void jail_enter(const uint64_t regs[32], uint64_t pc, uint64_t spsr,
 *		   uint64_t ttbr)
 * ttbr 0: MMU off. Comes back through jail_out.
 */
	.globl	jail_enter
jail_enter:
	record_of x9, x10
	stp	x19, x20, [x9, #JAIL_SAVED]
	stp	x21, x22, [x9, #JAIL_SAVED + 16]
	stp	x23, x24, [x9, #JAIL_SAVED + 32]
	stp	x25, x26, [x9, #JAIL_SAVED + 48]
	stp	x27, x28, [x9, #JAIL_SAVED + 64]
	stp	x29, x30, [x9, #JAIL_SAVED + 80]
	mov	x10, sp
	str	x10, [x9, #JAIL_SAVED + 96]
	adrp	x10, jail_vectors
	add	x10, x10, :lo12:jail_vectors
	msr	vbar_el1, x10
	msr	elr_el1, x1
	msr	spsr_el1, x2
	ldr	x10, [x0, #248]
	tst	x2, #0xf			// EL0 has its own
	b.eq	1f
	mov	sp, x10
	b	2f
1:	msr	sp_el0, x10
2:	// The registers before the memory they are in goes away; x0 last.
	ldp	x4, x5, [x0, #32]
	ldp	x6, x7, [x0, #48]
	ldp	x8, x9, [x0, #64]
	ldp	x10, x11, [x0, #80]
	ldp	x12, x13, [x0, #96]
	ldp	x14, x15, [x0, #112]
	ldp	x16, x17, [x0, #128]
	ldp	x18, x19, [x0, #144]
	ldp	x20, x21, [x0, #160]
	ldp	x22, x23, [x0, #176]
	ldp	x24, x25, [x0, #192]
	ldp	x26, x27, [x0, #208]
	ldp	x28, x29, [x0, #224]
	ldr	x30, [x0, #240]
	ldr	x1, [x0, #16]
	msr	tpidr_el1, x1			// x2 has no other place to wait
	mov	x2, x3
	ldr	x3, [x0, #24]
	ldp	x0, x1, [x0]
	cbz	x2, 3f
	msr	ttbr0_el1, x2
	isb
	mrs	x2, tpidr_el1
	eret
3:	constant x2, MMU_SCTLR_OFF
	msr	sctlr_el1, x2
	isb
	mrs	x2, tpidr_el1
	eret

	.macro	jail_vector number
	.org	jail_vectors + \number * 0x80
	mov	x1, #\number
	b	jail_out
	.endm

	.balign	2048
jail_vectors:
	jail_vector 0
	jail_vector 1
	jail_vector 2
	jail_vector 3
	jail_vector 4
	jail_vector 5
	jail_vector 6
	jail_vector 7
	jail_vector 8
	jail_vector 9
	jail_vector 10
	jail_vector 11
	jail_vector 12
	jail_vector 13
	jail_vector 14
	jail_vector 15
	.org	jail_vectors + 0x800

/*
 * x1: vector or JAIL_PASSED; everything else is anybody's guess. The MMU is on
 * with good tables, or off, or about to be found in another state.
 */
	.globl	jail_out
jail_out:
	msr	daifset, #0xf
	msr	spsel, #1
	msr	pan, #0
	mrs	x2, sctlr_el1
	constant x3, MMU_SCTLR
	cmp	x2, x3
	b.eq	1f
	constant x2, MMU_SCTLR_OFF
	msr	sctlr_el1, x2
	isb
	mrs	x4, id_aa64mmfr0_el1		// IPS as in mmu.c
	and	x4, x4, #0xf
	cmp	x4, #5
	mov	x5, #5
	csel	x4, x5, x4, hi
	constant x2, MMU_TCR
	orr	x2, x2, x4, lsl #32
	msr	tcr_el1, x2
	constant x2, MMU_MAIR
	msr	mair_el1, x2
	msr	ttbr1_el1, xzr
1:	adrp	x2, mmu_kernel_root
	mov	x4, #1				// ASID of mmu_kernel
	orr	x2, x2, x4, lsl #48
	msr	ttbr0_el1, x2
	isb
	mrs	x4, sctlr_el1
	cmp	x4, x3
	b.eq	2f
	tlbi	vmalle1
	dsb	nsh
	isb
	msr	sctlr_el1, x3
	isb
2:	adrp	x2, vectors
	add	x2, x2, :lo12:vectors
	msr	vbar_el1, x2
	mov	x2, #3 << 20
	msr	cpacr_el1, x2
	isb
	record_of x9, x10
	str	x1, [x9, #JAIL_VECTOR]
	mrs	x2, esr_el1
	str	x2, [x9, #JAIL_ESR]
	mrs	x2, far_el1
	str	x2, [x9, #JAIL_FAR]
	mrs	x2, elr_el1
	str	x2, [x9, #JAIL_ELR]
	ldp	x19, x20, [x9, #JAIL_SAVED]
	ldp	x21, x22, [x9, #JAIL_SAVED + 16]
	ldp	x23, x24, [x9, #JAIL_SAVED + 32]
	ldp	x25, x26, [x9, #JAIL_SAVED + 48]
	ldp	x27, x28, [x9, #JAIL_SAVED + 64]
	ldp	x29, x30, [x9, #JAIL_SAVED + 80]
	ldr	x10, [x9, #JAIL_SAVED + 96]
	mov	sp, x10
	mov	x0, x9
	ret
