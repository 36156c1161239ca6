/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The architecture of the scheduler's simulator: what core's structures embed,
 * empty but for the CPU number.
 */
#ifndef ARCH_TYPES_H
#define ARCH_TYPES_H

#include <stdint.h>

struct arch_cpu {
	uint32_t id;
};

struct arch_vm {
	uint32_t none;
};

struct arch_vcpu {
	uint32_t none;
};

struct arch_fp {
	uint32_t none;
};

#endif
