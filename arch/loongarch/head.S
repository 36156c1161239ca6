/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * First instructions of every CPU. A loader starts the boot CPU here at PLV 0
 * with address translation off (CRMD.DA) and a0..a2 as for Linux: 1, command
 * line, EFI system table. The others wait in the firmware's stub until
 * arch_cpu_start() sends them to secondary_entry. Both switch to the direct
 * mapped windows, whose addresses for memory are the physical ones.
 */
#include "csr.h"
#include "mmu.h"
#include "offsets.h"

	.section .head.start, "ax"
	.global	_start
_start:
	bl	windows
	la.pcrel $t0, __bss_start
	la.pcrel $t1, __bss_end
1:	st.d	$zero, $t0, 0
	st.d	$zero, $t0, 8
	addi.d	$t0, $t0, 16
	bltu	$t0, $t1, 1b
	la.pcrel $tp, boot_cpu
	la.pcrel $sp, boot_stack_top
	move	$fp, $zero
	bl	la_main
2:	b	2b

	.global	secondary_entry
secondary_entry:
	bl	windows
	/* Its struct cpu is in the second mailbox. */
	li.w	$t0, IOCSR_MAILBOX1
	iocsrrd.d $tp, $t0
	iocsrwr.d $zero, $t0
	ld.d	$sp, $tp, CPU_STACK_TOP
	move	$a0, $tp
	move	$fp, $zero
	bl	la_secondary
3:	b	3b

/*
 * Interrupts off, windows and paging on: DMW0 makes segment 0 cached memory,
 * DMW1 segment 8 device registers, both for PLV 0 alone. Whatever ran before may
 * have left TLB entries and other windows. Clobbers t0 and t1.
 */
windows:
	li.w	$t0, CRMD_BOOT_DA
	csrwr	$t0, CSR_CRMD
	li.d	$t0, DMW_RAM
	csrwr	$t0, CSR_DMW0
	li.d	$t0, DMW_DEVICE
	csrwr	$t0, CSR_DMW1
	csrwr	$zero, CSR_DMW2		
	csrwr	$zero, CSR_DMW3
	csrwr	$zero, CSR_ECFG
	csrwr	$zero, CSR_EUEN
	invtlb	0, $zero, $zero
	li.w	$t0, CRMD_HYP
	csrwr	$t0, CSR_CRMD
	ret

	.bss
	.align	12
	.space	STACK_GUARD + STACK_SIZE
	.global	boot_stack_top
boot_stack_top:
