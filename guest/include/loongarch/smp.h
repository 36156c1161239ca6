// SPDX-License-Identifier: BSD-2-Clause
/*
 * vCPUs of the guest: which one runs, and starting the others. All run from the
 * start, in the firmware's stub; one that is not in use waits there or in the
 * runtime.
 */
#ifndef GUEST_LOONGARCH_SMP_H
#define GUEST_LOONGARCH_SMP_H

#include <stdint.h>
#include "csr.h"
#include "guest.h"
#include "lock.h"

static inline unsigned vcpu_of(uint64_t cpu)
{
	return (unsigned)cpu % MAX_VCPUS;
}

/* Number of the calling vCPU, 0..MAX_VCPUS-1. */
static inline unsigned vcpu_id(void)
{
	return vcpu_of(csr_read(CSR_CPUID));
}

/* Is the calling vCPU the one with this number in the tree? */
static inline bool vcpu_is(uint64_t cpu)
{
	return csr_read(CSR_CPUID) == cpu;
}

/* Adds one by LL and SC, whatever the compiler prefers. */
static inline void add_exclusive(uint64_t *word)
{
	uint64_t value;

	do
		asm volatile("ll.d %0, %1, 0\n\taddi.d %0, %0, 1\n\t"
			     "sc.d %0, %1, 0"
			     : "=&r"(value)
			     : "r"(word)
			     : "memory");
	while (!value);
}

/*
 * Lets vCPU `id` call fn, with interrupts masked; it waits again when that
 * returns. 0, or -1 when it is busy already.
 */
int64_t vcpu_start(unsigned id, void (*fn)(void));

/* Starts all vCPUs but the calling one; how many could be started. */
unsigned smp_boot(void (*fn)(void));

/* Waits until all vCPUs but the caller wait again. */
void smp_join(void);

#endif
