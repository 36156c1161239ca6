/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Addresses of the guest machine, a subset of QEMU's virt machine, that more
 * than one file needs. The others are in machine.c.
 */
#ifndef LOONGARCH_LAMACHINE_H
#define LOONGARCH_LAMACHINE_H

#include "types.h"

/* Below are boot tables and device tree, above images: the same as QEMU's. */
#define GUEST_RESERVED	UINT64_C(0x200000)
#define GUEST_DTB	UINT64_C(0x100000)

/* One page of code, rom.S: where the vCPUs but the first begin. */
#define GUEST_ROM	UINT64_C(0x1c000000)

extern const char guest_rom[];

#endif
