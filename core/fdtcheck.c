// SPDX-License-Identifier: BSD-2-Clause
/*
 * Checks a hostile device tree. No state, no lock.
 */
#include "fdtcheck.h"

#include <libfdt.h>

int fdtcheck(const void *fdt, uint64_t size)
{
	if (size < sizeof(struct fdt_header))
		return -FDT_ERR_TRUNCATED;
	if (fdt_magic(fdt) != FDT_MAGIC)
		return -FDT_ERR_BADMAGIC;
	/* Misaligned blocks would be read by misaligned loads. */
	if (!is_aligned(fdt_off_mem_rsvmap(fdt), 8) ||
	    !is_aligned(fdt_off_dt_struct(fdt), FDT_TAGSIZE))
		return -FDT_ERR_ALIGNMENT;
	return fdt_check_full(fdt, size);
}
