/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Physical page allocator: a buddy allocator over all host RAM. Host RAM is
 * mapped at VA = PA, so a page's address is also its pointer. Takes the page
 * lock itself; any CPU, IRQs masked.
 */
#ifndef CORE_PAGE_H
#define CORE_PAGE_H

#include "types.h"

#define PAGE_MAX_ORDER	18	/* largest block: 2^18 pages = 1 GiB */

/*
 * Boot, one CPU: gives RAM [base, base+size) to the allocator; called once per
 * piece of RAM that is neither reserved nor in use; pieces in any order, none
 * twice. The allocator's own table (one byte per page of the span) is taken
 * from the first piece that is big enough. page_init() comes first, with the
 * span of all RAM.
 */
void page_init(paddr_t lowest, paddr_t end);
void page_add(paddr_t base, uint64_t size);

/*
 * 2^order pages, aligned to their size and filled with zeros; 0 when there is
 * no such block. (Physical page 0 is never handed out.)
 */
paddr_t page_alloc(unsigned int order);

/*
 * As page_alloc but the content is undefined: for memory the caller fills or
 * scrubs itself at once.
 */
paddr_t page_alloc_dirty(unsigned int order);

/* Gives a block of page_alloc back, whole. */
void page_free(paddr_t pa, unsigned int order);

/* Order of the smallest block of at least @size bytes (size > 0); above
 * PAGE_MAX_ORDER, which page_alloc refuses, when there is none. */
unsigned int page_order(uint64_t size);

/* Free and total bytes. */
uint64_t page_free_bytes(void);
uint64_t page_total_bytes(void);

/* Zeroed object of @size bytes in whole pages; NULL when out of memory. */
void *page_zalloc(size_t size);
void page_zfree(void *p, size_t size);

#endif
