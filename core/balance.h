/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which pCPU a vCPU waits on. Part of the scheduler.
 */
#ifndef CORE_BALANCE_H
#define CORE_BALANCE_H

#include "types.h"

struct cpu;
struct vcpu;

/* Takes the queue locks of pCPUs @a and @b, which may be the same one. */
void balance_lock(uint32_t a, uint32_t b);
void balance_unlock(uint32_t a, uint32_t b);

/* Publishes the hints of @c's queue and releases its lock. */
void balance_release(struct cpu *c);

/* The pCPU on which @v, about to be READY, should wait. No lock. */
uint32_t balance_place(const struct vcpu *v);

/* This CPU has become idle or has work again. Its own queue lock. */
void balance_idle(struct cpu *c, bool idle);

/* Makes an idle CPU come for a vCPU that waits on @c. Queue lock of @c. */
void balance_kick_idle(struct cpu *c);

/*
 * This CPU was idle and has found a vCPU, maybe another one than it was woken
 * for: wakes an idle CPU for one that waits here or elsewhere. No lock.
 */
void balance_pass_on(void);

/* Takes a waiting vCPU from another CPU's queue to the idle @c. No lock. */
bool balance_steal(struct cpu *c);

/*
 * Twice per slice: takes a vCPU to this CPU @c from one that has fallen behind
 * it. Wanted: would it, as far as one sees without locks? No lock.
 */
bool balance_pull(struct cpu *c);
bool balance_wanted(const struct cpu *c, uint64_t now);

#endif
