/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the host side (interrupts, timer, start of CPUs) keeps per pCPU;
 * embedded by value in arch/types.h.
 */
#ifndef ARCH_HOST_TYPES_H
#define ARCH_HOST_TYPES_H

#include <stdint.h>

struct host_cpu {
	uint32_t phys_id;		/* CSR.CPUID, IPIs go to that */
	uint64_t timer_deadline;	/* as set, UINT64_MAX: off */
};

#endif
