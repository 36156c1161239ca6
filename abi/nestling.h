/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Guest ABI of Nestling, shared by the hypervisor and guest images and usable
 * from C and assembly. docs/guest-abi.md is the prose. Calls follow the SMC
 * Calling Convention (Arm DEN0028): the function id is in w0, arguments in
 * x1..x3, the result in x0. On arm64 they are made by HVC from EL1 and by SMC
 * from EL2, on LoongArch by hvcl. The ids lie in the range that SMCCC keeps for
 * the vendor-specific hypervisor service (owner 6).
 */
#ifndef NESTLING_ABI_H
#define NESTLING_ABI_H

/* SMCCC general queries of the vendor-specific hypervisor service. */
#define NESTLING_UID		0x8600ff01
#define NESTLING_REVISION	0x8600ff03

/* Our UUID 5be1d4a8-1f36-4c79-9e0b-6e6573746c67 as the words of w0..w3. */
#define NESTLING_UID_W0		0xa8d4e15b
#define NESTLING_UID_W1		0x794c361f
#define NESTLING_UID_W2		0x656e0b9e
#define NESTLING_UID_W3		0x676c7473

/* Nestling's own calls. */
#define NESTLING_VERSION	0xc6000000	/* x0 = (major << 16) | minor */
#define NESTLING_EXIT		0xc6000001	/* (status): ends the VM */
#define NESTLING_YIELD		0xc6000002	/* let others run first */
#define NESTLING_MIGRATE	0xc6000003	/* (pcpu): stay there */
#define NESTLING_STAT		0xc6000004	/* (index): a counter */

#define NESTLING_ABI_MAJOR	1
#define NESTLING_ABI_MINOR	0

/* Results. */
#define NESTLING_OK		0
#define NESTLING_NOT_SUPPORTED	(-1)
#define NESTLING_INVALID	(-2)

/* Indices of NESTLING_STAT: counters of the calling vCPU. */
#define NESTLING_STAT_EXITS	0	/* exits from this vCPU */
#define NESTLING_STAT_SWITCHES	1	/* times this vCPU was switched in */
#define NESTLING_STAT_FP_SAVES	2	/* FP saves of this vCPU's registers */
#define NESTLING_STAT_FP_LOADS	3	/* FP loads of this vCPU's registers */
#define NESTLING_STAT_PCPU	4	/* pCPU the caller runs on */
#define NESTLING_STAT_FP_TRAPS	5	/* FP traps taken at EL2 */
#define NESTLING_STAT_FP_BYTES	6	/* bytes that FP moves have moved */
#define NESTLING_STAT_FP_WIDENS	7	/* live FP registers made wider */
#define NESTLING_STAT_FP_LEVEL	8	/* live width: 0 none, 1 scalar, 2
					 * FPSIMD or LSX, 3 LASX, 4 SVE */
#define NESTLING_STATS		9

#endif
