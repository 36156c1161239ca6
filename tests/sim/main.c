// SPDX-License-Identifier: BSD-2-Clause
/*
 * Random scenarios for the scheduler and the properties it must keep in them.
 * sim CLASS FIRST COUNT runs scenarios FIRST .. FIRST + COUNT - 1 of a class
 * and prints the worst that was seen; the first violation ends the program
 * with status 1 and a line that begins with FAIL and names the property.
 * docs/scheduler.md says which property is promised where, and why.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fluid.h"
#include "rt.h"
#include "world.h"

#define KICK		20	/* ticks until a posted CPU looks */
#define MAX_STARVE	2.5	/* see check_starvation() */

/* What is true of the scenarios of a class. */
struct klass {
	const char *name;
	enum { FREE, GROUPS, ANY } masks; /* affinities: see random_mask() */
	bool sleepers;	/* half of them sleep and wake */
	bool changes;	/* affinities change, vCPUs come and go */
	bool rt;	/* a real-time vCPU or more on each pCPU */
	double lag;	/* most slices from the fluid ideal; 0: no claim */
};

static const struct klass classes[] = {
	{ "hogs", FREE, false, false, false, 2.25 },
	{ "groups", GROUPS, false, false, false, 2.25 },
	{ "overlap", ANY, false, false, false, INFINITY },
	{ "mixed", FREE, true, false, false, 0 },
	{ "wake", FREE, true, false, false, 0 },
	{ "churn", ANY, true, true, false, 0 },
	{ "rt", GROUPS, true, false, true, 0 },
};

/* What one scenario has shown, and the worst of all. */
struct worst {
	double lag;		/* slices */
	double starve;		/* of what check_starvation() allows */
	double wake;		/* of what wake_bound() allows */
	double mean_wake;	/* of what usual_wait() is */
	double migrations;	/* per slice and pCPU */
	uint64_t wakes, scenarios, switches;
};

static const struct klass *klass;
static struct fluid fluid;
static struct worst worst;
static double burst_min[SIM_VCPUS];	/* real-time: see check_budget() */
static uint64_t ready_since[SIM_VCPUS];
static double total_weight;
static double waited;		/* sum, see check_wake() */
static uint64_t wakes;
static double least_left;	/* of a pCPU for the fair class */

/* ---- service ----------------------------------------------------------- */

static bool is_rt(const struct sim_vcpu *s)
{
	return s->v.se.par.rt_budget;
}

static double service(const struct sim_vcpu *s)
{
	uint64_t run = s->v.se.run;

	if (s->v.state == VCPU_RUNNING)
		run += m.now - s->v.se.since;
	return (double)run;
}

static void track(double *most, double val)
{
	*most = fmax(*most, val);
}

/* |service - weighted max-min share| of who always wants to run. */
static void check_share(void)
{
	if (!klass->lag)
		return;
	fluid_advance(&fluid, (double)m.now);
	for (unsigned int i = 0; i < m.nr; i++) {
		double lag = fabs(service(&m.v[i]) - fluid.v[i].done) /
			     (double)sched_slice;

		track(&worst.lag, lag);
		if (lag > klass->lag)
			sim_fail("share: vCPU %u (weight %u) has %.0f, due "
				 "%.0f: %.2f slices", i,
				 m.v[i].v.se.par.weight, service(&m.v[i]),
				 fluid.v[i].done, lag);
	}
}

static bool is_hog(const struct sim_vcpu *s)
{
	return !is_rt(s) && !s->script.burst_max && !s->script.yield_every;
}

/*
 * On one pCPU those that never sleep share what the others leave by weight,
 * whatever the others do.
 */
static void check_rest(void)
{
	double sum = 0, weights = 0;

	if (strcmp(klass->name, "mixed") || nr_cpus > 1)
		return;
	for (unsigned int i = 0; i < m.nr; i++) {
		if (!is_hog(&m.v[i]))
			continue;
		sum += service(&m.v[i]);
		weights += m.v[i].v.se.par.weight;
	}
	for (unsigned int i = 0; i < m.nr; i++) {
		double due = sum / weights * m.v[i].v.se.par.weight, lag;

		if (!is_hog(&m.v[i]))
			continue;
		lag = fabs(service(&m.v[i]) - due) / (double)sched_slice;
		track(&worst.lag, lag);
		if (lag > 2)
			sim_fail("rest: vCPU %u has %.0f, due %.0f", i,
				 service(&m.v[i]), due);
	}
}

/*
 * Nobody waits longer than it takes to serve everybody else once by weight:
 * (all weights / own weight + number of vCPUs) slices, MAX_STARVE times that.
 * The fair class has of each pCPU what real-time vCPUs have not reserved.
 */
static void check_starvation(void)
{
	for (unsigned int i = 0; i < m.nr; i++) {
		const struct sched_entity *e = &m.v[i].v.se;
		double allowed, waits;

		if (m.v[i].v.state != VCPU_READY || is_rt(&m.v[i]))
			continue;
		allowed = (total_weight / e->par.weight + m.nr) *
			  (double)sched_slice / least_left;
		waits = (double)(m.now - ready_since[i]) / allowed;
		track(&worst.starve, waits);
		if (waits > MAX_STARVE)
			sim_fail("starvation: vCPU %u (weight %u) waits since "
				 "%llu", i, e->par.weight,
				 (unsigned long long)ready_since[i]);
	}
}

/* Has somebody told @c to look? */
static bool is_told(const struct cpu *c)
{
	return m.post_at[c->id] != UINT64_MAX;
}

/* Is there a pCPU without a vCPU, @told or not, that @e may run on? */
static bool some_idle(const struct sched_entity *e, bool told)
{
	for (unsigned int c = 0; c < nr_cpus; c++)
		if (!cpus[c]->curr && is_told(cpus[c]) == told &&
		    (e->par.affinity & BIT(c)))
			return true;
	return false;
}

/*
 * No pCPU sleeps while a fair vCPU waits that it may run, unless one that may
 * run it as well is on its way.
 */
static void check_conservation(void)
{
	for (unsigned int i = 0; i < m.nr; i++) {
		const struct sched_entity *e = &m.v[i].v.se;

		if (m.v[i].v.state == VCPU_READY && e->on == ON_FAIR &&
		    some_idle(e, false) && !some_idle(e, true))
			sim_fail("conservation: a CPU sleeps while vCPU %u "
				 "waits on CPU %u", i, e->cpu);
	}
}

/* Nobody runs twice; trees hold exactly those that wait. */
static void check_structure(void)
{
	unsigned int waiting = 0, in_trees = 0;

	for (unsigned int i = 0; i < m.nr; i++) {
		unsigned int runs = 0;

		for (unsigned int c = 0; c < nr_cpus; c++)
			runs += cpus[c]->curr == &m.v[i].v;
		if (runs != (m.v[i].v.state == VCPU_RUNNING))
			sim_fail("structure: vCPU %u runs on %u CPUs", i, runs);
		waiting += m.v[i].v.state == VCPU_READY;
	}
	for (unsigned int c = 0; c < nr_cpus; c++)
		for (int t = ON_FAIR; t < RUNQ_TREES; t++)
			in_trees += cpus[c]->rq.nr[t];
	if (waiting != in_trees)
		sim_fail("structure: %u vCPUs wait, %u are queued", waiting,
			 in_trees);
}

/*
 * A real-time vCPU gets at most its budget per period: over any time T at most
 * T * budget / period + 2 * budget (one budget at the end of a period and one
 * at the start of the next). What is kept is the least of service minus share
 * so far. One that never sleeps has got whole budgets in whole periods.
 */
static void check_budget(void)
{
	for (unsigned int i = 0; i < m.nr; i++) {
		const struct sched_params *p = &m.v[i].v.se.par;
		double over, share, age = (double)(m.now - m.v[i].script.start);

		if (!p->rt_budget)
			continue;
		share = (double)m.now * (double)p->rt_budget /
			(double)p->rt_period;
		over = service(&m.v[i]) - share;
		burst_min[i] = fmin(burst_min[i], over);
		if (over - burst_min[i] > 2.0 * (double)p->rt_budget + KICK)
			sim_fail("budget: vCPU %u has had %.0f too much", i,
				 over - burst_min[i]);
		if (m.v[i].script.burst_max || m.now < m.v[i].script.start)
			continue;
		share = floor(age / (double)p->rt_period) *
			(double)p->rt_budget;
		if (service(&m.v[i]) + 2 * KICK < share)
			sim_fail("deadline: vCPU %u has %.0f, due %.0f", i,
				 service(&m.v[i]), share);
	}
}

/* ---- waking ------------------------------------------------------------ */

/*
 * Who wakes and wants little has one request of a grain to wait for, by weight,
 * behind the turn that is under way. In the mean it takes half of that; the
 * queue it comes to may have moved meanwhile, so that it is ahead of it, by a
 * slice at most.
 */
static double usual_wait(const struct sim_vcpu *s)
{
	return (double)sched_slice +
	       (double)sched_slice / 8 *
		       (1 + total_weight / s->v.se.par.weight);
}

static double wake_bound(const struct sim_vcpu *s)
{
	return (double)sched_slice * (2 + total_weight / s->v.se.par.weight) +
	       2 * KICK;
}

static void check_wake(const struct sim_vcpu *s)
{
	double took = (double)(m.now - s->woken_at), bound = wake_bound(s);

	worst.wakes++;
	wakes++;
	waited += took / usual_wait(s);
	track(&worst.wake, took / bound);
	if (took > bound)
		sim_fail("wake: vCPU %u (weight %u) waited %.0f, bound %.0f",
			 s->v.id, s->v.se.par.weight, took, bound);
}

static void check_mean_wake(void)
{
	double mean = wakes ? waited / (double)wakes : 0;

	if (wakes < 20)
		return;
	track(&worst.mean_wake, mean);
	if (mean > 0.5)
		sim_fail("wake: mean is %.2f of what is usual", mean);
}

/* ---- hooks of the world ------------------------------------------------ */

void on_event(const struct sim_event *e)
{
	unsigned int i = e->v->v.id;

	switch (e->kind) {
	case EV_START:
	case EV_WAKE:
		ready_since[i] = m.now;
		if (klass->lag)
			fluid_add_work(&fluid, i, INFINITY);
		break;
	case EV_RUN:
		if (e->v->waits_for_first && !strcmp(klass->name, "wake") &&
		    e->v->script.burst_max)
			check_wake(e->v);
		break;
	case EV_LEAVE:
		ready_since[i] = m.now;
		break;
	case EV_END:
	case EV_AFFINITY:
	case EV_KINDS:
		break;
	}
}

void on_step(void)
{
	check_structure();
	check_conservation();
	check_starvation();
	check_share();
	check_rest();
	check_budget();
}

/* Every tick since the start is in one of the three sums; no pCPU loses any. */
static void check_accounting(void)
{
	double used = 0;

	for (unsigned int i = 0; i < m.nr; i++) {
		struct sched_times t = sched_times(&m.v[i].v);
		uint64_t start = m.v[i].script.start, sum;

		used += (double)t.run;
		if (m.v[i].dead || start >= m.now)
			continue;
		sum = t.run + t.wait + t.blocked;
		if (sum != m.now - start)
			sim_fail("accounting: vCPU %u: %llu of %llu ticks", i,
				 (unsigned long long)sum,
				 (unsigned long long)(m.now - start));
	}
	for (unsigned int c = 0; c < nr_cpus; c++) {
		used += (double)cpus[c]->idle_ticks;
		if (cpus[c]->rq.idle && !cpus[c]->curr)
			used += (double)(m.now - cpus[c]->rq.idle_since);
	}
	/* Between a block and the next pick a CPU is neither. */
	if (fabs(used - (double)m.now * nr_cpus) > 1)
		sim_fail("accounting: pCPUs have %.0f of %.0f ticks", used,
			 (double)m.now * nr_cpus);
}

/* ---- scenarios --------------------------------------------------------- */

static uint32_t random_weight(void)
{
	double w = exp((double)sim_random(1 << 20) / (1 << 20) * log(10000));

	/* Equal weights are the common case, and the one with most ties. */
	return sim_random(3) ? SCHED_WEIGHT_DEFAULT : (uint32_t)w + (w < 1);
}

/* GROUPS: each of the groups that divide the pCPUs; ANY: any mask. */
static uint64_t random_mask(void)
{
	uint64_t all = BITS(nr_cpus - 1, 0), mask = 0;
	unsigned int size = 1u << m.end / sched_slice % 4, first;

	if (klass->masks == FREE)
		return all;
	if (klass->masks == GROUPS) {
		first = (unsigned int)align_down(sim_random(nr_cpus), size);
		return BITS(first + size - 1, first) & all;
	}
	while (!mask)
		mask = sim_random(all + 1);
	return mask;
}

/* Runs a little, sleeps a lot; a quarter of them the other way round. */
static void make_sleeper(struct script *s)
{
	uint64_t grain = sched_slice / 8;

	s->burst_min = 1 + sim_random(grain / 2);
	s->burst_max = s->burst_min + sim_random(grain / 2);
	s->sleep_min = 1 + sim_random(sched_slice);
	s->sleep_max = s->sleep_min + sim_random(20 * sched_slice);
	if (!strcmp(klass->name, "wake") || sim_random(4))
		return;
	s->burst_max *= 20;
	s->sleep_max = s->sleep_min + sim_random(sched_slice);
}

static void add_fair(void)
{
	struct sched_params p = { .weight = random_weight(),
				  .affinity = random_mask() };
	struct script s = { 0 };

	if (klass->sleepers && sim_random(2))
		make_sleeper(&s);
	if (klass->sleepers && !sim_random(8))
		s.yield_every = 1 + sim_random(sched_slice);
	if (klass->changes) {
		s.start = sim_random(m.end / 2);
		s.end = sim_random(2) ? s.start + sim_random(m.end) : 0;
	}
	if (!sim_add(&p, &s))
		sim_fail("vCPU is refused");
	total_weight += p.weight;
}

static void add_rt(void)
{
	struct sched_params p = { .weight = SCHED_WEIGHT_DEFAULT,
				  .affinity = random_mask() };
	struct script s = { 0 };

	p.rt_period = sched_slice / 2 + sim_random(20 * sched_slice);
	p.rt_budget = p.rt_period / 50 + sim_random(p.rt_period / 2);
	if (sim_random(2))
		make_sleeper(&s);
	/* What does not fit is refused, which is right too. */
	sim_add(&p, &s);
}

/*
 * Sleepers of this class are never ahead: each uses less than half of the
 * least that its weight is worth.
 */
static void calm(void)
{
	for (unsigned int i = 0; i < m.nr; i++) {
		struct script *s = &m.v[i].script;
		double w = m.v[i].v.se.par.weight;

		if (!s->burst_max)
			continue;
		s->sleep_min = s->burst_max +
			       (uint64_t)(2 * (double)s->burst_max *
					  total_weight / w);
		s->sleep_max = 2 * s->sleep_min;
	}
}

static void set_up_fluid(void)
{
	memset(&fluid, 0, sizeof(fluid));
	fluid.nr = m.nr;
	fluid.nr_cpus = nr_cpus;
	fluid.stale = true;
	for (unsigned int c = 0; c < nr_cpus; c++)
		fluid.capacity[c] = 1;
	for (unsigned int i = 0; i < m.nr; i++) {
		fluid.v[i].weight = m.v[i].v.se.par.weight;
		fluid.v[i].mask = (uint32_t)m.v[i].v.se.par.affinity;
	}
}

static void scenario(uint64_t seed)
{
	static const uint64_t slices[] = { 1000, 6000, 62500 };
	unsigned int nr;

	snprintf(sim_what, sizeof(sim_what), "%s %llu", klass->name,
		 (unsigned long long)seed);
	sim_reset(seed, 1 + (unsigned int)(seed % SIM_PCPUS),
		  slices[seed / SIM_PCPUS % 3]);
	m.kick_latency = KICK;
	m.end = sched_slice * (50 + sim_random(200));
	nr = 1 + (unsigned int)sim_random(sim_random(2) ? SIM_VCPUS - 16 : 8);
	total_weight = 0;
	waited = 0;
	wakes = 0;
	if (klass->rt)
		for (unsigned int i = 0; i < 1 + 2 * nr_cpus; i++)
			add_rt();
	for (unsigned int i = 0; i < nr && m.nr < SIM_VCPUS; i++)
		add_fair();
	if (!strcmp(klass->name, "wake"))
		calm();
	if (klass->changes) {
		m.affinity_every = 1 + sim_random(5 * sched_slice);
		m.affinity_at = m.affinity_every;
		m.affinity_mask = BITS(nr_cpus - 1, 0);
	}
	memset(burst_min, 0, sizeof(burst_min));
	least_left = 1;
	for (unsigned int c = 0; c < nr_cpus; c++)
		least_left = fmin(least_left,
				  1 - (double)cpus[c]->rq.rt_util /
						  RT_UTIL_ONE);
	set_up_fluid();
	sim_run();
	check_accounting();
	check_mean_wake();
	worst.scenarios++;
	worst.switches += m.switches;
	track(&worst.migrations, (double)m.migrations * (double)sched_slice /
					 ((double)m.end * nr_cpus));
}

static const struct klass *find_class(const char *name)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(classes); i++)
		if (!strcmp(classes[i].name, name))
			return &classes[i];
	fprintf(stderr, "no class %s\n", name);
	exit(2);
}

int main(int argc, char **argv)
{
	uint64_t first, count;

	if (argc != 4) {
		fprintf(stderr, "usage: sim CLASS FIRST COUNT\n");
		return 2;
	}
	klass = find_class(argv[1]);
	first = strtoull(argv[2], NULL, 0);
	count = strtoull(argv[3], NULL, 0);
	for (uint64_t i = 0; i < count; i++)
		scenario(first + i);
	printf("%s: %llu scenarios, %llu switches; lag %.2f slices, wait %.2f "
	       "and wake-up %.2f of the bound (mean %.2f of the usual, %llu), "
	       "%.2f migrations per slice and pCPU\n", klass->name,
	       (unsigned long long)worst.scenarios,
	       (unsigned long long)worst.switches, worst.lag, worst.starve,
	       worst.wake, worst.mean_wake, (unsigned long long)worst.wakes,
	       worst.migrations);
	return 0;
}
