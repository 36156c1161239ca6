// SPDX-License-Identifier: BSD-2-Clause
/*
 * TLB instructions of the guest (Reference Manual 4.2.4 and 5.4). Whatever
 * removes or replaces an entry removes its shadow first (drop), so the shadow
 * never has a translation that is not here.
 */
#include "vtlb.h"

#include "shadow.h"

#include <string.h>

#define VA_BITS		BITS(LA_VALEN - 1, 0)

static struct vtlb *tlb(const struct vcpu *v)
{
	return v->arch.mem.vtlb;
}

static bool refilling(const struct vcpu *v)
{
	return v->arch.csr.tlbrera & TLBRERA_ISTLBR;
}

static unsigned int set_of(const struct vcpu *v, gva_t va)
{
	return (va >> (v->arch.csr.stlbps + 1)) % LA_STLB_SETS;
}

static uint64_t above(uint64_t ps)
{
	return VA_BITS & (~UINT64_C(0) << (ps + 1));
}

/* Does @e exist for @va and, unless it is global, for @asid? */
static inline bool matches(const struct vtlb_entry *e, gva_t va, uint64_t asid)
{
	uint64_t diff = e->tag ^ ((va & ~TAG_FIELDS) | TAG_E | asid);

	if (diff & (e->above | TAG_E))
		return false;
	return !(diff & TAG_ASID) || e->tag & TAG_G;
}

static int find(const struct vcpu *v, gva_t va, uint64_t asid)
{
	const struct vtlb *t = tlb(v);
	unsigned int set = set_of(v, va);

	if (t->sets[set / 64] & BIT(set % 64)) {
#pragma GCC unroll 8
		for (unsigned int w = 0; w < LA_STLB_WAYS; w++) {
			unsigned int i = w * LA_STLB_SETS + set;

			if (matches(&t->e[i], va, asid))
				return (int)i;
		}
	}
	for (uint64_t m = t->mtlb; m; m &= m - 1) {
		unsigned int i = LA_STLB + (unsigned int)__builtin_ctzll(m);

		if (matches(&t->e[i], va, asid))
			return (int)i;
	}
	return -1;
}

const struct vtlb_entry *vtlb_find(const struct vcpu *v, gva_t va)
{
	const struct vtlb *t = tlb(v);
	int i;

	/* After a refill it is this one. */
	if (matches(&t->e[t->last], va, v->arch.csr.asid))
		return &t->e[t->last];
	i = find(v, va, v->arch.csr.asid);
	return i < 0 ? NULL : &t->e[i];
}

/* ---- changing entries ---------------------------------------------------- */

static void drop(struct vcpu *v, unsigned int i)
{
	struct vtlb_entry *e = &tlb(v)->e[i];

	if (!(e->tag & TAG_E))
		return;
	e->tag &= ~TAG_E;
	if (i >= LA_STLB)
		tlb(v)->mtlb &= ~BIT(i - LA_STLB);
	shadow_clear(v, e->tag & TAG_ASID, e->tag & TAG_G,
		     (e->tag & TLBEHI_VPPN) >> (vtlb_ps(e) + 1)
						       << (vtlb_ps(e) + 1),
		     UINT64_C(2) << vtlb_ps(e));
}

static bool ps_valid(uint64_t ps)
{
	return LA_PAGE_SIZES >> ps & 1;
}

/* The page size operand of TLBWR and TLBFILL. */
static uint64_t operand_ps(const struct vcpu *v)
{
	const struct la_csr *c = &v->arch.csr;

	if (refilling(v))
		return c->tlbrehi & TLBREHI_PS;
	return (c->tlbidx & TLBIDX_PS) >> TLBIDX_PS_SHIFT;
}

/* Entry @i becomes what the registers say; the STLB has one page size. */
static void put(struct vcpu *v, unsigned int i)
{
	const struct la_csr *c = &v->arch.csr;
	struct vtlb *t = tlb(v);
	uint64_t lo0 = refilling(v) ? c->tlbrelo0 : c->tlbelo0;
	uint64_t lo1 = refilling(v) ? c->tlbrelo1 : c->tlbelo1;
	uint64_t hi = refilling(v) ? c->tlbrehi : c->tlbehi;
	uint64_t ps = i < LA_STLB ? c->stlbps : operand_ps(v);

	drop(v, i);
	/* Software may write one where a search does not look for it. */
	if (i >= LA_STLB || i % LA_STLB_SETS == set_of(v, hi & TLBEHI_VPPN))
		t->last = i;
	t->e[i].tag = (hi & TLBEHI_VPPN) | c->asid | TAG_E |
		      (lo0 & lo1 & PTE_G ? TAG_G : 0) | ps << TAG_PS_SHIFT;
	t->e[i].above = above(ps);
	t->e[i].lo[0] = lo0;
	t->e[i].lo[1] = lo1;
	if (i < LA_STLB)
		t->sets[i % LA_STLB_SETS / 64] |= BIT(i % 64);
	else
		t->mtlb |= BIT(i - LA_STLB);
}

/* Victims in turn: a guest must not rely on any order. */
static unsigned int victim(struct vcpu *v, uint64_t ps)
{
	uint64_t hi = refilling(v) ? v->arch.csr.tlbrehi : v->arch.csr.tlbehi;
	uint32_t n = tlb(v)->victim++;

	if (ps != v->arch.csr.stlbps)
		return LA_STLB + n % LA_MTLB;
	return n % LA_STLB_WAYS * LA_STLB_SETS + set_of(v, hi & TLBEHI_VPPN);
}

void vtlb_reset(struct vtlb *t)
{
	memset(t, 0, sizeof(*t));
}

/* ---- TLBSRCH, TLBRD, TLBWR, TLBFILL -------------------------------------- */

void vtlb_srch(struct vcpu *v)
{
	struct la_csr *c = &v->arch.csr;
	int i = find(v, refilling(v) ? c->tlbrehi : c->tlbehi, c->asid);

	if (i < 0)
		c->tlbidx |= TLBIDX_NE;
	else
		c->tlbidx = (c->tlbidx & ~(TLBIDX_NE | TLBIDX_INDEX)) |
			    (unsigned int)i;
}

/* An index that does not exist reads as an entry that does not. */
void vtlb_rd(struct vcpu *v)
{
	struct la_csr *c = &v->arch.csr;
	uint64_t i = c->tlbidx & TLBIDX_INDEX;
	struct vtlb_entry e = {};

	if (i < LA_TLB_ENTRIES && tlb(v)->e[i].tag & TAG_E)
		e = tlb(v)->e[i];
	c->tlbidx &= ~(TLBIDX_NE | TLBIDX_PS);
	c->tlbidx |= (uint64_t)vtlb_ps(&e) << TLBIDX_PS_SHIFT |
		     (e.tag & TAG_E ? 0 : TLBIDX_NE);
	c->tlbehi = la_vppn(e.tag & TLBEHI_VPPN);
	c->tlbelo0 = e.lo[0];
	c->tlbelo1 = e.lo[1];
	c->asid = e.tag & TAG_ASID;
	mem_mode(v);
}

void vtlb_wr(struct vcpu *v)
{
	uint64_t i = v->arch.csr.tlbidx & TLBIDX_INDEX;

	if (i >= LA_TLB_ENTRIES)
		return;
	if (!refilling(v) && v->arch.csr.tlbidx & TLBIDX_NE)
		drop(v, (unsigned int)i);
	else if (ps_valid(operand_ps(v)))
		put(v, (unsigned int)i);
}

void vtlb_fill(struct vcpu *v)
{
	uint64_t ps = operand_ps(v);

	if (ps_valid(ps))
		put(v, victim(v, ps));
}

/* ---- TLBCLR, TLBFLUSH, INVTLB -------------------------------------------- */

/* Which entries an instruction takes out. */
struct selection {
	bool g0, g1;		/* those with G = 0, with G = 1 */
	bool by_asid, by_va;	/* of the former only @asid; only at @va */
	uint64_t asid;
	gva_t va;
};

static bool selected(const struct vtlb_entry *e, const struct selection *s)
{
	uint64_t above = VA_BITS & (~UINT64_C(0) << (vtlb_ps(e) + 1));

	if (!(e->tag & TAG_E) || !(e->tag & TAG_G ? s->g1 : s->g0))
		return false;
	if (s->by_asid && !(e->tag & TAG_G) && (e->tag & TAG_ASID) != s->asid)
		return false;
	return !s->by_va || !((e->tag ^ s->va) & above);
}

static void drop_set(struct vcpu *v, unsigned int set,
		     const struct selection *s)
{
	if (!(tlb(v)->sets[set / 64] & BIT(set % 64)))
		return;
	for (unsigned int i = set; i < LA_STLB; i += LA_STLB_SETS)
		if (selected(&tlb(v)->e[i], s))
			drop(v, i);
}

static void drop_mtlb(struct vcpu *v, const struct selection *s)
{
	for (uint64_t m = tlb(v)->mtlb; m; m &= m - 1) {
		unsigned int i = LA_STLB + (unsigned int)__builtin_ctzll(m);

		if (selected(&tlb(v)->e[i], s))
			drop(v, i);
	}
}

/* The line that TLBIDX names: one set of the STLB, or the whole MTLB. */
static void drop_line(struct vcpu *v, const struct selection *s)
{
	uint64_t i = v->arch.csr.tlbidx & TLBIDX_INDEX;

	if (i < LA_STLB)
		drop_set(v, i % LA_STLB_SETS, s);
	else if (i < LA_TLB_ENTRIES)
		drop_mtlb(v, s);
}

void vtlb_clr(struct vcpu *v)
{
	struct selection s = { .g0 = true, .by_asid = true };

	s.asid = v->arch.csr.asid;
	drop_line(v, &s);
}

void vtlb_flush(struct vcpu *v)
{
	static const struct selection all = { .g0 = true, .g1 = true };

	drop_line(v, &all);
}

static void erase(struct vtlb_entry *e, const struct selection *s)
{
	if (selected(e, s))
		e->tag &= ~TAG_E;
}

static void erase_stlb(struct vtlb *t, const struct selection *s)
{
	for (unsigned int set = 0; set < LA_STLB_SETS; set++) {
		if (!(t->sets[set / 64] >> set % 64)) {
			set |= 63;	/* nothing further in this word */
			continue;
		}
		for (unsigned int i = set; i < LA_STLB; i += LA_STLB_SETS)
			erase(&t->e[i], s);
	}
}

static void erase_mtlb(struct vtlb *t, const struct selection *s)
{
	for (uint64_t m = t->mtlb; m; m &= m - 1) {
		unsigned int i = (unsigned int)__builtin_ctzll(m);

		erase(&t->e[LA_STLB + i], s);
		if (!(t->e[LA_STLB + i].tag & TAG_E))
			t->mtlb &= ~BIT(i);
	}
}

/* Many entries: the shadow loses all that they may have, at once. */
static void drop_all(struct vcpu *v, const struct selection *s)
{
	struct vtlb *t = tlb(v);

	shadow_drop(v, s->by_asid, s->asid);
	erase_stlb(t, s);
	erase_mtlb(t, s);
	if (s->g0 && s->g1)
		memset(t->sets, 0, sizeof(t->sets));
}

bool vtlb_inv(struct vcpu *v, unsigned int op, uint64_t asid, gva_t va)
{
	/* By number of the operation (Reference Manual, INVTLB). */
	static const struct selection ops[] = {
		{ .g0 = true, .g1 = true },
		{ .g0 = true, .g1 = true },
		{ .g1 = true },
		{ .g0 = true },
		{ .g0 = true, .by_asid = true },
		{ .g0 = true, .by_asid = true, .by_va = true },
		{ .g0 = true, .g1 = true, .by_asid = true, .by_va = true },
	};
	struct selection s;

	if (op >= ARRAY_SIZE(ops))
		return false;
	s = ops[op];
	s.asid = asid & ASID_ASID;
	s.va = va;
	if (s.by_va) {
		drop_set(v, set_of(v, va), &s);
		drop_mtlb(v, &s);
	} else {
		drop_all(v, &s);
	}
	return true;
}
