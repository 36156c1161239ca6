/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Physical CPUs. One struct cpu per pCPU, allocated at boot, never freed;
 * this_cpu() is the one that executes. Fields are private to their CPU unless
 * marked: [a] atomic, any CPU; [q] the run queue lock; [c] the call lock.
 */
#ifndef CORE_CPU_H
#define CORE_CPU_H

#include <arch/types.h>

#include "host.h"
#include "limits.h"
#include "lock.h"
#include "sched.h"
#include "timer.h"
#include "types.h"

struct vcpu;
struct xcall;

/* Work another CPU asked this one to do before it enters a guest again. */
enum cpu_work {
	CPU_RESCHED = 1,	/* pick again */
	CPU_CALL = 2,		/* incoming cross-CPU calls */
	CPU_HALT = 4,		/* the machine is ending: stop for good */
};

struct cpu {
	struct arch_cpu arch;		/* first: reached from assembly */
	unsigned int id;		/* 0 .. nr_cpus - 1 */
	uint32_t work;			/* [a] enum cpu_work bits */
	bool online;			/* [a] */
	struct vcpu *curr;		/* vCPU whose time is being used */
	struct vcpu *loaded;		/* vCPU whose state is in hardware */
	struct vcpu *fp_owner;		/* whose FP registers are live here */
	struct timer_queue timers;
	struct runq rq;			/* [q] */
	struct spinlock call_lock;
	struct xcall *calls;		/* [c] incoming, newest first */
	uint64_t idle_ticks;		/* time without a vCPU */
	uint64_t switches;		/* vCPU switches */
};

extern unsigned int nr_cpus;		/* CPUs that are online, from boot on */
/* cpus[], by id, is in host.h. */

static inline struct cpu *this_cpu(void)
{
	return arch_this_cpu();
}

/* Sets @work bits of @c and makes it look at them soon. Any CPU. */
void cpu_post(struct cpu *c, uint32_t work);

/* cpu_call() is in host.h. */

/* Runs the calls that wait for this CPU. */
void cpu_answer(void);

/* This CPU does nothing any more: the machine is ending. */
[[noreturn]] void cpu_halt(void);

#endif
