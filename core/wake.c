// SPDX-License-Identifier: BSD-2-Clause
/*
 * What any CPU may do with a vCPU: create it, make it READY, take it out,
 * change its affinity. A vCPU changes its CPU under both queues' locks, so who
 * has locked the queue it names looks again (lock_vcpu). A vCPU that has to go
 * to another CPU is READY and in no tree for a moment, without a lock; the
 * first that finds it so puts it back (sched_make_ready).
 */
#include "account.h"
#include "arch.h"
#include "balance.h"
#include "fair.h"
#include "print.h"
#include "rt.h"
#include "sched.h"
#include "sched_int.h"

/* ---- locking ----------------------------------------------------------- */

/* Locks the queue @v belongs to, and that of @cpu. Returns the former. */
static struct cpu *lock_vcpu_and(struct vcpu *v, uint32_t cpu)
{
	for (;;) {
		uint32_t own = __atomic_load_n(&v->se.cpu, __ATOMIC_RELAXED);

		balance_lock(own, cpu);
		if (v->se.cpu == own)
			return cpus[own];
		balance_unlock(own, cpu);
	}
}

static struct cpu *lock_vcpu(struct vcpu *v)
{
	for (;;) {
		uint32_t own = __atomic_load_n(&v->se.cpu, __ATOMIC_RELAXED);

		spin_lock(&cpus[own]->rq.lock);
		if (v->se.cpu == own)
			return cpus[own];
		balance_release(cpus[own]);
	}
}

/* ---- becoming READY ---------------------------------------------------- */

/* Makes some CPU look at @e, which has begun to wait on @c. */
static void announce(struct cpu *c, const struct sched_entity *e, uint64_t now)
{
	if (c->rq.idle) {
		balance_idle(c, false);
		cpu_post(c, CPU_RESCHED);
	} else if (c->curr && e->on == ON_THROTTLED) {
		/* It needs @c's timer. */
		cpu_post(c, CPU_RESCHED);
	} else if (c->curr && sched_goes_first(c, e)) {
		sched_ask(c, e, now);
	}
	/* Also when @c slept: two may be sent there before it wakes. */
	balance_kick_idle(c);
}

/* @v, READY and on no tree, begins to wait on @c. */
static void begin_wait(struct cpu *c, struct vcpu *v, uint64_t now,
		       bool stayed)
{
	struct sched_entity *e = &v->se;

	if (sched_is_rt(e)) {
		rt_wake(e, now);
		rt_insert(&c->rq, e);
	} else {
		sched_request(e, sched_grain());
		fair_enter(c, e, now, stayed);
		runq_insert(&c->rq, e, ON_FAIR, e->vdeadline);
	}
	announce(c, e, now);
}

/* Moves @v, in no queue, from @own to @to, and makes it READY there. */
static void arrive(struct vcpu *v, struct cpu *own, struct cpu *to)
{
	struct sched_entity *e = &v->se;
	uint64_t now = arch_time();

	/* A virtual time of a moment ago is good enough. */
	if (to->curr && now - to->curr->se.since >= sched_grain() / 8)
		account_cpu(to, now);
	e->fresh |= v->state == VCPU_OFF;
	if (v->state == VCPU_READY)
		account_vcpu(v, now);
	else
		account_state(v, VCPU_READY, now);
	if (own != to) {
		e->vtime += own->rq.base - to->rq.base;
		__atomic_store_n(&e->cpu, to->id, __ATOMIC_RELAXED);
	}
	begin_wait(to, v, now, own == to);
}

void sched_make_ready(struct vcpu *v, enum vcpu_state from, uint32_t to)
{
	struct sched_entity *e = &v->se;
	struct cpu *own;

	for (;;) {
		own = lock_vcpu_and(v, to);
		if (v->state != from || e->on != ON_NONE ||
		    sched_allowed(e, to))
			break;
		balance_unlock(own->id, to);
		to = balance_place(v);
	}
	if (v->state == from && e->on == ON_NONE)
		arrive(v, own, cpus[to]);
	balance_unlock(own->id, to);
}

/* ---- interface --------------------------------------------------------- */

static bool params_valid(const struct sched_params *p)
{
	uint64_t there = BITS(nr_cpus - 1, 0);

	if (p->weight < SCHED_WEIGHT_MIN || p->weight > SCHED_WEIGHT_MAX)
		return false;
	if (!p->affinity || (p->affinity & ~there))
		return false;
	if (!p->rt_budget)
		return true;
	return p->rt_budget <= p->rt_period && p->rt_period <= UINT32_MAX;
}

/* Heap priorities of the trees; any spread of bits will do. */
static uint32_t next_prio(void)
{
	static uint32_t count;
	uint32_t x = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);

	x *= 0x9e3779b1u;
	x ^= x >> 15;
	x *= 0x85ebca77u;
	return x ^ x >> 13;
}

int sched_vcpu_init(struct vcpu *v, const struct sched_params *p)
{
	struct sched_entity *e = &v->se;
	int home;

	if (!params_valid(p))
		return ERR_INVAL;
	if (p->rt_budget)
		home = rt_reserve(p);
	else
		home = __builtin_ctzll(p->affinity);
	if (home < 0)
		return home;
	*e = (struct sched_entity){
		.par = *p,
		.cpu = (uint32_t)home,
		.rt_home = (uint32_t)home,
		.prio = next_prio(),
	};
	return 0;
}

void sched_vcpu_fini(struct vcpu *v)
{
	ASSERT(v->state == VCPU_OFF);
	if (sched_is_rt(&v->se))
		rt_release(&v->se.par, v->se.rt_home);
}

void sched_start(struct vcpu *v)
{
	sched_make_ready(v, VCPU_OFF, balance_place(v));
}

void sched_resume(struct vcpu *v)
{
	sched_make_ready(v, VCPU_STOPPED, balance_place(v));
}

void sched_wake(struct vcpu *v)
{
	/* The event, then the look at the state; sched_block has it the other
	 * way round. */
	arch_mb();
	if (__atomic_load_n(&v->state, __ATOMIC_RELAXED) == VCPU_BLOCKED)
		sched_make_ready(v, VCPU_BLOCKED, balance_place(v));
}

/* Takes a waiting vCPU off the queue of @c. */
static void take_out(struct cpu *c, struct sched_entity *e)
{
	account_cpu(c, arch_time());
	if (e->on == ON_FAIR)
		fair_leave(c, e);
	runq_remove(&c->rq, e);
}

bool sched_remove(struct vcpu *v, unsigned int to)
{
	struct cpu *c = lock_vcpu(v);
	struct sched_entity *e = &v->se;
	bool out = v->state != VCPU_RUNNING && v->state != VCPU_OFF &&
		   v->state != (enum vcpu_state)to;

	ASSERT(to == VCPU_OFF || to == VCPU_STOPPED);
	if (e->on != ON_NONE)
		take_out(c, e);
	if (out)
		account_state(v, (enum vcpu_state)to, arch_time());
	balance_release(c);
	return out;
}

/*
 * Sets the mask and, if it is not negative, the real-time home. Returns the
 * home that was left, @home if none was, or ERR_BUSY when one is needed.
 */
static int change_affinity(struct vcpu *v, uint64_t mask, int home)
{
	struct cpu *c = lock_vcpu(v);
	struct sched_entity *e = &v->se;
	bool waited = e->on != ON_NONE, must_move;
	int old = home;

	if (sched_is_rt(e) && home < 0 && !(mask & BIT(e->rt_home))) {
		balance_release(c);
		return ERR_BUSY;
	}
	if (waited)
		take_out(c, e);
	__atomic_store_n(&e->par.affinity, mask, __ATOMIC_RELAXED);
	if (home >= 0) {
		old = (int)e->rt_home;
		__atomic_store_n(&e->rt_home, (uint32_t)home, __ATOMIC_RELAXED);
	}
	must_move = v->state == VCPU_RUNNING && !sched_allowed(e, c->id);
	balance_release(c);
	if (waited)
		sched_make_ready(v, VCPU_READY, c->id);
	if (must_move)
		vcpu_request(v, VCPU_REQ_MOVE);
	return old;
}

int sched_set_affinity(struct vcpu *v, uint64_t mask)
{
	struct sched_params p = {
		.weight = v->se.par.weight,
		.affinity = mask,
		.rt_budget = v->se.par.rt_budget,
		.rt_period = v->se.par.rt_period,
	};
	int home;

	if (!params_valid(&p))
		return ERR_INVAL;
	if (change_affinity(v, mask, -1) != ERR_BUSY)
		return 0;
	home = rt_reserve(&p);
	if (home < 0)
		return home;
	rt_release(&p, (uint32_t)change_affinity(v, mask, home));
	return 0;
}

struct sched_times sched_times(struct vcpu *v)
{
	struct cpu *c = lock_vcpu(v);
	struct sched_times t;

	account_vcpu(v, arch_time());
	t = (struct sched_times){ v->se.run, v->se.wait, v->se.blocked };
	balance_release(c);
	return t;
}
