// SPDX-License-Identifier: BSD-2-Clause
// objs: core/bundle.c
/*
 * The cpio reader: good archives, every truncation, and random damage. Each
 * archive is an exact heap block, so the sanitizer sees a byte read too far.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bundle.h"
#include "cpio.h"

static struct cpio good;

static int setup(void **)
{
	cpio_add_raw(&good, 040755, "dir", 4, NULL, 0);
	cpio_add(&good, "one", "1", 1);
	cpio_add(&good, "./two", "twotwo", 6);
	cpio_add(&good, "empty", NULL, 0);
	cpio_add_raw(&good, 0100644, "padded\0\0\0\0\0", 11, "ppp", 3);
	cpio_add(&good, "dir/three", "threethree", 10);
	cpio_end(&good);
	return 0;
}

static int teardown(void **)
{
	cpio_free(&good);
	return 0;
}

/* Checks the first @size bytes, from an exact copy. */
static const char *check(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size);
	struct blob b = { copy, size };
	uint64_t where = UINT64_MAX;
	const char *wrong;

	memcpy(copy, data, size);
	wrong = bundle_check(&b, &where);
	if (!wrong) {
		struct blob out;

		bundle_find(&b, "dir/three", &out);
		bundle_find(&b, "nothing", &out);
	}
	assert_true(where <= size);
	free(copy);
	return wrong;
}

static void expect(const struct blob *b, const char *name, const char *text)
{
	struct blob out;

	assert_true(bundle_find(b, name, &out));
	assert_int_equal(out.size, strlen(text));
	assert_memory_equal(out.data, text, out.size);
}

static void finds(void **)
{
	struct blob b = { good.data, good.size }, out;

	assert_null(check(good.data, good.size));
	expect(&b, "one", "1");
	expect(&b, "two", "twotwo");
	expect(&b, "empty", "");
	expect(&b, "padded", "ppp");
	expect(&b, "dir/three", "threethree");
	assert_false(bundle_find(&b, "dir", &out));	/* no regular file */
	assert_false(bundle_find(&b, "three", &out));
	assert_false(bundle_find(&b, "TRAILER!!!", &out));
	assert_false(bundle_find(&b, "", &out));
}

static void truncations(void **)
{
	for (size_t n = 0; n < good.size; n++)
		assert_non_null(check(good.data, n));
}

static void patched(size_t off, const char *bytes, const char *message)
{
	uint8_t *copy = malloc(good.size);

	memcpy(copy, good.data, good.size);
	memcpy(copy + off, bytes, strlen(bytes));
	assert_string_equal(check(copy, good.size), message);
	free(copy);
}

static void broken_headers(void **)
{
	patched(0, "070702", "is no cpio archive in newc format");
	patched(0, "MZ", "is no cpio archive in newc format");
	patched(6 + 8, "0000g1a4", "has a broken header");
	patched(6 + 6 * 8, "0000 000", "has a broken header");
	patched(6 + 6 * 8, "ffffffff", "is cut off inside a file");
	patched(6 + 6 * 8, "fffffffd", "is cut off inside a file");
	patched(6 + 11 * 8, "00000000", "has a broken file name");
	patched(6 + 11 * 8, "ffffffff", "has a broken file name");
	patched(6 + 11 * 8, "00000003", "has a broken file name");
	patched(6 + 11 * 8, "00001001", "has a broken file name");
}

static void no_archive(void **)
{
	assert_string_equal(check((const uint8_t *)"", 0),
			    "ends without a trailer");
	assert_string_equal(check((const uint8_t *)"hello", 5),
			    "ends without a trailer");
}

static void duplicates(void **)
{
	struct cpio c = { NULL, 0 };

	cpio_add(&c, "x", "1", 1);
	cpio_add(&c, "y", "1", 1);
	cpio_add(&c, "./x", "2", 1);
	cpio_end(&c);
	assert_string_equal(check(c.data, c.size),
			    "has two files of the same name");
	cpio_free(&c);
	cpio_add_raw(&c, 040755, "d", 2, NULL, 0);	/* harmless */
	cpio_add_raw(&c, 040755, "d", 2, NULL, 0);
	cpio_end(&c);
	assert_null(check(c.data, c.size));
	cpio_free(&c);
}

static void too_many(void **)
{
	struct cpio c = { NULL, 0 };

	for (unsigned int i = 0; i < 1025; i++)
		cpio_add_raw(&c, 040755, "d", 2, NULL, 0);
	cpio_end(&c);
	assert_string_equal(check(c.data, c.size),
			    "has more than 1024 entries");
	cpio_free(&c);
}

static void random_damage(void **)
{
	uint8_t *copy = malloc(good.size);
	unsigned int refused = 0;

	srand(11);
	for (unsigned int i = 0; i < 100000; i++) {
		memcpy(copy, good.data, good.size);
		for (int n = 1 + rand() % 4; n; n--) {
			size_t at = (size_t)rand() % good.size;

			copy[at] = rand() & 1 ? (uint8_t)rand() :
				   (uint8_t)"0123456789abcdef"[rand() % 16];
		}
		refused += check(copy, good.size) != NULL;
	}
	assert_true(refused > 10000);
	free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds),
		cmocka_unit_test(truncations),
		cmocka_unit_test(broken_headers),
		cmocka_unit_test(no_archive),
		cmocka_unit_test(duplicates),
		cmocka_unit_test(too_many),
		cmocka_unit_test(random_damage),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
