// SPDX-License-Identifier: BSD-2-Clause
/*
 * Physical page allocator: a binary buddy allocator. One byte per page of the
 * span tells whether the page is the first of a free or of an allocated block
 * and of which order; the free blocks of an order are linked through their own
 * first bytes. Invariant: two free buddies never exist side by side, they have
 * been merged. Everything is protected by the page lock.
 */
#include "page.h"

#include <string.h>

#include "arch.h"
#include "lock.h"
#include "print.h"

#define HEAD_NONE	0x00	/* not the first page of a block, or no RAM */
#define HEAD_FREE	0x40	/* | order */
#define HEAD_USED	0x80	/* | order */
#define EARLY_MAX	8	/* pieces too small for the table */

struct block {
	struct block *next, *prev;
};

static struct {
	struct spinlock lock;
	uint64_t first, end;	/* span in page numbers */
	uint8_t *heads;		/* of pages first..end-1 */
	struct block *free[PAGE_MAX_ORDER + 1];
	uint64_t free_pages, total_pages;
	struct {
		uint64_t first, end;
	} early[EARLY_MAX];	/* boot: pieces that came before the table */
	unsigned int nr_early;
} pages;

static struct block *block_at(uint64_t page)
{
	return (struct block *)(uintptr_t)(page << PAGE_SHIFT);
}

static uint8_t *head(uint64_t page)
{
	return &pages.heads[page - pages.first];
}

static void push(uint64_t page, unsigned int order)
{
	struct block *b = block_at(page);

	b->prev = NULL;
	b->next = pages.free[order];
	if (b->next)
		b->next->prev = b;
	pages.free[order] = b;
	*head(page) = (uint8_t)(HEAD_FREE | order);
	pages.free_pages += BIT(order);
}

static void unlink_block(uint64_t page, unsigned int order)
{
	struct block *b = block_at(page);

	if (b->next)
		b->next->prev = b->prev;
	if (b->prev)
		b->prev->next = b->next;
	else
		pages.free[order] = b->next;
	*head(page) = HEAD_NONE;
	pages.free_pages -= BIT(order);
}

/* Frees a block and merges it with its free buddies. */
static void release(uint64_t page, unsigned int order)
{
	for (; order < PAGE_MAX_ORDER; order++) {
		uint64_t buddy = page ^ BIT(order);

		if (buddy < pages.first || buddy >= pages.end ||
		    *head(buddy) != (HEAD_FREE | order))
			break;
		unlink_block(buddy, order);
		page &= ~BIT(order);
	}
	push(page, order);
}

/* Adds pages @first..@end-1 as the largest aligned blocks that fit. */
static void add_pages(uint64_t first, uint64_t end)
{
	pages.total_pages += end - first;
	while (first < end) {
		unsigned int order = 0;

		while (order < PAGE_MAX_ORDER &&
		       is_aligned(first, BIT(order + 1)) &&
		       first + BIT(order + 1) <= end)
			order++;
		release(first, order);
		first += BIT(order);
	}
}

void page_init(paddr_t lowest, paddr_t end)
{
	memset(&pages, 0, sizeof(pages));
	pages.first = lowest >> PAGE_SHIFT;
	pages.end = end >> PAGE_SHIFT;
	ASSERT(pages.first < pages.end);
}

/* Takes the table from the front of the piece; false: it is too small. */
static bool make_table(uint64_t *first, uint64_t end)
{
	uint64_t bytes = align_up(pages.end - pages.first, PAGE_SIZE);

	if (end - *first < bytes >> PAGE_SHIFT)
		return false;
	pages.heads = (uint8_t *)(uintptr_t)(*first << PAGE_SHIFT);
	arch_zero_ram(pages.heads, bytes);
	*first += bytes >> PAGE_SHIFT;
	return true;
}

void page_add(paddr_t base, uint64_t size)
{
	uint64_t first = align_up(base, PAGE_SIZE) >> PAGE_SHIFT;
	uint64_t end = (base + size) >> PAGE_SHIFT;

	if (!first)
		first = 1;	/* address 0 means failure */
	if (first >= end)
		return;
	ASSERT(first >= pages.first && end <= pages.end);
	spin_lock(&pages.lock);
	if (!pages.heads && !make_table(&first, end)) {
		ASSERT(pages.nr_early < EARLY_MAX);
		pages.early[pages.nr_early].first = first;
		pages.early[pages.nr_early++].end = end;
	} else {
		while (pages.nr_early) {
			pages.nr_early--;
			add_pages(pages.early[pages.nr_early].first,
				  pages.early[pages.nr_early].end);
		}
		add_pages(first, end);
	}
	spin_unlock(&pages.lock);
}

paddr_t page_alloc_dirty(unsigned int order)
{
	unsigned int from = order;
	uint64_t page;

	if (order > PAGE_MAX_ORDER)
		return 0;
	spin_lock(&pages.lock);
	while (from <= PAGE_MAX_ORDER && !pages.free[from])
		from++;
	if (from > PAGE_MAX_ORDER) {
		spin_unlock(&pages.lock);
		return 0;
	}
	page = (uintptr_t)pages.free[from] >> PAGE_SHIFT;
	unlink_block(page, from);
	while (from > order) {
		from--;
		push(page + BIT(from), from);	/* the upper half is spare */
	}
	*head(page) = (uint8_t)(HEAD_USED | order);
	spin_unlock(&pages.lock);
	return page << PAGE_SHIFT;
}

paddr_t page_alloc(unsigned int order)
{
	paddr_t pa = page_alloc_dirty(order);

	if (pa)
		arch_zero_ram((void *)(uintptr_t)pa, PAGE_SIZE << order);
	return pa;
}

void page_free(paddr_t pa, unsigned int order)
{
	uint64_t page = pa >> PAGE_SHIFT;

	ASSERT(order <= PAGE_MAX_ORDER && is_aligned(pa, PAGE_SIZE << order));
	ASSERT(page >= pages.first && page < pages.end);
	spin_lock(&pages.lock);
	ASSERT(*head(page) == (HEAD_USED | order));
	*head(page) = HEAD_NONE;
	release(page, order);
	spin_unlock(&pages.lock);
}

unsigned int page_order(uint64_t size)
{
	unsigned int order = 0;

	while (order < PAGE_MAX_ORDER + 1 && PAGE_SIZE << order < size)
		order++;
	return order;
}

uint64_t page_free_bytes(void)
{
	return __atomic_load_n(&pages.free_pages, __ATOMIC_RELAXED) *
	       PAGE_SIZE;
}

uint64_t page_total_bytes(void)
{
	return pages.total_pages * PAGE_SIZE;
}

void *page_zalloc(size_t size)
{
	return (void *)(uintptr_t)page_alloc(page_order(size));
}

void page_zfree(void *p, size_t size)
{
	if (p)
		page_free((uintptr_t)p, page_order(size));
}
