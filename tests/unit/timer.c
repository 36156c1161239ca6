// SPDX-License-Identifier: BSD-2-Clause
/*
 * The timer queue against a plain array, in random order of arming, moving,
 * cancelling and running; and what a timer may do while it fires.
 */
// objs: core/timer.c

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "timer.h"

#define N	64

static struct timer_queue queue;
static struct timer timers[N];
static uint64_t expect[N];	/* deadline; TIMER_NEVER: not armed */
static uint64_t now, last_fired;
static unsigned int fired;
static uint64_t state = 88172645463325252u;

static uint64_t rnd(uint64_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % n;
}

/* Everything due fires, in order, and nothing else. */
static void fire(struct timer *t)
{
	unsigned int i = (unsigned int)(t - timers);

	assert_true(expect[i] <= now);
	assert_true(expect[i] >= last_fired);
	assert_false(t->armed);
	last_fired = expect[i];
	expect[i] = TIMER_NEVER;
	fired++;
	/* Some come back; in the past means as soon as this run is over. */
	if (!rnd(4)) {
		bool past = rnd(2);

		expect[i] = now + 1 + (past ? 0 : rnd(100));
		timer_set(&queue, t, past ? now - rnd(now + 1) : expect[i]);
	}
}

static uint64_t earliest(void)
{
	uint64_t least = TIMER_NEVER;

	for (unsigned int i = 0; i < N; i++)
		if (expect[i] < least)
			least = expect[i];
	return least;
}

static int set_up(void **ctx)
{
	(void)ctx;
	queue = (struct timer_queue){ 0 };
	now = 1000;
	for (unsigned int i = 0; i < N; i++) {
		timer_init(&timers[i], fire);
		expect[i] = TIMER_NEVER;
	}
	return 0;
}

static void test_random(void **ctx)
{
	(void)ctx;
	for (unsigned int step = 0; step < 200000; step++) {
		unsigned int i = (unsigned int)rnd(N);

		switch (rnd(4)) {
		case 0:
		case 1:
			expect[i] = now + 1 + rnd(1000);
			timer_set(&queue, &timers[i], expect[i]);
			break;
		case 2:
			expect[i] = TIMER_NEVER;
			timer_cancel(&queue, &timers[i]);
			assert_false(timers[i].armed);
			break;
		default:
			now += rnd(200);
			last_fired = 0;
			timer_run(&queue, now);
			break;
		}
		assert_int_equal(timer_next(&queue), earliest());
	}
	assert_true(fired > 10000);
}

static unsigned int again;

static void rearm_past(struct timer *t)
{
	again++;
	timer_set(&queue, t, 1);
}

/* One that arms itself for the past must not keep the CPU for ever. */
static void test_fires_once_a_run(void **ctx)
{
	struct timer t;

	(void)ctx;
	timer_init(&t, rearm_past);
	timer_set(&queue, &t, 10);
	timer_run(&queue, 20);
	assert_int_equal(again, 1);
	assert_int_equal(timer_next(&queue), 21);
	timer_run(&queue, 21);
	assert_int_equal(again, 2);
	timer_cancel(&queue, &t);
	assert_true(timer_next(&queue) == TIMER_NEVER);
}

/* A deadline that does not come: armed, and never fires. */
static void test_never(void **ctx)
{
	(void)ctx;
	timer_set(&queue, &timers[0], TIMER_NEVER);
	expect[0] = TIMER_NEVER;
	timer_run(&queue, UINT64_MAX - 1);
	assert_true(timer_next(&queue) == TIMER_NEVER);
	timer_cancel(&queue, &timers[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_random, set_up),
		cmocka_unit_test_setup(test_fires_once_a_run, set_up),
		cmocka_unit_test_setup(test_never, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
