// SPDX-License-Identifier: BSD-2-Clause
// objs: core/runq.c
/*
 * The run queue against plain arrays: order, equal keys, the three kinds of
 * first, what a tree knows of its parts, and the weighted mean of virtual times
 * in exact arithmetic, also where values wrap around.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "runq.h"

enum { N = 24, STEPS = 20000 };

static struct runq rq;
static struct sched_entity e[N];
static uint64_t order[N];	/* when it was inserted, for equal keys */
static bool joined[N];
static uint64_t inserts, base;
static uint64_t state = 88172645463325252u;

static uint64_t rnd(uint64_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % n;
}

static void start(uint64_t from)
{
	memset(&rq, 0, sizeof(rq));
	memset(e, 0, sizeof(e));
	memset(joined, 0, sizeof(joined));
	base = from;
	for (unsigned int i = 0; i < N; i++) {
		e[i].par.weight = (uint32_t)rnd(SCHED_WEIGHT_MAX) + 1;
		e[i].par.affinity = rnd(255) + 1;
		e[i].prio = (uint32_t)rnd(UINT32_MAX);
		e[i].vtime = base + rnd(1000000);
	}
}

/* ---- the slow and obvious way -------------------------------------------- */

static bool before(unsigned int a, unsigned int b)
{
	if (e[a].key != e[b].key)
		return runq_before(e[a].key, e[b].key);
	return order[a] < order[b];
}

static bool any(unsigned int i)
{
	return i < N;
}

static bool eligible(unsigned int i)
{
	return !runq_before(rq.vtime, e[i].vtime);
}

static unsigned int wanted_cpu;

static bool allowed(unsigned int i)
{
	return e[i].par.affinity >> wanted_cpu & 1;
}

/* The first one on tree @on for which @fits, or NULL. */
static struct sched_entity *first(enum runq_tree on,
				  bool (*fits)(unsigned int i))
{
	struct sched_entity *best = NULL;

	for (unsigned int i = 0; i < N; i++)
		if (e[i].on == on && fits(i) &&
		    (!best || before(i, (unsigned int)(best - e))))
			best = &e[i];
	return best;
}

/* Of all that joined: load, and load * mean relative to @base. */
static void check_mean(void)
{
	__int128 sum = 0, load = 0;

	for (unsigned int i = 0; i < N; i++) {
		if (!joined[i])
			continue;
		load += e[i].par.weight;
		sum += (__int128)(int64_t)(e[i].vtime - base) * e[i].par.weight;
	}
	assert_true((__int128)rq.load == load);
	if (!load) {
		assert_int_equal(rq.vrem, 0);
		return;
	}
	assert_true((__int128)(int64_t)(rq.vtime - base) * load + rq.vrem ==
		    sum);
	assert_true(rq.vrem >= 0 && rq.vrem < (int64_t)load);
}

static void check_tree(const struct sched_entity *x, unsigned int *n)
{
	const struct sched_entity *kid[2];

	if (!x)
		return;
	kid[0] = x->left;
	kid[1] = x->right;
	++*n;
	for (unsigned int i = 0; i < 2; i++) {
		if (!kid[i])
			continue;
		assert_ptr_equal(kid[i]->up, x);
		assert_true(kid[i]->prio >= x->prio);
		assert_false(runq_before(kid[i]->min_vtime, x->min_vtime));
		assert_true(kid[i]->max_weight <= x->max_weight);
		assert_int_equal(kid[i]->mask & ~x->mask, 0);
		check_tree(kid[i], n);
	}
}

/* The root's summary is exact, so each part's is: they are built alike. */
static void check_summary(enum runq_tree on)
{
	const struct sched_entity *top = rq.tree[on];
	uint64_t least = 0, mask = 0;
	uint32_t heaviest = 0;
	unsigned int n = 0;

	for (unsigned int i = 0; i < N; i++) {
		if (e[i].on != on)
			continue;
		if (!n++ || runq_before(e[i].vtime, least))
			least = e[i].vtime;
		mask |= e[i].par.affinity;
		if (e[i].par.weight > heaviest)
			heaviest = e[i].par.weight;
	}
	assert_int_equal(rq.nr[on], n);
	assert_int_equal(!top, !n);
	if (!top)
		return;
	assert_int_equal(top->min_vtime, least);
	assert_int_equal(top->mask, mask);
	assert_int_equal(top->max_weight, heaviest);
	assert_null(top->up);
	check_tree(top, &(unsigned int){ 0 });
}

static void check(void)
{
	for (enum runq_tree t = ON_FAIR; t < RUNQ_TREES; t++) {
		assert_ptr_equal(runq_first(&rq, t), first(t, any));
		check_summary(t);
	}
	assert_ptr_equal(runq_first_eligible(&rq), first(ON_FAIR, eligible));
	wanted_cpu = (unsigned int)rnd(9);
	assert_ptr_equal(runq_first_allowed(&rq, wanted_cpu),
			 first(ON_FAIR, allowed));
	check_mean();
}

/* ---- random life --------------------------------------------------------- */

static void step(unsigned int i)
{
	struct sched_entity *x = &e[i];

	if (!joined[i]) {
		x->vtime = base + rnd(1000000);
		runq_join(&rq, x);
		joined[i] = true;
	} else if (x->on != ON_NONE) {
		runq_remove(&rq, x);
		assert_int_equal(x->on, ON_NONE);
	} else if (!rnd(3)) {
		runq_leave(&rq, x);
		joined[i] = false;
	} else if (!rnd(3)) {
		runq_charge(&rq, x, rnd(1000));
	} else {
		order[i] = inserts++;
		/* Few different keys, so that many are equal. */
		runq_insert(&rq, x, (enum runq_tree)(ON_FAIR + rnd(3)),
			    base + rnd(30) * 1000000);
	}
}

static void live(uint64_t from)
{
	start(from);
	for (unsigned int n = 0; n < STEPS; n++) {
		step((unsigned int)rnd(N));
		check();
	}
}

static void random_life(void **)
{
	live(0);
	live(1000000000000);
}

/* Virtual time passes 2^63 and 2^64 meanwhile. */
static void wraps(void **)
{
	live(UINT64_MAX - 5000000);
	live(BIT(63) - 5000000);
}

static void charge_is_bounded(void **)
{
	uint64_t was;

	start(0);
	e[0].par.weight = 1;
	runq_join(&rq, &e[0]);
	was = e[0].vtime;
	runq_charge(&rq, &e[0], UINT64_MAX);
	assert_int_equal(e[0].vtime - was, BIT(44) << SCHED_VSHIFT);
	assert_int_equal(rq.vtime, e[0].vtime);
}

static void service_follows_weight(void **)
{
	start(0);
	for (unsigned int i = 0; i < 3; i++) {
		e[i].vtime = 0;
		e[i].par.weight = 100 << i;
		runq_join(&rq, &e[i]);
		runq_charge(&rq, &e[i], 7000 << i);
	}
	/* Served in proportion: all stand at the same place, and so does the
	 * mean. */
	assert_int_equal(e[0].vtime, e[1].vtime);
	assert_int_equal(e[0].vtime, e[2].vtime);
	assert_int_equal(rq.vtime, e[0].vtime);
	assert_int_equal(runq_ticks(e[2].vtime, 400), 28000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_life),
		cmocka_unit_test(wraps),
		cmocka_unit_test(charge_is_bounded),
		cmocka_unit_test(service_follows_weight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
