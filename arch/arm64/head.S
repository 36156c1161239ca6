/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * First instructions: the Linux arm64 Image header, so that every loader of
 * Linux can start the hypervisor (Documentation/arch/arm64/booting: MMU off,
 * x0 = device tree, image clean to the point of coherency), self relocation,
 * switch to E2H=1, and the same for secondary CPUs. Runs with the MMU off
 * until mmu_on; C called before that touches only aligned data.
 */
#include "offsets.h"

#define HCR_BOOT_HI	0x4		/* HCR_EL2.E2H, bit 34 */
#define HCR_BOOT_LO	0x80000000	/* HCR_EL2.RW, bit 31 */

	.section .head.start, "ax"
	.global _start
_start:
	b	primary
	.long	0
	.quad	0			/* text_offset */
	/* image_size comes from the linker script. */
	.section .head.rest, "ax"
	.quad	0xa			/* LE, 4 KiB pages, any place in RAM */
	.quad	0, 0, 0
	.ascii	"ARM\x64"
	.long	0

	.text
primary:
	msr	daifset, #0xf
	mov	x21, x0			/* device tree, kept until host_main */
	adrp	x1, boot_stack_top
	add	sp, x1, :lo12:boot_stack_top

	/*
	 * Zero the BSS: a multiple of 4096 bytes, with the MMU off. Lines of it
	 * that a loader left in a cache must not be written back over it later.
	 */
	adrp	x1, __bss_start
	adrp	x2, __bss_end
	bl	invalidate
	adrp	x1, __bss_start
	adrp	x2, __bss_end
1:	stp	xzr, xzr, [x1], #16
	cmp	x1, x2
	b.lo	1b

	/*
	 * Relocate: every entry is R_AARCH64_RELATIVE, *(base + offset) =
	 * base + addend. x5 = distance from the link address.
	 */
	adrp	x5, __image_start
	ldr	x6, link_address
	sub	x5, x5, x6
	adrp	x1, __rela_start
	add	x1, x1, :lo12:__rela_start
	adrp	x2, __rela_end
	add	x2, x2, :lo12:__rela_end
2:	cmp	x1, x2
	b.hs	3f
	ldr	x3, [x1]		/* offset */
	ldr	x4, [x1, #16]		/* addend */
	add	x4, x4, x5
	str	x4, [x3, x5]
	add	x1, x1, #24
	b	2b
3:
	mrs	x0, CurrentEL
	cmp	x0, #(2 << 2)
	mov	x1, #0			/* reason: not at EL2 */
	b.ne	unfit
	mrs	x0, id_aa64mmfr1_el1
	ubfx	x0, x0, #8, #4		/* VH */
	mov	x1, #1			/* reason: no VHE */
	cbz	x0, unfit

	bl	enter_vhe
	adrp	x0, boot_cpu
	add	x0, x0, :lo12:boot_cpu
	msr	tpidr_el2, x0
	adrp	x0, vectors
	add	x0, x0, :lo12:vectors
	msr	vbar_el1, x0		/* VBAR_EL2 at E2H=1 */
	/*
	 * mmu_boot reads the head of the device tree (40 bytes, two lines at
	 * most) with the caches off; the loader may have left it in one.
	 */
	cbz	x21, 4f
	dc	civac, x21
	add	x0, x21, #39
	dc	civac, x0
	dsb	sy
4:	mov	x0, x21
	bl	mmu_boot		/* tables and the register values */
	/* Nor must a clean line hide what was written with the caches off. */
	adrp	x1, __rodata_start
	adrp	x2, __image_end
	bl	invalidate
	adrp	x0, mmu_regs
	add	x0, x0, :lo12:mmu_regs
	bl	mmu_on
	mov	x0, x21
	mov	x29, xzr
	bl	arm64_main
	b	.

unfit:
	mov	x0, x21
	bl	boot_unfit
	b	.

	.align	3
link_address:
	.quad	LINK_ADDRESS

/*
 * E2H=1, TGE=0: EL2 with the register layout of EL1. Where E2H is RES1 the
 * write changes nothing. Clobbers x0.
 */
enter_vhe:
	movz	x0, #HCR_BOOT_HI, lsl #32
	movk	x0, #(HCR_BOOT_LO >> 16), lsl #16
	msr	hcr_el2, x0
	isb
	ret

/* Invalidates the data cache over [x1, x2), page aligned. Clobbers x0, x1. */
invalidate:
	dc	ivac, x1
	add	x1, x1, #16		/* the shortest line there can be */
	cmp	x1, x2
	b.lo	invalidate
	dsb	sy
	ret

/*
 * Turns the MMU and the caches on with the values of struct mmu_regs at x0.
 * The tables map this code at its own address.
 */
mmu_on:
	/* ID_AA64MMFR3_EL1: TCR2_EL2 and SCTLR2_EL2, whose reset values are
	 * unknown, where they exist. Everything in them is off. */
	mrs	x5, s3_0_c0_c7_3
	ubfx	x6, x5, #0, #4
	cbz	x6, 1f
	msr	s3_4_c2_c0_3, xzr		/* TCR2_EL2 */
1:	ubfx	x6, x5, #4, #4
	cbz	x6, 1f
	msr	s3_4_c1_c0_3, xzr		/* SCTLR2_EL2 */
1:	ldp	x1, x2, [x0, #MMU_REGS_MAIR]	/* mair, tcr */
	ldp	x3, x4, [x0, #MMU_REGS_TTBR]	/* ttbr0, sctlr */
	msr	mair_el1, x1
	msr	tcr_el1, x2
	msr	ttbr0_el1, x3
	isb
	tlbi	alle2
	ic	iallu
	dsb	nsh
	isb
	msr	sctlr_el1, x4
	isb
	ret

/*
 * A CPU powered on by arch_cpu_start(): x0 = its struct cpu, whose cache lines
 * that are read here have been cleaned to memory.
 */
	.global	secondary_entry
secondary_entry:
	msr	daifset, #0xf
	mov	x20, x0
	bl	enter_vhe
	msr	tpidr_el2, x20
	adrp	x0, vectors
	add	x0, x0, :lo12:vectors
	msr	vbar_el1, x0
	adrp	x0, mmu_regs
	add	x0, x0, :lo12:mmu_regs
	bl	mmu_on
	ldr	x1, [x20, #CPU_STACK_TOP]
	mov	sp, x1
	mov	x0, x20
	mov	x29, xzr
	bl	arm64_secondary
	b	.

	.bss
	.align	12
	.global	boot_stack_guard
boot_stack_guard:			/* never mapped: mmu_boot */
	.space	4096
	.space	16384
boot_stack_top:
