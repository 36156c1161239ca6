// SPDX-License-Identifier: BSD-2-Clause
/*
 * Run queue structure: treaps with parent links and the weighted mean of
 * virtual times. Invariants: in order by key, equal keys first come first;
 * a parent's prio is not above its children's; min_vtime, max_weight and mask
 * cover the subtree; load * (mean - vtime) == vrem with 0 <= vrem < load. The
 * caller holds the queue's lock.
 */
#include "runq.h"

#include "print.h"

/* Recomputes what @e says about its subtree. */
static void summarise(struct sched_entity *e)
{
	const struct sched_entity *kid[2] = { e->left, e->right };

	e->min_vtime = e->vtime;
	e->max_weight = e->par.weight;
	e->mask = e->par.affinity;
	for (unsigned int i = 0; i < 2; i++) {
		if (!kid[i])
			continue;
		if (runq_before(kid[i]->min_vtime, e->min_vtime))
			e->min_vtime = kid[i]->min_vtime;
		if (kid[i]->max_weight > e->max_weight)
			e->max_weight = kid[i]->max_weight;
		e->mask |= kid[i]->mask;
	}
}

/* The link that points at @e. */
static struct sched_entity **link_to(struct runq *rq, struct sched_entity *e)
{
	if (!e->up)
		return &rq->tree[e->on];
	return e->up->left == e ? &e->up->left : &e->up->right;
}

/* Exchanges @e with its parent, keeping the order. */
static void rotate_up(struct runq *rq, struct sched_entity *e)
{
	struct sched_entity *p = e->up, **link = link_to(rq, p), *mid;

	if (p->left == e) {
		mid = e->right;
		p->left = mid;
		e->right = p;
	} else {
		mid = e->left;
		p->right = mid;
		e->left = p;
	}
	if (mid)
		mid->up = p;
	e->up = p->up;
	p->up = e;
	*link = e;
	summarise(p);
	summarise(e);
}

void runq_insert(struct runq *rq, struct sched_entity *e, enum runq_tree on,
		 uint64_t key)
{
	struct sched_entity **link = &rq->tree[on], *up = NULL;

	ASSERT(e->on == ON_NONE && on != ON_NONE);
	while (*link) {
		up = *link;
		link = runq_before(key, up->key) ? &up->left : &up->right;
	}
	e->on = on;
	e->key = key;
	e->left = NULL;
	e->right = NULL;
	e->up = up;
	*link = e;
	for (up = e; up; up = up->up)
		summarise(up);
	while (e->up && e->prio < e->up->prio)
		rotate_up(rq, e);
	rq->nr[on]++;
}

void runq_remove(struct runq *rq, struct sched_entity *e)
{
	ASSERT(e->on != ON_NONE);
	while (e->left || e->right) {
		struct sched_entity *l = e->left, *r = e->right;

		rotate_up(rq, !r || (l && l->prio < r->prio) ? l : r);
	}
	*link_to(rq, e) = NULL;
	for (struct sched_entity *up = e->up; up; up = up->up)
		summarise(up);
	rq->nr[e->on]--;
	e->up = NULL;
	e->on = ON_NONE;
}

struct sched_entity *runq_first(const struct runq *rq, enum runq_tree t)
{
	struct sched_entity *e = rq->tree[t];

	while (e && e->left)
		e = e->left;
	return e;
}

struct sched_entity *runq_first_eligible(const struct runq *rq)
{
	struct sched_entity *e = rq->tree[ON_FAIR];

	while (e) {
		if (e->left && !runq_before(rq->vtime, e->left->min_vtime))
			e = e->left;
		else if (!runq_before(rq->vtime, e->vtime))
			return e;
		else
			e = e->right;
	}
	return NULL;
}

struct sched_entity *runq_first_allowed(const struct runq *rq, uint32_t cpu)
{
	struct sched_entity *e = rq->tree[ON_FAIR];

	while (e) {
		if (e->left && (e->left->mask & BIT(cpu)))
			e = e->left;
		else if (e->par.affinity & BIT(cpu))
			return e;
		else
			e = e->right;
	}
	return NULL;
}

/* Brings vrem back into [0, load). */
static void normalise(struct runq *rq)
{
	int64_t w = (int64_t)rq->load, q;

	if (!w) {
		rq->vrem = 0;
		return;
	}
	if (rq->vrem >= 0 && rq->vrem < w)
		return;
	q = rq->vrem / w;
	if (rq->vrem < q * w)
		q--;
	rq->vrem -= q * w;
	rq->vtime += (uint64_t)q;
}

void runq_join(struct runq *rq, const struct sched_entity *e)
{
	if (!rq->load)
		rq->vtime = e->vtime;
	rq->vrem += (int64_t)(e->vtime - rq->vtime) * e->par.weight;
	rq->load += e->par.weight;
	normalise(rq);
}

void runq_leave(struct runq *rq, const struct sched_entity *e)
{
	ASSERT(rq->load >= e->par.weight);
	rq->vrem -= (int64_t)(e->vtime - rq->vtime) * e->par.weight;
	rq->load -= e->par.weight;
	normalise(rq);
}

void runq_set_vtime(struct runq *rq, struct sched_entity *e, uint64_t vtime)
{
	rq->vrem += (int64_t)(vtime - e->vtime) * e->par.weight;
	e->vtime = vtime;
	normalise(rq);
}

void runq_charge(struct runq *rq, struct sched_entity *e, uint64_t ticks)
{
	/* Nothing real runs for that long; the product must not wrap. */
	ticks = min_u64(ticks, BIT(44));
	runq_set_vtime(rq, e, e->vtime + runq_virtual(ticks, e->par.weight));
}
