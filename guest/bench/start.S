/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Entry of the benchmark images at EL1 or EL2 with the MMU off, their vectors,
 * and the guest of nested.c. Begins with a Linux Image header, so that loaders
 * which want one take the image too. What a vCPU executes between an interrupt
 * and irq_handler() is part of the measured rows.
 */
	.section .head, "ax"
	.global	_start
_start:
	mrs	x21, cntpct_el0		/* the very first instruction */
	b	1f
	.quad	0x80000			/* text_offset */
	.quad	0x400000		/* image_size */
	.quad	0x2			/* little endian, 4 KiB pages */
	.quad	0, 0, 0
	.ascii	"ARM\x64"
	.long	0
1:	msr	daifset, #0xf
	mov	x20, x0
	adrp	x1, stack_top
	mov	sp, x1
	bl	set_up
	adrp	x1, __bss_start
	add	x1, x1, :lo12:__bss_start
	adrp	x2, __bss_end
	add	x2, x2, :lo12:__bss_end
2:	cmp	x1, x2
	b.hs	3f
	stp	xzr, xzr, [x1], #16
	b	2b
3:	mrs	x2, CurrentEL
	cmp	x2, #8
	cset	w2, eq
	adrp	x1, at_el2
	strb	w2, [x1, :lo12:at_el2]
	mov	x0, x20
	mov	x1, x21
	bl	bench_main
4:	wfi
	b	4b

	.global	secondary_entry
secondary_entry:
	msr	daifset, #0xf
	adrp	x1, stack2_top
	mov	sp, x1
	bl	set_up
	bl	bench_secondary
	b	.

/* FP on, vectors set; at EL2 E2H where the CPU has it. */
set_up:
	mov	x3, #(3 << 20) | (3 << 16) | (3 << 24)
	adr	x4, vectors
	mrs	x2, CurrentEL
	cmp	x2, #8
	b.eq	1f
	msr	cpacr_el1, x3
	msr	vbar_el1, x4
	isb
	ret
1:	mrs	x2, hcr_el2
	orr	x2, x2, #1 << 34
	orr	x2, x2, #1 << 31
	msr	hcr_el2, x2
	isb
	mrs	x2, hcr_el2
	tbnz	x2, #34, 2f
	mov	x3, #0x33ff		/* CPTR_EL2 without E2H */
2:	msr	cptr_el2, x3
	mov	x3, #3 << 20
	msr	cpacr_el1, x3
	msr	vbar_el2, x4
	isb
	mrs	x3, cnthctl_el2
	orr	x3, x3, #3
	msr	cnthctl_el2, x3
	ret

	.macro	vector label
	.balign	128
	b	\label
	.endm

	.balign	2048
vectors:
	vector	bad0
	vector	bad1
	vector	bad2
	vector	bad3
	vector	bad4
	vector	irq
	vector	bad6
	vector	bad7
	vector	l2_exit
	vector	bad9
	vector	bad10
	vector	bad11
	vector	bad12
	vector	bad13
	vector	bad14
	vector	bad15

	.irp	n, 0, 1, 2, 3, 4, 6, 7, 9, 10, 11, 12, 13, 14, 15
bad\n:	mov	x0, #\n
	b	bad
	.endr
bad:	mrs	x4, CurrentEL
	cmp	x4, #8
	b.eq	1f
	mrs	x1, esr_el1
	mrs	x2, elr_el1
	mrs	x3, far_el1
	b	2f
1:	mrs	x1, esr_el2
	mrs	x2, elr_el2
	mrs	x3, far_el2
2:	bl	bad_exception

irq:	sub	sp, sp, #192
	stp	x0, x1, [sp]
	stp	x2, x3, [sp, #16]
	stp	x4, x5, [sp, #32]
	stp	x6, x7, [sp, #48]
	stp	x8, x9, [sp, #64]
	stp	x10, x11, [sp, #80]
	stp	x12, x13, [sp, #96]
	stp	x14, x15, [sp, #112]
	stp	x16, x17, [sp, #128]
	stp	x18, x30, [sp, #144]
	bl	irq_handler
	ldp	x0, x1, [sp]
	ldp	x2, x3, [sp, #16]
	ldp	x4, x5, [sp, #32]
	ldp	x6, x7, [sp, #48]
	ldp	x8, x9, [sp, #64]
	ldp	x10, x11, [sp, #80]
	ldp	x12, x13, [sp, #96]
	ldp	x14, x15, [sp, #112]
	ldp	x16, x17, [sp, #128]
	ldp	x18, x30, [sp, #144]
	add	sp, sp, #192
	eret

/* uint64_t nested_enter(void *entry): ERET to EL1; returns with ESR_EL2 when
 * the guest there takes an exception to EL2. */
	.global	nested_enter
nested_enter:
	stp	x19, x20, [sp, #-96]!
	stp	x21, x22, [sp, #16]
	stp	x23, x24, [sp, #32]
	stp	x25, x26, [sp, #48]
	stp	x27, x28, [sp, #64]
	stp	x29, x30, [sp, #80]
	msr	elr_el2, x0
	mov	x1, #0x3c5		/* EL1h, DAIF masked */
	msr	spsr_el2, x1
	eret
l2_exit:
	mrs	x0, esr_el2
	ldp	x21, x22, [sp, #16]
	ldp	x23, x24, [sp, #32]
	ldp	x25, x26, [sp, #48]
	ldp	x27, x28, [sp, #64]
	ldp	x29, x30, [sp, #80]
	ldp	x19, x20, [sp], #96
	ret

/* The guests: a hypercall for ever, the same with FP, and CPACR_EL1 set. */
	.global	l2_hvc
l2_hvc:	hvc	#0
	b	l2_hvc
	.global	l2_fp_hvc
l2_fp_hvc:
	fmov	d1, x0
	fadd	d1, d1, d1
	hvc	#0
	b	l2_fp_hvc
	.global	l2_el1regs
l2_el1regs:
	mov	x1, #(3 << 20) | (3 << 16)
	msr	cpacr_el1, x1
	isb
	hvc	#0
	b	l2_el1regs
