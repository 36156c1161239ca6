// SPDX-License-Identifier: BSD-2-Clause
/*
 * Results of a guest test: one line for each check, "ok NAME", "FAIL NAME ..."
 * or "skip NAME REASON", and a closing count from report(). Any vCPU may
 * check; lines and counters are under the result lock. Not from interrupt
 * handlers: a handler leaves a value for its vCPU to check.
 */
#ifndef GUEST_CHECK_H
#define GUEST_CHECK_H

#include <stdint.h>

/*
 * A check that prints its line. NAME is a printf format with its arguments.
 * Yields whether it held.
 */
#define CHECK(cond, ...) check_true((cond), #cond, __VA_ARGS__)

/* The same for two integers; the line of a failure shows both in hex. */
#define CHECK_EQ(got, want, ...)                                               \
	check_equal((uint64_t)(got), (uint64_t)(want), __VA_ARGS__)

/* low <= got <= high. */
#define CHECK_IN(got, low, high, ...)                                          \
	check_between((uint64_t)(got), (uint64_t)(low), (uint64_t)(high),      \
		      __VA_ARGS__)

bool check_true(bool held, const char *what, const char *name, ...)
	__attribute__((format(printf, 3, 4)));
bool check_equal(uint64_t got, uint64_t want, const char *name, ...)
	__attribute__((format(printf, 3, 4)));
bool check_between(uint64_t got, uint64_t low, uint64_t high, const char *name,
		   ...) __attribute__((format(printf, 4, 5)));

/* Something that cannot be tested on this machine, and why. */
void skip(const char *name, const char *reason);

/* A line of its own, whole even when several vCPUs print. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Failures so far. */
unsigned failures(void);

/* Prints "N passed, N failed"; 0 when nothing failed and something passed. */
int report(void);

#endif
