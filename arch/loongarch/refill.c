// SPDX-License-Identifier: BSD-2-Clause
/*
 * TLB refill on behalf of the guest. If its handler is the walk by LDDIR and
 * LDPTE that everybody writes, in any number of levels, the same steps are done
 * here in one exit, where running them would take one for each instruction. The
 * code is compared every time: a guest may change it whenever it likes.
 */
#include "memfault.h"

#include "host.h"
#include "vm.h"

/* Words without their registers. */
#define CSRWR_TLBRSAVE	(0x04000020u | CSR_TLBRSAVE << 10)
#define CSRRD_PGD	(0x04000000u | CSR_PGD << 10)
#define CSRRD_TLBRSAVE	(0x04000000u | CSR_TLBRSAVE << 10)
#define LDDIR		0x06400000u	/* rd, rj, level << 10 */
#define LDPTE		0x06440000u	/* rj, odd << 10 */
#define TLBFILL		0x06483400u
#define ERTN		0x06483800u

#define HANDLER_MAX	12		/* instructions, with four levels */

struct walk {
	unsigned int levels;
	uint8_t level[4];		/* operands of LDDIR */
};

/* The handler with scratch register @r; false: another one. */
static bool parse(const uint32_t *code, struct walk *w)
{
	uint32_t r = code[0] & 31, rd_rj = r | r << 5;
	const uint32_t *p = code + 2;

	if (!r || code[0] != (CSRWR_TLBRSAVE | r) ||
	    code[1] != (CSRRD_PGD | r))
		return false;
	for (w->levels = 0; w->levels < ARRAY_SIZE(w->level); p++) {
		if ((*p & ~(UINT32_C(0xff) << 10)) != (LDDIR | rd_rj))
			break;
		w->level[w->levels++] = (uint8_t)(*p >> 10);
	}
	return p[0] == (LDPTE | r << 5) &&
	       p[1] == (LDPTE | UINT32_C(1) << 10 | r << 5) &&
	       p[2] == TLBFILL && p[3] == (CSRRD_TLBRSAVE | r) && p[4] == ERTN;
}

/* The handler's words, from one page; false: not RAM. */
static bool fetch(const struct vcpu *v, uint32_t *code)
{
	const uint32_t *p = vm_ram(v->vm, v->arch.csr.tlbrentry,
				   HANDLER_MAX * sizeof(*code));

	if (!p)
		return false;
	for (unsigned int i = 0; i < HANDLER_MAX; i++)
		code[i] = __atomic_load_n(&p[i], __ATOMIC_RELAXED);
	return true;
}

bool refill_walk(struct vcpu *v, gva_t badv, uint64_t badi)
{
	struct la_csr *c = &v->arch.csr;
	uint32_t code[HANDLER_MAX];
	struct walk w;
	uint64_t base;

	if (!fetch(v, code) || !parse(code, &w))
		return false;
	/* What the exception leaves behind, then each instruction. */
	refill_registers(v, badv, badi);
	c->tlbrsave = reg_read(v, code[0] & 31);
	base = badv & BIT(63) ? c->pgdh : c->pgdl;
	for (unsigned int i = 0; i < w.levels; i++)
		base = vtlb_lddir(v, base, w.level[i]);
	vtlb_ldpte(v, base, false);
	vtlb_ldpte(v, base, true);
	vtlb_fill(v);
	c->tlbrera &= ~TLBRERA_ISTLBR;
	c->llbctl &= ~LLBCTL_KLO;
	return true;
}
