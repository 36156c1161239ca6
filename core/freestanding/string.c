// SPDX-License-Identifier: BSD-2-Clause
/*
 * Memory and string functions of a build without a C library. They use general
 * registers only, because guest FP state is live while the hypervisor runs, and
 * only aligned words that lie wholly inside the buffers. No state, no lock.
 * Compiled with -fno-tree-loop-distribute-patterns: a loop that the compiler
 * turned into a call of memset or memcpy would call itself.
 */
#include <stdint.h>
#include <string.h>

#define WORD	sizeof(uint64_t)
#define STEP	(4 * WORD)
#define ONES	(UINT64_MAX / 0xff)

static inline uintptr_t misaligned(const void *p)
{
	return (uintptr_t)p % WORD;
}

static void copy_bytes(uint8_t *to, const uint8_t *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = from[i];
}

/* Both aligned; @n bytes, a multiple of a word. */
static void copy_words(void *to, const void *from, size_t n)
{
	uint64_t *d = to;
	const uint64_t *s = from;

	for (; n >= STEP; n -= STEP, d += 4, s += 4) {
		uint64_t a = s[0], b = s[1], c = s[2], e = s[3];

		d[0] = a;
		d[1] = b;
		d[2] = c;
		d[3] = e;
	}
	for (; n; n -= WORD)
		*d++ = *s++;
}

/*
 * @to aligned, @from @shift bits past an aligned word; @n bytes, a multiple of
 * a word. The caller leaves a word in front of @from and behind its last byte
 * that may be read.
 */
static void copy_shifted(void *to, const uint8_t *from, size_t n)
{
	unsigned int shift = (unsigned int)misaligned(from) * 8;
	const uint64_t *s = (const void *)(from - misaligned(from));
	uint64_t *d = to;
	uint64_t low = *s++;

	for (; n; n -= WORD) {
		uint64_t high = *s++;

		*d++ = low >> shift | high << (64 - shift);
		low = high;
	}
}

void *memcpy(void *to, const void *from, size_t n)
{
	uint8_t *d = to;
	const uint8_t *s = from;
	size_t head = (WORD - misaligned(d)) % WORD;
	size_t body;

	if (n < 4 * WORD) {
		copy_bytes(d, s, n);
		return to;
	}
	if (misaligned(s + head))
		head += WORD;
	copy_bytes(d, s, head);
	d += head;
	s += head;
	n -= head;
	if (misaligned(s)) {
		body = n < 2 * WORD ? 0 : (n - WORD) / WORD * WORD;
		if (body)
			copy_shifted(d, s, body);
	} else {
		body = n / WORD * WORD;
		copy_words(d, s, body);
	}
	copy_bytes(d + body, s + body, n - body);
	return to;
}

void *memmove(void *to, const void *from, size_t n)
{
	uint8_t *d = to;
	const uint8_t *s = from;

	if ((uintptr_t)d - (uintptr_t)s >= n)
		return memcpy(to, from, n);
	if (misaligned(d) == misaligned(s)) {
		for (; n && misaligned(d + n); n--)
			d[n - 1] = s[n - 1];
		for (; n >= WORD; n -= WORD)
			*(uint64_t *)(void *)(d + n - WORD) =
				*(const uint64_t *)(const void *)(s + n - WORD);
	}
	while (n--)
		d[n] = s[n];
	return to;
}

void *memset(void *s, int c, size_t n)
{
	uint8_t *p = s;
	uint64_t word = ONES * (uint8_t)c;

	for (; n && misaligned(p); n--)
		*p++ = (uint8_t)c;
	for (; n >= STEP; n -= STEP, p += STEP) {
		uint64_t *w = (void *)p;

		w[0] = word;
		w[1] = word;
		w[2] = word;
		w[3] = word;
	}
	for (; n; n--)
		*p++ = (uint8_t)c;
	return s;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const uint8_t *p = a, *q = b;

	if (!misaligned(p) && !misaligned(q)) {
		for (; n >= WORD; n -= WORD, p += WORD, q += WORD)
			if (*(const uint64_t *)(const void *)p !=
			    *(const uint64_t *)(const void *)q)
				break;
	}
	for (; n; n--, p++, q++)
		if (*p != *q)
			return *p - *q;
	return 0;
}

void *memchr(const void *s, int c, size_t n)
{
	const uint8_t *p = s;

	for (; n; n--, p++)
		if (*p == (uint8_t)c)
			return (void *)(uintptr_t)p;
	return NULL;
}

size_t strlen(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

size_t strnlen(const char *s, size_t n)
{
	size_t len = 0;

	while (len < n && s[len])
		len++;
	return len;
}

int strcmp(const char *a, const char *b)
{
	for (; *a && *a == *b; a++, b++)
		;
	return (uint8_t)*a - (uint8_t)*b;
}

int strncmp(const char *a, const char *b, size_t n)
{
	for (; n && *a && *a == *b; n--, a++, b++)
		;
	return n ? (uint8_t)*a - (uint8_t)*b : 0;
}

char *strchr(const char *s, int c)
{
	for (; *s != (char)c; s++)
		if (!*s)
			return NULL;
	return (char *)(uintptr_t)s;
}

char *strrchr(const char *s, int c)
{
	const char *last = NULL;

	for (;; s++) {
		if (*s == (char)c)
			last = s;
		if (!*s)
			return (char *)(uintptr_t)last;
	}
}
