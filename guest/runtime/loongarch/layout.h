// SPDX-License-Identifier: BSD-2-Clause
/*
 * Constants that C and assembly of the LoongArch runtime share. The C side
 * asserts those that describe a structure.
 */
#ifndef RUNTIME_LOONGARCH_LAYOUT_H
#define RUNTIME_LOONGARCH_LAYOUT_H

#define STACK_SHIFT	15

/* Segment 0 cached and segment 8 uncached, both for level 0; paging on. */
#define DMW_MEMORY	0x0000000000000011
#define DMW_DEVICES	0x8000000000000001
#define CRMD_KERNEL	0xb0

/* Page tables of 4 levels, 9 bits each, above pages of 4 KiB. */
#define PWCL_VALUE	(12 | 9 << 5 | 21 << 10 | 9 << 15 | 30 << 20 | 9 << 25)
#define PWCH_VALUE	(39 | 9 << 6)

/* Exception frame: struct trap_frame, then f0..f31, fcsr, fcc. */
#define FRAME_ERA	256
#define FRAME_PRMD	264
#define FRAME_ESTAT	272
#define FRAME_BADV	280
#define FRAME_BADI	288
#define FRAME_F		304
#define FRAME_FCSR	(FRAME_F + 32 * 8)
#define FRAME_FCC	(FRAME_FCSR + 8)
#define FRAME_SIZE	(FRAME_FCC + 8)


#endif
