// SPDX-License-Identifier: BSD-2-Clause
/*
 * First instructions of the boot vCPU and of the others: windows and paging on,
 * FP on, exception entries, stack, then C. The image is linked at its physical
 * address, which segment 0 maps to itself.
 */
#include "csr.h"
#include "layout.h"

/* Clobbers t0, t1. CRMD is as after reset: level 0, direct, no interrupts. */
	.macro	environment
	li.d	$t0, DMW_MEMORY
	csrwr	$t0, CSR_DMW0
	li.d	$t0, DMW_DEVICES
	csrwr	$t0, CSR_DMW1
	csrwr	$zero, CSR_DMW2
	csrwr	$zero, CSR_DMW3
	csrwr	$zero, CSR_ECFG
	li.w	$t0, EUEN_FPE
	csrwr	$t0, CSR_EUEN
	la.pcrel $t0, trap_vector
	csrwr	$t0, CSR_EENTRY
	la.pcrel $t0, refill_vector
	csrwr	$t0, CSR_TLBRENTRY
	la.pcrel $t0, trap_vector
	csrwr	$t0, CSR_MERRENTRY
	li.w	$t0, PWCL_VALUE
	csrwr	$t0, CSR_PWCL
	li.w	$t0, PWCH_VALUE
	csrwr	$t0, CSR_PWCH
	la.pcrel $t0, empty_root
	csrwr	$t0, CSR_PGDL
	la.pcrel $t0, empty_root
	csrwr	$t0, CSR_PGDH
	invtlb	0, $zero, $zero
	li.w	$t0, CRMD_KERNEL
	csrwr	$t0, CSR_CRMD
	.endm

/* Stack of the vCPU whose number is in CSR.CPUID. Clobbers t0, t1. */
	.macro	own_stack
	csrrd	$t0, CSR_CPUID
	andi	$t0, $t0, 31
	addi.d	$t0, $t0, 1
	slli.d	$t0, $t0, STACK_SHIFT
	la.pcrel $sp, stacks
	add.d	$sp, $sp, $t0
	move	$t0, $sp
	csrwr	$t0, CSR_SAVE7		/* for trap_vector */
	move	$fp, $zero
	.endm

	.section .text.entry, "ax"
	.globl	_start
_start:
	environment
	la.pcrel $t0, __bss_start
	la.pcrel $t1, __bss_end
1:	st.d	$zero, $t0, 0
	addi.d	$t0, $t0, 8
	bltu	$t0, $t1, 1b
	own_stack
	bl	empty_fill
	bl	runtime_main
2:	b	2b

/* Another vCPU, out of the firmware's stub. */
	.globl	secondary_start
secondary_start:
	environment
	own_stack
	csrrd	$a0, CSR_CPUID
	andi	$a0, $a0, 31
	bl	secondary_main
3:	b	3b

/* Directories that lead to themselves: whatever is walked ends in an entry
 * without the valid bit. Keeps a0..a2. */
empty_fill:
	la.pcrel $t0, empty_root
	li.w	$t1, 512
	move	$t2, $t0
4:	st.d	$t0, $t2, 0
	addi.d	$t2, $t2, 8
	addi.d	$t1, $t1, -1
	bnez	$t1, 4b
	ret

	.bss
	.balign	4096
	.globl	empty_root
empty_root:
	.space	4096
