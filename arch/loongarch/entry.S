/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The exception entries, and the way into and out of a guest.
 *
 * SAVE0 holds the loaded vCPU, SAVE2 this CPU's struct cpu, both since
 * arch_vcpu_load() and arch_cpu_init(); SAVE1 and SAVE3 are scratch. Guests
 * run at PLV3 and the hypervisor at PLV0, so PRMD tells whose exception it is.
 * While a guest runs, vcpu->host_sp points at what la_enter() saved. An exit
 * saves the general registers into the vCPU and calls exit_handle(); when that
 * returns 0 the guest goes on without leaving this file.
 */
#include "csr.h"
#include "offsets.h"

	/* All but $r0, $tp (2) and $sp (3). */
	.macro	most_regs op, base
	.irp	n, 1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, \
		19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	\op	$r\n, \base, \n * 8
	.endr
	.endm

	/* What a C function may rely on after a call. */
	.macro	host_regs op
	\op	$ra, $sp, 0
	.irp	n, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	\op	$r\n, $sp, (\n - 21) * 8
	.endr
	.endm

	.section .text.entry, "ax"
	.balign	4096
	.globl	la_vector
	.type	la_vector, %function
la_vector:
	csrwr	$tp, CSR_SAVE1
	csrrd	$tp, CSR_PRMD
	andi	$tp, $tp, 3
	beqz	$tp, own_fault
	csrrd	$tp, CSR_SAVE0
	most_regs st.d, $tp
	st.d	$sp, $tp, 3 * 8
	csrrd	$t0, CSR_SAVE1
	csrrd	$t1, CSR_ERA
	st.d	$t0, $tp, 2 * 8
	st.d	$t1, $tp, VCPU_PC
	ld.d	$sp, $tp, VCPU_HOST_SP
	move	$a0, $tp
	csrrd	$a1, CSR_ESTAT
	move	$fp, $zero
	csrrd	$tp, CSR_SAVE2
	bl	exit_handle		/* (vCPU, ESTAT): 0 = go on */
	csrrd	$tp, CSR_SAVE0
	beqz	$a0, guest_enter

	/* Back to the caller of la_enter. */
	host_regs ld.d
	csrrd	$tp, CSR_SAVE2
	addi.d	$sp, $sp, 96
	ret

	/* void la_enter(struct vcpu *v): runs the guest until exit_handle()
	 * says that core must see the exit. */
	.globl	la_enter
	.type	la_enter, %function
la_enter:
	addi.d	$sp, $sp, -96
	host_regs st.d
	st.d	$sp, $a0, VCPU_HOST_SP
	move	$tp, $a0
	/* A guest is entered at PLV3 with interrupts open, whatever came
	 * before; every exit leaves PRMD that way again. */
	li.w	$t0, PRMD_GUEST
	csrwr	$t0, CSR_PRMD

	/* $tp = vCPU */
guest_enter:
	ld.d	$t0, $tp, VCPU_PC
	csrwr	$t0, CSR_ERA
	most_regs ld.d, $tp
	ld.d	$sp, $tp, 3 * 8
	ld.d	$tp, $tp, 2 * 8
	ertn

	/*
	 * An exception at PLV0 is always our bug. $tp was this CPU's and is in
	 * SAVE1. A stack of its own, since the fault may be a stack overflow;
	 * what was interrupted goes there as a struct arch_regs.
	 */
own_fault:
	csrrd	$tp, CSR_SAVE1
own_fault_at_tp:
	csrwr	$sp, CSR_SAVE3
	ld.d	$sp, $tp, CPU_PANIC_STACK
	addi.d	$sp, $sp, -REGS_SIZE
	most_regs st.d, $sp
	st.d	$zero, $sp, 0
	st.d	$tp, $sp, 2 * 8
	csrrd	$a1, CSR_SAVE3
	st.d	$a1, $sp, 3 * 8
	csrrd	$t0, CSR_ERA
	st.d	$t0, $sp, REGS_PC
	move	$a0, $sp
	bl	la_host_trap		/* (registers, sp) */

	/*
	 * TLB refill of a guest, in direct address mode with PLV0. The shadow
	 * table holds complete entries; where it has none the entry is not
	 * valid and the access faults again, to la_vector.
	 */
	.balign	4096
	.globl	la_refill
	.type	la_refill, %function
la_refill:
	csrwr	$t0, CSR_TLBRSAVE
	csrrd	$t0, CSR_PGD
	lddir	$t0, $t0, 3
	lddir	$t0, $t0, 2
	lddir	$t0, $t0, 1
	ldpte	$t0, 0
	ldpte	$t0, 1
	tlbfill
	csrrd	$t0, CSR_TLBRSAVE
	ertn

	/*
	 * Machine error, in direct address mode: the machine stops, whoever
	 * ran. $tp may be a guest's. On with paging, for the addresses of
	 * devices.
	 */
	.balign	4096
	.globl	la_merr
	.type	la_merr, %function
la_merr:
	csrwr	$t0, CSR_MERRSAVE
	li.w	$t0, CRMD_PAGING
	csrwr	$t0, CSR_CRMD
	csrrd	$t0, CSR_MERRERA
	csrwr	$t0, CSR_ERA
	csrrd	$t0, CSR_MERRSAVE
	csrrd	$tp, CSR_SAVE2
	b	own_fault_at_tp
