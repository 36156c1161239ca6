// SPDX-License-Identifier: BSD-2-Clause
/*
 * Distribution of vCPUs over pCPUs: placement of those that become READY,
 * stealing by idle CPUs, and pulling by CPUs that are ahead in virtual time.
 * Looks at other queues through their hints, without locks, and moves a vCPU
 * with both locks held, lower CPU number first. Owns the mask of idle CPUs: a
 * CPU sets its bit before it looks for work elsewhere, and who leaves a vCPU
 * waiting publishes that before he looks at the mask, with a full barrier in
 * between on both sides; so one of the two sees the other.
 */
#include "balance.h"

#include "account.h"
#include "arch.h"
#include "cpu.h"
#include "fair.h"
#include "sched.h"
#include "vcpu.h"

static uint64_t idle_cpus; /* [a] */

void balance_lock(uint32_t a, uint32_t b)
{
	spin_lock(&cpus[a < b ? a : b]->rq.lock);
	if (a != b)
		spin_lock(&cpus[a < b ? b : a]->rq.lock);
}

void balance_release(struct cpu *c)
{
	fair_publish(c);
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

/* Wakes one of the CPUs @who. It comes; the next vCPU should wake another. */
static void send_for(uint64_t who)
{
	struct cpu *c = cpus[__builtin_ctzll(who)];

	balance_idle(c, false);
	cpu_post(c, CPU_RESCHED);
}

void balance_kick_idle(struct cpu *c)
{
	uint64_t who;

	if (!fair_can_give(c))
		return;
	fair_publish(c);
	arch_mb();
	who = fair_hint(&idle_cpus) & c->rq.tree[ON_FAIR]->mask;
	if (who)
		send_for(who);
}

void balance_pass_on(void)
{
	uint64_t idle;

	/* After what this CPU published when it picked. */
	arch_mb();
	idle = fair_hint(&idle_cpus);
	for (unsigned int i = 0; idle && i < nr_cpus; i++) {
		uint64_t who = idle & fair_hint(&cpus[i]->rq.hint_mask);

		if (who) {
			send_for(who);
			return;
		}
	}
}

/* The allowed CPU with the lowest load. */
static uint32_t least_loaded(uint64_t allowed)
{
	uint64_t least = UINT64_MAX;
	uint32_t best = 0;

	for (uint32_t i = 0; i < nr_cpus; i++) {
		uint64_t load = fair_hint(&cpus[i]->rq.hint_load);

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
	uint64_t allowed = fair_hint(&e->par.affinity), idle;
	uint32_t cpu = __atomic_load_n(&e->cpu, __ATOMIC_RELAXED), best;

	if (sched_is_rt(e))
		return __atomic_load_n(&e->rt_home, __ATOMIC_RELAXED);
	/* Where its state may still be loaded, if that CPU is free. */
	idle = fair_hint(&idle_cpus) & allowed;
	if (idle)
		return idle & BIT(cpu) ? cpu : (uint32_t)__builtin_ctzll(idle);
	best = least_loaded(allowed);
	if (!(allowed & BIT(cpu)))
		return best;
	/* Only a clear difference is worth a move. */
	if (fair_hint(&cpus[best]->rq.hint_load) * 3 / 2 <
	    fair_hint(&cpus[cpu]->rq.hint_load))
		return best;
	return cpu;
}

/* Moves @e, which waits in the fair tree of @from. Both locks. */
static void move(struct cpu *from, struct cpu *to, struct sched_entity *e)
{
	uint64_t shift = from->rq.base - to->rq.base, now = arch_time();

	account_cpu(from, now);
	account_cpu(to, now);
	runq_remove(&from->rq, e);
	runq_leave(&from->rq, e);
	__atomic_store_n(&e->cpu, to->id, __ATOMIC_RELAXED);
	e->vtime += shift;
	e->vdeadline += shift;
	fair_move(to, e, now);
	runq_insert(&to->rq, e, ON_FAIR, e->vdeadline);
	balance_kick_idle(to);
}

/* Moves the first one that may go. Locks both queues itself. */
static bool take(struct cpu *from, struct cpu *to)
{
	struct sched_entity *e = NULL;

	balance_lock(from->id, to->id);
	if (fair_can_give(from))
		e = runq_first_allowed(&from->rq, to->id);
	if (e)
		move(from, to, e);
	balance_unlock(from->id, to->id);
	return e;
}

/* The most loaded CPU outside @tried with a vCPU for @c, or NULL. */
static struct cpu *busiest(const struct cpu *c, uint64_t tried)
{
	struct cpu *best = NULL;
	uint64_t most = 0;

	for (unsigned int i = 0; i < nr_cpus; i++) {
		struct cpu *d = cpus[i];
		uint64_t load = fair_hint(&d->rq.hint_load);

		if (d == c || (tried & BIT(i)) || load <= most ||
		    !(fair_hint(&d->rq.hint_mask) & BIT(c->id)))
			continue;
		most = load;
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
		if (take(d, c))
			return true;
		tried |= BIT(d->id);
	}
	return false;
}

/*
 * Has @d fallen so far behind that @c should take a vCPU from it? The measure
 * is what the heaviest vCPU of @d would notice: a quarter of a slice when @c
 * is also the less loaded one and gains further, else a whole one. Never when
 * @c has a single vCPU that is worth more than what @d has: it is due all of
 * @c.
 */
static bool is_behind(const struct cpu *d, const struct cpu *c, uint64_t gap)
{
	uint64_t step = fair_hint(&d->rq.hint_step);

	if (fair_hint(&d->rq.hint_load) > fair_hint(&c->rq.hint_load))
		step /= 4;
	else if (fair_hint(&c->rq.hint_alone))
		return false;
	return gap >= step;
}

/* The CPU furthest behind @c that has a vCPU for it, or NULL. */
static struct cpu *furthest_behind(const struct cpu *c, uint64_t now)
{
	uint64_t vc = fair_vtime(c, now), most = 0;
	struct cpu *best = NULL;

	for (unsigned int i = 0; i < nr_cpus; i++) {
		struct cpu *d = cpus[i];
		uint64_t gap = vc - fair_vtime(d, now);

		if (d == c || !(fair_hint(&d->rq.hint_mask) & BIT(c->id)))
			continue;
		if ((int64_t)gap <= (int64_t)most || !is_behind(d, c, gap))
			continue;
		most = gap;
		best = d;
	}
	return best;
}

bool balance_wanted(const struct cpu *c, uint64_t now)
{
	return now >= c->rq.balance_at && furthest_behind(c, now);
}

bool balance_pull(struct cpu *c)
{
	uint64_t now = arch_time();
	struct cpu *d;

	if (now < c->rq.balance_at || !fair_hint(&c->rq.hint_load))
		return false;
	c->rq.balance_at = now + sched_slice / 2;
	d = furthest_behind(c, now);
	return d && take(d, c);
}
