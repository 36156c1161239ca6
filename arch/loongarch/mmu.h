/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How the hypervisor reaches memory: two direct mapped windows, open to PLV 0
 * only. Segment 0 is memory, at its physical address; segment 8 is the same
 * address space uncached and strongly ordered, for device registers. Guests run
 * at PLV 3, where neither exists, so their own mappings may use the same
 * addresses. The numbers are for assembly, too.
 */
#ifndef LOONGARCH_MMU_H
#define LOONGARCH_MMU_H

#define DMW_RAM		0x0000000000000011	/* coherent cached, PLV 0 */
#define DMW_DEVICE	0x8000000000000001	/* uncached, PLV 0 */

/* CRMD: interrupts masked; with paging, untranslated accesses are cached. */
#define CRMD_BOOT_DA	0x08
#define CRMD_HYP	0xb0

/*
 * PWCL and PWCH: tables of four levels of 9 bits each above pages of 4 KiB,
 * 64-bit entries. The shadow tables have this shape, so it never changes.
 */
#define HOST_PWCL	(12 | 9 << 5 | 21 << 10 | 9 << 15 | 30 << 20 | 9 << 25)
#define HOST_PWCH	(39 | 9 << 6)

/*
 * A stack and below it as much that nobody uses: a window has no guard pages,
 * so what has run over the end of a stack is found there.
 */
#define STACK_SIZE	16384
#define STACK_GUARD	16384

#ifndef __ASSEMBLY__

#include "types.h"

/* Prepares the guard below the stack that ends at @top; is it untouched? */
void stack_guard(uint64_t top);
bool stack_intact(uint64_t top);

/* Is [@pa, @pa+@size) host RAM, image included? For dumps. */
bool mmu_is_ram(paddr_t pa, uint64_t size);

#endif
#endif
