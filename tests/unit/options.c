// SPDX-License-Identifier: BSD-2-Clause
// objs: core/options.c core/fpwords.c
/*
 * Boot options: every key, and one clear line for what is not acceptable.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fake.h"
#include "options.h"
#include "print.h"

static void parse(void *arg)
{
	options_parse(arg);
}

static int try(const char *text)
{
	char copy[256];

	strcpy(copy, text);
	fake_uart_clear();
	return fake_run(parse, copy);
}

static void refused(const char *text, const char *message)
{
	char want[256];

	assert_int_equal(try(text), 2);
	strcat(strcpy(want, message), "\n");
	assert_string_equal(fake_uart, want);
}

static void accepts(void **)
{
	options_parse(NULL);
	assert_int_equal(options.slice_us, 5000);
	assert_int_equal(try(""), -1);
	assert_int_equal(try("  slice=100\tseed=0xFfff \n log=debug "), 2);
	assert_int_equal(try("  slice=100\tseed=0xffff \n log=debug "), -1);
	assert_int_equal(options.slice_us, 100);
	assert_int_equal(options.seed, 0xffff);
	assert_int_equal(log_level, LOG_DEBUG);
	assert_int_equal(try("log=error log=warn fp=eager"), -1);
	assert_int_equal(log_level, LOG_WARN);
	assert_int_equal(options.lines, false);
	assert_int_equal(try("console=lines"), -1);
	assert_int_equal(options.lines, true);
	assert_int_equal(fp_policy, FP_EAGER);
	assert_int_equal(try("fp=owner fpwidth=adaptive"), -1);
	assert_int_equal(fp_policy, FP_OWNER);
	assert_int_equal(fp_width, FP_ADAPTIVE);
	assert_int_equal(try("slice=100000 seed=18446744073709551615"), -1);
	assert_int_equal(options.slice_us, 100000);
	assert_int_equal(options.seed, UINT64_MAX);
}

static void refused_number(const char *key, const char *value,
			   const char *range)
{
	char text[100], message[200];

	strcat(strcpy(text, key), value);
	snprintf(message, sizeof(message), "option %s: must be a number %s",
		 text, range);
	refused(text, message);
}

static void refuses(void **)
{
	static const char *const slices[] = { "", "99", "100001", "1000us",
					      "-500", "0x", "1e3" };
	static const char *const seeds[] = { "18446744073709551616", "1a",
					     "0x10000000000000000", "0xg" };

	refused("foo", "unknown option foo");
	refused("log=info console=ttyAMA0",
		"option console=ttyAMA0: must be one of: keys, lines");
	refused("lo=info", "unknown option lo=info");
	refused("logx=info", "unknown option logx=info");
	refused("=", "unknown option =");
	refused("slice", "option slice: needs a value, slice=...");
	for (unsigned int i = 0; i < ARRAY_SIZE(slices); i++)
		refused_number("slice=", slices[i], "100..100000");
	for (unsigned int i = 0; i < ARRAY_SIZE(seeds); i++)
		refused_number("seed=", seeds[i], "0..18446744073709551615");
	refused("log=",
		"option log=: must be one of: error, warn, info, debug");
	refused("log=inf",
		"option log=inf: must be one of: error, warn, info, debug");
	refused("fp=eagerx", "option fp=eagerx: must be one of: eager, lazy, "
			     "owner");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepts),
		cmocka_unit_test(refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
