/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Real-time class: each vCPU owns a budget in every period on one pCPU, its
 * home; earliest deadline first; out of budget it is throttled until the
 * period ends (a constant bandwidth server with hard reservation). Part of the
 * scheduler: only sched.c includes this.
 */
#ifndef CORE_RT_H
#define CORE_RT_H

#include "runq.h"
#include "types.h"

/* What the class may reserve of one pCPU; the rest keeps others alive. */
#define RT_UTIL_ONE (UINT64_C(1) << 20)
#define RT_UTIL_MAX (RT_UTIL_ONE * 95 / 100)

/*
 * Reserves on the allowed pCPU with most room; the pCPU or ERR_BUSY. The
 * reverse. No run queue lock.
 */
int rt_reserve(const struct sched_params *p);
void rt_release(const struct sched_params *p, uint32_t cpu);

/* @e becomes READY: a new period if the old one is over or too short. */
void rt_wake(struct sched_entity *e, uint64_t now);

/* Puts a READY @e where it belongs: among the waiting or the throttled. */
void rt_insert(struct runq *rq, struct sched_entity *e);

/* Begins the next period of throttled vCPUs whose period is over. */
void rt_replenish(struct runq *rq, uint64_t now);

#endif
