// SPDX-License-Identifier: BSD-2-Clause
/*
 * Constants that C and assembly of the arm64 runtime share. The C side asserts
 * those that describe a structure.
 */
#ifndef RUNTIME_ARM64_LAYOUT_H
#define RUNTIME_ARM64_LAYOUT_H

#define STACK_SIZE	32768

/* Translation control while on the tables of mmu.h. */
#define MMU_MAIR	0x44ff0400	/* 0: nGnRnE, 1: nGnRE, 2: WB, 3: NC */
#define MMU_TCR		0x80903510	/* 48-bit TTBR0 alone; IPS is added */
#define MMU_SCTLR	0x34d5d91d	/* RES1, M, C, I, SA, SA0, EL0 open */
#define MMU_SCTLR_OFF	0x34d5c918	/* the same without M, C, I */

/* Exception frame: struct trap_frame, then vector registers. */
#define FRAME_X		0
#define FRAME_SP	(31 * 8)
#define FRAME_ELR	(32 * 8)
#define FRAME_SPSR	(33 * 8)
#define FRAME_ESR	(34 * 8)
#define FRAME_FAR	(35 * 8)
#define FRAME_Q		(36 * 8)
#define FRAME_FPCR	(FRAME_Q + 32 * 16)
#define FRAME_SIZE	(FRAME_FPCR + 16)

#endif
