/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The part of the C library's <string.h> that the hypervisor and libfdt use,
 * for a build without a C library. Semantics are those of the C standard; no
 * function touches a byte outside its arguments. Host unit tests use the
 * header of their own C library instead. Any context.
 */
#ifndef CORE_FREESTANDING_STRING_H
#define CORE_FREESTANDING_STRING_H

#include <stddef.h>

void *memcpy(void *to, const void *from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *s, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);
void *memchr(const void *s, int c, size_t n);
size_t strlen(const char *s);
size_t strnlen(const char *s, size_t n);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
char *strchr(const char *s, int c);
char *strrchr(const char *s, int c);

#endif
