// SPDX-License-Identifier: BSD-2-Clause
/*
 * System registers and barriers of arm64 for guest code. Registers are named as
 * in the architecture manual; those newer than the assembler's base
 * architecture are named by encoding (S3_...).
 */
#ifndef GUEST_ARM64_SYSREG_H
#define GUEST_ARM64_SYSREG_H

#include <stdint.h>

/* Reads a register by its assembler name. EL1 only for EL1 registers. */
#define read_sysreg(reg)                                                       \
	({                                                                     \
		uint64_t value_;                                               \
		asm volatile("mrs %0, " #reg : "=r"(value_)::"memory");        \
		value_;                                                        \
	})

/* Writes a register. The caller adds isb() where the effect must be seen. */
#define write_sysreg(value, reg)                                               \
	do {                                                                   \
		uint64_t new_ = (value);                                       \
		asm volatile("msr " #reg ", %x0" ::"rZ"(new_) : "memory");   \
	} while (0)

static inline void isb(void)
{
	asm volatile("isb" ::: "memory");
}

static inline void dsb(void)
{
	asm volatile("dsb sy" ::: "memory");
}

static inline void wfi(void)
{
	asm volatile("dsb sy\n\twfi" ::: "memory");
}

/* Name of the level this code runs at. */
static inline const char *privilege(void)
{
	return (read_sysreg(currentel) >> 2) == 1 ? "EL1" : "EL2";
}

/* Wait for an event; the event register makes it return at once. */
static inline void wfe(void)
{
	asm volatile("wfe" ::: "memory");
}

/* Sends an event to all vCPUs, after everything stored before it. */
static inline void sev(void)
{
	asm volatile("dsb sy\n\tsev" ::: "memory");
}

/* Masks IRQs of this vCPU and returns the old DAIF for irq_restore(). */
static inline uint64_t irq_save(void)
{
	uint64_t daif = read_sysreg(daif);

	asm volatile("msr daifset, #2" ::: "memory");
	return daif;
}

static inline void irq_restore(uint64_t daif)
{
	write_sysreg(daif, daif);
}

static inline void irq_enable(void)
{
	asm volatile("msr daifclr, #2" ::: "memory");
}

static inline void irq_disable(void)
{
	asm volatile("msr daifset, #2" ::: "memory");
}

/* Exception classes, ESR_EL1.EC. */
#define EC_UNKNOWN	0x00
#define EC_WFX		0x01
#define EC_FP		0x07
#define EC_ILLEGAL	0x0e
#define EC_SVC64	0x15
#define EC_SYSREG	0x18
#define EC_SVE		0x19
#define EC_SME		0x1d
#define EC_IABT_LOW	0x20
#define EC_IABT		0x21
#define EC_PC_ALIGN	0x22
#define EC_DABT_LOW	0x24
#define EC_DABT		0x25
#define EC_SP_ALIGN	0x26
#define EC_SERROR	0x2f
#define EC_BREAK	0x31
#define EC_STEP		0x33
#define EC_WATCH	0x35
#define EC_BRK64	0x3c

#define ESR_EC(esr)	((unsigned)((esr) >> 26) & 0x3f)
#define ESR_ISS(esr)	((uint32_t)(esr) & 0x1ffffff)
#define ESR_DFSC(esr)	((unsigned)(esr) & 0x3f)

/* PSTATE.M of 64-bit EL1 with its own stack, all of DAIF masked. */
#define PSTATE_EL1H	0x3c5
#define PSTATE_I	0x80

#endif
