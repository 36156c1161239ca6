// SPDX-License-Identifier: BSD-2-Clause
/*
 * Virtual GIC: between the interrupt model in memory and the list registers of
 * this CPU. Owns the list registers and struct vgic_cpu's in_lr, lr_latch,
 * live, used, hcr, vmcr, apr.
 *
 * While @live, an interrupt in @in_lr has its active state, and the latches
 * noted in @lr_latch, in the list register; everything else is in memory. A
 * new edge or write sets the latch in memory as always. fold brings the state
 * back, flush distributes it again. Two invariants make the rest simple: an
 * interrupt is in a list register of one vCPU at most; and what is in one but
 * not active is routed to that vCPU, since every change of that folds first.
 *
 * With more interrupts than list registers, see vgic_over.c. Lock: vgic->lock
 * for all of it but vgic_wakes().
 */
#include "vgic.h"

#include "cpu.h"
#include "gic.h"
#include "host.h"
#include "vgic_hw.h"
#include "vgic_over.h"
#include "vgic_state.h"
#include "vtimer.h"

#define HCR_UNKNOWN	UINT64_MAX

static inline struct vgic *vgic_of(const struct vcpu *v)
{
	return &v->vm->arch.vgic;
}

/* ---- list registers to memory -------------------------------------------- */

void vgic_mark_active(struct vcpu *v, unsigned int b, uint32_t bits, bool on)
{
	struct vgic_bank *k = vgic_bank(v, b);
	struct vgic *g = vgic_of(v);

	if (on)
		k->active |= bits;
	else
		k->active &= ~bits;
	if (!b)
		return;
	if (on)
		v->arch.vgic.act[b] |= bits;
	else
		v->arch.vgic.act[b] &= ~bits;
	for (; bits; bits &= bits - 1)
		g->owner[32 * (b - 1) + (unsigned int)__builtin_ctz(bits)] =
			on ? (uint8_t)v->id : VGIC_NOBODY;
}

/*
 * A linked interrupt that was taken or ended: its timer interrupts again when
 * it is due then, so the line counts as low.
 */
static void fold_linked(struct vgic_bank *k, uint32_t bit, uint64_t lr)
{
	if (!(lr & LR_PENDING))
		k->line &= ~bit;
	if (!(lr & (LR_PENDING | LR_ACTIVE)))
		this_cpu()->arch.vtimer.active &= ~bit;
}

void vgic_ended(struct vcpu *v, unsigned int intid)
{
	unsigned int b = intid / 32;
	uint32_t bit = 1u << intid % 32;

	vgic_mark_active(v, b, bit, false);
	/* It may have become pending for another one meanwhile. */
	if (b && !(v->arch.vgic.route[b] & bit))
		vgic_notify(v, b, bit);
}

/* Empties slot @i of the bookkeeping into memory; the register is stale. */
static inline void unlist(struct vcpu *v, unsigned int i)
{
	struct vgic_cpu *vc = &v->arch.vgic;
	unsigned int intid = vc->lr_intid[i], b = intid / 32;
	uint32_t bit = 1u << intid % 32;
	struct vgic_bank *k = vgic_bank(v, b);
	uint64_t lr = vgic_hw_lr(i);

	vc->lr_intid[i] = VGIC_NOBODY;
	if (lr & LR_PENDING)
		k->latch |= vc->lr_latch[b] & bit;
	vc->lr_latch[b] &= ~bit;
	vc->in_lr[b] &= ~bit;
	if (lr & LR_HW)
		fold_linked(k, bit, lr);
	if (lr & LR_ACTIVE)
		vgic_mark_active(v, b, bit, true);
	else if (b)
		vgic_ended(v, intid);
	else
		k->active &= ~bit;
}

/*
 * Timers whose physical PPI is active although their interrupt is neither
 * active nor known to be due still: the guest may have moved them without an
 * exit. What is low again must be able to fire.
 */
static void link_sync(struct vcpu *v)
{
	struct vtimer_cpu *c = &this_cpu()->arch.vtimer;
	struct vgic_bank *k = &v->arch.vgic.local;
	uint32_t bits = c->active & ~k->active;

	for (; bits; bits &= bits - 1) {
		unsigned int intid = (unsigned int)__builtin_ctz(bits);
		uint32_t bit = 1u << intid;

		if (vtimer_level(v, intid)) {
			k->line |= bit;
			continue;
		}
		k->line &= ~bit;
		c->active &= ~bit;
		gic_deactivate(vtimer_pintid(intid));
	}
}

void vgic_fold(struct vcpu *v)
{
	struct vgic_cpu *vc = &v->arch.vgic;

	if (vc->live) {
		if (vc->hcr & ICH_HCR_LRENPIE) {
			vgic_over_ended(v, field(vgic_hw_hcr(), 31, 27));
			vc->hcr = HCR_UNKNOWN;	/* the count must go */
		}
		for (unsigned int i = 0; i < vc->used; i++)
			if (vc->lr_intid[i] != VGIC_NOBODY)
				unlist(v, i);
		vc->live = false;
	}
	link_sync(v);
}

/* ---- memory to list registers -------------------------------------------- */

/*
 * State bits for an interrupt that is active. Pending as well only where that
 * may be taken next; else, and for a level that may still be high then, its
 * end is reported.
 */
static uint64_t active_bits(struct vcpu *v, unsigned int b, uint32_t bit)
{
	const struct vgic_bank *k = vgic_bank(v, b);
	bool pend = vgic_pending(k) & vgic_enabled(vgic_of(v), k) & bit;
	bool here = v->arch.vgic.route[b] & bit;
	uint64_t lr = LR_ACTIVE;

	if (pend && here)
		lr |= LR_PENDING;
	if ((pend && !here) || (k->line & ~k->edge & bit))
		lr |= LR_EOI;
	return lr;
}

/*
 * The list register for @intid, deliverable or active, which goes into one of
 * @v now. With HW both states at once are not allowed.
 */
[[gnu::always_inline]]
static inline uint64_t make_lr(struct vcpu *v, unsigned int intid)
{
	struct vgic_cpu *vc = &v->arch.vgic;
	unsigned int b = intid / 32;
	uint32_t bit = 1u << intid % 32;
	struct vgic_bank *k = vgic_bank(v, b);
	bool act = vgic_active(v, b) & bit;
	uint64_t lr = intid | (uint64_t)k->prio[intid % 32] << LR_PRIO_SHIFT;

	if (k->group1 & bit)
		lr |= LR_GROUP1;
	if (!b && (this_cpu()->arch.vtimer.active & bit))
		lr |= LR_HW |
		      (uint64_t)vtimer_pintid(intid) << LR_PINTID_SHIFT |
		      (act ? LR_ACTIVE : LR_PENDING);
	else if (act)
		lr |= active_bits(v, b, bit);
	else
		lr |= LR_PENDING | (k->line & ~k->edge & bit ? LR_EOI : 0);
	if (lr & LR_PENDING) {
		vc->lr_latch[b] |= k->latch & bit;
		k->latch &= ~bit;
	}
	vc->in_lr[b] |= bit;
	if (b)
		vgic_of(v)->owner[intid - VGIC_LOCAL] = (uint8_t)v->id;
	return lr;
}

/*
 * Lists what must be in list registers, in any order. Returns how many;
 * more than there are: the caller must choose.
 */
static unsigned int gather(const struct vcpu *v, uint8_t *intids)
{
	unsigned int n = 0;

	for (unsigned int b = 0; b < VGIC_BANKS; b++) {
		uint32_t bits = vgic_deliverable(v, b) | vgic_active(v, b);

		for (; bits; bits &= bits - 1) {
			if (n == vgic_hw.nr_lrs)
				return n + 1;
			intids[n++] = (uint8_t)(32 * b + (unsigned int)
						__builtin_ctz(bits));
		}
	}
	return n;
}

static void write_lrs(struct vcpu *v, const uint8_t *intids, unsigned int n)
{
	struct vgic_cpu *vc = &v->arch.vgic;

	for (unsigned int i = 0; i < n; i++) {
		vc->lr_intid[i] = intids[i];
		vgic_hw_set_lr(i, make_lr(v, intids[i]));
	}
	for (unsigned int i = n; i < vc->used; i++)
		vgic_hw_set_lr(i, 0);
	vc->used = (uint8_t)n;
	vc->live = true;
}

static void set_hcr(struct vcpu *v, uint64_t hcr)
{
	if (v->arch.vgic.hcr == hcr)
		return;
	v->arch.vgic.hcr = hcr;
	vgic_hw_set_hcr(hcr);
}

static void flush(struct vcpu *v)
{
	uint8_t intids[VGIC_MAX_LRS];
	uint64_t hcr = ICH_HCR_EN;
	unsigned int n;

	vgic_fold(v);
	n = gather(v, intids);
	v->arch.vgic.over = n > vgic_hw.nr_lrs;
	if (v->arch.vgic.over)
		n = vgic_over_choose(v, intids, &hcr);
	/*
	 * By DIR any vCPU may deactivate an SPI that another one took, whose
	 * list register must be told. With EOImode 0 nobody writes it.
	 */
	if (v->vm->nr_vcpus > 1 && vgic_hw.tdir)
		hcr |= ICH_HCR_TDIR;
	write_lrs(v, intids, n);
	set_hcr(v, hcr);
}

void vgic_flush(struct vcpu *v)
{
	struct vgic *g = vgic_of(v);

	spin_lock(&g->lock);
	flush(v);
	spin_unlock(&g->lock);
}

/* ---- one interrupt ------------------------------------------------------- */

#define NO_SLOT	VGIC_MAX_LRS

static unsigned int free_slot(struct vgic_cpu *vc)
{
	for (unsigned int i = 0; i < vc->used; i++)
		if (vc->lr_intid[i] == VGIC_NOBODY)
			return i;
	return vc->used < vgic_hw.nr_lrs ? vc->used++ : NO_SLOT;
}

/* Takes @intid out of its list register, if it is in one. */
static unsigned int take(struct vcpu *v, unsigned int intid)
{
	struct vgic_cpu *vc = &v->arch.vgic;
	unsigned int i = 0;

	if (!(vc->in_lr[intid / 32] & 1u << intid % 32))
		return NO_SLOT;
	while (vc->lr_intid[i] != intid)
		i++;
	unlist(v, i);
	return i;
}

/* Puts @intid where it was, or into a free one, if it has to be in one. */
static void place(struct vcpu *v, unsigned int intid, unsigned int slot)
{
	struct vgic_cpu *vc = &v->arch.vgic;
	unsigned int b = intid / 32;
	uint32_t bit = 1u << intid % 32;

	if (!((vgic_deliverable(v, b) | vgic_active(v, b)) & bit)) {
		if (slot != NO_SLOT)
			vgic_hw_set_lr(slot, 0);
		return;
	}
	if (slot == NO_SLOT)
		slot = free_slot(vc);
	if (slot == NO_SLOT) {
		vgic_stale(v);
		return;
	}
	vc->lr_intid[slot] = (uint8_t)intid;
	vgic_hw_set_lr(slot, make_lr(v, intid));
}

void vgic_refresh(struct vcpu *v, unsigned int intid)
{
	/* Asleep, about to flush, or the choice must be made anew. */
	if (!v->arch.vgic.live || v->arch.vgic.over) {
		host_vcpu_irq(v);
		return;
	}
	place(v, intid, take(v, intid));
}

/*
 * That it could fire means that the guest has ended the last one: that must be
 * known before the new one is noted.
 */
void vgic_link_fired(struct vcpu *v, unsigned int intid)
{
	struct vgic_cpu *vc = &v->arch.vgic;
	struct vgic *g = vgic_of(v);
	unsigned int slot = NO_SLOT;
	uint32_t bit = 1u << intid;

	spin_lock(&g->lock);
	if (vc->live)
		slot = take(v, intid);
	this_cpu()->arch.vtimer.active |= bit;
	vc->local.line |= bit;
	if (vc->live && !vc->over)
		place(v, intid, slot);
	else
		vgic_notify(v, 0, bit);
	spin_unlock(&g->lock);
}

/* ---- loading and leaving ------------------------------------------------- */

static void load_interface(const struct vgic_cpu *vc)
{
	vgic_hw_set_vmcr(vc->vmcr);
	for (unsigned int i = 0; i < vgic_nr_aprs(); i++) {
		vgic_hw_set_apr(0, i, vc->apr[0][i]);
		vgic_hw_set_apr(1, i, vc->apr[1][i]);
	}
}

static void save_interface(struct vgic_cpu *vc)
{
	vc->vmcr = vgic_hw_vmcr();
	for (unsigned int i = 0; i < vgic_nr_aprs(); i++) {
		vc->apr[0][i] = vgic_hw_apr(0, i);
		vc->apr[1][i] = vgic_hw_apr(1, i);
	}
}

/* All state into memory, nothing in the list registers, no maintenance. */
static void evict(struct vcpu *v, uint64_t hcr)
{
	static const uint8_t none[1];

	vgic_fold(v);
	write_lrs(v, none, 0);
	v->arch.vgic.live = false;
	set_hcr(v, hcr);
}

void vgic_load(struct vcpu *v)
{
	struct vgic *g = vgic_of(v);

	this_cpu()->arch.gic.vgic = v;
	load_interface(&v->arch.vgic);
	spin_lock(&g->lock);
	flush(v);
	spin_unlock(&g->lock);
}

void vgic_put(struct vcpu *v)
{
	struct vgic *g = vgic_of(v);

	spin_lock(&g->lock);
	evict(v, 0);
	save_interface(&v->arch.vgic);
	spin_unlock(&g->lock);
	this_cpu()->arch.gic.vgic = NULL;
}

/* No kick: this CPU is not in the guest. */
void vgic_stale(struct vcpu *v)
{
	__atomic_fetch_or(&v->req, VCPU_REQ_IRQ, __ATOMIC_RELAXED);
}

void vgic_sync(struct vcpu *v)
{
	struct vgic *g = vgic_of(v);

	spin_lock(&g->lock);
	evict(v, ICH_HCR_EN);
	save_interface(&v->arch.vgic);
	spin_unlock(&g->lock);
	vgic_stale(v);
}

/*
 * The reasons are an interrupt at its end whose level must be looked at again,
 * list registers that ran empty, and groups turned on or off; flush deals with
 * all of them, so it does not matter which it is. The vCPU may be asleep.
 */
void vgic_maintenance(void)
{
	struct vcpu *v = this_cpu()->arch.gic.vgic;

	if (!v)
		return;
	struct vgic *g = vgic_of(v);

	spin_lock(&g->lock);
	evict(v, ICH_HCR_EN);
	spin_unlock(&g->lock);
	vgic_hw_sync();		/* the line is low before it is deactivated */
	host_vcpu_irq(v);
}

void vgic_cpu_init(void)
{
	if (!this_cpu()->id)
		vgic_hw_init();
	for (unsigned int i = 0; i < vgic_hw.nr_lrs; i++)
		vgic_hw_set_lr(i, 0);
	vgic_hw_set_hcr(0);
	vgic_hw_sync();
	this_cpu()->arch.gic.vgic = NULL;
}

/* ---- sleeping ------------------------------------------------------------ */

/* Priority of the interrupt being handled, 0x100 when there is none. */
static unsigned int running_prio(const struct vgic_cpu *vc)
{
	for (unsigned int i = 0; i < vgic_nr_aprs(); i++) {
		uint32_t apr = (uint32_t)(vc->apr[0][i] | vc->apr[1][i]);

		if (apr)
			return (32 * i + (unsigned int)__builtin_ctz(apr))
			       << (8 - vgic_hw.pre_bits);
	}
	return 0x100;
}

/* Bits of a priority that decide about preemption (Arm IHI 0069, 4.8.3). */
static unsigned int group_mask(const struct vgic_cpu *vc, bool group1)
{
	unsigned int least = 7u - vgic_hw.pre_bits;
	unsigned int bpr0 = (unsigned int)(vc->vmcr >> ICH_VMCR_BPR0_SHIFT) & 7;
	unsigned int bpr1 = (unsigned int)(vc->vmcr >> ICH_VMCR_BPR1_SHIFT) & 7;
	unsigned int low = bpr0;

	if (group1 && !(vc->vmcr & ICH_VMCR_CBPR))
		low = bpr1 ? bpr1 - 1 : 0;
	if (low < least)
		low = least;
	return 0xff & ~0u << (low + 1);
}

static bool signals(const struct vgic_cpu *vc, bool group1, unsigned int prio)
{
	unsigned int pmr = (unsigned int)(vc->vmcr >> ICH_VMCR_PMR_SHIFT) &
			   0xff;

	if (!(vc->vmcr & (group1 ? ICH_VMCR_GRP1 : ICH_VMCR_GRP0)))
		return false;
	return prio < pmr && (prio & group_mask(vc, group1)) < running_prio(vc);
}

/* Reads words that others write under the lock; see vgic.h. */
bool vgic_wakes(const struct vcpu *v)
{
	const struct vgic *g = vgic_of(v);
	const struct vgic_cpu *vc = &v->arch.vgic;

	for (unsigned int b = 0; b < VGIC_BANKS; b++) {
		const struct vgic_bank *k = b ? &g->spi[b - 1] : &vc->local;
		uint32_t bits = vgic_deliverable(v, b);

		for (; bits; bits &= bits - 1) {
			int i = __builtin_ctz(bits);

			if (signals(vc, k->group1 >> i & 1, k->prio[i]))
				return true;
		}
	}
	return false;
}
