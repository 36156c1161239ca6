// SPDX-License-Identifier: BSD-2-Clause
/*
 * Real-time class: reservation, budget and period. Invariant: the sum of
 * budget / period of the vCPUs whose home a pCPU is stays within RT_UTIL_MAX,
 * so earliest deadline first keeps every deadline. Queue lock unless said.
 */
#include "rt.h"

#include "cpu.h"

static uint64_t util(const struct sched_params *p)
{
	return p->rt_budget * RT_UTIL_ONE / p->rt_period;
}

static bool try_reserve(struct runq *rq, uint64_t u)
{
	bool fits;

	spin_lock(&rq->lock);
	fits = rq->rt_util + u <= RT_UTIL_MAX;
	if (fits)
		rq->rt_util += u;
	spin_unlock(&rq->lock);
	return fits;
}

static uint64_t reserved(struct runq *rq)
{
	uint64_t u;

	spin_lock(&rq->lock);
	u = rq->rt_util;
	spin_unlock(&rq->lock);
	return u;
}

int rt_reserve(const struct sched_params *p)
{
	uint64_t left = p->affinity;

	/* Emptiest first; another CPU may reserve in between. */
	while (left) {
		uint64_t least = UINT64_MAX;
		unsigned int best = 0;

		for (unsigned int i = 0; i < nr_cpus; i++) {
			uint64_t u;

			if (!(left & BIT(i)))
				continue;
			u = reserved(&cpus[i]->rq);
			if (u < least) {
				least = u;
				best = i;
			}
		}
		if (try_reserve(&cpus[best]->rq, util(p)))
			return (int)best;
		left &= ~BIT(best);
	}
	return ERR_BUSY;
}

void rt_release(const struct sched_params *p, uint32_t cpu)
{
	struct runq *rq = &cpus[cpu]->rq;

	spin_lock(&rq->lock);
	rq->rt_util -= util(p);
	spin_unlock(&rq->lock);
}

/* An overrun is paid from the next budget. */
static void new_period(struct sched_entity *e, uint64_t start)
{
	e->deadline = start + e->par.rt_period;
	if (e->budget > 0)
		e->budget = 0;
	e->budget += (int64_t)e->par.rt_budget;
}

void rt_wake(struct sched_entity *e, uint64_t now)
{
	uint64_t left;

	if (e->deadline <= now) {
		new_period(e, now);
		return;
	}
	/* What is left of the budget must not be a larger share of what is
	 * left of the period than was reserved. Both are below 2^32. */
	left = e->deadline - now;
	if (e->budget > 0 && (uint64_t)e->budget * e->par.rt_period >
				     left * e->par.rt_budget)
		new_period(e, now);
}

void rt_insert(struct runq *rq, struct sched_entity *e)
{
	runq_insert(rq, e, e->budget > 0 ? ON_RT : ON_THROTTLED, e->deadline);
}

void rt_replenish(struct runq *rq, uint64_t now)
{
	struct sched_entity *e;

	while ((e = runq_first(rq, ON_THROTTLED)) && e->key <= now) {
		runq_remove(rq, e);
		new_period(e, e->deadline + e->par.rt_period > now ?
				      e->deadline : now);
		rt_insert(rq, e);
	}
}
