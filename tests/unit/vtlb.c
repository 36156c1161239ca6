// SPDX-License-Identifier: BSD-2-Clause
// objs: arch/loongarch/vtlb.c
// incs: tests/vgic/include arch/loongarch/include arch/loongarch
/*
 * The TLB that a LoongArch guest sees, against the rules of the manual applied
 * to a plain copy of its entries: searches, reads, writes by index and by the
 * hardware's choice, all operations of INVTLB, TLBCLR and TLBFLUSH, in both
 * page sizes and with global entries. And its promise to the shadow: nothing
 * stays there that is not in the TLB.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shadow.h"
#include "vtlb.h"

enum { STEPS = 30000, ITEMS = 64 };

static struct vcpu vcpu;
static struct vtlb tlb;

/* An entry as it was written. */
static struct {
	bool there, global;
	uint64_t va, asid, lo[2];
	unsigned int ps;
} model[LA_TLB_ENTRIES];

/* Translations that the shadow holds. */
static struct {
	bool there, global;
	uint64_t va, asid, lo;
} shadow[ITEMS];

static uint64_t state = 88172645463325252u;

static uint64_t rnd(uint64_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % n;
}

/* ---- what vtlb.c calls --------------------------------------------------- */

uint64_t la_vppn(gva_t va)
{
	return (uint64_t)((int64_t)(va << 16) >> 16) & ~UINT64_C(0x1fff);
}

void mem_mode(struct vcpu *v)
{
	assert_ptr_equal(v, &vcpu);
}

void shadow_clear(struct vcpu *, uint64_t asid, bool global, gva_t va,
		  uint64_t size)
{
	for (unsigned int i = 0; i < ITEMS; i++)
		if ((shadow[i].va & BITS(47, 0)) - (va & BITS(47, 0)) < size &&
		    (global || shadow[i].asid == asid))
			shadow[i].there = false;
}

void shadow_drop(struct vcpu *, bool by_asid, uint64_t asid)
{
	for (unsigned int i = 0; i < ITEMS; i++)
		if (!by_asid || shadow[i].asid == asid)
			shadow[i].there = false;
}

/* ---- the rules ----------------------------------------------------------- */

static bool covers(unsigned int i, uint64_t va)
{
	unsigned int set = (va >> (vcpu.arch.csr.stlbps + 1)) % LA_STLB_SETS;

	if (!model[i].there ||
	    (model[i].va ^ va) >> (model[i].ps + 1) << (16 + model[i].ps + 1))
		return false;
	return i >= LA_STLB || i % LA_STLB_SETS == set;
}

static bool hits(unsigned int i, uint64_t va, uint64_t asid)
{
	return covers(i, va) && (model[i].global || model[i].asid == asid);
}

static unsigned int how_many(uint64_t va, uint64_t asid)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < LA_TLB_ENTRIES; i++)
		n += hits(i, va, asid);
	return n;
}

/* Few addresses, so that they meet: two halves, few sets, all within a big
 * page or two. */
static uint64_t address(void)
{
	return (rnd(2) ? UINT64_C(0xffff800000000000) : 0) + (rnd(3) << 22) +
	       (rnd(4) << 13) + rnd(0x2000);
}

static uint64_t index_of(const struct vtlb_entry *e)
{
	return (uint64_t)(e - tlb.e);
}

/* ---- operations ---------------------------------------------------------- */

static void look_up(void)
{
	uint64_t va = address(), asid = rnd(4), i;
	const struct vtlb_entry *e;
	struct la_csr *c = &vcpu.arch.csr;

	c->asid = asid;
	e = vtlb_find(&vcpu, va);
	c->tlbehi = la_vppn(va);
	vtlb_srch(&vcpu);
	assert_int_equal(!e, !how_many(va, asid));
	assert_int_equal(!e, !!(c->tlbidx & TLBIDX_NE));
	if (!e)
		return;
	i = index_of(e);
	assert_true(hits((unsigned int)i, va, asid));
	assert_true(hits(c->tlbidx & TLBIDX_INDEX, va, asid));
	assert_memory_equal(e->lo, model[i].lo, sizeof(e->lo));
	assert_int_equal(vtlb_ps(e), model[i].ps);
	/* What a fill of the shadow does. */
	i = rnd(ITEMS);
	shadow[i].there = true;
	shadow[i].va = va;
	shadow[i].asid = asid;
	shadow[i].lo = e->lo[0];
}

static void read_one(void)
{
	struct la_csr *c = &vcpu.arch.csr;
	uint64_t i = rnd(4) ? rnd(LA_TLB_ENTRIES) : rnd(4096);

	c->tlbidx = (c->tlbidx & ~(uint64_t)TLBIDX_INDEX) | i;
	vtlb_rd(&vcpu);
	if (i >= LA_TLB_ENTRIES || !model[i].there) {
		assert_true(c->tlbidx & TLBIDX_NE);
		assert_int_equal(c->tlbehi | c->tlbelo0 | c->tlbelo1, 0);
		return;
	}
	assert_false(c->tlbidx & TLBIDX_NE);
	assert_int_equal(c->asid, model[i].asid);
	assert_int_equal(c->tlbehi, la_vppn(model[i].va));
	assert_int_equal(c->tlbelo0, model[i].lo[0]);
	assert_int_equal(c->tlbelo1, model[i].lo[1]);
	assert_int_equal((c->tlbidx & TLBIDX_PS) >> TLBIDX_PS_SHIFT,
			 model[i].ps);
}

static void note(uint64_t i, unsigned int ps)
{
	const struct la_csr *c = &vcpu.arch.csr;
	bool refill = c->tlbrera & TLBRERA_ISTLBR;

	model[i].there = true;
	model[i].va = refill ? c->tlbrehi : c->tlbehi;
	model[i].asid = c->asid;
	model[i].lo[0] = refill ? c->tlbrelo0 : c->tlbelo0;
	model[i].lo[1] = refill ? c->tlbrelo1 : c->tlbelo1;
	model[i].global = model[i].lo[0] & model[i].lo[1] & PTE_G;
	model[i].ps = i < LA_STLB ? (unsigned int)c->stlbps : ps;
}

/* Operands of a write; returns the page size in them. */
static unsigned int operands(void)
{
	static const unsigned int sizes[] = { 12, 12, 12, 21, 13, 31 };
	struct la_csr *c = &vcpu.arch.csr;
	unsigned int ps = sizes[rnd(6)];

	c->tlbrera = rnd(2) ? TLBRERA_ISTLBR : 0;
	c->asid = rnd(4);
	c->tlbehi = la_vppn(address());
	c->tlbrehi = la_vppn(address()) | ps;
	c->tlbelo0 = rnd(1 << 20) << 12 | (rnd(4) ? 0 : PTE_G);
	c->tlbelo1 = rnd(1 << 20) << 12 | (rnd(4) ? 0 : PTE_G);
	c->tlbrelo0 = c->tlbelo0 ^ 1;
	c->tlbrelo1 = c->tlbelo1 ^ 1;
	c->tlbidx = (uint64_t)ps << TLBIDX_PS_SHIFT;
	return ps;
}

/* 31 is no size of a page: nothing happens. */
static void write_one(void)
{
	unsigned int ps = operands();
	struct la_csr *c = &vcpu.arch.csr;
	/* Where it can be found again, mostly. */
	uint64_t va = c->tlbrera & TLBRERA_ISTLBR ? c->tlbrehi : c->tlbehi;
	uint64_t i = rnd(2) ? LA_STLB + rnd(LA_MTLB) :
			      rnd(LA_STLB_WAYS) * LA_STLB_SETS +
				      (va >> (c->stlbps + 1)) % LA_STLB_SETS;

	if (!rnd(20))
		i = rnd(2) ? (uint64_t)LA_TLB_ENTRIES : rnd(4096);
	c->tlbidx |= i | (rnd(8) ? 0 : TLBIDX_NE);
	if (i < LA_TLB_ENTRIES) {
		if (!(c->tlbrera & TLBRERA_ISTLBR) && c->tlbidx & TLBIDX_NE)
			model[i].there = false;
		else if (ps != 31)
			note(i, ps);
	}
	vtlb_wr(&vcpu);
	c->tlbrera = 0;
}

static void fill_one(void)
{
	unsigned int ps = operands();

	vtlb_fill(&vcpu);
	if (ps != 31) {
		assert_int_equal(tlb.last >= LA_STLB,
				 ps != vcpu.arch.csr.stlbps);
		note(tlb.last, ps);
		assert_true(covers(tlb.last, model[tlb.last].va));
	}
	vcpu.arch.csr.tlbrera = 0;
}

/* INVTLB by number; 0 and 1 are the same. */
static bool goes(unsigned int i, unsigned int op, uint64_t asid, uint64_t va)
{
	bool g = model[i].global, own = model[i].asid == asid;

	switch (op) {
	case 2:
		return g;
	case 3:
		return !g;
	case 4:
		return !g && own;
	case 5:
		return !g && own && covers(i, va);
	case 6:
		return (g || own) && covers(i, va);
	default:
		return true;
	}
}

static void invalidate(void)
{
	unsigned int op = (unsigned int)rnd(7);
	uint64_t asid = rnd(4), va = address();

	/* Mostly the narrow ones, or nothing would be left to look at. */
	if (op < 4 && rnd(10))
		op = 5 + (unsigned int)rnd(2);
	for (unsigned int i = 0; i < LA_TLB_ENTRIES; i++)
		if (goes(i, op, asid, va))
			model[i].there = false;
	assert_true(vtlb_inv(&vcpu, op, asid | 1024, va));
}

/* TLBCLR and TLBFLUSH: the set, or all of the MTLB, that TLBIDX names. */
static void line(void)
{
	uint64_t n = rnd(3) ? rnd(LA_TLB_ENTRIES) : rnd(4096);
	bool all = rnd(2);

	vcpu.arch.csr.tlbidx = n;
	vcpu.arch.csr.asid = rnd(4);
	for (unsigned int i = 0; n < LA_TLB_ENTRIES && i < LA_TLB_ENTRIES; i++)
		if ((n < LA_STLB ? i < LA_STLB && i % LA_STLB_SETS ==
							  n % LA_STLB_SETS
				 : i >= LA_STLB) &&
		    (all || (!model[i].global &&
			     model[i].asid == vcpu.arch.csr.asid)))
			model[i].there = false;
	if (all)
		vtlb_flush(&vcpu);
	else
		vtlb_clr(&vcpu);
}

/* ---- checks -------------------------------------------------------------- */

static bool backed(unsigned int n)
{
	for (unsigned int i = 0; i < LA_TLB_ENTRIES; i++)
		if (hits(i, shadow[n].va, shadow[n].asid) &&
		    model[i].lo[0] == shadow[n].lo)
			return true;
	return false;
}

static void check(void)
{
	for (unsigned int n = 0; n < ITEMS; n++)
		if (shadow[n].there)
			assert_true(backed(n));
}

static void random_life(void **)
{
	memset(&vcpu, 0, sizeof(vcpu));
	vcpu.arch.mem.vtlb = &tlb;
	vtlb_reset(&tlb);
	vcpu.arch.csr.stlbps = 12;
	for (unsigned int n = 0; n < STEPS; n++) {
		switch (rnd(12)) {
		case 0:
			write_one();
			break;
		case 1:
		case 2:
			fill_one();
			break;
		case 3:
			invalidate();
			break;
		case 4:
			read_one();
			break;
		case 5:
			if (!rnd(8))
				line();
			break;
		default:
			look_up();
			break;
		}
		if (n % 8 == 0)
			check();
	}
}

static void odd_operations(void **)
{
	for (unsigned int op = 7; op < 32; op++)
		assert_false(vtlb_inv(&vcpu, op, 0, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_life),
		cmocka_unit_test(odd_operations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
