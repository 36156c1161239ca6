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

#include <string.h>

/* Words without their registers. */
#define CSRWR_TLBRSAVE	(0x04000020u | CSR_TLBRSAVE << 10)
#define CSRRD_PGD	(0x04000000u | CSR_PGD << 10)
#define CSRRD_TLBRSAVE	(0x04000000u | CSR_TLBRSAVE << 10)
#define LDDIR		0x06400000u	/* rd, rj, level << 10 */
#define LDPTE		0x06440000u	/* rj, odd << 10 */
#define TLBFILL		0x06483400u
#define ERTN		0x06483800u

#define HANDLER_MAX	12		/* instructions, with four levels */

/* Fills in what the instructions are. */
static void parse(const uint32_t *code, struct refill_code *c)
{
	uint32_t r = code[0] & 31, rd_rj = r | r << 5;
	const uint32_t *p = code + 2;

	c->scratch = 0;
	if (!r || code[0] != (CSRWR_TLBRSAVE | r) ||
	    code[1] != (CSRRD_PGD | r))
		return;
	for (c->levels = 0; c->levels < ARRAY_SIZE(c->level); p++) {
		if ((*p & ~(UINT32_C(0xff) << 10)) != (LDDIR | rd_rj))
			break;
		c->level[c->levels++] = (uint8_t)(*p >> 10);
	}
	if (p[0] == (LDPTE | r << 5) &&
	    p[1] == (LDPTE | UINT32_C(1) << 10 | r << 5) && p[2] == TLBFILL &&
	    p[3] == (CSRRD_TLBRSAVE | r) && p[4] == ERTN)
		c->scratch = (uint8_t)r;
}

/*
 * What the guest's handler is now; NULL: not the usual one. Read and compared
 * word by word, since other vCPUs may be writing it.
 */
static const struct refill_code *handler(struct vcpu *v)
{
	struct refill_code *c = &v->arch.mem.refill;
	const volatile uint64_t *p = vm_ram(v->vm, v->arch.csr.tlbrentry,
					    sizeof(c->word));
	uint32_t code[HANDLER_MAX];
	bool same = true;

	static_assert(sizeof(code) == sizeof(c->word));
	if (!p || !is_aligned((uintptr_t)p, sizeof(*p)))
		return NULL;
#pragma GCC unroll 6
	for (unsigned int i = 0; i < ARRAY_SIZE(c->word); i++) {
		uint64_t word = p[i];

		same &= word == c->word[i];
		c->word[i] = word;
	}
	if (!same) {
		memcpy(code, c->word, sizeof(code));
		parse(code, c);
	}
	return c->scratch ? c : NULL;
}

bool refill_walk(struct vcpu *v, gva_t badv, uint64_t badi)
{
	const struct refill_code *h = handler(v);
	struct la_csr *c = &v->arch.csr;
	uint64_t base;

	if (!h)
		return false;
	/* What the exception leaves behind, then each instruction. */
	refill_registers(v, badv, badi);
	c->tlbrsave = reg_read(v, h->scratch);
	base = badv & BIT(63) ? c->pgdh : c->pgdl;
	for (unsigned int i = 0; i < h->levels; i++)
		base = vtlb_lddir(v, base, h->level[i]);
	vtlb_ldpte(v, base, false);
	vtlb_ldpte(v, base, true);
	vtlb_fill(v);
	c->tlbrera &= ~TLBRERA_ISTLBR;
	c->llbctl &= ~LLBCTL_KLO;
	return true;
}
