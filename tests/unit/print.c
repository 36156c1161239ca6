// SPDX-License-Identifier: BSD-2-Clause
// objs: core/print.c core/console.c core/monitor.c core/monitor_show.c
// objs: core/monitor_fp.c core/fpwords.c
// objs: core/prompt.c core/timer.c
/*
 * Formatting, message levels, user errors and panic.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fake.h"
#include "print.h"

#define CHECK_FORMAT(...)						\
	do {								\
		char own[64], want[64];					\
		int len = ksnprintf(own, sizeof(own), __VA_ARGS__);	\
		assert_int_equal(len, snprintf(want, sizeof(want),	\
					       __VA_ARGS__));		\
		assert_string_equal(own, want);				\
	} while (0)

static void formats(void **)
{
	CHECK_FORMAT("plain %% text");
	CHECK_FORMAT("%c|%3c|%-3c|", 'a', 'b', 'c');
	CHECK_FORMAT("%s|%5s|%-5s|%.2s|%.*s|%6.1s|", "abc", "abc", "abc",
		     "abc", 1, "abc", "xyz");
	CHECK_FORMAT("%d %d %d %d", 0, -1, INT32_MAX, INT32_MIN);
	CHECK_FORMAT("%ld %ld", INT64_MAX, INT64_MIN);
	CHECK_FORMAT("%u %u %lu %llu", 0u, UINT32_MAX, UINT64_MAX, 7ull);
	CHECK_FORMAT("%zu %zx", (size_t)-1, (size_t)-1);
	CHECK_FORMAT("%x %lx %08x %016lx %-8x|", 0u, UINT64_MAX, 0xabcu,
		     0x1234ul, 0x5u);
	CHECK_FORMAT("%5d|%-5d|%05d|%05d|%1d", 42, 42, 42, -42, 12345);
	CHECK_FORMAT("%p", (void *)0x1234);
}

static void truncates(void **)
{
	char buf[8];

	memset(buf, '#', sizeof(buf));
	assert_int_equal(ksnprintf(buf, 4, "%s", "abcdef"), 6);
	assert_string_equal(buf, "abc");
	assert_int_equal(buf[4], '#');
	assert_int_equal(ksnprintf(buf, 1, "x"), 1);
	assert_int_equal(buf[0], 0);
	assert_int_equal(ksnprintf(NULL, 0, "%d", 12345), 5);
}

static void levels(void **)
{
	fake_uart_clear();
	log_level = LOG_WARN;
	log_error("one");
	log_warn("two");
	log_info("three");
	log_level = LOG_DEBUG;
	log_debug("four");
	log_level = LOG_INFO;
	assert_string_equal(fake_uart, "nestling: one\r\n"
				       "nestling: warning: two\r\n"
				       "nestling: debug: four\r\n");
}

/* A long line is cut and says so; control bytes cannot get out. */
static void long_line(void **)
{
	fake_uart_clear();
	log_info("%300s", "x");
	assert_int_equal(fake_uart_len, 255 + 2);
	assert_string_equal(fake_uart + 252, "...\r\n");
	fake_uart_clear();
	log_info("a\x1e\n\x1b\x80z");
	assert_string_equal(fake_uart, "nestling: a????z\r\n");
}

static void user_error(void *arg)
{
	config_error("%s is wrong", (const char *)arg);
}

static void config(void **)
{
	char word[] = "it";

	fake_uart_clear();
	assert_int_equal(fake_run(user_error, word), 2);
	assert_string_equal(fake_uart, "nestling: it is wrong\r\n"
				       "\x1enestling status 2\r\n");
}

static unsigned int dumps;

void arch_panic_dump(void)
{
	dumps++;
	log_error("dump %u", dumps);
	ASSERT(dumps == 2);	/* fails: panics inside the panic */
}

static void bug(void *)
{
	/* The console's lock may be held by the code that panics. */
	panic("bug %d", 7);
}

static void panics(void **)
{
	const char *end = "\x1enestling status 121\r\n";

	fake_cpus_init(3);
	fake_uart_clear();
	assert_int_equal(fake_run(bug, NULL), 121);
	assert_memory_equal(fake_uart, "nestling: panic: bug 7\r\n"
			    "nestling: dump 1\r\nnestling: panic: ", 58);
	assert_non_null(strstr(fake_uart, "assertion failed: dumps == 2"));
	assert_string_equal(fake_uart + fake_uart_len - strlen(end), end);
	assert_int_equal(dumps, 1);
	assert_int_equal(cpus[0]->work, 0);
	assert_int_equal(cpus[1]->work, CPU_HALT);
	assert_int_equal(cpus[2]->work, CPU_HALT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats),
		cmocka_unit_test(truncates),
		cmocka_unit_test(levels),
		cmocka_unit_test(long_line),
		cmocka_unit_test(config),
		cmocka_unit_test(panics),	/* last: no console lock */
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
