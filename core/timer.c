// SPDX-License-Identifier: BSD-2-Clause
/*
 * Timer queues as pairing heaps. Owns struct timer's links: @child is the
 * first child, @next the right sibling, @prev the left sibling or, for a first
 * child, the parent. The root has neither sibling nor parent. Invariant: no
 * timer is due before its parent. No lock: a queue belongs to its CPU.
 */
#include "timer.h"

/* Makes the later of two detached roots the first child of the other one. */
static struct timer *meld(struct timer *a, struct timer *b)
{
	if (!a)
		return b;
	if (!b)
		return a;
	if (b->deadline < a->deadline) {
		struct timer *t = a;

		a = b;
		b = t;
	}
	b->next = a->child;
	if (b->next)
		b->next->prev = b;
	b->prev = a;
	a->child = b;
	return a;
}

/* Takes the first of a list of siblings off it as a root of its own. */
static struct timer *take(struct timer **list)
{
	struct timer *t = *list;

	if (!t)
		return NULL;
	*list = t->next;
	t->next = NULL;
	t->prev = NULL;
	return t;
}

/* Melds siblings in pairs, then the pairs from last to first. */
static struct timer *meld_list(struct timer *list)
{
	struct timer *pairs = NULL, *root = NULL;

	while (list) {
		struct timer *a = take(&list);
		struct timer *b = take(&list);

		a = meld(a, b);
		a->next = pairs;
		pairs = a;
	}
	while (pairs)
		root = meld(root, take(&pairs));
	return root;
}

static void detach(struct timer_queue *q, struct timer *t)
{
	struct timer *rest = meld_list(t->child);

	t->child = NULL;
	if (t == q->root) {
		q->root = rest;
	} else {
		if (t->prev->child == t)
			t->prev->child = t->next;
		else
			t->prev->next = t->next;
		if (t->next)
			t->next->prev = t->prev;
		q->root = meld(q->root, rest);
	}
	t->next = NULL;
	t->prev = NULL;
	t->armed = false;
}

void timer_init(struct timer *t, void (*fire)(struct timer *t))
{
	*t = (struct timer){ .fire = fire };
}

void timer_set(struct timer_queue *q, struct timer *t, uint64_t deadline)
{
	deadline = max_u64(deadline, q->floor);
	if (t->armed) {
		if (t->deadline == deadline)
			return;
		detach(q, t);
	}
	t->deadline = deadline;
	t->armed = true;
	q->root = meld(q->root, t);
}

void timer_cancel(struct timer_queue *q, struct timer *t)
{
	if (t->armed)
		detach(q, t);
}

void timer_run(struct timer_queue *q, uint64_t now)
{
	/* What is armed for the past from here on waits for the next run: a
	 * timer that keeps arming itself must not keep this CPU here. */
	q->floor = now == TIMER_NEVER ? now : now + 1;
	while (q->root && q->root->deadline <= now &&
	       q->root->deadline != TIMER_NEVER) {
		struct timer *t = q->root;

		detach(q, t);
		t->fire(t);
	}
	q->floor = 0;
}

uint64_t timer_next(const struct timer_queue *q)
{
	return q->root ? q->root->deadline : TIMER_NEVER;
}
