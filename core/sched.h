/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vCPU scheduler: which vCPU runs on which pCPU and for how long. Plain C
 * without architecture code, so that it can be compiled for the host.
 * The scheduler is the only writer of vcpu->state (by vcpu_set_state, under
 * the run queue lock of the vCPU's pCPU). Times are ticks of arch_time().
 *
 * Sleeping without a lost wake-up: sched_block() publishes BLOCKED first and
 * then asks vcpu_has_work(); a waker makes its event visible first and then
 * calls sched_wake(). Both have a full barrier between the two steps.
 */
#ifndef CORE_SCHED_H
#define CORE_SCHED_H

#include "runq.h"
#include "types.h"

struct cpu;
struct vcpu;

/* Ticks that a vCPU may run before others get their turn. Fixed at boot. */
extern uint64_t sched_slice;

/* Boot: sets the slice (ticks) and prepares the queue of one CPU. */
void sched_init(uint64_t slice);
void sched_cpu_init(struct cpu *c);

/*
 * A new vCPU in state OFF. ERR_INVAL for parameters out of range: weight,
 * affinity to a pCPU that does not exist or to none, budget above the period,
 * period of 2^32 ticks or more. ERR_BUSY when no allowed pCPU has room for the
 * real-time reservation. Any CPU, no run queue lock.
 */
int sched_vcpu_init(struct vcpu *v, const struct sched_params *p);

/* Before an OFF vCPU is freed: gives its reservation back. */
void sched_vcpu_fini(struct vcpu *v);

/* OFF -> READY on an allowed pCPU. The caller has reset the vCPU. Any CPU. */
void sched_start(struct vcpu *v);

/*
 * Makes a BLOCKED vCPU READY and preempts or wakes a pCPU for it; nothing in
 * any other state. The event is visible before the call. Any CPU.
 */
void sched_wake(struct vcpu *v);

/*
 * The next vCPU of this CPU, now RUNNING and cpu->curr, or NULL to idle until
 * CPU_RESCHED is posted. Steals a waiting vCPU from another CPU before it
 * returns NULL. Sets a timer in cpu->timers that posts CPU_RESCHED when the
 * vCPU's turn is over. cpu->curr is NULL on entry: the previous vCPU has been
 * left with one of the functions below. Counts cpu->idle_ticks.
 */
struct vcpu *sched_pick(void);

/*
 * cpu->curr stops running on this CPU; afterwards cpu->curr is NULL.
 * sched_preempt: RUNNING -> READY, at its place in the order; with @yield
 * behind those that wait. sched_block: RUNNING -> BLOCKED, or stays READY when
 * vcpu_has_work(). sched_off: RUNNING -> @to, VCPU_OFF or VCPU_STOPPED; its
 * registers are in memory already.
 */
void sched_preempt(struct vcpu *v, bool yield);
void sched_block(struct vcpu *v);
void sched_off(struct vcpu *v, unsigned int to);

/*
 * Takes a vCPU that is not RUNNING out: READY or BLOCKED -> @to (VCPU_OFF or
 * VCPU_STOPPED), STOPPED -> VCPU_OFF. True when this call did it. False, and
 * nothing changed, when it is RUNNING (ask it by vcpu_request()), OFF, or in
 * state @to already.
 */
bool sched_remove(struct vcpu *v, unsigned int to);

/* STOPPED -> READY. Any CPU. */
void sched_resume(struct vcpu *v);

/*
 * Changes the affinity mask (not 0, only pCPUs that exist: else ERR_INVAL). A
 * vCPU that runs on a pCPU it may no longer use gets VCPU_REQ_MOVE; the run
 * loop clears that bit and calls sched_preempt(). ERR_BUSY when the real-time
 * reservation fits on none of the pCPUs. Any CPU, no run queue lock.
 */
int sched_set_affinity(struct vcpu *v, uint64_t mask);

/*
 * Must @v, the current vCPU of this CPU, make room? Called when CPU_RESCHED
 * was posted; otherwise the answer is no. Sets the timer again if it stays.
 */
bool sched_must_leave(const struct vcpu *v);

/* Ticks spent running, waiting for a pCPU, and blocked, up to now. */
struct sched_times {
	uint64_t run, wait, blocked;
};
struct sched_times sched_times(struct vcpu *v);

#endif
