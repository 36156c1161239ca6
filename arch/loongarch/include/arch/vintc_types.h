/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Structures of the guest's interrupt controllers (IPI, EIOINTC, PCH-PIC) that
 * are embedded by value in arch/types.h. All of it belongs to the lock in
 * struct vintc, but what is marked [a]: atomic. Registers that a guest may
 * access by bytes are arrays of bytes or little endian, so memory order is
 * register order.
 */
#ifndef ARCH_VINTC_TYPES_H
#define ARCH_VINTC_TYPES_H

#include <stdint.h>

#include "lock.h"

#define EIO_INPUTS	256
#define EIO_WORDS	(EIO_INPUTS / 32)
#define PIC_INPUTS	64

/* PCH-PIC; one bit or byte per input. */
struct vpic {
	uint64_t mask, edge, htmsi, polarity;
	uint64_t level;		/* inputs as devices drive them */
	uint64_t request;	/* wanted: the level, or a latched edge */
	uint64_t driven;	/* EIOINTC inputs that are up for it */
	uint8_t route[PIC_INPUTS];
	uint8_t vector[PIC_INPUTS];	/* input of the EIOINTC */
};

/* Per VM. */
struct vintc {
	struct spinlock lock;
	uint16_t nodetype[16];
	uint8_t ipmap[EIO_WORDS];	/* line for 32 inputs, one-hot */
	uint32_t enable[EIO_WORDS], bounce[EIO_WORDS];
	uint32_t level[EIO_WORDS];	/* inputs as they are driven */
	uint8_t coremap[EIO_INPUTS];	/* vCPU for an input, one-hot */
	struct vpic pic;
};

/* Per vCPU. */
struct vintc_cpu {
	uint32_t lines;		/* [a] ESTAT.IS bits of HWI0..7 and IPI */
	uint32_t ipi_status, ipi_enable;
	uint32_t mailbox[8];
	uint32_t isr[EIO_WORDS];	/* inputs that wait for this vCPU */
};

#endif
