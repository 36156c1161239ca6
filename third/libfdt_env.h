/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What libfdt needs from its surroundings, in place of the header of the same
 * name in the libfdt sources, which wants a hosted C library. The same file
 * serves the hypervisor, the guests and the host unit tests. The string
 * functions are declared only while libfdt itself is compiled: everybody else
 * has them from elsewhere.
 */
#ifndef LIBFDT_ENV_H
#define LIBFDT_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef LIBFDT_BUILD
#define INT_MAX		__INT_MAX__
#define UINT_MAX	(INT_MAX * 2u + 1u)

void *memchr(const void *s, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);
void *memcpy(void *to, const void *from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *s, int c, size_t n);
char *strchr(const char *s, int c);
int strcmp(const char *a, const char *b);
size_t strlen(const char *s);
int strncmp(const char *a, const char *b, size_t n);
size_t strnlen(const char *s, size_t n);
char *strrchr(const char *s, int c);
unsigned long strtoul(const char *s, char **end, int base);
#endif

typedef uint16_t fdt16_t;
typedef uint32_t fdt32_t;
typedef uint64_t fdt64_t;

static inline uint16_t fdt16_to_cpu(fdt16_t x)
{
	return __builtin_bswap16(x);
}

static inline fdt16_t cpu_to_fdt16(uint16_t x)
{
	return __builtin_bswap16(x);
}

static inline uint32_t fdt32_to_cpu(fdt32_t x)
{
	return __builtin_bswap32(x);
}

static inline fdt32_t cpu_to_fdt32(uint32_t x)
{
	return __builtin_bswap32(x);
}

static inline uint64_t fdt64_to_cpu(fdt64_t x)
{
	return __builtin_bswap64(x);
}

static inline fdt64_t cpu_to_fdt64(uint64_t x)
{
	return __builtin_bswap64(x);
}

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	      "the conversions above swap");

#endif
