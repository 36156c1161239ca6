/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What portable code wants to know from the host device tree: RAM, reserved
 * memory and /chosen. The tree comes from firmware and may be odd, never
 * trusted: what does not parse is a config_error() that names the node.
 * CPUs and devices are the architecture's business. Boot CPU only.
 */
#ifndef CORE_HFDT_H
#define CORE_HFDT_H

#include "image.h"
#include "types.h"

struct hfdt_range {
	paddr_t base;
	uint64_t size;		/* bytes, never 0, base + size never wraps */
};

#define HFDT_RANGES	64

/* A fixed-size list; what does not fit is a config_error(). */
struct hfdt_list {
	unsigned int n;
	struct hfdt_range r[HFDT_RANGES];
};

/* Appends @base..@base+@size, if not empty, naming @what in an error. */
void hfdt_append(struct hfdt_list *list, paddr_t base, uint64_t size,
		 const char *what);

/* Is the tree usable at all? config_error() otherwise. Call it first. */
void hfdt_check(void);

/* Banks of RAM, in the order of the tree; empty banks are left out. */
void hfdt_ram(struct hfdt_list *out);

/* What firmware keeps: /reserved-memory with a fixed place, the memory
 * reservation block, and the tree itself. */
void hfdt_reserved(struct hfdt_list *out);

/* What must not even be mapped, since others have it with attributes of their
 * own: /reserved-memory with a fixed place and no-map. */
void hfdt_no_map(struct hfdt_list *out);

/*
 * Calls @fn for every piece of @ram that no range of @used touches, whole
 * pages only, in ascending order within a bank.
 */
void hfdt_rest(const struct hfdt_list *ram, const struct hfdt_list *used,
	       void (*fn)(paddr_t base, uint64_t size));

/* /chosen/bootargs, or NULL. */
const char *hfdt_bootargs(void);

/* /chosen/linux,initrd-start and -end, 32 or 64 bits wide; false: none. */
bool hfdt_initrd(struct blob *out);

#endif
