/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Structures of the guest's interrupt controllers (IPI, EIOINTC, PCH-PIC) that
 * are embedded by value in arch/types.h.
 */
#ifndef ARCH_VINTC_TYPES_H
#define ARCH_VINTC_TYPES_H

#include <stdint.h>

#include "lock.h"

/* Per VM. */
struct vintc {
	struct spinlock lock;
};

/* Per vCPU. */
struct vintc_cpu {
	uint32_t lines;		/* [a] ESTAT.IS bits of HWI0..7 and IPI */
};

#endif
