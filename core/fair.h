/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Virtual time of the fair class across run queues: what other CPUs may know
 * of a queue without its lock, and where a vCPU stands when it enters one.
 * Part of the scheduler.
 */
#ifndef CORE_FAIR_H
#define CORE_FAIR_H

#include "runq.h"
#include "types.h"

struct cpu;

/* Reads a hint of a queue, or another field that is written atomically. */
static inline uint64_t fair_hint(const uint64_t *field)
{
	return __atomic_load_n(field, __ATOMIC_RELAXED);
}

/* May another CPU take a vCPU that waits on @c? Queue lock. */
bool fair_can_give(const struct cpu *c);

/* Updates the hints of @c's queue. Queue lock. */
void fair_publish(struct cpu *c);

/* About what the virtual time of @c is at @now, comparable across queues. */
uint64_t fair_vtime(const struct cpu *c, uint64_t now);

/*
 * @e, READY, joins the runnable vCPUs of @c, which is se.cpu. _enter: after it
 * slept, was off or changed its affinity, @stayed if on the CPU that it left;
 * _move: on its way from another queue. Both bound how far it is behind or
 * ahead. _leave: it is runnable no more; keeps what it is owed. Queue lock of
 * @c, time booked.
 */
void fair_enter(struct cpu *c, struct sched_entity *e, uint64_t now,
		bool stayed);
void fair_move(struct cpu *c, struct sched_entity *e, uint64_t now);
void fair_leave(struct cpu *c, struct sched_entity *e);

/*
 * A vCPU that is alone on @c gets all of it, whatever its weight: its virtual
 * time follows that of the others. Queue lock of @c, time booked.
 */
void fair_follow(struct cpu *c, uint64_t now);

#endif
