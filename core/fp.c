// SPDX-License-Identifier: BSD-2-Clause
/*
 * FP ownership: the record and its only writers. Invariant: v->fp.cpu == n
 * exactly when cpus[n]->fp_owner == v; then the registers in memory are stale.
 */
#include "fp.h"

#include "arch.h"
#include "cpu.h"
#include "print.h"
#include "vcpu.h"

enum fp_policy fp_policy = FP_EAGER;

static void own(struct vcpu *v, uint32_t cpu)
{
	struct cpu *c = this_cpu();

	c->fp_owner = cpu == FP_IN_MEMORY ? NULL : v;
	/* Ordered behind the save for a CPU that sees "in memory". */
	__atomic_store_n(&v->fp.cpu, cpu, __ATOMIC_RELEASE);
}

static void save(struct vcpu *v)
{
	ASSERT(this_cpu()->fp_owner == v && v->fp.cpu == this_cpu()->id);
	arch_fp_save(&v->fp.regs, v->fp.level);
	v->fp.saves++;
	v->fp.bytes += arch_fp_bytes(v->fp.level);
	own(v, FP_IN_MEMORY);
}

static void load(struct vcpu *v, enum fp_level level)
{
	ASSERT(!this_cpu()->fp_owner && v->fp.cpu == FP_IN_MEMORY);
	arch_fp_load(&v->fp.regs, level);
	v->fp.level = level;
	v->fp.loads++;
	v->fp.bytes += arch_fp_bytes(level);
	own(v, this_cpu()->id);
}

void fp_reset(struct vcpu *v, enum fp_level max)
{
	ASSERT(v->fp.cpu == FP_IN_MEMORY);
	arch_fp_init(&v->fp.regs);
	v->fp.level = FP_NONE;
	v->fp.max = max;
}

void fp_load(struct vcpu *v)
{
	struct cpu *c = this_cpu();

	if (c->fp_owner == v)
		return;
	if (c->fp_owner)
		save(c->fp_owner);
	load(v, v->fp.max);
}

void fp_put(struct vcpu *v)
{
	if (this_cpu()->fp_owner == v)
		save(v);
}

void fp_flush(struct vcpu *v)
{
	if (this_cpu()->fp_owner == v)
		save(v);
}

enum fp_level fp_access(const struct vcpu *v)
{
	return this_cpu()->fp_owner == v ? v->fp.level : FP_NONE;
}
