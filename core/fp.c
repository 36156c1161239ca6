// SPDX-License-Identifier: BSD-2-Clause
/*
 * FP ownership: the record and its only writers. Invariant: v->fp.cpu == n
 * exactly when cpus[n]->fp_owner == v; then the registers in memory are stale,
 * and the live ones are valid up to v->fp.level.
 */
#include "fp.h"

#include "arch.h"
#include "cpu.h"
#include "fpwidth.h"
#include "print.h"
#include "vcpu.h"

enum fp_level fp_access(const struct vcpu *v)
{
	return this_cpu()->fp_owner == v ? v->fp.level : FP_NONE;
}

static void own(struct vcpu *v, uint32_t cpu)
{
	this_cpu()->fp_owner = cpu == FP_IN_MEMORY ? NULL : v;
	/* Ordered behind the save for a CPU that sees "in memory". */
	__atomic_store_n(&v->fp.cpu, cpu, __ATOMIC_RELEASE);
}

/* Only who may load less next time must know whether that would do. */
static inline bool probes(const struct fp_state *s)
{
	if (!ARCH_FP_PROBES)
		return false;
	if (s->par.width == FP_ADAPTIVE)
		return fp_adapt_probe(s);
	return s->par.width == FP_STEP;
}

static inline void save(struct vcpu *v)
{
	struct fp_state *s = &v->fp;

	ASSERT(s->cpu == this_cpu()->id);
	arch_fp_save(&s->regs, s->level, probes(s));
	s->stats.saves[s->level]++;
	own(v, FP_IN_MEMORY);
}

static inline void load(struct vcpu *v, enum fp_level level)
{
	struct fp_state *s = &v->fp;

	ASSERT(s->cpu == FP_IN_MEMORY);
	arch_fp_load(&s->regs, level);
	s->level = level;
	s->stats.loads[level]++;
	own(v, this_cpu()->id);
}

static void widen(struct vcpu *v, enum fp_level level)
{
	struct fp_state *s = &v->fp;

	ASSERT(this_cpu()->fp_owner == v && level > s->level);
	arch_fp_widen(&s->regs, s->level, level);
	s->stats.widens++;
	s->stats.widen_bytes += s->bytes[s->level] + s->bytes[level];
	s->level = level;
}

void fp_reset(struct vcpu *v)
{
	struct fp_state *s = &v->fp;

	ASSERT(s->cpu == FP_IN_MEMORY);
	arch_fp_init(&s->regs, s->par.length);
	s->level = FP_NONE;
	s->recent = (struct fp_recent){ 0 };
}

void fp_init(struct vcpu *v, const struct fp_params *par)
{
	v->fp.cpu = FP_IN_MEMORY;
	v->fp.par = *par;
	fp_reset(v);
	for (enum fp_level l = FP_NONE; l <= par->max; l++)
		v->fp.bytes[l] = arch_fp_bytes(&v->fp.regs, l);
}

/* The width to load when @used was used. */
static inline enum fp_level first_level(struct fp_state *s, enum fp_level used)
{
	enum fp_level level;

	if (s->par.width == FP_MAX)
		return s->par.max;
	level = s->par.width == FP_STEP ? used : fp_adapt_first(s, used);
	return arch_fp_fits(&s->regs, level) ? level : s->par.max;
}

/* The same when a narrower width is live. */
static enum fp_level more_level(struct fp_state *s, enum fp_level used)
{
	if (s->par.width == FP_MAX)
		return s->par.max;
	return s->par.width == FP_STEP ? used : fp_adapt_more(s, used);
}

/* What an eager vCPU is loaded with, before it uses anything. */
static enum fp_level eager_level(struct fp_state *s)
{
	if (s->level == FP_NONE && s->par.width != FP_MAX)
		return FP_NONE;
	return first_level(s, s->level);
}

void fp_load(struct vcpu *v)
{
	struct vcpu *owner = this_cpu()->fp_owner;
	bool eager = v->fp.par.policy == FP_EAGER;

	if (owner && owner != v &&
	    (eager || !arch_fp_stays(&owner->fp.regs, owner->fp.level)))
		save(owner);
	if (eager && owner != v) {
		enum fp_level level = eager_level(&v->fp);

		if (level != FP_NONE)
			load(v, level);
	}
	arch_fp_access(v, fp_access(v));
}

void fp_put(struct vcpu *v)
{
	if (this_cpu()->fp_owner == v && v->fp.par.policy != FP_OWNER)
		save(v);
}

void fp_trap(struct vcpu *v, enum fp_level used)
{
	struct vcpu *owner = this_cpu()->fp_owner;
	struct fp_state *s = &v->fp;

	ASSERT(used > FP_NONE && used <= s->par.max);
	s->stats.traps[used]++;
	if (owner != v) {
		if (owner)
			save(owner);
		load(v, first_level(s, used));
	} else if (used > s->level) {
		widen(v, more_level(s, used));
	}
	arch_fp_access(v, s->level);
}

void fp_flush(struct vcpu *v)
{
	struct cpu *c = this_cpu();

	if (c->fp_owner != v)
		return;
	save(v);
	/* It may be another one's turn, who must not see what is left. */
	if (c->loaded)
		arch_fp_access(c->loaded, fp_access(c->loaded));
}
