/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a guest has at GUEST_ROM: the code in which every vCPU but the first
 * waits for its start, in the manner of QEMU's machine. Whoever starts one
 * writes the address to its mailbox 0 and then sends it an IPI. The page is
 * the same for all VMs and read-only. Mailbox 0 is not cleared here, as it is 0
 * after a reset: the first vCPU may have written it before this one ever ran.
 */
#include "csr.h"

#define MAILBOX0	0x20	/* from the begin of the IPI block */
#define STATUS		0x00
#define ENABLE		0x04
#define CLEAR		0x0c
#define IPI_BLOCK	1	/* IOCSR address 0x1000, as LU12I takes it */
#define ECFG_IPI	1	/* bit 12, likewise */

	.section .rodata.rom, "a"
	.balign 4096
	.globl guest_rom
guest_rom:
	/* The IPI line wakes from IDLE; nothing is taken, CRMD.IE is 0. */
	lu12i.w	$t0, ECFG_IPI
	csrxchg	$t0, $t0, CSR_ECFG
	addi.d	$t0, $zero, -1
	lu12i.w	$t1, IPI_BLOCK
	ori	$t2, $t1, ENABLE
	iocsrwr.w $t0, $t2
1:	idle	0
	ori	$t2, $t1, STATUS
	iocsrrd.w $t0, $t2
	beqz	$t0, 1b
	ori	$t2, $t1, CLEAR
	iocsrwr.w $t0, $t2
	/* The sender wrote the mailbox before it sent the IPI. */
	dbar	0
	ori	$t2, $t1, MAILBOX0
	iocsrrd.d $t0, $t2
	beqz	$t0, 1b
	lu12i.w	$t2, ECFG_IPI
	csrxchg	$zero, $t2, CSR_ECFG
	move	$ra, $t0
	jirl	$zero, $t0, 0
	.balign 4096
