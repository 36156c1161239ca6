// SPDX-License-Identifier: BSD-2-Clause
/*
 * Accounting of vCPU time. Every tick of a vCPU that is READY, RUNNING or
 * BLOCKED is booked once: se.since is where booking stopped. Caller holds the
 * queue lock.
 */
#include "account.h"

#include "cpu.h"
#include "sched.h"

void account_vcpu(struct vcpu *v, uint64_t now)
{
	struct sched_entity *e = &v->se;
	uint64_t dt = now > e->since ? now - e->since : 0;

	e->since = now;
	if (v->state == VCPU_READY) {
		e->wait += dt;
	} else if (v->state == VCPU_BLOCKED) {
		e->blocked += dt;
	} else if (v->state == VCPU_RUNNING) {
		e->run += dt;
		if (sched_is_rt(e))
			e->budget -= (int64_t)dt;
		else
			runq_charge(&cpus[e->cpu]->rq, e, dt);
	}
}

void account_cpu(struct cpu *c, uint64_t now)
{
	if (c->curr)
		account_vcpu(c->curr, now);
}

void account_state(struct vcpu *v, enum vcpu_state to, uint64_t now)
{
	account_vcpu(v, now);
	vcpu_set_state(v, to);
}
