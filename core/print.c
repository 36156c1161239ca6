// SPDX-License-Identifier: BSD-2-Clause
/*
 * Formatting, hypervisor messages, user errors and panic. Text is formatted
 * into a buffer on the stack and handed to console.c as one line, so nothing
 * here takes a lock. panic() is entered by one CPU only; others that get there
 * wait for the end of the machine.
 */
#include "print.h"

#include <string.h>

#include "arch.h"
#include "console.h"
#include "cpu.h"
#include "types.h"

#define LINE_SIZE	256
#define STATUS_PANIC	121	/* our own bug */

enum log_level log_level = LOG_INFO;

struct out {
	char *buf;
	size_t size;
	size_t len;		/* of the whole text, also beyond size */
};

struct spec {
	bool left, zero;
	int width;
	int precision;		/* -1: none */
	unsigned int bits;	/* of an integer argument: 32 or 64 */
};

static void put(struct out *o, char c)
{
	if (o->len + 1 < o->size)
		o->buf[o->len] = c;
	o->len++;
}

static void pad(struct out *o, char c, int n)
{
	for (; n > 0; n--)
		put(o, c);
}

static void put_text(struct out *o, const struct spec *s, const char *text,
		     size_t len)
{
	int fill = s->width - (int)len;

	if (!s->left)
		pad(o, ' ', fill);
	for (size_t i = 0; i < len; i++)
		put(o, text[i]);
	if (s->left)
		pad(o, ' ', fill);
}

static void put_string(struct out *o, const struct spec *s, const char *text)
{
	if (!text)
		text = "(null)";
	put_text(o, s, text, s->precision < 0 ? strlen(text) :
		 strnlen(text, (size_t)s->precision));
}

/* @prefix: sign or 0x, in front of padding zeros but behind spaces. */
static void put_number(struct out *o, const struct spec *s, uint64_t v,
		       unsigned int base, const char *prefix)
{
	char digits[20];
	unsigned int n = 0;
	int fill;

	do {
		digits[n++] = "0123456789abcdef"[v % base];
		v /= base;
	} while (v);
	fill = s->width - (int)n - (int)strlen(prefix);
	if (!s->left && !s->zero)
		pad(o, ' ', fill);
	for (; *prefix; prefix++)
		put(o, *prefix);
	if (!s->left && s->zero)
		pad(o, '0', fill);
	while (n)
		put(o, digits[--n]);
	if (s->left)
		pad(o, ' ', fill);
}

static int parse_number(const char **fmt)
{
	int n = 0;

	for (; **fmt >= '0' && **fmt <= '9'; (*fmt)++)
		n = n * 10 + (**fmt - '0');
	return n;
}

/* What follows a '%' up to the conversion letter; a '*' is only a precision. */
static struct spec parse_spec(const char **fmt, int star)
{
	struct spec s = { .precision = -1, .bits = 32 };

	for (;; (*fmt)++) {
		if (**fmt == '-')
			s.left = true;
		else if (**fmt == '0')
			s.zero = true;
		else
			break;
	}
	s.width = parse_number(fmt);
	if (**fmt == '.') {
		(*fmt)++;
		s.precision = **fmt == '*' ? star : parse_number(fmt);
		*fmt += **fmt == '*';
	}
	for (; **fmt == 'l' || **fmt == 'z'; (*fmt)++)
		s.bits = 64;
	return s;
}

/* Is the next precision, from just behind a '%', an argument? */
static bool wants_star(const char *fmt)
{
	while (*fmt == '-' || (*fmt >= '0' && *fmt <= '9'))
		fmt++;
	return fmt[0] == '.' && fmt[1] == '*';
}

static void put_signed(struct out *o, const struct spec *s, int64_t v)
{
	put_number(o, s, v < 0 ? -(uint64_t)v : (uint64_t)v, 10,
		   v < 0 ? "-" : "");
}

int kvsnprintf(char *buf, size_t size, const char *fmt, va_list ap)
{
	struct out o = { buf, size, 0 };

	for (; *fmt; fmt++) {
		struct spec s;
		char c;

		if (*fmt != '%') {
			put(&o, *fmt);
			continue;
		}
		fmt++;
		s = parse_spec(&fmt, wants_star(fmt) ? va_arg(ap, int) : -1);
		switch (*fmt) {
		case 'c':
			c = (char)va_arg(ap, int);
			put_text(&o, &s, &c, 1);
			break;
		case 's':
			put_string(&o, &s, va_arg(ap, const char *));
			break;
		case 'd':
			put_signed(&o, &s, s.bits == 64 ? va_arg(ap, int64_t) :
				   va_arg(ap, int));
			break;
		case 'u':
		case 'x':
			put_number(&o, &s, s.bits == 64 ?
				   va_arg(ap, uint64_t) :
				   va_arg(ap, unsigned int),
				   *fmt == 'u' ? 10 : 16, "");
			break;
		case 'p':
			put_number(&o, &s, (uintptr_t)va_arg(ap, void *), 16,
				   "0x");
			break;
		case '%':
			put(&o, '%');
			break;
		default:	/* unknown: shown as it is */
			put(&o, '%');
			fmt--;
			break;
		}
	}
	if (size)
		buf[o.len < size ? o.len : size - 1] = 0;
	return (int)o.len;
}

int ksnprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = kvsnprintf(buf, size, fmt, ap);
	va_end(ap);
	return len;
}

/* "nestling: ", a level or nothing, and the text; cut with "..." if long. */
static void line(const char *level, const char *fmt, va_list ap)
{
	char text[LINE_SIZE];
	int len = ksnprintf(text, sizeof(text), "nestling: %s", level);

	len += kvsnprintf(text + len, sizeof(text) - (size_t)len, fmt, ap);
	if (len >= LINE_SIZE)
		memcpy(text + LINE_SIZE - 4, "...", 4);
	console_line(text);
}

void log_line(enum log_level level, const char *fmt, ...)
{
	static const char *const words[] = {
		[LOG_ERROR] = "",
		[LOG_WARN] = "warning: ",
		[LOG_INFO] = "",
		[LOG_DEBUG] = "debug: ",
	};
	va_list ap;

	if (level > log_level)
		return;
	va_start(ap, fmt);
	line(words[level], fmt, ap);
	va_end(ap);
}

static void status(int n)
{
	char text[32];

	ksnprintf(text, sizeof(text), "nestling status %d", n);
	console_status(text);
}

void config_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	line("", fmt, ap);
	va_end(ap);
	status(STATUS_USER);
	arch_poweroff(STATUS_USER);
}

static void halt_others(void)
{
	for (unsigned int i = 0; i < MAX_PCPUS; i++)
		if (cpus[i] && cpus[i] != this_cpu())
			cpu_post(cpus[i], CPU_HALT);
}

/*
 * How deep this CPU is in panic(): 1 the first time, more when a panic made
 * another one. Another CPU than the first never returns.
 */
static unsigned int panic_depth(void)
{
	static uint32_t owner;		/* [a] id + 1 of the first CPU */
	static unsigned int depth;	/* only the owner */
	uint32_t none = 0;

	if (!__atomic_compare_exchange_n(&owner, &none, arch_cpu_id() + 1,
					 false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE)) {
		while (none != arch_cpu_id() + 1)
			arch_relax();
	}
	return ++depth;
}

void panic(const char *fmt, ...)
{
	unsigned int depth = panic_depth();
	va_list ap;

	console_break_lock();
	if (depth <= 2) {
		va_start(ap, fmt);
		line("panic: ", fmt, ap);
		va_end(ap);
	}
	if (depth == 1) {
		halt_others();
		arch_panic_dump();
	}
	if (depth <= 3)
		status(STATUS_PANIC);
	arch_poweroff(STATUS_PANIC);
}
