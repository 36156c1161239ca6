// SPDX-License-Identifier: BSD-2-Clause
/*
 * Privileged instructions of a guest at virtual PLV0 but those that reach CSRs
 * (Reference Manual 4.2). Each of them trapped before it did anything, with its
 * word in BADI. What is not in this table is not privileged, or does not exist.
 */
#include "la.h"

/* Fields of an instruction word. */
#define RD(w)		((w) & 31)
#define RJ(w)		((w) >> 5 & 31)
#define RK(w)		((w) >> 10 & 31)
#define UI8(w)		((w) >> 10 & 0xff)

static enum exit_action next(struct vcpu *v)
{
	exit_skip(v);
	return ACT_RESUME;
}

static enum exit_action nonexistent(struct vcpu *v, uint32_t w)
{
	inject_insn(v, ECODE_INE, 0, w);
	return ACT_RESUME;
}

static uint64_t sign_extend(uint64_t val, unsigned int bytes)
{
	unsigned int shift = 64 - 8 * bytes;

	return (uint64_t)((int64_t)(val << shift) >> shift);
}

static enum exit_action on_iocsr_read(struct vcpu *v, uint32_t w)
{
	unsigned int size = 1u << (w >> 10 & 3);
	uint64_t val = vintc_iocsr_read(v, (uint32_t)reg_read(v, RJ(w)), size);

	reg_write(v, RD(w), sign_extend(val, size));
	return next(v);
}

static enum exit_action on_iocsr_write(struct vcpu *v, uint32_t w)
{
	unsigned int size = 1u << (w >> 10 & 3);
	uint64_t val = reg_read(v, RD(w)) & (~UINT64_C(0) >> (64 - 8 * size));

	vintc_iocsr_write(v, (uint32_t)reg_read(v, RJ(w)), size, val);
	return next(v);
}

static enum exit_action on_ertn(struct vcpu *v, uint32_t w)
{
	struct la_csr *c = &v->arch.csr;
	uint64_t mode, we;

	(void)w;
	c->llbctl &= ~LLBCTL_KLO;
	if (c->tlbrera & TLBRERA_ISTLBR) {
		c->tlbrera &= ~TLBRERA_ISTLBR;
		mode = c->tlbrprmd & (TLBRPRMD_PPLV | TLBRPRMD_PIE);
		we = c->tlbrprmd & TLBRPRMD_PWE;
		c->crmd = (c->crmd & ~CRMD_DA) | CRMD_PG;
		v->arch.regs.pc = c->tlbrera & TLBRERA_PC;
	} else {
		mode = c->prmd & (PRMD_PPLV | PRMD_PIE);
		we = c->prmd & PRMD_PWE;
		v->arch.regs.pc = c->era;
	}
	c->crmd = (c->crmd & ~(CRMD_PLV | CRMD_IE | CRMD_WE)) | mode |
		  (we ? CRMD_WE : 0);
	mem_mode(v);
	if (c->crmd & CRMD_IE)
		la_irq_changed(v);
	return ACT_RESUME;
}

static enum exit_action on_idle(struct vcpu *v, uint32_t w)
{
	(void)w;
	exit_skip(v);
	v->arch.exit->kind = EXIT_IDLE;
	return ACT_LEAVE;
}

static enum exit_action on_invtlb(struct vcpu *v, uint32_t w)
{
	if (!vtlb_inv(v, RD(w), reg_read(v, RJ(w)), reg_read(v, RK(w))))
		return nonexistent(v, w);
	return next(v);
}

static enum exit_action on_lddir(struct vcpu *v, uint32_t w)
{
	reg_write(v, RD(w), vtlb_lddir(v, reg_read(v, RJ(w)), UI8(w)));
	return next(v);
}

static enum exit_action on_ldpte(struct vcpu *v, uint32_t w)
{
	vtlb_ldpte(v, reg_read(v, RJ(w)), UI8(w) & 1);
	return next(v);
}

/*
 * Caches are coherent for everything a guest can do, so there is nothing to
 * write back or invalidate for it, and an operation by index would hit others'
 * data. One by address is translated as a load, with its exceptions.
 */
static enum exit_action on_cacop(struct vcpu *v, uint32_t w)
{
	int64_t offset = (int64_t)((uint64_t)w << 42) >> 52;
	bool hit = (w >> 3 & 3) == 2;
	gpa_t gpa;

	if (hit && !mem_access(v, reg_read(v, RJ(w)) + (uint64_t)offset,
			       ACC_READ, &gpa))
		return ACT_RESUME;
	return next(v);
}

static enum exit_action on_tlb_op(struct vcpu *v, uint32_t w)
{
	static void (*const op[])(struct vcpu *v) = {
		vtlb_clr, vtlb_flush, vtlb_srch, vtlb_rd, vtlb_wr, vtlb_fill,
	};

	op[(w - 0x06482000) >> 10](v);
	return next(v);
}

/* By word & mask == match, the frequent ones first. */
static const struct {
	uint32_t match, mask;
	enum exit_action (*handle)(struct vcpu *v, uint32_t w);
} insns[] = {
	{ 0x06483800, 0xffffffff, on_ertn },
	{ 0x06480000, 0xfffff000, on_iocsr_read },	/* b, h, w, d */
	{ 0x06481000, 0xfffff000, on_iocsr_write },
	{ 0x06488000, 0xffff8000, on_idle },
	{ 0x06482000, 0xfffff3ff, on_tlb_op },	/* clr flush srch rd */
	{ 0x06483000, 0xfffffbff, on_tlb_op },	/* wr fill */
	{ 0x06400000, 0xfffc0000, on_lddir },
	{ 0x06440000, 0xfffc001f, on_ldpte },
	{ 0x06498000, 0xffff8000, on_invtlb },
	{ 0x06000000, 0xffc00000, on_cacop },
};

enum exit_action priv_handle(struct vcpu *v, uint32_t w)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(insns); i++)
		if ((w & insns[i].mask) == insns[i].match)
			return insns[i].handle(v, w);
	/* DBCL among them: debug mode does not exist. */
	return nonexistent(v, w);
}
