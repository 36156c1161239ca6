/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes cpio archives for tests.
 */
#ifndef TESTS_CPIO_H
#define TESTS_CPIO_H

#include <stddef.h>
#include <stdint.h>

struct cpio {
	uint8_t *data;		/* grows on the heap */
	size_t size;
};

void cpio_add(struct cpio *c, const char *name, const void *data, size_t size);
/* Any mode, and a name of any bytes. */
void cpio_add_raw(struct cpio *c, uint32_t mode, const char *name,
		  size_t name_size, const void *data, size_t size);
void cpio_end(struct cpio *c);
void cpio_free(struct cpio *c);

#endif
