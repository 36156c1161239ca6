/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exception vectors of EL2, and the way into and out of a guest.
 *
 * While a guest runs, SP_EL2 points at a slot of this CPU's hypervisor stack
 * that holds the vCPU; what arch_vcpu_run()'s caller needs is above it. An
 * exit saves the general registers into the vCPU and calls exit_handle(); when
 * that returns 0 the guest goes on without leaving this file.
 */
#include "offsets.h"

	/* x2..x29 to or from the struct arch_regs at \base. */
	.macro	most_regs op, base
	\op	x2, x3, [\base, #8 * 2]
	\op	x4, x5, [\base, #8 * 4]
	\op	x6, x7, [\base, #8 * 6]
	\op	x8, x9, [\base, #8 * 8]
	\op	x10, x11, [\base, #8 * 10]
	\op	x12, x13, [\base, #8 * 12]
	\op	x14, x15, [\base, #8 * 14]
	\op	x16, x17, [\base, #8 * 16]
	\op	x18, x19, [\base, #8 * 18]
	\op	x20, x21, [\base, #8 * 20]
	\op	x22, x23, [\base, #8 * 22]
	\op	x24, x25, [\base, #8 * 24]
	\op	x26, x27, [\base, #8 * 26]
	\op	x28, x29, [\base, #8 * 28]
	.endm

	/* Lower EL, AArch64 or AArch32: \kind is enum exit_source. */
	.macro	guest_exit kind
	.balign	0x80
	stp	x0, x1, [sp, #-16]!
	mov	x1, #\kind
	b	exit_common
	.endm

	/* EL2 itself: always our bug. A stack of its own, since the fault may
	 * be a stack overflow. */
	.macro	own_fault kind
	.balign	0x80
	msr	tpidr_el1, x0		/* guest's copy is lost: we end here */
	mrs	x0, tpidr_el2
	ldr	x0, [x0, #CPU_PANIC_STACK]
	b	own_fault_\kind
	.endm

	.text
	.balign	0x800
	.global	vectors
vectors:
	own_fault 0
	own_fault 1
	own_fault 2
	own_fault 3
	own_fault 4
	own_fault 5
	own_fault 6
	own_fault 7
	guest_exit 0
	guest_exit 1
	guest_exit 1
	guest_exit 2
	guest_exit 3
	guest_exit 3
	guest_exit 3
	guest_exit 3
	.balign	0x80

/* x0, x1 of the guest are on the stack, x1 = source, vCPU above them. */
exit_common:
	ldr	x0, [sp, #16]
	most_regs stp, x0
	ldp	x2, x3, [sp], #16
	mrs	x4, elr_el1		/* ELR_EL2, SPSR_EL2, ESR_EL2 */
	mrs	x5, spsr_el1
	mrs	x6, esr_el1
	stp	x2, x3, [x0]
	str	x30, [x0, #8 * 30]
	stp	x4, x5, [x0, #VCPU_PC]
	str	x6, [x0, #VCPU_ESR]
	mov	x29, xzr
	bl	exit_handle		/* (vCPU, source): 0 = go on */
	mov	w1, w0
	ldr	x0, [sp]
	cbz	w1, guest_enter

	/* Back to the caller of arm64_enter. */
	add	sp, sp, #16
	ldp	x19, x20, [sp, #16 * 0]
	ldp	x21, x22, [sp, #16 * 1]
	ldp	x23, x24, [sp, #16 * 2]
	ldp	x25, x26, [sp, #16 * 3]
	ldp	x27, x28, [sp, #16 * 4]
	ldp	x29, x30, [sp, #16 * 5]
	add	sp, sp, #96
	ret

/* void arm64_enter(struct vcpu *v): runs the guest until exit_handle() says
 * that core must see the exit. */
	.global	arm64_enter
	.type	arm64_enter, %function
arm64_enter:
	sub	sp, sp, #96
	stp	x19, x20, [sp, #16 * 0]
	stp	x21, x22, [sp, #16 * 1]
	stp	x23, x24, [sp, #16 * 2]
	stp	x25, x26, [sp, #16 * 3]
	stp	x27, x28, [sp, #16 * 4]
	stp	x29, x30, [sp, #16 * 5]
	str	x0, [sp, #-16]!

/* x0 = vCPU, also at [sp]. The exclusive monitor is cleared by ERET only on
 * some CPUs, hence the clrex. */
guest_enter:
	ldp	x4, x5, [x0, #VCPU_PC]
	/* A PSTATE of EL2 or EL3 or AArch32 here would hand the guest our own
	 * exception level. */
	tst	x5, #0x18
	b.ne	bad_pstate
	msr	elr_el1, x4
	msr	spsr_el1, x5
	clrex
	most_regs ldp, x0
	ldr	x30, [x0, #8 * 30]
	ldp	x0, x1, [x0]
	eret
	/* No speculation past the ERET into guest-controlled registers. */
	dsb	nsh
	isb

bad_pstate:
	bl	exit_bad_pstate

	/* x0 = top of the panic stack; the old x0 is in TPIDR_EL1. What was
	 * interrupted goes there as a struct arch_regs. */
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7
own_fault_\n:
	sub	x0, x0, #REGS_SIZE
	str	x1, [x0, #8 * 1]
	mov	x1, #\n
	b	own_fault_common
	.endr

own_fault_common:
	most_regs stp, x0
	str	x30, [x0, #8 * 30]
	mrs	x2, tpidr_el1
	str	x2, [x0]
	mrs	x2, elr_el1		/* ELR_EL2, SPSR_EL2 */
	mrs	x3, spsr_el1
	stp	x2, x3, [x0, #8 * 31]
	mov	x2, sp			/* at the fault */
	mov	sp, x0
	bl	exit_own_fault		/* (registers, vector, sp) */
	b	.
