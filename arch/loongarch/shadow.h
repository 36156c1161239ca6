/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shadow translation of a vCPU: real page tables and real ASIDs for what the
 * guest may reach, one context for every pair of guest mode and guest ASID. All
 * functions on the pCPU that has the vCPU loaded, but init, fini, reset.
 *
 * Invariant: a leaf is there only while the guest's direct address mode, one of
 * its windows or its virtual TLB gives the same translation with at least the
 * same rights; the real TLB has no more than the leaves of contexts whose ASID
 * is valid on its CPU.
 */
#ifndef LOONGARCH_SHADOW_H
#define LOONGARCH_SHADOW_H

#include "la.h"

/* ERR_NOMEM. Reverse and reset: not loaded. */
int shadow_init(struct vcpu *v);
void shadow_fini(struct vcpu *v);
void shadow_reset(struct vcpu *v);

/* The vCPU came onto this pCPU: registers point to its current context. */
void shadow_load(struct vcpu *v);

/* Makes the context of the guest's mode the current one. */
void shadow_select(struct vcpu *v);

/*
 * The page of @va in the current context is the host page at @pa, with the
 * rights PTE_D, PTE_NR and PTE_NX of @rights.
 */
void shadow_fill(struct vcpu *v, gva_t va, paddr_t pa, uint64_t rights);

/* Nothing is left of [va, va + size) in the contexts of @asid, or all paged
 * ones (@global). Both a multiple of an even and odd page pair. */
void shadow_clear(struct vcpu *v, uint64_t asid, bool global, gva_t va,
		  uint64_t size);

/* Nothing is left of the paged contexts, of @asid only when @by_asid. */
void shadow_drop(struct vcpu *v, bool by_asid, uint64_t asid);

#endif
