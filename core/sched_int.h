/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the two halves of the scheduler share: sched.c, what a CPU does with
 * its own queue, and wake.c, what any CPU does with any vCPU.
 */
#ifndef CORE_SCHED_INT_H
#define CORE_SCHED_INT_H

#include "cpu.h"
#include "runq.h"
#include "types.h"
#include "vcpu.h"

/* The shortest turn between two vCPUs: a slice is this many. */
#define SCHED_GRAINS 8

static inline uint64_t sched_grain(void)
{
	return sched_slice / SCHED_GRAINS;
}

static inline struct vcpu *sched_vcpu(struct sched_entity *e)
{
	return container_of(e, struct vcpu, se);
}

/* May @e wait and run on @cpu? Queue lock of se.cpu. */
static inline bool sched_allowed(const struct sched_entity *e, uint32_t cpu)
{
	return sched_is_rt(e) ? e->rt_home == cpu : e->par.affinity & BIT(cpu);
}

/* The next turn of a fair @e is @ticks long. */
static inline void sched_request(struct sched_entity *e, uint64_t ticks)
{
	e->vdeadline = e->vtime + runq_virtual(ticks, e->par.weight);
}

/* Not ahead of the virtual time of its queue? */
static inline bool sched_eligible(const struct runq *rq,
				  const struct sched_entity *e)
{
	return !runq_before(rq->vtime, e->vtime);
}

/* Does @e, which waits on @c, go before the vCPU that runs there? */
bool sched_goes_first(const struct cpu *c, const struct sched_entity *e);

/*
 * @e goes before the vCPU that runs on @c: makes that leave, at once or when it
 * has had a grain. Queue lock of @c.
 */
void sched_ask(struct cpu *c, const struct sched_entity *e, uint64_t now);

/*
 * @v goes from state @from to READY on CPU @to if it may run there, else on
 * one that is chosen. READY as @from: it has been left in no queue. Without
 * effect when it is in another state or waits already. No run queue lock.
 */
void sched_make_ready(struct vcpu *v, enum vcpu_state from, uint32_t to);

#endif
