/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ownership of the FP/SIMD registers. One record is the truth: cpu->fp_owner
 * says whose registers are live on a pCPU, vcpu->fp says where a vCPU's are.
 * Both change only in fp.c. What the hardware lets a guest use is computed
 * from them at each entry, never toggled on the side. All functions: this CPU,
 * IRQs masked.
 */
#ifndef CORE_FP_H
#define CORE_FP_H

#include "types.h"
#include "fplevel.h"
#include "host.h"

#include <arch/types.h>

struct cpu;
struct vcpu;

#define FP_IN_MEMORY	UINT32_MAX

struct fp_state {
	uint32_t cpu;		/* pCPU that holds the registers, or memory */
	enum fp_level level;	/* width that is live there */
	enum fp_level max;	/* widest type the VM has */
	uint64_t saves, loads, traps;
	uint64_t bytes;		/* moved by saves and loads */
	struct arch_fp regs;	/* valid while cpu == FP_IN_MEMORY */
};

enum fp_policy { FP_EAGER };

extern enum fp_policy fp_policy;

/* A new or reset vCPU: the architectural initial image, owned by nobody. */
void fp_reset(struct vcpu *v, enum fp_level max);

/* @v becomes the vCPU of this CPU; policy decides whether it is loaded now. */
void fp_load(struct vcpu *v);

/* @v stops being the vCPU of this CPU; policy decides whether it is saved. */
void fp_put(struct vcpu *v);

/*
 * @v's registers go to memory and nobody owns this CPU's; @v is live here or
 * in memory. Before migration, reset, destruction, debugger access.
 */
void fp_flush(struct vcpu *v);

/* fp_access() is in host.h. */

#endif
