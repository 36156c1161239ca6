// SPDX-License-Identifier: BSD-2-Clause
/*
 * Registers that nothing uses, filled with values to see whether they stay: of
 * the calling vCPU, and of the interrupt controllers of the VM.
 */
#ifndef GUEST_LOONGARCH_OWN_H
#define GUEST_LOONGARCH_OWN_H

#include <stdint.h>
#include "csr.h"
#include "io.h"
#include "irq.h"

#define OWN_VECTOR	(0x10000200 + 40)	/* of the PCH-PIC's input 40 */
#define OWN_MAILBOX	(IOCSR_MBUF0 + 16)

static inline void own_set(uint64_t value)
{
	csr_write(CSR_SAVE0, value);
	csr_write(CSR_SAVE0 + 1, value + 1);
	csr_write(CSR_SAVE0 + 2, value + 2);
	csr_write(CSR_TID, (uint32_t)value);
	iocsr_write64(OWN_MAILBOX, value + 3);
}

/* How many of them are not what own_set(value) made them. */
static inline unsigned own_wrong(uint64_t value)
{
	uint64_t id;

	/* TID is also seen by an instruction that need not trap. */
	asm volatile("rdtime.d $zero, %0" : "=r"(id));
	return (csr_read(CSR_SAVE0) != value) +
	       (csr_read(CSR_SAVE0 + 1) != value + 1) +
	       (csr_read(CSR_SAVE0 + 2) != value + 2) +
	       (csr_read(CSR_TID) != (uint32_t)value) +
	       ((uint32_t)id != (uint32_t)value) +
	       (iocsr_read64(OWN_MAILBOX) != value + 3);
}

static inline void intc_set(void)
{
	io_write8(OWN_VECTOR, 0x5a);
	iocsr_write32(IOCSR_EXTIOI_ENABLE + 28, 0x30507090);
}

/* How many are not as irq_on() of these two and intc_set() made them. */
static inline unsigned intc_wrong(unsigned sgi, unsigned timer)
{
	uint64_t lines = ESTAT_IPI | 1ull << (timer - IRQ_LINE);

	return (io_read8(OWN_VECTOR) != 0x5a) +
	       (iocsr_read32(IOCSR_EXTIOI_ENABLE + 28) != 0x30507090) +
	       (iocsr_read32(IOCSR_IPI_EN) != 1u << sgi) +
	       (csr_read(CSR_ECFG) != lines);
}

#endif
