// SPDX-License-Identifier: BSD-2-Clause
/*
 * Registers that nothing uses, filled with values to see whether they stay: of
 * the calling vCPU, and of the interrupt controller of the VM.
 */
#ifndef GUEST_ARM64_OWN_H
#define GUEST_ARM64_OWN_H

#include <stdint.h>
#include "arm64/sysreg.h"
#include "guest.h"
#include "io.h"
#include "irq.h"

#define OWN_SPI		50

static inline void own_set(uint64_t value)
{
	write_sysreg(value, tpidr_el0);
	write_sysreg(value + 1, tpidr_el1);
	write_sysreg(value + 2, tpidrro_el0);
	write_sysreg((uint32_t)value, contextidr_el1);
	isb();
}

/* How many of them are not what own_set(value) made them. */
static inline unsigned own_wrong(uint64_t value)
{
	return (read_sysreg(tpidr_el0) != value) +
	       (read_sysreg(tpidr_el1) != value + 1) +
	       (read_sysreg(tpidrro_el0) != value + 2) +
	       (read_sysreg(contextidr_el1) != (uint32_t)value);
}

static inline void intc_set(void)
{
	io_write32(machine.gicd.base + GICD_IPRIORITYR + (OWN_SPI & ~3u),
		   0x30507090);
	irq_enable_id(OWN_SPI);
}

/* How many are not as irq_on() of these two and intc_set() made them. */
static inline unsigned intc_wrong(unsigned sgi, unsigned timer)
{
	uint64_t gicd = machine.gicd.base;

	return (io_read32(gicd + GICD_IPRIORITYR + (OWN_SPI & ~3u)) !=
		0x30507090u) +
	       (io_read32(gicd + GICD_ISENABLER + 4) != 1u << OWN_SPI % 32) +
	       ((io_read32(gicd + GICD_CTLR) & 0x12) != 0x12) +
	       (io_read32(irq_frame(0) + GICD_ISENABLER) !=
		(1u << sgi | 1u << timer)) +
	       (irq_bit(GICD_ISPENDR, OWN_SPI) != 0);
}

#endif
