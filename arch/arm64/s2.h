/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stage-2 translation as an object: 4 KiB granule, blocks of 2 MiB and 1 GiB,
 * lookup from level 1 with concatenated root tables. Each object has a VMID of
 * its own, so a VM may own several. Mappings change while no vCPU of the VM
 * runs, or only from invalid to valid; removal is safe at any time.
 */
#ifndef ARM64_S2_H
#define ARM64_S2_H

#include "types.h"

#include <arch/types.h>

struct vcpu;

/* Boot: size of the IPA space and VTCR_EL2 from the CPU's ID registers. */
void s2_boot(void);
uint64_t s2_vtcr(void);
unsigned int s2_ipa_bits(void);

/* New empty translation with a VMID; ERR_NOMEM. Frees everything. */
int s2_init(struct s2 *s);
void s2_fini(struct s2 *s);

/*
 * Maps RAM, all page aligned, with rights of enum s2_prot bits. Nothing may be
 * mapped there. ERR_NOMEM (what was mapped so far stays; s2_fini frees it),
 * ERR_INVAL beyond the IPA space.
 */
enum s2_prot { S2_READ = 1, S2_WRITE = 2, S2_EXEC = 4 };
int s2_map(struct s2 *s, gpa_t gpa, paddr_t pa, uint64_t size,
	   unsigned int prot);

/*
 * Changes the rights of, or with @prot 0 removes, all mappings in the range.
 * Break before make; stale TLB entries are gone on every CPU on return. A
 * block that is only partly inside is split; ERR_NOMEM then changes nothing
 * from that block on.
 */
int s2_protect(struct s2 *s, gpa_t gpa, uint64_t size, unsigned int prot);

/*
 * Makes @s the stage 2 of this CPU for @v. Invalidates this CPU's entries when
 * another vCPU used the VMID here last: each vCPU must see private TLBs.
 */
void s2_load(struct s2 *s, const struct vcpu *v);

/* Leaf entry for @gpa and its level (1..3), 0 when there is none. */
uint64_t s2_lookup(const struct s2 *s, gpa_t gpa, unsigned int *level);

#endif
