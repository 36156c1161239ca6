// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where vCPUs stand in virtual time. Who runs all the time advances at the
 * speed its CPU allows; balance.c keeps CPUs that share vCPUs together. Three
 * things must not count for ever, and are bounded here: having slept, having
 * been alone on a CPU, and having been on CPUs that others cannot use.
 * Other queues are read through their hints, without locks: values that are
 * out of step make a bad guess, which the next balancing corrects.
 */
#include "fair.h"

#include "cpu.h"
#include "sched.h"
#include "vcpu.h"

/* Slices that a vCPU may be away from its queue's virtual time at most. */
#define MOST_APART 8
/* Slices that a vCPU alone on its CPU may be behind those that share one. */
#define ALONE_BEHIND 4

/* Where others stand, as a difference to a given virtual time. */
struct reference {
	int64_t diff;
	uint64_t load;  /* of what it was taken from; 0: nothing */
};

/* Not the last one of a CPU that is about to pick: it would come back. */
bool fair_can_give(const struct cpu *c)
{
	const struct runq *rq = &c->rq;

	return rq->nr[ON_FAIR] &&
	       (c->curr || rq->nr[ON_FAIR] + rq->nr[ON_RT] > 1);
}

static void put(uint64_t *field, uint64_t val)
{
	__atomic_store_n(field, val, __ATOMIC_RELAXED);
}

void fair_publish(struct cpu *c)
{
	struct runq *rq = &c->rq;
	const struct sched_entity *e = c->curr ? &c->curr->se : NULL;
	const struct sched_entity *top = rq->tree[ON_FAIR];
	bool runs = e && !sched_is_rt(e);
	uint32_t heaviest = runs ? e->par.weight : 1;

	if (top && top->max_weight > heaviest)
		heaviest = top->max_weight;
	if (heaviest != rq->heaviest) {
		rq->heaviest = heaviest;
		put(&rq->hint_step, runq_virtual(sched_slice, heaviest));
	}
	put(&rq->hint_vtime, rq->vtime + rq->base);
	put(&rq->hint_time, runs ? e->since : TIMER_NEVER);
	put(&rq->hint_load, rq->load);
	put(&rq->hint_alone, rq->load == heaviest);
	put(&rq->hint_mask, fair_can_give(c) ? top->mask : 0);
}

uint64_t fair_vtime(const struct cpu *c, uint64_t now)
{
	uint64_t at = fair_hint(&c->rq.hint_time);
	uint64_t load = fair_hint(&c->rq.hint_load);
	uint64_t v = fair_hint(&c->rq.hint_vtime);

	if (now <= at || !load || now - at > 2 * sched_slice)
		return v;
	return v + runq_virtual(now - at, load);
}

/* Does @c count for a reference: is it allowed and, if asked for, crowded? */
static bool counts(const struct cpu *c, uint64_t mask, bool crowded)
{
	if (!(mask & BIT(c->id)) || !fair_hint(&c->rq.hint_load))
		return false;
	return !crowded || fair_hint(&c->rq.hint_mask);
}

/* a * b / c for 0 <= b <= c < 2^31 */
static int64_t scale(int64_t a, uint64_t b, uint64_t c)
{
	int64_t sb = (int64_t)b, sc = (int64_t)c;

	return a / sc * sb + a % sc * sb / sc;
}

/* Mean over the CPUs that count, by load. */
static struct reference mean(uint64_t mask, uint64_t from, uint64_t now,
			     bool crowded)
{
	struct reference r = { 0, 0 };

	for (unsigned int i = 0; i < nr_cpus; i++)
		if (counts(cpus[i], mask, crowded))
			r.load += fair_hint(&cpus[i]->rq.hint_load);
	for (unsigned int i = 0; i < nr_cpus; i++) {
		uint64_t load = fair_hint(&cpus[i]->rq.hint_load);

		if (counts(cpus[i], mask, crowded) && load <= r.load)
			r.diff += scale((int64_t)(fair_vtime(cpus[i], now) -
						  from),
					load, r.load);
	}
	return r;
}

/*
 * Where a vCPU of weight @w should stand that may run on @mask, relative to
 * @from. A fair division serves it on the CPUs that are furthest ahead. Of
 * these, lightly loaded ones jump ahead with each slice: they count only when
 * there are no others, and then all together.
 */
static struct reference refer(uint64_t mask, uint64_t w, uint64_t from,
			      uint64_t now, bool crowded)
{
	struct reference best = { 0, 0 };

	/* As for a vCPU that can only be where it is. */
	if (!(mask & BITS(nr_cpus - 1, 0)))
		return best;
	for (unsigned int i = 0; i < nr_cpus; i++) {
		uint64_t load = fair_hint(&cpus[i]->rq.hint_load);
		int64_t diff = (int64_t)(fair_vtime(cpus[i], now) - from);

		if (load < w || !counts(cpus[i], mask, crowded))
			continue;
		if (!best.load || diff > best.diff)
			best = (struct reference){ diff, load };
	}
	return best.load ? best : mean(mask, from, now, crowded);
}

/* Brings @e within @slices of where the queue's virtual time is. */
static void keep_near(const struct runq *rq, struct sched_entity *e)
{
	int64_t behind = (int64_t)(rq->vtime - e->vtime);
	uint64_t most;

	if (!rq->load)
		return;
	most = MOST_APART * (runq_virtual(sched_slice, e->par.weight) +
			     runq_virtual(sched_slice, rq->load));
	if (behind > (int64_t)most)
		e->vtime = rq->vtime - most;
	else if (behind < -(int64_t)most)
		e->vtime = rq->vtime + most;
}

/* Where @e, which enters @c, should stand; @back among those that it left. */
static struct reference refer_entering(const struct cpu *c,
				       const struct sched_entity *e,
				       uint64_t now, bool back)
{
	const struct runq *rq = &c->rq;

	if (back)
		return (struct reference){ (int64_t)(rq->vtime - e->vtime),
					   rq->load };
	return refer(fair_hint(&e->par.affinity), e->par.weight,
		     e->vtime + rq->base, now, false);
}

/*
 * Sleeping earns nothing: @e comes back with what it was owed when it went to
 * sleep, at most a slice. What it had too much fades while it sleeps.
 */
static void settle(struct sched_entity *e, struct reference r)
{
	int64_t most, owed;

	if (!r.load)
		return;
	most = (int64_t)(runq_virtual(sched_slice, e->par.weight) +
			 runq_virtual(sched_slice, r.load));
	owed = e->owed < most ? e->owed : most;
	if (r.diff > owed || e->fresh)
		e->vtime += (uint64_t)(r.diff - owed);
	else if (r.diff < -most)
		e->vtime += (uint64_t)(r.diff + most);
}

static void join(struct cpu *c, struct sched_entity *e, uint64_t request)
{
	e->vdeadline = e->vtime + request;
	runq_join(&c->rq, e);
}

void fair_enter(struct cpu *c, struct sched_entity *e, uint64_t now,
		bool stayed)
{
	uint64_t request = e->vdeadline - e->vtime;
	bool back = stayed && c->rq.load >= e->par.weight;

	fair_follow(c, now);
	settle(e, refer_entering(c, e, now, back));
	e->fresh = false;
	if (!back)
		keep_near(&c->rq, e);
	join(c, e, request);
}

void fair_move(struct cpu *c, struct sched_entity *e, uint64_t now)
{
	uint64_t request = e->vdeadline - e->vtime;

	fair_follow(c, now);
	keep_near(&c->rq, e);
	join(c, e, request);
}

void fair_leave(struct cpu *c, struct sched_entity *e)
{
	int64_t owed;

	runq_leave(&c->rq, e);
	owed = (int64_t)(c->rq.vtime - e->vtime);
	e->owed = c->rq.load && owed > 0 ? owed : 0;
}

/* Does any vCPU wait for a CPU anywhere, as far as one sees? */
static bool anyone_waits(void)
{
	for (unsigned int i = 0; i < nr_cpus; i++)
		if (fair_hint(&cpus[i]->rq.hint_mask))
			return true;
	return false;
}

/*
 * While nobody waits anywhere there is no share to be behind of: all stand
 * where the first of them is. While others wait, who is alone may have a
 * weight that is worth more than a CPU; only when it falls far behind it is
 * taken along.
 */
void fair_follow(struct cpu *c, uint64_t now)
{
	const struct sched_entity *e;
	bool was_free = c->rq.free, is_free;
	struct reference r;
	uint64_t from, slack = 0;

	c->rq.free = false;
	e = c->curr ? &c->curr->se : c->rq.tree[ON_FAIR];
	if (!e || sched_is_rt(e) || c->rq.load != e->par.weight)
		return;
	is_free = !anyone_waits();
	c->rq.free = is_free;
	from = c->rq.vtime + c->rq.base;
	r = refer(e->par.affinity & ~BIT(c->id), e->par.weight, from, now,
		  !is_free && !was_free);
	if (!is_free && !was_free)
		slack = runq_virtual(ALONE_BEHIND * sched_slice, e->par.weight);
	if (r.load && r.diff > (int64_t)slack)
		c->rq.base += (uint64_t)r.diff - slack;
}
