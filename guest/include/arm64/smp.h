// SPDX-License-Identifier: BSD-2-Clause
/*
 * vCPUs of the guest: which one runs, starting the others, and locks between
 * them. A vCPU's number comes from its MPIDR (Aff1 * 16 + Aff0), so that no
 * register is taken away from tests.
 */
#ifndef GUEST_SMP_H
#define GUEST_SMP_H

#include <stdint.h>
#include "arm64/sysreg.h"
#include "guest.h"
#include "lock.h"

/* Affinity fields of MPIDR_EL1. */
#define MPIDR_AFF	0xff00ffffffULL

static inline unsigned vcpu_of(uint64_t mpidr)
{
	return (unsigned)(((mpidr >> 8) & 0xff) * 16 + (mpidr & 0xf)) %
	       MAX_VCPUS;
}

/* Number of the calling vCPU, 0..MAX_VCPUS-1. */
static inline unsigned vcpu_id(void)
{
	return vcpu_of(read_sysreg(mpidr_el1));
}

/* MPIDR of a vCPU number, as in machine.mpidr; ~0 when there is none. */
uint64_t mpidr_of(unsigned id);

/*
 * Is the calling vCPU the one with these affinity fields in all it says about
 * itself, and has it a redistributor?
 */
bool vcpu_is(uint64_t mpidr);

/* Adds one by load and store exclusive, whatever the compiler prefers. */
static inline void add_exclusive(uint64_t *word)
{
	uint64_t value;
	uint32_t failed;

	do
		asm volatile("ldxr %0, [%2]\n\tadd %0, %0, #1\n\t"
			     "stxr %w1, %0, [%2]"
			     : "=&r"(value), "=&r"(failed)
			     : "r"(word)
			     : "memory");
	while (failed);
}

/*
 * Starts vCPU `id` by PSCI CPU_ON. It takes its own stack, the page tables of
 * the boot vCPU and an initialised GIC CPU interface, calls fn with IRQs masked
 * and goes off (CPU_OFF) when that returns. Returns the PSCI result.
 */
int64_t vcpu_start(unsigned id, void (*fn)(void));

/* The two halves of it: what the vCPU will need, and the call alone. */
void vcpu_prepare(unsigned id, void (*fn)(void));
int64_t vcpu_power_on(unsigned id);

/* Starts all vCPUs but the calling one; how many could be started. */
unsigned smp_boot(void (*fn)(void));

/* Waits until all vCPUs but the caller are off again (AFFINITY_INFO). */
void smp_join(void);

#endif
