// SPDX-License-Identifier: BSD-2-Clause
// objs:
/*
 * The freestanding string functions against the C library's, at every
 * alignment, with guard bytes around. The source is included under other names
 * so that both exist here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define memcpy	own_memcpy
#define memmove	own_memmove
#define memset	own_memset
#define memcmp	own_memcmp
#define memchr	own_memchr
#define strlen	own_strlen
#define strnlen	own_strnlen
#define strcmp	own_strcmp
#define strncmp	own_strncmp
#define strchr	own_strchr
#define strrchr	own_strrchr
#include "freestanding/string.h"
#include "freestanding/string.c"
#undef memcpy
#undef memmove
#undef memset
#undef memcmp
#undef memchr
#undef strlen
#undef strnlen
#undef strcmp
#undef strncmp
#undef strchr
#undef strrchr

#define SIZE 160

static uint8_t a[SIZE], b[SIZE], want[SIZE];

static void fill(uint8_t *p, unsigned int seed)
{
	for (unsigned int i = 0; i < SIZE; i++)
		p[i] = (uint8_t)(seed + i * 37 + i / 7);
}

/* An exact heap copy, so that the sanitizer sees one byte too many. */
static uint8_t *exact(const uint8_t *p, size_t n, size_t align)
{
	uint8_t *m = malloc(n + align);

	memcpy(m + align, p, n);
	return m;
}

static void copies(void **)
{
	for (size_t to = 0; to < 9; to++)
		for (size_t from = 0; from < 9; from++)
			for (size_t n = 0; n < 100; n++) {
				uint8_t *src;

				fill(a, 1);
				fill(b, 99);
				fill(want, 99);
				memcpy(want + to, a + from, n);
				src = exact(a + from, n, from);
				assert_ptr_equal(own_memcpy(b + to, src + from,
							    n), b + to);
				free(src);
				assert_memory_equal(b, want, SIZE);
			}
}

static void moves(void **)
{
	for (size_t to = 0; to < 40; to++)
		for (size_t from = 0; from < 40; from++)
			for (size_t n = 0; n < 90; n += 1 + n / 20) {
				fill(a, 5);
				fill(want, 5);
				memmove(want + to, want + from, n);
				assert_ptr_equal(own_memmove(a + to, a + from,
							     n), a + to);
				assert_memory_equal(a, want, SIZE);
			}
}

static void sets(void **)
{
	for (size_t to = 0; to < 9; to++)
		for (size_t n = 0; n < 100; n++) {
			fill(a, 5);
			fill(want, 5);
			memset(want + to, 0x1a5, n);
			assert_ptr_equal(own_memset(a + to, 0x1a5, n), a + to);
			assert_memory_equal(a, want, SIZE);
		}
}

static int sign(int v)
{
	return (v > 0) - (v < 0);
}

static void compares(void **)
{
	for (size_t off = 0; off < 9; off++)
		for (size_t n = 0; n < 60; n++)
			for (size_t at = 0; at <= n; at++) {
				uint8_t *p, *q;

				fill(a, 0x70);
				fill(b, 0x70);
				b[at] ^= 0x80;
				p = exact(a, n, off);
				q = exact(b, n, off / 2);
				assert_int_equal(sign(own_memcmp(p + off,
								 q + off / 2,
								 n)),
						 sign(memcmp(a, b, n)));
				free(p);
				free(q);
			}
}

static void strings(void **)
{
	static const char *const s[] = { "", "a", "b", "ab", "abc", "abcabc",
					 "\xff", "a\xff", "abcabd", "xyz/xyz" };

	for (unsigned int i = 0; i < sizeof(s) / sizeof(s[0]); i++) {
		assert_int_equal(own_strlen(s[i]), strlen(s[i]));
		for (size_t n = 0; n < 8; n++)
			assert_int_equal(own_strnlen(s[i], n),
					 strnlen(s[i], n));
		for (int c = 0; c < 256; c++) {
			assert_ptr_equal(own_strchr(s[i], c), strchr(s[i], c));
			assert_ptr_equal(own_strrchr(s[i], c),
					 strrchr(s[i], c));
			assert_ptr_equal(own_memchr(s[i], c, strlen(s[i])),
					 memchr(s[i], c, strlen(s[i])));
		}
		for (unsigned int k = 0; k < sizeof(s) / sizeof(s[0]); k++) {
			assert_int_equal(sign(own_strcmp(s[i], s[k])),
					 sign(strcmp(s[i], s[k])));
			for (size_t n = 0; n < 8; n++)
				assert_int_equal(sign(own_strncmp(s[i], s[k],
								  n)),
						 sign(strncmp(s[i], s[k], n)));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies),
		cmocka_unit_test(moves),
		cmocka_unit_test(sets),
		cmocka_unit_test(compares),
		cmocka_unit_test(strings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
