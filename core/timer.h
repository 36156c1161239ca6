/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Software timers of the hypervisor: one queue per CPU, a heap ordered
 * by absolute deadline in ticks of arch_time(). A timer is armed on the CPU of
 * that queue and fires there, in timer_run(). All functions run on the CPU
 * that the timer is armed on, IRQs masked; a timer that may be armed elsewhere
 * is cancelled by a cross-CPU call.
 */
#ifndef CORE_TIMER_H
#define CORE_TIMER_H

#include "types.h"

#define TIMER_NEVER UINT64_MAX

struct timer {
	uint64_t deadline;  /* ticks; valid while armed */
	void (*fire)(struct timer *t); /* may re-arm @t */
	/* pairing heap; prev is the parent for a first child */
	struct timer *child, *next, *prev;
	bool armed;
};

struct timer_queue {
	struct timer *root;
	uint64_t floor; /* earliest deadline in timer_run() */
};

void timer_init(struct timer *t, void (*fire)(struct timer *t));

/*
 * Arms or moves @t; TIMER_NEVER is a deadline that does not come. O(log n)
 * amortised whatever the number of timers.
 */
void timer_set(struct timer_queue *q, struct timer *t, uint64_t deadline);
void timer_cancel(struct timer_queue *q, struct timer *t);

/*
 * Fires everything due at @now, earliest first. Each timer fires at most once:
 * one armed for the past meanwhile is due in the next run. Not from a timer.
 */
void timer_run(struct timer_queue *q, uint64_t now);

/* Earliest deadline or TIMER_NEVER. */
uint64_t timer_next(const struct timer_queue *q);

#endif
