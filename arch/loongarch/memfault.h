/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What memfault.c and the files it is made of share: translation of a guest
 * address, and loads and stores that are carried out for the guest.
 */
#ifndef LOONGARCH_MEMFAULT_H
#define LOONGARCH_MEMFAULT_H

#include "la.h"

/* Result of a translation by the guest's own rules. */
enum map_kind { MAP_OK, MAP_REFILL, MAP_FAULT };

struct la_map {
	enum map_kind kind;
	unsigned int ecode, esub;	/* MAP_FAULT */
	gpa_t gpa;			/* MAP_OK */
	uint64_t rights;		/* PTE_D, PTE_NR, PTE_NX */
	bool cached;			/* memory type */
};

void la_translate(const struct vcpu *v, gva_t va, enum la_access acc,
		  struct la_map *m);

/* Can hardware translate @va through a TLB at PLV3? */
static inline bool la_canonical(gva_t va)
{
	return (gva_t)((int64_t)(va << (64 - LA_VALEN)) >>
		       (64 - LA_VALEN)) == va;
}

/*
 * refill.c: does what the guest's refill handler would do for @badv, if it is
 * the usual walk of page tables. False: it is not, nothing is changed.
 */
bool refill_walk(struct vcpu *v, gva_t badv, uint64_t badi);

/*
 * ldst.c: the load or store that faulted at @gva, whose address is @gpa: RAM or
 * a device.
 */
enum exit_action ldst_emulate(struct vcpu *v, gva_t gva, gpa_t gpa);

#endif
