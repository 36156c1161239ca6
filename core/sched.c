// SPDX-License-Identifier: BSD-2-Clause
/*
 * The scheduler on one pCPU: who runs, for how long, and leaving again. Fair
 * class by earliest eligible virtual deadline: among the vCPUs that are not
 * ahead of the queue's virtual time the one runs whose request ends first. A
 * request is one slice, or one grain after a wake-up, so that who sleeps is
 * served soon. Waking is wake.c's part, choice of pCPU balance.c's, real time
 * rt.c's. Invariant: cpu->curr changes only here, under that CPU's queue lock.
 */
#include "sched.h"

#include "account.h"
#include "arch.h"
#include "balance.h"
#include "fair.h"
#include "print.h"
#include "rt.h"
#include "sched_int.h"

uint64_t sched_slice;

/* ---- order on one CPU -------------------------------------------------- */

static bool request_done(const struct sched_entity *e)
{
	return !runq_before(e->vtime, e->vdeadline);
}

bool sched_goes_first(const struct cpu *c, const struct sched_entity *e)
{
	const struct sched_entity *curr = &c->curr->se;

	if (sched_is_rt(e) || sched_is_rt(curr))
		return e->on == ON_RT &&
		       (!sched_is_rt(curr) || e->deadline < curr->deadline);
	return sched_eligible(&c->rq, e) &&
	       runq_before(e->vdeadline, curr->vdeadline);
}

static bool turn_over(const struct cpu *c, uint64_t now)
{
	return now - c->rq.picked_at >= sched_grain();
}

/* How long @e, which runs, may go on; rounded up. */
static uint64_t ticks_left(const struct sched_entity *e)
{
	if (sched_is_rt(e))
		return e->budget > 0 ? (uint64_t)e->budget : 0;
	return runq_ticks(e->vdeadline - e->vtime, e->par.weight) + 1;
}

/*
 * The timer of @c, this CPU, fires by @at. One that is armed for an earlier
 * time stays: firing once for nothing costs less than moving it each time.
 */
static void fire_by(struct cpu *c, uint64_t now, uint64_t at)
{
	const struct timer *t = &c->rq.timer;

	if (t->armed && t->deadline <= at && t->deadline > now)
		return;
	if (at != TIMER_NEVER)
		timer_set(&c->timers, &c->rq.timer, at);
}

/* Sets the timer of @c to the next time it has to decide, by @at. */
static void set_timer(struct cpu *c, uint64_t now, uint64_t at)
{
	const struct sched_entity *e = runq_first(&c->rq, ON_THROTTLED);

	if (e)
		at = min_u64(at, e->key);
	e = c->curr ? &c->curr->se : NULL;
	if (e)
		at = min_u64(at, now + ticks_left(e));
	fire_by(c, now, at);
}

void sched_ask(struct cpu *c, const struct sched_entity *e, uint64_t now)
{
	if (sched_is_rt(e) || c != this_cpu() || turn_over(c, now))
		cpu_post(c, CPU_RESCHED);
	else
		fire_by(c, now, c->rq.picked_at + sched_grain());
}

static void timer_fired(struct timer *t)
{
	(void)t;
	cpu_post(this_cpu(), CPU_RESCHED);
}

/* ---- interface --------------------------------------------------------- */

void sched_init(uint64_t slice)
{
	sched_slice = max_u64(slice, SCHED_GRAINS);
}

void sched_cpu_init(struct cpu *c)
{
	c->rq = (struct runq){ 0 };
	balance_idle(c, false);
	timer_init(&c->rq.timer, timer_fired);
}

static void run(struct cpu *c, struct sched_entity *e, uint64_t now)
{
	struct vcpu *v = sched_vcpu(e);

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
	if (c->rq.tree[ON_THROTTLED])
		rt_replenish(&c->rq, now);
	e = runq_first(&c->rq, ON_RT);
	if (!e)
		e = runq_first_eligible(&c->rq);
	if (e)
		run(c, e, now);
	else
		go_idle(c, now);
	/* Who waited here and was to run next is served elsewhere now. */
	if (e && sched_is_rt(e))
		balance_kick_idle(c);
	set_timer(c, now, TIMER_NEVER);
	balance_release(c);
	return c->curr;
}

struct vcpu *sched_pick(void)
{
	struct cpu *c = this_cpu();
	bool was_idle = c->rq.idle;
	struct vcpu *v;

	balance_pull(c);
	v = pick_local(c);
	if (!v && balance_steal(c))
		v = pick_local(c);
	if (v && was_idle)
		balance_pass_on();
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
		fair_leave(c, &v->se);
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
		sched_request(e, sched_slice);
	runq_insert(&c->rq, e, ON_FAIR, e->vdeadline);
	balance_kick_idle(c);
}

void sched_preempt(struct vcpu *v, bool yield)
{
	struct cpu *c = leave(v, VCPU_READY);
	bool stays = sched_allowed(&v->se, c->id);

	if (stays)
		wait_again(c, &v->se, yield);
	else if (!sched_is_rt(&v->se))
		fair_leave(c, &v->se);
	balance_release(c);
	if (!stays)
		sched_make_ready(v, VCPU_READY, balance_place(v));
}

void sched_block(struct vcpu *v)
{
	struct cpu *c = leave(v, VCPU_BLOCKED);

	balance_release(c);
	/* BLOCKED is visible before the last look for work. */
	arch_mb();
	if (vcpu_has_work(v))
		sched_make_ready(v, VCPU_BLOCKED, c->id);
}

void sched_off(struct vcpu *v, unsigned int to)
{
	ASSERT(to == VCPU_OFF || to == VCPU_STOPPED);
	balance_release(leave(v, (enum vcpu_state)to));
}

/* Does a vCPU that waits on @c go before cpu->curr now, or at @at? */
static bool better_waits(struct cpu *c, uint64_t now, uint64_t *at)
{
	const struct sched_entity *first = runq_first(&c->rq, ON_RT);
	struct sched_entity *e = &c->curr->se;
	bool done;

	if (sched_is_rt(e))
		return e->budget <= 0 || (first && sched_goes_first(c, first));
	if (first)
		return true;
	done = request_done(e);
	if (done)
		sched_request(e, sched_slice);
	first = runq_first_eligible(&c->rq);
	if (!first)
		return false;
	if (done && (!sched_eligible(&c->rq, e) ||
		     !runq_before(e->vdeadline, first->vdeadline)))
		return true;
	if (!runq_before(first->vdeadline, e->vdeadline))
		return false;
	if (turn_over(c, now))
		return true;
	*at = c->rq.picked_at + sched_grain();
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
	if (c->rq.tree[ON_THROTTLED])
		rt_replenish(&c->rq, now);
	fair_follow(c, now);
	yes = !sched_allowed(&v->se, c->id) || better_waits(c, now, &at);
	if (!yes)
		set_timer(c, now, at);
	balance_release(c);
	return yes || balance_wanted(c, now);
}
