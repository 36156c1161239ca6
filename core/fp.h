/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ownership of the FP/SIMD registers. One record is the truth: cpu->fp_owner
 * says whose registers are live on a pCPU, vcpu->fp says where a vCPU's are and
 * at which width. Both change only in fp.c. What the hardware lets a guest use
 * is computed from them whenever they or the loaded vCPU change, never toggled
 * on the side. All functions: this CPU, IRQs masked, no lock needed: a record
 * is changed only by the pCPU that has the registers, or, while they are in
 * memory, by the one that has the vCPU. docs/fp-ownership.md is the prose.
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

/* When a vCPU's registers are moved. */
enum fp_policy {
	FP_EAGER,	/* at every switch of vCPUs, used or not */
	FP_LAZY,	/* loaded at the first use, saved at the switch away */
	FP_OWNER,	/* loaded at the first use, saved when another needs
			 * the registers or the vCPU must be in memory */
	FP_POLICIES
};

/* How much of them is loaded at the first use. */
enum fp_width {
	FP_STEP,	/* what was used; a wider use traps again */
	FP_MAX,		/* the widest type the VM has */
	FP_ADAPTIVE,	/* the widest that was used lately, see fpwidth.h */
	FP_WIDTHS
};

/* What a VM has and how it is treated; part of its configuration. */
struct fp_params {
	enum fp_level max;	/* widest type the VM has */
	uint32_t length;	/* bits of a scalable vector, 0: has none */
	enum fp_policy policy;
	enum fp_width width;
};

/* What the adaptive rule remembers of a vCPU. */
struct fp_recent {
	enum fp_level level;	/* to be loaded while credit lasts */
	uint16_t credit;	/* loads left until a narrow one is tried */
	bool probe;		/* the live registers are such a try */
};

struct fp_stats {
	uint64_t traps[FP_LEVELS];	/* by the width that was used */
	uint64_t saves[FP_LEVELS];	/* of the whole state of a width */
	uint64_t loads[FP_LEVELS];
	uint64_t widens;		/* live registers made wider */
	uint64_t widen_bytes;		/* moved by that */
};

struct fp_state {
	uint32_t cpu;		/* [a] pCPU that has the registers, or memory */
	enum fp_level level;	/* width that is or was live there */
	struct fp_params par;
	struct fp_recent recent;
	uint32_t bytes[FP_LEVELS];	/* that a move of a width is */
	struct fp_stats stats;
	struct arch_fp regs;	/* valid while cpu == FP_IN_MEMORY */
};

/* What VMs get that do not say otherwise: boot options fp=, fpwidth=. */
extern enum fp_policy fp_policy;
extern enum fp_width fp_width;

extern const char *const fp_policy_words[FP_POLICIES + 1];
extern const char *const fp_width_words[FP_WIDTHS + 1];

/* A new vCPU, as fp_reset(). */
void fp_init(struct vcpu *v, const struct fp_params *par);

/* Registers of @v, which are in memory, become the architectural initial
 * ones. */
void fp_reset(struct vcpu *v);

/*
 * @v becomes the vCPU whose state is on this CPU, and is cpu->loaded already;
 * the policy decides whether its registers are loaded. They are here or in
 * memory. Registers of another vCPU that could not stay live while @v runs are
 * saved. Afterwards the hardware lets @v use what the record says.
 */
void fp_load(struct vcpu *v);

/* @v stops being that vCPU; the policy decides whether it is saved. */
void fp_put(struct vcpu *v);

/*
 * @v's registers are in memory afterwards if they were on this CPU. Before
 * migration, reset, destruction and a debugger's access: vcpu_unload().
 */
void fp_flush(struct vcpu *v);

/* Sum of a counter of all widths, and bytes moved so far. */
static inline uint64_t fp_count(const uint64_t *by_level)
{
	uint64_t n = 0;

	for (enum fp_level l = FP_NONE; l < FP_LEVELS; l++)
		n += by_level[l];
	return n;
}

static inline uint64_t fp_bytes(const struct fp_state *s)
{
	uint64_t n = s->stats.widen_bytes;

	for (enum fp_level l = FP_NONE; l < FP_LEVELS; l++)
		n += s->bytes[l] * (s->stats.saves[l] + s->stats.loads[l]);
	return n;
}

/* fp_trap() and fp_access() are in host.h. */

#endif
