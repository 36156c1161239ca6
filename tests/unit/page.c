// SPDX-License-Identifier: BSD-2-Clause
// objs: core/page.c
/*
 * The page allocator on an arena of the host: alignment, zeroing, merging,
 * odd pieces, misuse caught, and random allocations that never overlap.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake.h"
#include "page.h"

#define PAGES	4096		/* 16 MiB */
#define LOW	(64 * MiB)	/* alignment of the arena */

static uint8_t *arena;
static paddr_t base;

static int setup(void **)
{
	arena = aligned_alloc(LOW, LOW);
	memset(arena, 0xa5, PAGES * PAGE_SIZE);
	base = (uintptr_t)arena;
	return 0;
}

static int teardown(void **)
{
	free(arena);
	return 0;
}

static void start(void)
{
	page_init(base, base + PAGES * PAGE_SIZE);
	page_add(base, PAGES * PAGE_SIZE);
}

static bool all_zero(paddr_t pa, uint64_t size)
{
	const uint8_t *p = (const uint8_t *)(uintptr_t)pa;

	for (uint64_t i = 0; i < size; i++)
		if (p[i])
			return false;
	return true;
}

static void accounts(void **)
{
	uint64_t all;
	paddr_t pa;

	start();
	all = page_free_bytes();
	assert_int_equal(all, (PAGES - 1) * PAGE_SIZE);	/* one: the table */
	assert_int_equal(page_total_bytes(), all);
	pa = page_alloc(3);
	assert_int_equal(page_free_bytes(), all - 8 * PAGE_SIZE);
	page_free(pa, 3);
	assert_int_equal(page_free_bytes(), all);
}

static void aligned_and_zero(void **)
{
	start();
	for (unsigned int order = 0; order < 9; order++) {
		paddr_t pa = page_alloc(order);

		assert_true(pa && is_aligned(pa, PAGE_SIZE << order));
		assert_true(all_zero(pa, PAGE_SIZE << order));
		memset((void *)(uintptr_t)pa, 0xff, PAGE_SIZE << order);
		page_free(pa, order);
	}
}

static void merges(void **)
{
	static paddr_t got[PAGES];
	unsigned int n = 0;
	uint64_t all;

	start();
	all = page_free_bytes();
	while ((got[n] = page_alloc_dirty(0)))
		n++;
	assert_int_equal(n, PAGES - 1);
	assert_int_equal(page_free_bytes(), 0);
	assert_int_equal(page_alloc(0), 0);
	for (unsigned int i = 0; i < n; i += 2)
		page_free(got[i], 0);
	assert_int_equal(page_alloc(1), 0);	/* all in single pages */
	for (unsigned int i = 1; i < n; i += 2)
		page_free(got[i], 0);
	assert_int_equal(page_free_bytes(), all);
	got[0] = page_alloc_dirty(11);		/* half of the arena again */
	assert_true(got[0]);
	page_free(got[0], 11);
}

static void odd_pieces(void **)
{
	uint64_t n = 0;
	paddr_t pa;

	page_init(base, base + PAGES * PAGE_SIZE);
	page_add(base + 100, 50);			/* no whole page */
	page_add(base + 10, PAGE_SIZE + PAGE_SIZE / 2);	/* not one either */
	page_add(base + 3 * PAGE_SIZE, 0);
	/* The table is one page, so this piece is for it alone. */
	page_add(base + 5 * PAGE_SIZE, PAGE_SIZE);
	assert_int_equal(page_free_bytes(), 0);
	page_add(base + 7 * PAGE_SIZE - 5, 3 * PAGE_SIZE + 10);
	page_add(base + 20 * PAGE_SIZE, 13 * PAGE_SIZE);
	assert_int_equal(page_free_bytes(), 16 * PAGE_SIZE);
	while ((pa = page_alloc_dirty(0))) {
		uint64_t i = (pa - base) / PAGE_SIZE;

		assert_true((i >= 7 && i < 10) || (i >= 20 && i < 33));
		n++;
	}
	assert_int_equal(n, 16);
}

/* Pieces smaller than the table are kept until one is big enough. */
static void early_pieces(void **)
{
	uint64_t span = LOW / PAGE_SIZE;		/* table: 4 pages */

	page_init(base, base + LOW);
	page_add(base, 2 * PAGE_SIZE);
	page_add(base + 4 * PAGE_SIZE, PAGE_SIZE);
	assert_int_equal(page_free_bytes(), 0);
	page_add(base + 8 * PAGE_SIZE, 10 * PAGE_SIZE);
	page_add(base + 30 * PAGE_SIZE, PAGE_SIZE);
	assert_int_equal(page_free_bytes(),
			 (14 - span / PAGE_SIZE) * PAGE_SIZE);
}

static void never_page_zero(void **)
{
	page_init(0, base + PAGES * PAGE_SIZE);
	/* Kept for later they would be too many. */
	for (unsigned int i = 0; i < 20; i++)
		page_add(0, PAGE_SIZE);
	assert_int_equal(page_free_bytes(), 0);
}

static void orders(void **)
{
	assert_int_equal(page_order(1), 0);
	assert_int_equal(page_order(PAGE_SIZE), 0);
	assert_int_equal(page_order(PAGE_SIZE + 1), 1);
	assert_int_equal(page_order(GiB), PAGE_MAX_ORDER);
	assert_int_equal(page_order(GiB + 1), PAGE_MAX_ORDER + 1);
	assert_int_equal(page_order(UINT64_MAX), PAGE_MAX_ORDER + 1);
	start();
	assert_int_equal(page_alloc(PAGE_MAX_ORDER + 1), 0);
	assert_null(page_zalloc(SIZE_MAX));
}

static void objects(void **)
{
	uint64_t all;
	void *p;

	start();
	all = page_free_bytes();
	p = page_zalloc(3 * PAGE_SIZE - 7);
	assert_true(all_zero((uintptr_t)p, 3 * PAGE_SIZE - 7));
	page_zfree(p, 3 * PAGE_SIZE - 7);
	page_zfree(NULL, 100);
	assert_int_equal(page_free_bytes(), all);
}

struct misuse {
	paddr_t pa;
	unsigned int order;
};

static void do_free(void *arg)
{
	const struct misuse *m = arg;

	page_free(m->pa, m->order);
}

static void misuse_is_caught(void **)
{
	struct misuse m;
	paddr_t pa;

	start();
	pa = page_alloc(2);
	m = (struct misuse){ pa, 1 };			/* wrong order */
	assert_int_equal(fake_run(do_free, &m), 121);
	start();
	pa = page_alloc(2);
	m = (struct misuse){ pa + PAGE_SIZE, 0 };	/* inside a block */
	assert_int_equal(fake_run(do_free, &m), 121);
	start();
	m = (struct misuse){ page_alloc(2) + 8, 2 };	/* misaligned */
	assert_int_equal(fake_run(do_free, &m), 121);
	start();
	m = (struct misuse){ page_alloc(2), 2 };	/* twice */
	do_free(&m);
	assert_int_equal(fake_run(do_free, &m), 121);
	start();
	m = (struct misuse){ base + PAGES * PAGE_SIZE, 0 };
	assert_int_equal(fake_run(do_free, &m), 121);
}

/* Random blocks, each filled with its own byte, which is still there when it
 * is freed: no two overlap, and the allocator writes into none. */
static void random_blocks(void **)
{
	static struct {
		paddr_t pa;
		unsigned int order;
		uint8_t tag;
	} blocks[64];
	uint64_t all;

	start();
	all = page_free_bytes();
	srand(7);
	for (unsigned int i = 0; i < 20000; i++) {
		unsigned int k = (unsigned int)rand() % ARRAY_SIZE(blocks);
		uint8_t *p = (uint8_t *)(uintptr_t)blocks[k].pa;
		uint64_t size = PAGE_SIZE << blocks[k].order;

		if (p) {
			assert_int_equal(p[0], blocks[k].tag);
			assert_memory_equal(p, p + 1, size - 1);
			page_free(blocks[k].pa, blocks[k].order);
			blocks[k].pa = 0;
			continue;
		}
		blocks[k].order = (unsigned int)rand() % 6;
		blocks[k].pa = page_alloc_dirty(blocks[k].order);
		blocks[k].tag = (uint8_t)i;
		if (blocks[k].pa)
			memset((void *)(uintptr_t)blocks[k].pa, (uint8_t)i,
			       PAGE_SIZE << blocks[k].order);
	}
	for (unsigned int k = 0; k < ARRAY_SIZE(blocks); k++)
		if (blocks[k].pa)
			page_free(blocks[k].pa, blocks[k].order);
	assert_int_equal(page_free_bytes(), all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accounts),
		cmocka_unit_test(aligned_and_zero),
		cmocka_unit_test(merges),
		cmocka_unit_test(odd_pieces),
		cmocka_unit_test(early_pieces),
		cmocka_unit_test(never_page_zero),
		cmocka_unit_test(orders),
		cmocka_unit_test(objects),
		cmocka_unit_test(misuse_is_caught),
		cmocka_unit_test(random_blocks),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
