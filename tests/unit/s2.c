// SPDX-License-Identifier: BSD-2-Clause
// objs: arch/arm64/s2.c
// incs: tests/vgic/include arch/arm64/include arch/arm64
/*
 * Stage-2 tables against a plain page-by-page model, and the order of break
 * before make: whenever a valid entry changes, the flush must see it invalid.
 */
#include "s2.h"

#include "arm64.h"
#include "cpu.h"
#include "fake.h"
#include "host.h"
#include "tlb.h"
#include "vcpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define PAGES	2048		/* of the model: 8 MiB of IPA space */
#define BASE	(GiB + 6 * MiB)	/* crosses a 2 MiB boundary early */
#define PA_BIT	BIT(38)		/* output addresses are not host memory */

#define ADDR	BITS(47, 12)
#define AP(e)	((unsigned int)field(e, 7, 6))
#define XN	BIT(54)

static struct s2 s2;
static unsigned int pages_used, flushes, page_limit;
static const struct s2 *watched;	/* checked inside each flush */

/* ---- what s2.c calls ---------------------------------------------------- */

paddr_t page_alloc(unsigned int order)
{
	size_t size = PAGE_SIZE << order;
	void *p;

	if (pages_used >= page_limit)
		return 0;
	p = aligned_alloc(size, size);
	assert_non_null(p);
	memset(p, 0, size);
	pages_used++;
	return (uintptr_t)p;
}

void page_free(paddr_t pa, unsigned int order)
{
	(void)order;
	pages_used--;
	free((void *)pa);
}

bool cpu_has_fwb(void)
{
	return true;
}

uint64_t cpu_pa_range(void)
{
	return 5;
}

void tlb_publish(void)
{
}

void tlb_flush_ipa(uint64_t vttbr, gpa_t ipa)
{
	unsigned int level;

	assert_int_equal(vttbr, s2.vttbr);
	flushes++;
	/* Break before make: nothing valid is there while TLBs forget. */
	if (watched)
		assert_int_equal(s2_lookup(watched, ipa, &level), 0);
}

void tlb_flush_vmid(uint64_t vttbr)
{
	(void)vttbr;
}

static unsigned int switches, local_flushes;

void tlb_switch(uint64_t vttbr)
{
	(void)vttbr;
	switches++;
}

void tlb_flush_local(void)
{
	local_flushes++;
}

/* ---- the model ----------------------------------------------------------- */

static unsigned int prot_of[PAGES];	/* 0: not mapped */
static paddr_t pa_of[PAGES];

static void compare(void)
{
	for (unsigned int i = 0; i < PAGES; i++) {
		gpa_t gpa = BASE + i * PAGE_SIZE;
		unsigned int level;
		uint64_t e = s2_lookup(&s2, gpa, &level);
		uint64_t in = gpa & (BIT(39 - 9 * level) - 1);

		assert_int_equal(e != 0, prot_of[i] != 0);
		if (!e)
			continue;
		assert_int_equal((e & ADDR) + in, pa_of[i]);
		assert_int_equal(AP(e), prot_of[i] & 3);
		assert_int_equal(!(e & XN), !!(prot_of[i] & S2_EXEC));
	}
}

static int start(void **state)
{
	(void)state;
	page_limit = 10000;
	memset(prot_of, 0, sizeof(prot_of));
	fake_cpus_init(2);
	s2_boot();
	return s2_init(&s2);
}

static int stop(void **state)
{
	(void)state;
	watched = NULL;
	s2_fini(&s2);
	assert_int_equal(pages_used, 0);
	return 0;
}

static void model_map(unsigned int first, unsigned int n, paddr_t pa,
		      unsigned int prot)
{
	for (unsigned int i = 0; i < n; i++) {
		prot_of[first + i] = prot;
		pa_of[first + i] = pa + i * PAGE_SIZE;
	}
	assert_int_equal(s2_map(&s2, BASE + first * PAGE_SIZE, pa,
				n * PAGE_SIZE, prot), 0);
}

static void model_protect(unsigned int first, unsigned int n,
			  unsigned int prot)
{
	for (unsigned int i = 0; i < n; i++)
		if (prot_of[first + i])
			prot_of[first + i] = prot;
	watched = &s2;
	assert_int_equal(s2_protect(&s2, BASE + first * PAGE_SIZE,
				    n * PAGE_SIZE, prot), 0);
	watched = NULL;
}

/* ---- tests --------------------------------------------------------------- */

static void blocks_where_aligned(void **state)
{
	unsigned int level;

	(void)state;
	model_map(0, 1024, PA_BIT + BASE, 7);
	s2_lookup(&s2, BASE, &level);
	assert_int_equal(level, 2);
	model_map(1024, 8, PA_BIT + PAGE_SIZE, 7);
	s2_lookup(&s2, BASE + 1024 * PAGE_SIZE, &level);
	assert_int_equal(level, 3);
	compare();
	assert_int_equal(s2_map(&s2, 4 * GiB, PA_BIT, GiB, 7), 0);
	s2_lookup(&s2, 4 * GiB + 5, &level);
	assert_int_equal(level, 1);
}

static void split_and_break_before_make(void **state)
{
	(void)state;
	model_map(0, 1024, PA_BIT + BASE, 7);
	flushes = 0;
	model_protect(3, 1, S2_READ);
	/* One flush for the split block and one for the page. */
	assert_int_equal(flushes, 2);
	compare();
	model_protect(500, 100, 0);
	compare();
	model_protect(0, PAGES, S2_READ | S2_EXEC);
	compare();
}

static void random_walk(void **state)
{
	(void)state;
	srand(7);
	for (unsigned int n = 0; n < 300; n++) {
		unsigned int first = (unsigned int)rand() % PAGES;
		unsigned int len = 1 + (unsigned int)rand() % 700;
		bool free = true;

		if (len > PAGES - first)
			len = PAGES - first;
		for (unsigned int i = 0; i < len; i++)
			free = free && !prot_of[first + i];
		if (free && rand() % 3)
			model_map(first, len, PA_BIT + BASE +
				  first * PAGE_SIZE, 7);
		else
			model_protect(first, len,
				      rand() % 4 ? (unsigned int)rand() % 8 :
						   0);
		compare();
	}
}

/* A page whose rights were all taken away is not mapped any more. */
static void limits(void **state)
{
	unsigned int level;

	(void)state;
	assert_int_equal(s2_map(&s2, BIT(40) - PAGE_SIZE, PA_BIT,
				2 * PAGE_SIZE, 7), ERR_INVAL);
	assert_int_equal(s2_map(&s2, BIT(63), PA_BIT, PAGE_SIZE, 7),
			 ERR_INVAL);
	assert_int_equal(s2_map(&s2, BIT(40) - PAGE_SIZE, PA_BIT, PAGE_SIZE,
				7), 0);
	assert_int_not_equal(s2_lookup(&s2, BIT(40) - 1, &level), 0);
	assert_int_equal(s2_lookup(&s2, BIT(40), &level), 0);
	assert_int_equal(s2_lookup(&s2, UINT64_MAX, &level), 0);
}

static void out_of_memory(void **state)
{
	(void)state;
	page_limit = pages_used + 1;
	assert_int_equal(s2_map(&s2, BASE, PA_BIT, PAGE_SIZE, 7), ERR_NOMEM);
	page_limit = 10000;
	model_map(512, 512, PA_BIT + BASE, 7);
	page_limit = pages_used;
	assert_int_equal(s2_protect(&s2, BASE + 600 * PAGE_SIZE, PAGE_SIZE,
				    0), ERR_NOMEM);
	compare();
}

static void private_tlbs(void **state)
{
	static const struct vcpu one, two;
	const struct vcpu *a = &one, *b = &two;

	(void)state;
	local_flushes = 0;
	s2_load(&s2, a);
	s2_load(&s2, a);
	assert_int_equal(local_flushes, 1);
	s2_load(&s2, b);
	s2_load(&s2, a);
	assert_int_equal(local_flushes, 3);
}

static void vmids_differ(void **state)
{
	struct s2 more[255];
	unsigned int n = 0;

	(void)state;
	while (n < ARRAY_SIZE(more) && !s2_init(&more[n]))
		n++;
	/* 0 is the host's and one belongs to the fixture. */
	assert_int_equal(n, 254);
	for (unsigned int i = 0; i < n; i++) {
		assert_int_not_equal(more[i].vmid, 0);
		assert_int_not_equal(more[i].vmid, s2.vmid);
		assert_int_equal(more[i].vttbr >> 48, more[i].vmid);
		s2_fini(&more[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, start, stop)
		T(blocks_where_aligned), T(split_and_break_before_make),
		T(random_walk), T(limits), T(out_of_memory),
		T(private_tlbs), T(vmids_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
