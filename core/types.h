/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Basic types and helpers that every file of the hypervisor may use. Nothing
 * here depends on an architecture.
 */
#ifndef CORE_TYPES_H
#define CORE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t gpa_t;		/* guest physical address (IPA on arm64) */
typedef uint64_t gva_t;		/* guest virtual address */
typedef uint64_t paddr_t;	/* host physical address */

#define BIT(n)		(UINT64_C(1) << (n))
/* Bits hi..lo of a 64-bit word, both included. */
#define BITS(hi, lo)	((~UINT64_C(0) >> (63 - (hi))) & (~UINT64_C(0) << (lo)))

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define container_of(p, type, member)					\
	((type *)(void *)((char *)(p) - offsetof(type, member)))

#define KiB		UINT64_C(1024)
#define MiB		(1024 * KiB)
#define GiB		(1024 * MiB)

#define PAGE_SHIFT	12
#define PAGE_SIZE	(UINT64_C(1) << PAGE_SHIFT)

static inline uint64_t align_down(uint64_t v, uint64_t a)
{
	return v & ~(a - 1);
}

/* Rounds up to a power of two @a; wraps to 0 past the last multiple. */
static inline uint64_t align_up(uint64_t v, uint64_t a)
{
	return align_down(v + a - 1, a);
}

static inline bool is_aligned(uint64_t v, uint64_t a)
{
	return (v & (a - 1)) == 0;
}

/* Is [off, off+len) inside [0, size)? Right for every 64-bit input. */
static inline bool range_inside(uint64_t off, uint64_t len, uint64_t size)
{
	return len <= size && off <= size - len;
}

static inline uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Field hi..lo of @v, shifted down. */
static inline uint64_t field(uint64_t v, unsigned int hi, unsigned int lo)
{
	return (v & BITS(hi, lo)) >> lo;
}

/* Negative results of functions: errno style, few and fixed. */
enum err {
	ERR_NOMEM = -1,		/* out of memory or of a table's slots */
	ERR_INVAL = -2,		/* an argument is not acceptable */
	ERR_NOENT = -3,		/* the named thing does not exist */
	ERR_BUSY = -4,		/* the thing's state does not allow it now */
	ERR_EXIST = -5,		/* it is there already */
	ERR_FORMAT = -6,	/* input of a wrong format */
};

#endif
