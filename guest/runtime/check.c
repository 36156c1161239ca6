// SPDX-License-Identifier: BSD-2-Clause
/*
 * Result lines and their count. The lock covers both and keeps lines whole; it
 * is also what makes newlib's stdio safe on several vCPUs.
 */
#include <stdarg.h>
#include <stdio.h>
#include "check.h"
#include "smp.h"

static struct spinlock lock;
static unsigned passed, failed;

/*
 * Prints "ok NAME" or "FAIL NAME" without the end of the line; takes the lock.
 */
static void line_begin(bool held, const char *format, va_list args)
{
	spin_lock(&lock);
	if (held)
		passed++;
	else
		failed++;
	fputs(held ? "ok " : "FAIL ", stdout);
	vprintf(format, args);
}

static void line_end(void)
{
	putchar('\n');
	fflush(stdout);
	spin_unlock(&lock);
}

bool check_true(bool held, const char *what, const char *name, ...)
{
	va_list args;

	va_start(args, name);
	line_begin(held, name, args);
	va_end(args);
	if (!held)
		printf(" got=false want=%s", what);
	line_end();
	return held;
}

bool check_equal(uint64_t got, uint64_t want, const char *name, ...)
{
	va_list args;

	va_start(args, name);
	line_begin(got == want, name, args);
	va_end(args);
	if (got != want)
		printf(" got=%#llx want=%#llx", (unsigned long long)got,
		       (unsigned long long)want);
	line_end();
	return got == want;
}

bool check_between(uint64_t got, uint64_t low, uint64_t high, const char *name,
		   ...)
{
	bool held = got >= low && got <= high;
	va_list args;

	va_start(args, name);
	line_begin(held, name, args);
	va_end(args);
	if (!held)
		printf(" got=%llu want=%llu..%llu", (unsigned long long)got,
		       (unsigned long long)low, (unsigned long long)high);
	line_end();
	return held;
}

void skip(const char *name, const char *reason)
{
	say("skip %s %s", name, reason);
}

void say(const char *format, ...)
{
	va_list args;

	spin_lock(&lock);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	line_end();
}

unsigned failures(void)
{
	return failed;
}

int report(void)
{
	say("%u passed, %u failed", passed, failed);
	return failed == 0 && passed > 0 ? 0 : 1;
}
