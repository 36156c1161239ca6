/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a guest has its GIC: the addresses of QEMU's virt board.
 */
#ifndef ARM64_VGIC_MMIO_H
#define ARM64_VGIC_MMIO_H

#include "types.h"

#define VGIC_GICD_BASE	UINT64_C(0x08000000)
#define VGIC_GICD_SIZE	UINT64_C(0x10000)
#define VGIC_GICR_BASE	UINT64_C(0x080a0000)
#define VGIC_GICR_SIZE	UINT64_C(0x20000)	/* each vCPU */

#endif
