// SPDX-License-Identifier: BSD-2-Clause
/*
 * A writer of cpio newc archives, independent of the hypervisor's reader.
 */
#include "cpio.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void append(struct cpio *c, const void *data, size_t size)
{
	size_t padded = (size + 3) / 4 * 4;

	c->data = realloc(c->data, c->size + padded);
	memset(c->data + c->size, 0, padded);
	if (size)
		memcpy(c->data + c->size, data, size);
	c->size += padded;
}

void cpio_add_raw(struct cpio *c, uint32_t mode, const char *name,
		  size_t name_size, const void *data, size_t size)
{
	size_t head_size = 110 + name_size;
	char *head = malloc(head_size + 1);

	sprintf(head, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x"
		"%08x", 1u, mode, 0u, 0u, 1u, 0u, (unsigned int)size, 0u, 0u,
		0u, 0u, (unsigned int)name_size, 0u);
	memcpy(head + 110, name, name_size);
	append(c, head, head_size);
	append(c, data, size);
	free(head);
}

void cpio_add(struct cpio *c, const char *name, const void *data, size_t size)
{
	cpio_add_raw(c, 0100644, name, strlen(name) + 1, data, size);
}

void cpio_end(struct cpio *c)
{
	cpio_add_raw(c, 0, "TRAILER!!!", 11, NULL, 0);
}

void cpio_free(struct cpio *c)
{
	free(c->data);
	*c = (struct cpio){ NULL, 0 };
}
