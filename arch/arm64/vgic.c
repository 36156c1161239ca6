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

	vgic_busy(g, b);
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

	vc->listed &= (uint16_t)~(1u << i);
	/* Invalid, it does nothing: another write can be saved. */
	if (!(lr & (LR_PENDING | LR_ACTIVE | LR_EOI)))
		vc->dirty &= (uint16_t)~(1u << i);
	if (b)
		vgic_busy(vgic_of(v), b);
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
 * Looks at the timers whose physical PPI is active: the guest may have moved
 * them without an exit. One that is low again, and not being handled, must be
 * able to fire.
 */
static void link_sync(struct vcpu *v)
{
	struct vtimer_cpu *c = &this_cpu()->arch.vtimer;
	struct vgic_bank *k = &v->arch.vgic.local;

	for (uint32_t bits = c->active; bits; bits &= bits - 1) {
		unsigned int intid = (unsigned int)__builtin_ctz(bits);
		uint32_t bit = 1u << intid;

		if (vtimer_level(v, intid)) {
			k->line |= bit;
			continue;
		}
		k->line &= ~bit;
		if (k->active & bit)
			continue;
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
		while (vc->listed)
			unlist(v, (unsigned int)__builtin_ctz(vc->listed));
		vc->live = false;
	}
	link_sync(v);
}

/* ---- memory to list registers -------------------------------------------- */

/*
 * State bits for an interrupt that is active. Pending as well only where that
 * may be taken next: not here, or when others that must come first may be in no
 * list register, it stays behind. Then, and for a level that may still be high,
 * the end is reported.
 */
static uint64_t active_bits(struct vcpu *v, unsigned int b, uint32_t bit)
{
	const struct vgic_bank *k = vgic_bank(v, b);
	bool pend = vgic_pending(k) & vgic_enabled(vgic_of(v), k) & bit;
	bool next = (v->arch.vgic.route[b] & bit) && !v->arch.vgic.over;
	uint64_t lr = LR_ACTIVE;

	if (pend && next)
		lr |= LR_PENDING;
	if ((pend && !next) || (k->line & ~k->edge & bit))
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
static unsigned int gather(struct vcpu *v, uint8_t *intids)
{
	struct vgic *g = vgic_of(v);
	unsigned int n = 0;

	for (unsigned int b = 0; b < VGIC_BANKS; b++) {
		const struct vgic_bank *k = vgic_bank(v, b);
		uint32_t bits;

		if (!vgic_is_busy(g, b))
			continue;
		if (!(k->latch | k->line | k->active))
			g->busy &= ~(1u << b);
		bits = vgic_deliverable(v, b) | vgic_active(v, b);
		for (; bits; bits &= bits - 1) {
			unsigned int i = (unsigned int)__builtin_ctz(bits);

			if (n == vgic_hw.nr_lrs)
				return n + 1;
			intids[n++] = (uint8_t)(32 * b + i);
		}
	}
	return n;
}

[[gnu::always_inline]]
static inline void set_lr(struct vcpu *v, unsigned int i, unsigned int intid)
{
	struct vgic_cpu *vc = &v->arch.vgic;

	vc->lr_intid[i] = (uint8_t)intid;
	vc->listed |= (uint16_t)(1u << i);
	vc->dirty |= (uint16_t)(1u << i);
	vgic_hw_set_lr(i, make_lr(v, intid));
}

static void clear_lrs(struct vgic_cpu *vc)
{
	for (uint32_t bits = vc->dirty & ~vc->listed; bits; bits &= bits - 1)
		vgic_hw_set_lr((unsigned int)__builtin_ctz(bits), 0);
	vc->dirty &= vc->listed;
}

static void write_lrs(struct vcpu *v, const uint8_t *intids, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		set_lr(v, i, intids[i]);
	clear_lrs(&v->arch.vgic);
	v->arch.vgic.live = true;
	v->arch.vgic.saved = false;	/* the guest can change them now */
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

static unsigned int free_slot(const struct vgic_cpu *vc)
{
	unsigned int i = (unsigned int)__builtin_ctz(~(uint32_t)vc->listed);

	return i < vgic_hw.nr_lrs ? i : NO_SLOT;
}

/* Takes @intid out of its list register, if it is in one. */
static unsigned int take(struct vcpu *v, unsigned int intid)
{
	struct vgic_cpu *vc = &v->arch.vgic;
	unsigned int i = 0;

	if (!(vc->in_lr[intid / 32] & 1u << intid % 32))
		return NO_SLOT;
	while (!(vc->listed >> i & 1) || vc->lr_intid[i] != intid)
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
		clear_lrs(vc);
		return;
	}
	if (slot == NO_SLOT)
		slot = free_slot(vc);
	if (slot == NO_SLOT) {
		vgic_stale(v);
		return;
	}
	set_lr(v, slot, intid);
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
	vgic_hw_set_aprs(vc->apr);
}

static void save_interface(struct vgic_cpu *vc)
{
	vc->vmcr = vgic_hw_vmcr();
	vgic_hw_aprs(vc->apr);
	vc->saved = true;
}

/* All state into memory, nothing in the list registers, no maintenance. */
static void evict(struct vcpu *v, uint64_t hcr)
{
	vgic_fold(v);
	clear_lrs(&v->arch.vgic);
	set_hcr(v, hcr);
}

void vgic_load(struct vcpu *v)
{
	struct vgic *g = vgic_of(v);

	this_cpu()->arch.gic.vgic = v;
	load_interface(&v->arch.vgic);
	/* The flush answers every request made so far. */
	__atomic_fetch_and(&v->req, ~(uint32_t)VCPU_REQ_IRQ, __ATOMIC_ACQ_REL);
	spin_lock(&g->lock);
	flush(v);
	spin_unlock(&g->lock);
}

/*
 * After vgic_sync(), and no entry since, the list registers are empty. What
 * link_sync would do for the timers, vtimer_put() and the next load do anyway.
 */
void vgic_put(struct vcpu *v)
{
	struct vgic *g = vgic_of(v);

	if (v->arch.vgic.saved) {
		set_hcr(v, 0);
	} else {
		spin_lock(&g->lock);
		evict(v, 0);
		save_interface(&v->arch.vgic);
		spin_unlock(&g->lock);
	}
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

static bool any_preempts(const struct vgic_cpu *vc, const struct vgic_bank *k,
			 uint32_t bits)
{
	unsigned int pmr = (unsigned int)field(vc->vmcr, 31, 24);
	unsigned int run = running_prio(vc);

	for (; bits; bits &= bits - 1) {
		int i = __builtin_ctz(bits);
		unsigned int mask =
			vgic_preempt_mask(vc->vmcr, k->group1 >> i & 1);

		if (k->prio[i] < pmr && (k->prio[i] & mask) < run)
			return true;
	}
	return false;
}

/*
 * Reads words that others write under the lock; see vgic.h. With different
 * binary points for the groups, one of highest priority that may not preempt
 * can hide another that may: that counts too, as it can come to light by an
 * interrupt going away, of which a sleeper is not told.
 */
bool vgic_wakes(const struct vcpu *v)
{
	const struct vgic *g = vgic_of(v);
	const struct vgic_cpu *vc = &v->arch.vgic;
	uint32_t on0 = vc->vmcr & ICH_VMCR_GRP0 ? UINT32_MAX : 0;
	uint32_t on1 = vc->vmcr & ICH_VMCR_GRP1 ? UINT32_MAX : 0;

	for (unsigned int b = 0; b < VGIC_BANKS; b++) {
		const struct vgic_bank *k = b ? &g->spi[b - 1] : &vc->local;
		uint32_t bits;

		if (!vgic_is_busy(g, b))
			continue;
		bits = vgic_deliverable(v, b);
		bits &= (k->group1 & on1) | (~k->group1 & on0);
		if (bits && any_preempts(vc, k, bits))
			return true;
	}
	return false;
}
