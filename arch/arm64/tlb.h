/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TLB maintenance of stage 2, with the barriers that belong to it. At E2H=1 and
 * TGE=0 the operations act on the VMID in VTTBR_EL2, so those for a VMID put
 * it there for a moment. Any CPU, IRQs masked.
 */
#ifndef ARM64_TLB_H
#define ARM64_TLB_H

#include "types.h"

/* Table entries written so far become visible to every table walker. */
void tlb_publish(void);

/*
 * Invalidates, on every CPU, what is cached for the page or block at @ipa, or
 * for the whole VMID of @vttbr, combined entries too. Done on return.
 */
void tlb_flush_ipa(uint64_t vttbr, gpa_t ipa);
void tlb_flush_vmid(uint64_t vttbr);

/* Makes @vttbr the stage 2 of this CPU, if it is not already. */
void tlb_switch(uint64_t vttbr);

/* Takes @vttbr off this CPU if it is there: nothing walks its tables here. */
void tlb_forget(uint64_t vttbr);

/* Invalidates this CPU's entries of the current VMID, and its I-cache. */
void tlb_flush_local(void);

#endif
