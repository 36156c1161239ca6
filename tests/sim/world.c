// SPDX-License-Identifier: BSD-2-Clause
/*
 * Event loop of the simulated machine, and the part of the hypervisor that the
 * scheduler needs around it: states, requests, posts, the clock.
 */
#include "world.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch.h"
#include "print.h"

struct machine m;
char sim_what[256];
_Thread_local struct cpu *sim_this_cpu;
unsigned int nr_cpus;
struct cpu *cpus[MAX_PCPUS];

/* ---- what the scheduler calls ------------------------------------------ */

void sim_fail(const char *fmt, ...)
{
	va_list ap;

	printf("FAIL %s at %llu: ", sim_what, (unsigned long long)m.now);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	exit(1);
}

void panic(const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	sim_fail("panic: %s", text);
}

void sim_relax(void)
{
	sim_fail("deadlock");
}

uint64_t arch_time(void)
{
	return m.now;
}

void cpu_post(struct cpu *c, uint32_t work)
{
	uint64_t at = m.now + (c == sim_this_cpu ? 0 : m.kick_latency);

	c->work |= work;
	if (at < m.post_at[c->id])
		m.post_at[c->id] = at;
}

void vcpu_set_state(struct vcpu *v, enum vcpu_state to)
{
	static const uint8_t edges[VCPU_STATES] = {
		[VCPU_OFF] = BIT(VCPU_READY),
		[VCPU_READY] = BIT(VCPU_RUNNING) | BIT(VCPU_OFF) |
			       BIT(VCPU_STOPPED),
		[VCPU_RUNNING] = BIT(VCPU_READY) | BIT(VCPU_BLOCKED) |
				 BIT(VCPU_OFF) | BIT(VCPU_STOPPED),
		[VCPU_BLOCKED] = BIT(VCPU_READY) | BIT(VCPU_OFF) |
				 BIT(VCPU_STOPPED),
		[VCPU_STOPPED] = BIT(VCPU_READY) | BIT(VCPU_OFF),
	};

	if (!spin_held(&cpus[v->se.cpu]->rq.lock))
		sim_fail("state of vCPU %u changed without its lock", v->id);
	if (!(edges[v->state] & BIT(to)))
		sim_fail("vCPU %u: state %d -> %d", v->id, v->state, to);
	v->state = to;
}

bool vcpu_has_work(struct vcpu *v)
{
	return v->req != 0;
}

void vcpu_request(struct vcpu *v, uint32_t bits)
{
	v->req |= bits;
	if (v->state == VCPU_RUNNING)
		cpu_post(cpus[v->se.cpu], CPU_RESCHED);
}

/* ---- scripts ----------------------------------------------------------- */

uint64_t sim_random(uint64_t n)
{
	m.rng ^= m.rng << 13;
	m.rng ^= m.rng >> 7;
	m.rng ^= m.rng << 17;
	return m.rng % n;
}

uint64_t sim_between(uint64_t a, uint64_t b)
{
	return a + sim_random(b - a + 1);
}

static void tell(int kind, struct sim_vcpu *s, unsigned int cpu, uint64_t work)
{
	struct sim_event e = { kind, s, cpu, work };

	on_event(&e);
}

static bool endless(const struct sim_vcpu *s)
{
	return !s->script.burst_max;
}

static void new_burst(struct sim_vcpu *s)
{
	s->left = endless(s) ? UINT64_MAX :
			       sim_between(s->script.burst_min,
					   s->script.burst_max);
	s->to_yield = s->script.yield_every;
}

/* Brings what is left of the burst of a running vCPU up to date. */
static void update(struct sim_vcpu *s)
{
	uint64_t dt = sched_times(&s->v).run - s->run_seen;

	s->run_seen += dt;
	if (!endless(s))
		s->left -= min_u64(dt, s->left);
	if (s->script.yield_every)
		s->to_yield -= min_u64(dt, s->to_yield);
}

/* Some CPU handles the event that wakes @s. */
static void wake(struct sim_vcpu *s, bool first)
{
	sim_this_cpu = cpus[sim_random(nr_cpus)];
	s->wake_at = UINT64_MAX;
	new_burst(s);
	tell(first ? EV_START : EV_WAKE, s, 0, s->left);
	s->woken_at = m.now;
	s->waits_for_first = true;
	if (first)
		sched_start(&s->v);
	else
		sched_wake(&s->v);
}

/* Leaves the current vCPU of @c if its script or the scheduler says so. */
static void leave(struct cpu *c, uint32_t work)
{
	struct sim_vcpu *s = container_of(c->curr, struct sim_vcpu, v);

	update(s);
	if (s->script.end && m.now >= s->script.end) {
		s->dead = true;
		sched_off(&s->v, VCPU_OFF);
	} else if (s->v.req & VCPU_REQ_MOVE) {
		s->v.req = 0;
		sched_preempt(&s->v, false);
	} else if (!s->left) {
		s->wake_at = m.now + sim_between(s->script.sleep_min,
						 s->script.sleep_max);
		sched_block(&s->v);
	} else if (s->script.yield_every && !s->to_yield) {
		s->to_yield = s->script.yield_every;
		sched_preempt(&s->v, true);
	} else if ((work & CPU_RESCHED) && sched_must_leave(&s->v)) {
		sched_preempt(&s->v, false);
	} else {
		return;
	}
	if (c->curr)
		sim_fail("CPU %u still has a current vCPU", c->id);
	tell(s->dead ? EV_END : EV_LEAVE, s, c->id, 0);
}

static void begin(struct cpu *c, struct vcpu *v)
{
	struct sim_vcpu *s = container_of(v, struct sim_vcpu, v);

	if (v->state != VCPU_RUNNING || c->curr != v || v->se.cpu != c->id)
		sim_fail("CPU %u got vCPU %u, which is not its own", c->id,
			 v->id);
	if (!(v->se.par.affinity & BIT(c->id)) && !(v->req & VCPU_REQ_MOVE))
		sim_fail("vCPU %u runs on CPU %u against its affinity", v->id,
			 c->id);
	m.switches++;
	if (m.last_cpu[v->id] != c->id)
		m.migrations++;
	m.last_cpu[v->id] = c->id;
	tell(EV_RUN, s, c->id, 0);
	s->waits_for_first = false;
}

/* One pass of the run loop of @c. */
static void turn(struct cpu *c)
{
	uint32_t work;
	struct vcpu *v;

	sim_this_cpu = c;
	timer_run(&c->timers, m.now);
	work = c->work;
	c->work = 0;
	m.post_at[c->id] = UINT64_MAX;
	if (c->curr)
		leave(c, work);
	if (c->curr)
		return;
	v = sched_pick();
	if (v)
		begin(c, v);
}

/* ---- time -------------------------------------------------------------- */

/* When the current vCPU of @c does something by itself. */
static uint64_t next_of_script(const struct cpu *c)
{
	const struct sim_vcpu *s;
	uint64_t t, ran;

	if (!c->curr)
		return UINT64_MAX;
	s = container_of(c->curr, const struct sim_vcpu, v);
	ran = s->v.se.run + (m.now - s->v.se.since) - s->run_seen;
	t = endless(s) ? UINT64_MAX : m.now + s->left - min_u64(ran, s->left);
	if (s->script.yield_every)
		t = min_u64(t, m.now + s->to_yield - min_u64(ran, s->to_yield));
	if (s->script.end)
		t = min_u64(t, max_u64(s->script.end, m.now));
	return t;
}

static uint64_t next_of_cpu(const struct cpu *c)
{
	uint64_t t = min_u64(m.post_at[c->id], timer_next(&c->timers));

	return min_u64(t, next_of_script(c));
}

static uint64_t next_time(void)
{
	uint64_t t = m.affinity_every ? m.affinity_at : UINT64_MAX;

	for (unsigned int i = 0; i < nr_cpus; i++)
		t = min_u64(t, next_of_cpu(cpus[i]));
	for (unsigned int i = 0; i < m.nr; i++)
		t = min_u64(t, m.v[i].wake_at);
	return t;
}

static void change_affinity(void)
{
	struct sim_vcpu *s = &m.v[sim_random(m.nr)];
	uint64_t mask;

	m.affinity_at = m.now + 1 + sim_random(2 * m.affinity_every);
	if (s->dead)
		return;
	do
		mask = sim_random(BIT(nr_cpus)) & m.affinity_mask;
	while (!mask);
	sim_this_cpu = cpus[sim_random(nr_cpus)];
	if (sched_set_affinity(&s->v, mask))
		return;
	tell(EV_AFFINITY, s, 0, mask);
}

static void step(void)
{
	unsigned int first = (unsigned int)sim_random(nr_cpus);

	if (m.affinity_every && m.affinity_at <= m.now)
		change_affinity();
	for (unsigned int i = 0; i < m.nr; i++)
		if (m.v[i].wake_at <= m.now)
			wake(&m.v[i], m.v[i].v.state == VCPU_OFF);
	/* No CPU is always the first one when several have work at once. */
	for (unsigned int i = 0; i < nr_cpus; i++) {
		struct cpu *c = cpus[(first + i) % nr_cpus];

		if (next_of_cpu(c) <= m.now)
			turn(c);
	}
}

void sim_run(void)
{
	for (unsigned int same = 0; m.now < m.end; same++) {
		uint64_t t = next_time();

		if (t > m.now) {
			on_step();
			same = 0;
			if (t >= m.end)
				break;
			m.now = t;
		}
		if (same > 10000)
			sim_fail("time stands still");
		step();
	}
	m.now = m.end;
	on_step();
}

/* ---- set-up ------------------------------------------------------------ */

void sim_reset(uint64_t seed, unsigned int pcpus, uint64_t slice)
{
	memset(&m, 0, sizeof(m));
	m.rng = seed * 0x9e3779b97f4a7c15u + 0x1234567;
	for (int i = 0; i < 8; i++)
		sim_random(2);
	nr_cpus = pcpus;
	sched_init(slice);
	for (unsigned int i = 0; i < pcpus; i++) {
		cpus[i] = &m.cpu[i];
		m.cpu[i].id = i;
		m.cpu[i].arch.id = i;
		m.cpu[i].online = true;
		m.post_at[i] = 0;
		sim_this_cpu = cpus[i];
		sched_cpu_init(cpus[i]);
	}
	sim_this_cpu = cpus[0];
}

struct sim_vcpu *sim_add(const struct sched_params *p, const struct script *s)
{
	struct sim_vcpu *sv = &m.v[m.nr];

	sv->v.id = m.nr;
	sv->script = *s;
	sv->wake_at = s->start;
	if (sched_vcpu_init(&sv->v, p))
		return NULL;
	m.last_cpu[m.nr] = sv->v.se.cpu;
	m.nr++;
	return sv;
}
