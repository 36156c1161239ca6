// SPDX-License-Identifier: BSD-2-Clause
/*
 * More interrupts than list registers. Kept in are the pending ones of highest
 * priority that the CPU interface could signal, and the active ones of highest
 * priority, which the guest ends first; each kind leaves the other up to half
 * of the registers. What makes us choose again: no pending one left (NPIE), an
 * active one ended that is not in (LRENPIE), a group switched so that others
 * could be signalled (VGrpnEIE, VGrpnDIE). Lock: vgic->lock.
 *
 * Which one ended is not reported. With EOImode 0 it is the one taken last,
 * since guests end interrupts in reverse order, known by the priority that let
 * it preempt the others. Writes to ICC_DIR_EL1 (EOImode 1), which name it, trap
 * while active ones are out, where the CPU can do that.
 */
#include "vgic_over.h"

#include "vgic_hw.h"
#include "vgic_state.h"

/* The best few of many, highest priority first, then lowest INTID. */
struct best {
	uint8_t prio[VGIC_MAX_LRS], intid[VGIC_MAX_LRS];
	unsigned int n;		/* kept */
	unsigned int all;	/* seen */
};

static void consider(struct best *t, uint8_t prio, uint8_t intid)
{
	unsigned int i;

	t->all++;
	if (t->n < vgic_hw.nr_lrs)
		t->n++;
	else if (prio >= t->prio[t->n - 1])
		return;
	for (i = t->n - 1; i > 0 && t->prio[i - 1] > prio; i--) {
		t->prio[i] = t->prio[i - 1];
		t->intid[i] = t->intid[i - 1];
	}
	t->prio[i] = prio;
	t->intid[i] = intid;
}

static void consider_bits(struct vcpu *v, struct best *t, unsigned int b,
			  uint32_t bits)
{
	const struct vgic_bank *k = vgic_bank(v, b);

	for (; bits; bits &= bits - 1) {
		unsigned int i = (unsigned int)__builtin_ctz(bits);

		consider(t, k->prio[i], (uint8_t)(32 * b + i));
	}
}

/* The choice under way; the index of arrays is the group. */
struct choice {
	struct best pend[2], act;
	bool held[2];		/* pending, but the CPU interface has it off */
};

static void survey(struct vcpu *v, struct choice *c)
{
	uint64_t vmcr = vgic_hw_vmcr();

	for (unsigned int b = 0; b < VGIC_BANKS; b++) {
		uint32_t g1 = vgic_bank(v, b)->group1;
		uint32_t bits = vgic_deliverable(v, b);

		consider_bits(v, &c->act, b, vgic_active(v, b));
		if (vmcr & ICH_VMCR_GRP0)
			consider_bits(v, &c->pend[0], b, bits & ~g1);
		else
			c->held[0] |= bits & ~g1;
		if (vmcr & ICH_VMCR_GRP1)
			consider_bits(v, &c->pend[1], b, bits & g1);
		else
			c->held[1] |= bits & g1;
	}
}

/*
 * Takes the @n best of both groups. What is left of one group while the other
 * is in could be signalled when the latter is turned off.
 */
static void take_pending(const struct choice *c, unsigned int n,
			 uint8_t *intids, uint64_t *hcr)
{
	const struct best *p = c->pend;
	unsigned int in[2] = { 0, 0 };

	for (unsigned int i = 0; i < n; i++) {
		unsigned int g = in[0] == p[0].n ||
				 (in[1] < p[1].n &&
				  p[1].prio[in[1]] < p[0].prio[in[0]]);

		intids[i] = p[g].intid[in[g]++];
	}
	if (in[0] < p[0].all || in[1] < p[1].all)
		*hcr |= ICH_HCR_NPIE;
	if (in[0] && in[1] < p[1].all)
		*hcr |= ICH_HCR_GRP0DIE;
	if (in[1] && in[0] < p[0].all)
		*hcr |= ICH_HCR_GRP1DIE;
}

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

unsigned int vgic_over_choose(struct vcpu *v, uint8_t intids[VGIC_MAX_LRS],
			      uint64_t *hcr)
{
	struct choice c = { 0 };
	unsigned int lrs = vgic_hw.nr_lrs, np, na;

	survey(v, &c);
	np = least(c.pend[0].all + c.pend[1].all,
		   lrs - least(c.act.all, lrs / 2));
	na = least(c.act.all, lrs - np);
	take_pending(&c, np, intids, hcr);
	for (unsigned int i = 0; i < na; i++)
		intids[np + i] = c.act.intid[i];
	if (na < c.act.all) {
		*hcr |= ICH_HCR_LRENPIE;
		if (vgic_hw.tdir)
			*hcr |= ICH_HCR_TDIR;
	}
	if (c.held[0])
		*hcr |= ICH_HCR_GRP0EIE;
	if (c.held[1])
		*hcr |= ICH_HCR_GRP1EIE;
	return np + na;
}

/* Bits of a priority that decide about preemption (Arm IHI 0069, 4.8.3). */
unsigned int vgic_preempt_mask(uint64_t vmcr, bool group1)
{
	unsigned int finest = 7u - vgic_hw.pre_bits;
	unsigned int bpr0 = (unsigned int)(vmcr >> ICH_VMCR_BPR0_SHIFT) & 7;
	unsigned int bpr1 = (unsigned int)(vmcr >> ICH_VMCR_BPR1_SHIFT) & 7;
	unsigned int low = bpr0;

	if (group1 && !(vmcr & ICH_VMCR_CBPR))
		low = bpr1 ? bpr1 - 1 : 0;
	if (low < finest)
		low = finest;
	return 0xff & ~0u << (low + 1);
}

/*
 * Ends the active one taken last of those in no list register: it preempted
 * the others.
 */
static bool end_one(struct vcpu *v)
{
	unsigned int best = VGIC_INTIDS, best_prio = 0x100;
	uint64_t vmcr = vgic_hw_vmcr();

	for (unsigned int b = 0; b < VGIC_BANKS; b++) {
		const struct vgic_bank *k = vgic_bank(v, b);
		uint32_t bits = vgic_active(v, b) & ~v->arch.vgic.in_lr[b];

		for (; bits; bits &= bits - 1) {
			unsigned int i = (unsigned int)__builtin_ctz(bits);
			unsigned int prio =
				k->prio[i] &
				vgic_preempt_mask(vmcr, k->group1 >> i & 1);

			if (prio < best_prio) {
				best = 32 * b + i;
				best_prio = prio;
			}
		}
	}
	if (best == VGIC_INTIDS)
		return false;
	vgic_ended(v, best);
	return true;
}

void vgic_over_ended(struct vcpu *v, uint64_t n)
{
	while (n-- && end_one(v))
		;
}
