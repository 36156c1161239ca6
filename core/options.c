// SPDX-License-Identifier: BSD-2-Clause
/*
 * Boot options: one const table of keys and what may follow them. Written only
 * by the boot CPU, before other CPUs run.
 */
#include "options.h"

#include "host.h"

#include <string.h>

#include "fp.h"
#include "print.h"

#define DECIMAL		10
#define HEX		16

struct options options = { .slice_us = 5000, .walk = true };

bool host_walks_tables(void)
{
	return options.walk;
}

/* A value that is a word of a fixed list; its index is stored. */
static const char *const log_words[] = {
	[LOG_ERROR] = "error",
	[LOG_WARN] = "warn",
	[LOG_INFO] = "info",
	[LOG_DEBUG] = "debug",
	NULL,
};


static void set_log(uint64_t v)
{
	log_level = (enum log_level)v;
}

static void set_fp(uint64_t v)
{
	fp_policy = (enum fp_policy)v;
}

static void set_fpwidth(uint64_t v)
{
	fp_width = (enum fp_width)v;
}

static void set_slice(uint64_t v)
{
	options.slice_us = v;
}

static const char *const crash_words[] = {
	[CRASH_NONE] = "no", [CRASH_ASSERT] = "assert",
	[CRASH_FAULT] = "fault", [CRASH_STACK] = "stack", NULL
};

static const char *const console_words[] = { "keys", "lines", NULL };

static void set_console(uint64_t v)
{
	options.lines = v;
}

static const char *const switch_words[] = { "off", "on", NULL };

static void set_walk(uint64_t v)
{
	options.walk = v;
}

static void set_crash(uint64_t v)
{
	options.crash = v;
}

static void set_seed(uint64_t v)
{
	options.seed = v;
}

/* Either words, or a number min..max. */
struct option {
	const char *key;
	void (*set)(uint64_t v);
	const char *const *words;
	uint64_t min, max;
};

// clang-format off
static const struct option table[] = {
	{ "log",   set_log,   log_words, 0, 0 },
	{ "fp",    set_fp,    fp_policy_words, 0, 0 },
	{ "fpwidth", set_fpwidth, fp_width_words, 0, 0 },
	{ "slice", set_slice, NULL,      100, 100000 },
	{ "console", set_console, console_words, 0, 0 },
	{ "walk",  set_walk,  switch_words, 0, 0 },
	{ "crash", set_crash, crash_words, 0, 0 },
	{ "seed",  set_seed,  NULL,      0, UINT64_MAX },
};
// clang-format on

/* A whole decimal or 0x number; false: it is none or too big. */
static bool parse_number(const char *s, size_t len, uint64_t *out)
{
	unsigned int base = DECIMAL;
	uint64_t v = 0;

	if (len > 2 && s[0] == '0' && s[1] == 'x') {
		base = HEX;
		s += 2;
		len -= 2;
	}
	if (!len)
		return false;
	for (; len; s++, len--) {
		const char *digits = "0123456789abcdef";
		const char *d = *s ? strchr(digits, *s) : NULL;

		if (!d || d - digits >= base ||
		    __builtin_mul_overflow(v, base, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(d - digits), &v))
			return false;
	}
	*out = v;
	return true;
}

static bool same(const char *word, const char *s, size_t len)
{
	return strlen(word) == len && !memcmp(word, s, len);
}

static void bad_word(const struct option *o, const char *value, size_t len)
{
	char list[64] = "";
	int n = 0;

	for (unsigned int i = 0; o->words[i]; i++)
		n += ksnprintf(list + n, sizeof(list) - (size_t)n, "%s%s",
			       i ? ", " : "", o->words[i]);
	config_error("option %s=%.*s: must be one of: %s", o->key, (int)len,
		     value, list);
}

static void parse_value(const struct option *o, const char *value, size_t len)
{
	uint64_t v;

	if (!o->words) {
		if (!parse_number(value, len, &v) || v < o->min || v > o->max)
			config_error("option %s=%.*s: must be a number "
				     "%lu..%lu",
				     o->key, (int)len, value, o->min, o->max);
		o->set(v);
		return;
	}
	for (v = 0; o->words[v]; v++) {
		if (same(o->words[v], value, len)) {
			o->set(v);
			return;
		}
	}
	bad_word(o, value, len);
}

static void parse_word(const char *word, size_t len)
{
	const char *eq = memchr(word, '=', len);
	size_t key = eq ? (size_t)(eq - word) : len;

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		if (!same(table[i].key, word, key))
			continue;
		if (!eq)
			config_error("option %s: needs a value, %s=...",
				     table[i].key, table[i].key);
		parse_value(&table[i], eq + 1, len - key - 1);
		return;
	}
	config_error("unknown option %.*s", (int)len, word);
}

static bool space(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

void options_parse(const char *bootargs)
{
	const char *s = bootargs;

	while (s && *s) {
		size_t len = 0;

		while (s[len] && !space(s[len]))
			len++;
		if (len)
			parse_word(s, len);
		s += len + (s[len] != 0);
	}
}
