// SPDX-License-Identifier: BSD-2-Clause
/*
 * Entry of the mini guests: position-independent, one vCPU, MMU off, no FP. With
 * IMAGE_FLAGS defined the file is a Linux Image with the header fields
 * TEXT_OFFSET, IMAGE_SIZE and IMAGE_FLAGS; without, a flat binary whose first
 * byte is code. main() gets the entry's x0..x3 and the entry address.
 */
	.section .head, "ax"
	.globl	_start
_start:
#ifdef IMAGE_FLAGS
	b	1f
	.long	0
	.quad	TEXT_OFFSET
	.quad	IMAGE_SIZE
	.quad	IMAGE_FLAGS
	.quad	0, 0, 0
	.ascii	"ARM\x64"
	.long	0
1:
#endif
	adrp	x9, stack_top
	add	x9, x9, :lo12:stack_top
	mov	sp, x9
	adr	x4, _start
	adrp	x9, vectors
	add	x9, x9, :lo12:vectors
	msr	vbar_el1, x9
	isb
	bl	main
	mov	x1, x0
	ldr	w0, =0xc6000001		// NESTLING_EXIT
	hvc	#0
0:	wfi
	b	0b

	/* Any exception: status 99, so that a test sees it. */
	.balign	2048
vectors:
	.rept	16
	.balign	128
	mrs	x0, esr_el1
	mrs	x1, elr_el1
	mrs	x2, far_el1
	bl	trapped
	.endr
	.ltorg

	.bss
	.balign	16
	.space	8192
stack_top:
