/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Is a file that claims to be a device tree one that libfdt can read safely?
 */
#ifndef CORE_FDTCHECK_H
#define CORE_FDTCHECK_H

#include "types.h"

/*
 * Checks the @size bytes at @fdt, 8-byte aligned, for everything that libfdt's
 * read-only functions take for granted, alignment of the blocks included, which
 * fdt_check_full() leaves out. 0 or a libfdt error. Pure.
 */
int fdtcheck(const void *fdt, uint64_t size);

#endif
