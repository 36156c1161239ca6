// SPDX-License-Identifier: BSD-2-Clause
/*
 * Distribution of vCPUs over pCPUs: placement of wakers, stealing by idle
 * CPUs, and pulling by CPUs whose vCPUs are served better than others. Looks
 * at other queues through their hints, without locks, and moves a vCPU with
 * both locks held, lower CPU number first. Owns the mask of idle CPUs: a CPU
 * sets its bit before it looks for work elsewhere, and who leaves a vCPU
 * waiting publishes that before he looks at the mask, with a full barrier in
 * between on both sides; so one of the two sees the other.
 */
#include "balance.h"

#include "account.h"
#include "arch.h"
#include "cpu.h"
#include "sched.h"
#include "vcpu.h"

static uint64_t idle_cpus; /* [a] */

void balance_lock(uint32_t a, uint32_t b)
{
	spin_lock(&cpus[a < b ? a : b]->rq.lock);
	if (a != b)
		spin_lock(&cpus[a < b ? b : a]->rq.lock);
}

static uint64_t hint(const uint64_t *field)
{
	return __atomic_load_n(field, __ATOMIC_RELAXED);
}

/* May another CPU take a vCPU from here? Not the last one of a CPU that is
 * just about to pick: it would go back and forth. */
static bool can_give(const struct cpu *c)
{
	const struct runq *rq = &c->rq;

	return rq->nr[ON_FAIR] &&
	       (c->curr || rq->nr[ON_FAIR] + rq->nr[ON_RT] > 1);
}

static void publish(struct cpu *c)
{
	struct runq *rq = &c->rq;
	uint64_t mask = can_give(c) ? rq->tree[ON_FAIR]->mask : 0;
	bool moves = c->curr && !sched_is_rt(&c->curr->se);
	uint64_t at = moves ? c->curr->se.since : TIMER_NEVER;

	__atomic_store_n(&rq->hint_vtime, rq->vtime + rq->base,
			 __ATOMIC_RELAXED);
	__atomic_store_n(&rq->hint_load, rq->load, __ATOMIC_RELAXED);
	__atomic_store_n(&rq->hint_time, at, __ATOMIC_RELAXED);
	__atomic_store_n(&rq->hint_mask, mask, __ATOMIC_RELAXED);
}

/* What the virtual time of @c is about now. */
static uint64_t vtime_of(const struct cpu *c, uint64_t now)
{
	uint64_t at = hint(&c->rq.hint_time), load = hint(&c->rq.hint_load);
	uint64_t v = hint(&c->rq.hint_vtime);

	/* Each read is good by itself; together they may be out of step,
	 * which makes a bad guess at worst. */
	if (now <= at || !load || now - at > 2 * sched_slice)
		return v;
	return v + runq_virtual(now - at, load);
}

void balance_release(struct cpu *c)
{
	publish(c);
	spin_unlock(&c->rq.lock);
}

void balance_unlock(uint32_t a, uint32_t b)
{
	balance_release(cpus[a]);
	if (a != b)
		balance_release(cpus[b]);
}

void balance_idle(struct cpu *c, bool idle)
{
	if (idle)
		__atomic_fetch_or(&idle_cpus, BIT(c->id), __ATOMIC_SEQ_CST);
	else
		__atomic_fetch_and(&idle_cpus, ~BIT(c->id), __ATOMIC_SEQ_CST);
}

void balance_kick_idle(struct cpu *c)
{
	uint64_t who;

	if (!can_give(c))
		return;
	publish(c);
	arch_mb();
	who = hint(&idle_cpus) & c->rq.tree[ON_FAIR]->mask;
	if (!who)
		return;
	c = cpus[__builtin_ctzll(who)];
	/* It comes; the next vCPU should wake another one. */
	balance_idle(c, false);
	cpu_post(c, CPU_RESCHED);
}

/* The allowed CPU with the lowest load. */
static uint32_t least_loaded(uint64_t allowed)
{
	uint64_t least = UINT64_MAX;
	uint32_t best = 0;

	for (uint32_t i = 0; i < nr_cpus; i++) {
		uint64_t load = hint(&cpus[i]->rq.hint_load);

		if ((allowed & BIT(i)) && load < least) {
			least = load;
			best = i;
		}
	}
	return best;
}

uint32_t balance_place(const struct vcpu *v)
{
	const struct sched_entity *e = &v->se;
	uint64_t allowed = hint(&e->par.affinity), idle;
	uint32_t cpu = __atomic_load_n(&e->cpu, __ATOMIC_RELAXED), best;

	if (sched_is_rt(e))
		return __atomic_load_n(&e->rt_home, __ATOMIC_RELAXED);
	/* Where its state may still be loaded, if that CPU is free. */
	idle = hint(&idle_cpus) & allowed;
	if (idle)
		return idle & BIT(cpu) ? cpu : (uint32_t)__builtin_ctzll(idle);
	best = least_loaded(allowed);
	if (!(allowed & BIT(cpu)))
		return best;
	/* Only a clear difference is worth a move. */
	if (hint(&cpus[best]->rq.hint_load) + e->par.weight <
	    hint(&cpus[cpu]->rq.hint_load))
		return best;
	return cpu;
}

/*
 * The lag of @e against the mean it becomes part of must be within one slice,
 * or sleeping long, and having been ahead elsewhere, would count for ever.
 */
static void limit_lag(struct runq *rq, struct sched_entity *e)
{
	uint64_t most;
	int64_t behind = (int64_t)(rq->vtime - e->vtime);

	if (!rq->load)
		return;
	most = runq_virtual(sched_slice, e->par.weight) +
	       runq_virtual(sched_slice, rq->load);
	if (behind > (int64_t)most)
		e->vtime = rq->vtime - most;
	else if (behind < -(int64_t)most)
		e->vtime = rq->vtime + most;
}

void balance_enter(struct cpu *c, struct sched_entity *e)
{
	uint64_t request = e->vdeadline - e->vtime;

	limit_lag(&c->rq, e);
	e->vdeadline = e->vtime + request;
	runq_join(&c->rq, e);
}

/* Moves @e, which waits in the fair tree of @from. Both locks. */
static void move(struct cpu *from, struct cpu *to, struct sched_entity *e)
{
	uint64_t shift = from->rq.base - to->rq.base;

	runq_remove(&from->rq, e);
	runq_leave(&from->rq, e);
	__atomic_store_n(&e->cpu, to->id, __ATOMIC_RELAXED);
	e->vtime += shift;
	e->vdeadline += shift;
	balance_enter(to, e);
	runq_insert(&to->rq, e, ON_FAIR, e->vdeadline);
	balance_kick_idle(to);
}

/* The most loaded CPU outside @tried with a vCPU for @c, or NULL. */
static struct cpu *busiest(const struct cpu *c, uint64_t tried)
{
	struct cpu *best = NULL;

	for (unsigned int i = 0; i < nr_cpus; i++) {
		struct cpu *d = cpus[i];

		if (d == c || (tried & BIT(i)) ||
		    !(hint(&d->rq.hint_mask) & BIT(c->id)))
			continue;
		if (!best || hint(&d->rq.hint_load) > hint(&best->rq.hint_load))
			best = d;
	}
	return best;
}

bool balance_steal(struct cpu *c)
{
	uint64_t tried = 0;
	struct cpu *d;

	/* After the idle bit of this CPU. */
	arch_mb();
	while ((d = busiest(c, tried))) {
		struct sched_entity *e;

		balance_lock(c->id, d->id);
		account_cpu(d, arch_time());
		e = can_give(d) ? runq_first_allowed(&d->rq, c->id) : NULL;
		if (e)
			move(d, c, e);
		balance_unlock(c->id, d->id);
		if (e)
			return true;
		tried |= BIT(d->id);
	}
	return false;
}

/* The CPU that is furthest behind @c and more loaded, with a vCPU for it. */
static struct cpu *furthest_behind(const struct cpu *c, uint64_t now)
{
	uint64_t vc = vtime_of(c, now), wc = hint(&c->rq.hint_load), most = 0;
	struct cpu *best = NULL;

	for (unsigned int i = 0; i < nr_cpus; i++) {
		struct cpu *d = cpus[i];
		uint64_t vd = vtime_of(d, now);

		if (!(hint(&d->rq.hint_mask) & BIT(c->id)) || d == c ||
		    hint(&d->rq.hint_load) <= wc || !runq_before(vd, vc))
			continue;
		if (vc - vd > most) {
			most = vc - vd;
			best = d;
		}
	}
	return best;
}

/*
 * How far, in ticks, @e, which waits on @d, is behind the virtual time that
 * the vCPUs of @c and @d would have in one queue. Both locks, time booked.
 */
static int64_t lag_behind(const struct cpu *c, const struct cpu *d,
			  const struct sched_entity *e)
{
	int64_t wc = (int64_t)c->rq.load, wd = (int64_t)d->rq.load;
	uint64_t vd = d->rq.vtime + d->rq.base;
	int64_t ahead = (int64_t)(c->rq.vtime + c->rq.base - vd), lag;

	/* ahead * wc / (wc + wd) without the large product */
	lag = ahead / (wc + wd) * wc + ahead % (wc + wd) * wc / (wc + wd);
	lag += (int64_t)(d->rq.vtime - e->vtime);
	if (lag <= 0)
		return 0;
	return (int64_t)runq_ticks((uint64_t)lag, e->par.weight);
}

/*
 * A CPU may be behind only as long as it is slower than those ahead: then it
 * has vCPUs that cannot go there. Once it is faster the past must not count.
 */
static void forget_past(struct cpu *c, uint64_t now)
{
	uint64_t wc = c->rq.load, vc = c->rq.vtime + c->rq.base, lift = 0;
	uint64_t most;

	if (!wc)
		return;
	most = runq_virtual(2 * sched_slice, wc);
	for (unsigned int i = 0; i < nr_cpus; i++) {
		uint64_t vd = vtime_of(cpus[i], now) - most;

		if (hint(&cpus[i]->rq.hint_load) < wc)
			continue;
		if (runq_before(vc + lift, vd))
			lift = vd - vc;
	}
	c->rq.base += lift;
}

bool balance_wanted(const struct cpu *c, uint64_t now)
{
	return now >= c->rq.balance_at && furthest_behind(c, now);
}

/* Takes the first vCPU that waits on @d and lags, if there is one. */
static bool pull_from(struct cpu *c, struct cpu *d)
{
	struct sched_entity *e;
	uint64_t now;

	balance_lock(c->id, d->id);
	now = arch_time();
	account_cpu(c, now);
	account_cpu(d, now);
	e = can_give(d) ? runq_first_allowed(&d->rq, c->id) : NULL;
	if (e && lag_behind(c, d, e) < (int64_t)(sched_slice / 4))
		e = NULL;
	if (e)
		move(d, c, e);
	balance_unlock(c->id, d->id);
	return e;
}

bool balance_pull(struct cpu *c)
{
	uint64_t now = arch_time();
	struct cpu *d;

	if (now < c->rq.balance_at)
		return false;
	spin_lock(&c->rq.lock);
	c->rq.balance_at = now + sched_slice / 2;
	forget_past(c, now);
	balance_release(c);
	d = furthest_behind(c, now);
	return d && pull_from(c, d);
}
