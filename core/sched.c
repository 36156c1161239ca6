// SPDX-License-Identifier: BSD-2-Clause
/*
 * The scheduler: states of vCPUs, order and preemption on one pCPU. Fair class
 * by earliest eligible virtual deadline: among the vCPUs that are not ahead of
 * the queue's virtual time the one runs whose request ends first. A request is
 * one slice, or one grain after a wake-up, so that who sleeps is served soon.
 * Where vCPUs wait is balance.c's part, the real-time class rt.c's.
 *
 * Locks: the queue lock of se.cpu for all of a vCPU's scheduling state; a
 * vCPU changes its CPU under both queues' locks, so who has locked the queue
 * it names looks again (lock_vcpu). cpu->curr changes only here, under the
 * queue lock of that CPU.
 */
#include "sched.h"

#include "account.h"
#include "arch.h"
#include "balance.h"
#include "cpu.h"
#include "print.h"
#include "rt.h"
#include "vcpu.h"

/* A slice is this many grains: the shortest turn between two vCPUs. */
#define GRAINS 8

uint64_t sched_slice;

static uint64_t grain(void)
{
	return sched_slice / GRAINS;
}

static struct vcpu *vcpu_of(struct sched_entity *e)
{
	return container_of(e, struct vcpu, se);
}

static bool allowed(const struct sched_entity *e, uint32_t cpu)
{
	if (sched_is_rt(e))
		return e->rt_home == cpu;
	return e->par.affinity & BIT(cpu);
}

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

/* ---- order on one CPU -------------------------------------------------- */

static void new_request(struct sched_entity *e, uint64_t ticks)
{
	e->vdeadline = e->vtime + runq_virtual(ticks, e->par.weight);
}

static bool request_done(const struct sched_entity *e)
{
	return !runq_before(e->vtime, e->vdeadline);
}

/* Not ahead of the virtual time of its queue? */
static bool eligible(const struct runq *rq, const struct sched_entity *e)
{
	return !runq_before(rq->vtime, e->vtime);
}

/* Does @e, which waits on @c, go before the vCPU that runs there? */
static bool goes_first(const struct cpu *c, const struct sched_entity *e)
{
	const struct sched_entity *curr = &c->curr->se;

	if (sched_is_rt(e) || sched_is_rt(curr))
		return e->on == ON_RT &&
		       (!sched_is_rt(curr) || e->deadline < curr->deadline);
	return eligible(&c->rq, e) && runq_before(e->vdeadline, curr->vdeadline);
}

static bool turn_over(const struct cpu *c, uint64_t now)
{
	return now - c->rq.picked_at >= grain();
}

/* Sets the timer of @c, this CPU, to the next time it has to decide. */
static void set_timer(struct cpu *c, uint64_t now, uint64_t at)
{
	const struct sched_entity *e = runq_first(&c->rq, ON_THROTTLED);

	if (e)
		at = min_u64(at, e->key);
	e = c->curr ? &c->curr->se : NULL;
	if (e && sched_is_rt(e))
		at = min_u64(at, now + (uint64_t)(e->budget > 0 ? e->budget : 0));
	else if (e)
		at = min_u64(at, now + 1 + runq_ticks(e->vdeadline - e->vtime, e->par.weight));
	if (at == TIMER_NEVER)
		timer_cancel(&c->timers, &c->rq.timer);
	else
		timer_set(&c->timers, &c->rq.timer, at);
}

static void timer_fired(struct timer *t)
{
	(void)t;
	cpu_post(this_cpu(), CPU_RESCHED);
}

/* ---- becoming READY ---------------------------------------------------- */

/* Makes some CPU look at @e, which has begun to wait on @c. */
static void announce(struct cpu *c, const struct sched_entity *e)
{
	if (c->rq.idle) {
		balance_idle(c, false);
		cpu_post(c, CPU_RESCHED);
		return;
	}
	/* A throttled one needs @c's timer. */
	if (c->curr && (e->on == ON_THROTTLED || goes_first(c, e)))
		cpu_post(c, CPU_RESCHED);
	balance_kick_idle(c);
}

/* @v, READY and on no tree, begins to wait on @c. */
static void begin_wait(struct cpu *c, struct vcpu *v, uint64_t now)
{
	struct sched_entity *e = &v->se;

	if (sched_is_rt(e)) {
		rt_wake(e, now);
		rt_insert(&c->rq, e);
	} else {
		new_request(e, grain());
		balance_enter(c, e);
		runq_insert(&c->rq, e, ON_FAIR, e->vdeadline);
	}
	announce(c, e);
}

/*
 * @v goes from state @from to READY on CPU @to if it may run there, else on
 * one that is chosen. READY as @from: it has been left in no queue. Returns
 * without effect if it is in another state.
 */
static void make_ready(struct vcpu *v, enum vcpu_state from, uint32_t to)
{
	struct sched_entity *e = &v->se;
	struct cpu *own;
	uint64_t now;

	for (;;) {
		own = lock_vcpu_and(v, to);
		if (v->state != from || e->on != ON_NONE || allowed(e, to))
			break;
		balance_unlock(own->id, to);
		to = balance_place(v);
	}
	if (v->state == from && e->on == ON_NONE) {
		now = arch_time();
		account_cpu(cpus[to], now);
		if (from == VCPU_READY)
			account_vcpu(v, now);
		else
			account_state(v, VCPU_READY, now);
		e->vtime += own->rq.base - cpus[to]->rq.base;
		__atomic_store_n(&e->cpu, to, __ATOMIC_RELAXED);
		begin_wait(cpus[to], v, now);
	}
	balance_unlock(own->id, to);
}

/* ---- interface --------------------------------------------------------- */

void sched_init(uint64_t slice)
{
	sched_slice = max_u64(slice, GRAINS);
}

void sched_cpu_init(struct cpu *c)
{
	c->rq = (struct runq){ 0 };
	timer_init(&c->rq.timer, timer_fired);
}

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
	int home = 0;

	if (!params_valid(p))
		return ERR_INVAL;
	if (p->rt_budget) {
		home = rt_reserve(p);
		if (home < 0)
			return home;
	}
	*e = (struct sched_entity){ .par = *p, .prio = next_prio() };
	e->rt_home = (uint32_t)home;
	e->cpu = p->rt_budget ? (uint32_t)home : (uint32_t)__builtin_ctzll(p->affinity);
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
	make_ready(v, VCPU_OFF, balance_place(v));
}

void sched_resume(struct vcpu *v)
{
	make_ready(v, VCPU_STOPPED, balance_place(v));
}

void sched_wake(struct vcpu *v)
{
	/* The event, then the look at the state; sched_block has it the other
	 * way round. */
	arch_mb();
	if (__atomic_load_n(&v->state, __ATOMIC_RELAXED) == VCPU_BLOCKED)
		make_ready(v, VCPU_BLOCKED, balance_place(v));
}

static void run(struct cpu *c, struct sched_entity *e, uint64_t now)
{
	struct vcpu *v = vcpu_of(e);

	runq_remove(&c->rq, e);
	account_state(v, VCPU_RUNNING, now);
	c->curr = v;
	c->rq.picked_at = now;
	if (!c->rq.idle)
		return;
	c->rq.idle = false;
	c->idle_ticks += now - c->rq.idle_since;
	balance_idle(c, false);
}

static void go_idle(struct cpu *c, uint64_t now)
{
	if (c->rq.idle)
		c->idle_ticks += now - c->rq.idle_since;
	c->rq.idle = true;
	c->rq.idle_since = now;
	balance_idle(c, true);
}

static struct vcpu *pick_local(struct cpu *c)
{
	struct sched_entity *e;
	uint64_t now;

	spin_lock(&c->rq.lock);
	ASSERT(!c->curr);
	now = arch_time();
	rt_replenish(&c->rq, now);
	e = runq_first(&c->rq, ON_RT);
	if (!e)
		e = runq_first_eligible(&c->rq);
	if (e)
		run(c, e, now);
	else
		go_idle(c, now);
	set_timer(c, now, TIMER_NEVER);
	balance_release(c);
	return c->curr;
}

struct vcpu *sched_pick(void)
{
	struct cpu *c = this_cpu();
	struct vcpu *v;

	balance_pull(c);
	v = pick_local(c);
	if (!v && balance_steal(c))
		v = pick_local(c);
	return v;
}

/* The first half of leaving @v: lock held, time booked, cpu->curr NULL. */
static struct cpu *leave(struct vcpu *v, enum vcpu_state to)
{
	struct cpu *c = this_cpu();

	spin_lock(&c->rq.lock);
	ASSERT(c->curr == v && v->se.cpu == c->id);
	account_state(v, to, arch_time());
	c->curr = NULL;
	if (to != VCPU_READY && !sched_is_rt(&v->se))
		runq_leave(&c->rq, &v->se);
	return c;
}

/* The rest of the request is given up, and with it the turn. */
static void give_up_request(struct runq *rq, struct sched_entity *e)
{
	uint64_t past = rq->vtime + 1;

	if (runq_before(past, e->vdeadline))
		past = e->vdeadline;
	runq_set_vtime(rq, e, past);
}

/* A vCPU that ran on @c waits there again. */
static void wait_again(struct cpu *c, struct sched_entity *e, bool yield)
{
	if (sched_is_rt(e)) {
		rt_insert(&c->rq, e);
		return;
	}
	if (yield && c->rq.nr[ON_FAIR])
		give_up_request(&c->rq, e);
	if (request_done(e))
		new_request(e, sched_slice);
	runq_insert(&c->rq, e, ON_FAIR, e->vdeadline);
	balance_kick_idle(c);
}

void sched_preempt(struct vcpu *v, bool yield)
{
	struct cpu *c = leave(v, VCPU_READY);
	bool stays = allowed(&v->se, c->id);

	if (stays)
		wait_again(c, &v->se, yield);
	else if (!sched_is_rt(&v->se))
		runq_leave(&c->rq, &v->se);
	balance_release(c);
	if (!stays)
		make_ready(v, VCPU_READY, balance_place(v));
}

void sched_block(struct vcpu *v)
{
	struct cpu *c = leave(v, VCPU_BLOCKED);

	balance_release(c);
	/* BLOCKED is visible before the last look for work. */
	arch_mb();
	if (vcpu_has_work(v))
		make_ready(v, VCPU_BLOCKED, c->id);
}

void sched_off(struct vcpu *v, unsigned int to)
{
	ASSERT(to == VCPU_OFF || to == VCPU_STOPPED);
	balance_release(leave(v, (enum vcpu_state)to));
}

/* Takes a waiting vCPU off the queue of @c. */
static void take_out(struct cpu *c, struct sched_entity *e)
{
	if (e->on == ON_FAIR)
		runq_leave(&c->rq, e);
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

int sched_set_affinity(struct vcpu *v, uint64_t mask)
{
	struct sched_entity *e = &v->se;
	struct sched_params p = {
		.weight = e->par.weight,
		.affinity = mask,
		.rt_budget = e->par.rt_budget,
		.rt_period = e->par.rt_period,
	};
	bool taken_out = false, must_move = false;
	struct cpu *c;
	int home = 0;

	if (!params_valid(&p))
		return ERR_INVAL;
	if (sched_is_rt(e)) {
		home = rt_reserve(&p);
		if (home < 0)
			return home;
	}
	c = lock_vcpu(v);
	__atomic_store_n(&e->par.affinity, mask, __ATOMIC_RELAXED);
	if (e->on != ON_NONE) {
		take_out(c, e);
		taken_out = true;
	}
	if (sched_is_rt(e)) {
		uint32_t old = e->rt_home;

		__atomic_store_n(&e->rt_home, (uint32_t)home, __ATOMIC_RELAXED);
		home = (int)old;
	}
	must_move = v->state == VCPU_RUNNING && !allowed(e, c->id);
	balance_release(c);
	if (sched_is_rt(e))
		rt_release(&p, (uint32_t)home);
	if (taken_out)
		make_ready(v, VCPU_READY, c->id);
	if (must_move)
		vcpu_request(v, VCPU_REQ_MOVE);
	return 0;
}

/* Does a vCPU that waits on @c go before cpu->curr now, or at @at? */
static bool better_waits(struct cpu *c, uint64_t now, uint64_t *at)
{
	const struct sched_entity *first = runq_first(&c->rq, ON_RT);
	struct sched_entity *e = &c->curr->se;
	bool done;

	if (sched_is_rt(e))
		return e->budget <= 0 || (first && goes_first(c, first));
	if (first)
		return true;
	done = request_done(e);
	if (done)
		new_request(e, sched_slice);
	first = runq_first_eligible(&c->rq);
	if (!first)
		return false;
	if (done && (!eligible(&c->rq, e) ||
		     !runq_before(e->vdeadline, first->vdeadline)))
		return true;
	if (!runq_before(first->vdeadline, e->vdeadline))
		return false;
	if (turn_over(c, now))
		return true;
	*at = c->rq.picked_at + grain();
	return false;
}

bool sched_must_leave(const struct vcpu *v)
{
	struct cpu *c = this_cpu();
	uint64_t now, at = TIMER_NEVER;
	bool yes;

	spin_lock(&c->rq.lock);
	ASSERT(c->curr == v);
	now = arch_time();
	account_cpu(c, now);
	rt_replenish(&c->rq, now);
	yes = !allowed(&v->se, c->id) || better_waits(c, now, &at);
	if (!yes)
		set_timer(c, now, at);
	balance_release(c);
	return yes || balance_wanted(c, now);
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
