/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages, assertions and panic. Hypervisor lines begin with "nestling: ";
 * users and scripts rely on that. print.c formats, console.c outputs.
 */
#ifndef CORE_PRINT_H
#define CORE_PRINT_H

#include <stdarg.h>
#include <stddef.h>

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* Messages above this level are dropped; boot option log=. */
extern enum log_level log_level;

/*
 * Formats into @buf of @size bytes, always terminated (size > 0). Knows
 * %c %s %.*s %d %u %x %p %% with l, ll and z, width, '-' and '0' flags.
 * Returns the length the whole text would have.
 */
int kvsnprintf(char *buf, size_t size, const char *fmt, va_list ap);
[[gnu::format(printf, 3, 4)]]
int ksnprintf(char *buf, size_t size, const char *fmt, ...);

/*
 * One hypervisor line on the host console, "nestling: " in front and a line
 * end behind it. Any CPU, any lock held but the console's.
 */
[[gnu::format(printf, 2, 3)]]
void log_line(enum log_level level, const char *fmt, ...);

#define log_error(...)	log_line(LOG_ERROR, __VA_ARGS__)
#define log_warn(...)	log_line(LOG_WARN, __VA_ARGS__)
#define log_info(...)	log_line(LOG_INFO, __VA_ARGS__)
#define log_debug(...)	log_line(LOG_DEBUG, __VA_ARGS__)

#define STATUS_USER	2	/* of the machine after a user's mistake */

/*
 * A user's mistake found at boot (manifest, option, unfit machine): prints the
 * one line and ends the machine with status 2.
 */
[[noreturn, gnu::format(printf, 1, 2)]]
void config_error(const char *fmt, ...);

/*
 * Our own bug: prints the reason and a dump of this CPU, stops the other CPUs
 * and ends the machine with status 121. Safe from any context, also twice.
 */
[[noreturn, gnu::format(printf, 1, 2)]]
void panic(const char *fmt, ...);

/* Invariants of our own; never a condition that a guest or user can cause. */
#define ASSERT(c)							\
	do {								\
		if (__builtin_expect(!(c), 0))				\
			panic("%s:%d: assertion failed: %s",		\
			      __FILE__, __LINE__, #c);			\
	} while (0)

#endif
