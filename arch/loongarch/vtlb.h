/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The guest's TLB as it knows it: 8 x 256 entries of one page size (STLB) and
 * 64 of any (MTLB), numbered as QEMU numbers them: way * 256 + set, then the
 * MTLB. Per vCPU; only the pCPU that has it loaded touches it. Depends on
 * struct la_csr and shadow_clear() only, so that a host program can test it.
 */
#ifndef LOONGARCH_VTLB_H
#define LOONGARCH_VTLB_H

#include "la.h"

#define LA_TLB_ENTRIES	(LA_STLB + LA_MTLB)

/* An even and an odd page. */
struct vtlb_entry {
	uint64_t tag;		/* VPPN in place and the fields below */
	uint64_t above;		/* address bits that it compares, by its size */
	uint64_t lo[2];		/* as TLBELO0 and TLBELO1 */
};

#define TAG_ASID	BITS(9, 0)
#define TAG_G		BIT(10)
#define TAG_E		BIT(11)	/* the entry exists */
#define TAG_FIELDS	BITS(11, 0)	/* those below the address */
#define TAG_PS_SHIFT	48
#define TAG_PS		BITS(53, 48)

struct vtlb {
	struct vtlb_entry e[LA_TLB_ENTRIES];
	uint64_t sets[LA_STLB_SETS / 64];	/* that may have entries */
	uint64_t mtlb;				/* entries that exist */
	uint32_t victim;
	uint32_t last;				/* entry written last */
};

static inline unsigned int vtlb_ps(const struct vtlb_entry *e)
{
	return (unsigned int)((e->tag & TAG_PS) >> TAG_PS_SHIFT);
}

/* The entry that translates @va under the current ASID, or NULL. */
const struct vtlb_entry *vtlb_find(const struct vcpu *v, gva_t va);

/* All entries are gone; the shadow is the caller's. */
void vtlb_reset(struct vtlb *t);

#endif
