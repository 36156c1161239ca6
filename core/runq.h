/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The run queue of one pCPU: an ordered tree of waiting vCPUs per class and
 * the virtual time of the fair class. Data structure only; policy is in
 * sched.c and balance.c. [q]: the lock of the queue that se.cpu names; [a]:
 * atomic.
 *
 * Virtual time counts service divided by weight, SCHED_VSHIFT bits finer than
 * ticks. The queue's virtual time is the weighted mean over all its runnable
 * vCPUs, the running one included: who is behind it has been served too
 * little. Values are compared by signed difference, so wrapping is harmless.
 * Each queue counts from its own @base; vtime + base compares across queues.
 */
#ifndef CORE_RUNQ_H
#define CORE_RUNQ_H

#include "limits.h"
#include "lock.h"
#include "timer.h"
#include "types.h"

#define SCHED_WEIGHT_MIN 1
#define SCHED_WEIGHT_DEFAULT 1000
#define SCHED_WEIGHT_MAX 10000

#define SCHED_VSHIFT 16

struct sched_params {
	uint32_t weight; /* share relative to other vCPUs */
	uint64_t affinity; /* mask of pCPUs it may run on, not 0 */
	uint64_t rt_budget; /* ticks per period; 0: fair class */
	uint64_t rt_period; /* ticks */
};

/* Where a READY vCPU is; every other state: ON_NONE. */
enum runq_tree {
	ON_NONE,
	ON_FAIR, /* waits, by virtual deadline */
	ON_RT,  /* waits, by deadline */
	ON_THROTTLED, /* out of budget, by the time it is replenished */
	RUNQ_TREES
};

/* The scheduler's part of a vCPU. */
struct sched_entity {
	struct sched_params par; /* [q] */
	uint32_t cpu;  /* [a] whose queue; changes under both locks */
	uint32_t rt_home; /* [q] pCPU of the real-time reservation */
	enum runq_tree on; /* [q] */
	uint64_t vtime; /* [q] fair: service over weight */
	uint64_t vdeadline; /* [q] fair: vtime at the request's end */
	int64_t owed; /* [q] fair: virtual time behind when it left */
	bool fresh; /* [q] fair: stands nowhere yet */
	uint64_t deadline; /* [q] real-time: end of the period */
	int64_t budget; /* [q] real-time: ticks left, < 0: overrun */
	uint64_t since; /* [q] start of the current state */
	uint64_t run, wait, blocked; /* [q] total ticks in each */

	/* [q] treap: @key in order, @prio as a heap; the last three are over
	 * the subtree */
	struct sched_entity *left, *right, *up;
	uint64_t key;
	uint32_t prio;
	uint64_t min_vtime;
	uint32_t max_weight;
	uint64_t mask;  /* pCPUs that somebody may run on */
};

struct runq {
	struct spinlock lock;
	struct sched_entity *tree[RUNQ_TREES]; /* [q] */
	uint64_t vtime; /* [q] weighted mean, rounded down */
	int64_t vrem;  /* [q] what rounding left, times load */
	uint64_t base;  /* [q] of all virtual times in here */
	uint64_t load;  /* [q] sum of weights, running one included */
	uint32_t nr[RUNQ_TREES]; /* [q] size of each tree */
	uint32_t heaviest; /* [q] weight that hint_step is for */
	uint64_t rt_util; /* [q] reserved for the real-time class */
	uint64_t picked_at; /* [q] when cpu->curr was picked */
	uint64_t balance_at; /* own CPU: earliest next pull */
	uint64_t idle_since; /* [q] while nothing runs */
	bool idle;  /* [q] has found nothing to run */
	bool free; /* [q] fair_follow(): nobody waited anywhere */
	struct timer timer; /* end of request or budget, replenishment */

	/* [a] copies for other CPUs to look at without the lock */
	uint64_t hint_vtime; /* vtime + base, as of hint_time */
	uint64_t hint_load;
	uint64_t hint_alone; /* all of the load is one vCPU */
	uint64_t hint_step; /* a slice of the heaviest one, virtual */
	uint64_t hint_time; /* TIMER_NEVER: virtual time stands still */
	uint64_t hint_mask; /* pCPUs that may take a vCPU from here */
};

/* Which class? Fixed for the life of a vCPU. */
static inline bool sched_is_rt(const struct sched_entity *e)
{
	return e->par.rt_budget != 0;
}

/* Puts @e into tree @on by @key; it is in none. Takes it out of its tree. */
void runq_insert(struct runq *rq, struct sched_entity *e, enum runq_tree on,
		 uint64_t key);
void runq_remove(struct runq *rq, struct sched_entity *e);

/* First in order, NULL if empty. */
struct sched_entity *runq_first(const struct runq *rq, enum runq_tree t);

/*
 * First of the fair class that is not ahead of the queue's virtual time, and
 * first that may run on pCPU @cpu. NULL if there is none.
 */
struct sched_entity *runq_first_eligible(const struct runq *rq);
struct sched_entity *runq_first_allowed(const struct runq *rq, uint32_t cpu);

/* Adds @e to and takes it from the runnable vCPUs that share this queue. */
void runq_join(struct runq *rq, const struct sched_entity *e);
void runq_leave(struct runq *rq, const struct sched_entity *e);

/* @e, which has joined, was served for @ticks. */
void runq_charge(struct runq *rq, struct sched_entity *e, uint64_t ticks);

/* Sets the virtual time of @e, which has joined and is in no tree. */
void runq_set_vtime(struct runq *rq, struct sched_entity *e, uint64_t vtime);

/* Ticks of service at weight @w as virtual time, and back. */
static inline uint64_t runq_virtual(uint64_t ticks, uint64_t w)
{
	return (ticks << SCHED_VSHIFT) / w;
}

static inline uint64_t runq_ticks(uint64_t vtime, uint64_t w)
{
	return (vtime * w) >> SCHED_VSHIFT;
}

/* Is @a before @b? Right while they are less than 2^63 apart. */
static inline bool runq_before(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b) < 0;
}

#endif
