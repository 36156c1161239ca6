// SPDX-License-Identifier: BSD-2-Clause
/*
 * LDDIR and LDPTE: one step each of a walk of the guest's page tables for
 * TLBRBADV (Reference Manual 4.2.5, 5.4.5). Table addresses are guest physical;
 * one that is no RAM reads 0, an invalid entry.
 */
#include "la.h"

#include "host.h"
#include "vm.h"

#define PHYS		BITS(LA_PALEN - 1, 0)
#define PTE_FIELDS							\
	(BITS(6, 0) | PTE_PPN | PTE_NR | PTE_NX | PTE_RPLV)

/* In a huge page entry on its way from LDDIR to LDPTE: the level. */
#define HUGE_LEVEL_SHIFT	13
#define HUGE_LEVEL	BITS(14, 13)

struct geometry {
	unsigned int base, width;	/* of the index, in bits */
};

/* Level 0 is the table of pages. PWCL has three pairs of 5 bits, PWCH two of 6
 * bits. */
static inline struct geometry geometry(const struct vcpu *v, unsigned int level)
{
	uint64_t f;

	if (level < 3) {
		f = v->arch.csr.pwcl >> 10 * level;
		return (struct geometry){ f & 31, f >> 5 & 31 };
	}
	f = v->arch.csr.pwch >> 12 * (level - 3);
	return (struct geometry){ f & 63, f >> 6 & 63 };
}

static uint64_t index_of(const struct vcpu *v, struct geometry g)
{
	return v->arch.csr.tlbrbadv >> g.base & (BIT(g.width) - 1);
}

static const struct vm_slot *slot_of(const struct vm *vm, gpa_t gpa)
{
	for (unsigned int i = 0; i < vm->nr_slots; i++)
		if (range_inside(gpa - vm->slots[i].gpa, 8, vm->slots[i].size))
			return &vm->slots[i];
	return NULL;
}

/* Another vCPU may write the entry at the same time: one load. */
static inline uint64_t table_read(struct vcpu *v, uint64_t base, uint64_t index)
{
	gpa_t gpa = (base | index << 3) & PHYS & ~UINT64_C(7);
	const struct vm_slot *s = v->arch.mem.tables;

	if (!s || !range_inside(gpa - s->gpa, 8, s->size)) {
		s = slot_of(v->vm, gpa);
		if (!s)
			return 0;
		v->arch.mem.tables = s;
	}
	return *(const volatile uint64_t *)(s->pa + (gpa - s->gpa));
}

uint64_t vtlb_lddir(struct vcpu *v, uint64_t base, unsigned int level)
{
	if (level < 1 || level > 4)
		return base;
	if (base & PTE_HUGE) {
		/* Found a level above; level 4 has none. */
		if (level < 4 && !(base & HUGE_LEVEL))
			base |= (uint64_t)level << HUGE_LEVEL_SHIFT;
		return base;
	}
	base = table_read(v, base, index_of(v, geometry(v, level)));
	return base & PTE_HUGE ? base : base & PHYS;
}

static void huge(const struct vcpu *v, uint64_t *pte, unsigned int *ps,
		 bool odd)
{
	unsigned int level = (unsigned int)(*pte & HUGE_LEVEL) >>
			     HUGE_LEVEL_SHIFT;
	struct geometry g = geometry(v, level);

	/* An entry maps a pair, so each page is half of it. */
	*ps = (g.base + g.width - 1) & 63;
	*pte &= ~(HUGE_LEVEL | PTE_G);
	if (*pte & PTE_HGLOBAL)
		*pte = (*pte & ~PTE_HGLOBAL) | PTE_G;
	*pte &= PTE_FIELDS;
	if (odd)
		*pte += BIT(*ps);
}

void vtlb_ldpte(struct vcpu *v, uint64_t base, bool odd)
{
	struct la_csr *c = &v->arch.csr;
	struct geometry g = geometry(v, 0);
	unsigned int ps = g.base;
	uint64_t pte = base;

	if (base & PTE_HUGE)
		huge(v, &pte, &ps, odd);
	else
		pte = table_read(v, base, (index_of(v, g) & ~UINT64_C(1)) |
						  odd) & PTE_FIELDS;
	if (odd)
		c->tlbrelo1 = pte;
	else
		c->tlbrelo0 = pte;
	c->tlbrehi = (c->tlbrehi & ~TLBREHI_PS) | ps;
}
