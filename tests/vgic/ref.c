// SPDX-License-Identifier: BSD-2-Clause
/*
 * The reference model of ref.h. Nothing of the virtual GIC is used but the
 * layout of ICH_VMCR_EL2.
 */
#include "ref.h"

#include "iface.h"
#include "vgic_hw.h"

#include <string.h>

void ref_init(struct ref *r, unsigned int vcpus, unsigned int pre_bits,
	      uint64_t vmcr)
{
	memset(r, 0, sizeof(*r));
	r->vcpus = vcpus;
	r->pre_bits = pre_bits;
	for (unsigned int v = 0; v < REF_VCPUS; v++) {
		r->cpu[v].vmcr = vmcr;
		for (unsigned int i = 0; i < 32; i++)
			r->local[v][i] = (struct ref_irq){
				.group1 = true, .edge = i < 16,
				.owner = REF_NOBODY,
			};
	}
	for (unsigned int i = 0; i < REF_INTIDS; i++)
		r->spi[i] = (struct ref_irq){ .group1 = true,
					      .owner = REF_NOBODY };
}

struct ref_irq *ref_irq(struct ref *r, unsigned int v, unsigned int intid)
{
	return intid < 32 ? &r->local[v][intid] : &r->spi[intid];
}

bool ref_pending(const struct ref_irq *q)
{
	return q->latch || (q->line && !q->edge);
}

bool ref_candidate(struct ref *r, unsigned int v, unsigned int intid)
{
	const struct ref_irq *q = ref_irq(r, v, intid);
	uint64_t on = q->group1 ? ICH_VMCR_GRP1 : ICH_VMCR_GRP0;

	return q->enabled && !q->active && ref_pending(q) &&
	       r->group_on[q->group1] && (r->cpu[v].vmcr & on) &&
	       (intid < 32 || q->target == (int)v);
}

static unsigned int running(const struct ref *r, const struct ref_cpu *c)
{
	for (unsigned int i = 0; i < 128; i++)
		if (c->level[0][i] || c->level[1][i])
			return i << (8 - r->pre_bits);
	return NOTHING;
}

/* Of highest priority among the candidates: by group, lowest INTID. */
static unsigned int best_prio(struct ref *r, unsigned int v,
			      const struct ref_irq *best[2])
{
	unsigned int prio = NOTHING;

	best[0] = best[1] = NULL;
	for (unsigned int i = 0; i < REF_INTIDS; i++) {
		const struct ref_irq *q = ref_irq(r, v, i);

		if (!ref_candidate(r, v, i) || q->prio > prio)
			continue;
		if (q->prio < prio)
			best[0] = best[1] = NULL;
		prio = q->prio;
		best[q->group1] = q;
	}
	return prio;
}

static bool preempts(struct ref *r, unsigned int v, unsigned int group,
		     unsigned int prio)
{
	const struct ref_cpu *c = &r->cpu[v];

	return prio < field(c->vmcr, 31, 24) &&
	       (prio & preempt_mask(c->vmcr, group)) < running(r, c);
}

unsigned int ref_signal(struct ref *r, unsigned int v)
{
	const struct ref_irq *best[2];
	unsigned int prio = best_prio(r, v, best);

	return (best[0] && preempts(r, v, 0, prio)) ||
			       (best[1] && preempts(r, v, 1, prio)) ?
		       prio : NOTHING;
}

bool ref_wakes(struct ref *r, unsigned int v)
{
	for (unsigned int i = 0; i < REF_INTIDS; i++) {
		const struct ref_irq *q = ref_irq(r, v, i);

		if (ref_candidate(r, v, i) &&
		    preempts(r, v, q->group1, q->prio))
			return true;
	}
	return false;
}

bool ref_either(struct ref *r, unsigned int v)
{
	const struct ref_irq *best[2];
	unsigned int prio = best_prio(r, v, best);

	return best[0] && best[1] &&
	       preempts(r, v, 0, prio) != preempts(r, v, 1, prio);
}

void ref_line(struct ref_irq *q, bool level)
{
	if (level && !q->line && q->edge)
		q->latch = true;
	q->line = level;
}

void ref_ack(struct ref *r, unsigned int v, unsigned int intid)
{
	struct ref_irq *q = ref_irq(r, v, intid);
	struct ref_cpu *c = &r->cpu[v];
	unsigned int gp = q->prio & preempt_mask(c->vmcr, q->group1);

	q->latch = false;
	q->active = true;
	q->owner = (int)v;
	c->level[q->group1][gp >> (8 - r->pre_bits)] = true;
}

static void ended(struct ref_irq *q)
{
	q->active = false;
	q->owner = REF_NOBODY;
}

void ref_eoi(struct ref *r, unsigned int v, unsigned int intid)
{
	struct ref_cpu *c = &r->cpu[v];
	unsigned int run = running(r, c), i = run >> (8 - r->pre_bits);

	if (run == NOTHING)
		return;
	if (c->level[0][i])
		c->level[0][i] = false;
	else
		c->level[1][i] = false;
	if (!(c->vmcr & ICH_VMCR_EOIM))
		ended(ref_irq(r, v, intid));
}

void ref_dir(struct ref *r, unsigned int v, unsigned int intid)
{
	if (r->cpu[v].vmcr & ICH_VMCR_EOIM)
		ended(ref_irq(r, v, intid));
}

unsigned int ref_active(struct ref *r, unsigned int v)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < REF_INTIDS; i++) {
		const struct ref_irq *q = ref_irq(r, v, i);

		n += q->active && q->owner == (int)v;
	}
	return n;
}
