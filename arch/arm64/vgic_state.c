// SPDX-License-Identifier: BSD-2-Clause
/*
 * Virtual GIC: the interrupt model in memory and everything that changes it:
 * inputs, SGIs, register writes, reset. Owns struct vgic, the banks and the
 * routes. Lock: vgic->lock; for what may be in list registers of a vCPU on
 * another pCPU, that one is called with no lock held (vgic_do).
 */
#include "vgic_state.h"

#include "cpu.h"
#include "host.h"
#include "vgic.h"
#include "vgic_hw.h"
#include "vtimer.h"

#define ROUTER_IRM	BIT(31)		/* to any one vCPU */

static inline struct vgic *vgic_of(const struct vcpu *v)
{
	return &v->vm->arch.vgic;
}

/* The same layout as MPIDR: 16 vCPUs per Aff1. */
unsigned int vgic_vcpu_at(const struct vm *vm, uint32_t aff)
{
	uint32_t aff0 = aff & 0xff, aff1 = aff >> 8 & 0xff;
	uint32_t id = aff1 * 16 + aff0;

	if (aff >> 16 || aff0 > 15 || id >= vm->nr_vcpus)
		return VGIC_NOBODY;
	return id;
}

/* ---- telling vCPUs ------------------------------------------------------- */

static void notify_vcpu(struct vcpu *v, unsigned int b, uint32_t bits)
{
	uint32_t mine = vgic_deliverable(v, b) | vgic_active(v, b) |
			v->arch.vgic.in_lr[b];

	/* In a list register, it may have to leave or change there. */
	mine &= bits;
	if (!mine)
		return;
	if (v == this_cpu()->arch.gic.vgic && !(bits & (bits - 1)))
		vgic_refresh(v, 32 * b + (unsigned int)__builtin_ctz(bits));
	else
		host_vcpu_irq(v);
}

void vgic_notify(struct vcpu *v, unsigned int b, uint32_t bits)
{
	const struct vgic *g = vgic_of(v);

	if (!b) {
		notify_vcpu(v, 0, bits);
		return;
	}
	for (; bits; bits &= bits - 1) {
		unsigned int i = (unsigned int)__builtin_ctz(bits);
		unsigned int spi = 32 * (b - 1) + i;
		unsigned int to = g->target[spi], owner = g->owner[spi];

		if (to != VGIC_NOBODY)
			notify_vcpu(v->vm->vcpus[to], b, 1u << i);
		if (owner != VGIC_NOBODY && owner != to)
			notify_vcpu(v->vm->vcpus[owner], b, 1u << i);
	}
}

/* ---- inputs -------------------------------------------------------------- */

static void drive(struct vcpu *v, unsigned int intid, bool level)
{
	unsigned int b = intid / 32;
	uint32_t bit = 1u << intid % 32;
	struct vgic_bank *k = vgic_bank(v, b);

	if (!(k->line & bit) == !level)
		return;
	vgic_busy(vgic_of(v), b);
	k->line ^= bit;
	if (k->edge & bit) {
		if (!level)
			return;
		k->latch |= bit;
	}
	vgic_notify(v, b, bit);
}

void vgic_set_line(struct vm *vm, unsigned int intid, bool level)
{
	struct vgic *g = &vm->arch.vgic;

	ASSERT(intid >= VGIC_LOCAL && intid < VGIC_INTIDS);
	spin_lock(&g->lock);
	drive(vm->vcpus[0], intid, level);
	spin_unlock(&g->lock);
}

void vgic_set_ppi(struct vcpu *v, unsigned int intid, bool level)
{
	struct vgic *g = vgic_of(v);

	ASSERT(intid >= 16 && intid < VGIC_LOCAL);
	spin_lock(&g->lock);
	drive(v, intid, level);
	spin_unlock(&g->lock);
}

uint32_t vgic_link(struct vcpu *v, uint32_t pcpu, uint32_t levels)
{
	struct vgic_bank *k = &v->arch.vgic.local;
	struct vgic *g = vgic_of(v);
	uint32_t want;

	spin_lock(&g->lock);
	v->arch.vgic.pcpu = pcpu;
	k->line &= ~(uint32_t)VTIMER_INTIDS;
	k->line |= levels;
	want = k->line & VTIMER_INTIDS;
	/* A timer that was due before it was saved must wake a sleeper. */
	if (levels)
		notify_vcpu(v, 0, levels);
	spin_unlock(&g->lock);
	return want;
}

/* ---- SGIs ---------------------------------------------------------------- */

/*
 * In one security state ICC_SGI1R_EL1 makes SGIs of either group, the other
 * two registers only those of group 0.
 */
static void pend_sgi(struct vcpu *v, uint32_t bit, bool group1)
{
	struct vgic_bank *k = &v->arch.vgic.local;

	if (((k->group1 & bit) && !group1) || (k->latch & bit))
		return;
	k->latch |= bit;
	if (v == this_cpu()->arch.gic.vgic)
		vgic_refresh(v, (unsigned int)__builtin_ctz(bit));
	else
		notify_vcpu(v, 0, bit);
}

/* Arm IHI 0069, ICC_SGI1R_EL1. */
void vgic_sgi(struct vcpu *v, enum vgic_sgi_reg reg, uint64_t val)
{
	struct vm *vm = v->vm;
	uint32_t bit = 1u << field(val, 27, 24);
	bool group1 = reg == VGIC_SGI1R;
	uint32_t aff = (uint32_t)(field(val, 55, 48) << 24 |
				  field(val, 39, 32) << 16 |
				  field(val, 23, 16) << 8 |
				  field(val, 47, 44) << 4);
	uint32_t list = (uint32_t)field(val, 15, 0);

	spin_lock(&vm->arch.vgic.lock);
	if (val & BIT(40)) {
		for (unsigned int i = 0; i < vm->nr_vcpus; i++)
			if (i != v->id)
				pend_sgi(vm->vcpus[i], bit, group1);
		list = 0;
	}
	for (; list; list &= list - 1) {
		uint32_t n = (uint32_t)__builtin_ctz(list);
		unsigned int to = vgic_vcpu_at(vm, aff + n);

		if (to != VGIC_NOBODY)
			pend_sgi(vm->vcpus[to], bit, group1);
	}
	spin_unlock(&vm->arch.vgic.lock);
}

/* ---- routing ------------------------------------------------------------- */

static unsigned int any_awake(const struct vm *vm)
{
	for (unsigned int i = 0; i < vm->nr_vcpus; i++)
		if (!vm->vcpus[i]->arch.vgic.asleep)
			return i;
	return 0;
}

void vgic_route(struct vm *vm, unsigned int intid)
{
	struct vgic *g = &vm->arch.vgic;
	unsigned int spi = intid - VGIC_LOCAL, b = intid / 32;
	uint32_t bit = 1u << intid % 32, r = g->router[spi];
	unsigned int old = g->target[spi];

	if (old != VGIC_NOBODY)
		vm->vcpus[old]->arch.vgic.route[b] &= ~bit;
	g->target[spi] = (uint8_t)(r & ROUTER_IRM ? any_awake(vm) :
						    vgic_vcpu_at(vm, r));
	if (g->target[spi] != VGIC_NOBODY)
		vm->vcpus[g->target[spi]]->arch.vgic.route[b] |= bit;
}

/* ---- operations on the true state ---------------------------------------- */

static void op_read(struct vgic_op *op, struct vgic_bank *k, uint32_t bits)
{
	uint32_t linked = op->bank ? 0 : bits & (uint32_t)VTIMER_INTIDS;

	if (op->kind == VGIC_READ_ACTIVE) {
		op->result |= k->active & bits;
		return;
	}
	op->result |= vgic_pending(k) & bits;
	for (; linked; linked &= linked - 1) {
		unsigned int intid = (unsigned int)__builtin_ctz(linked);

		if (vtimer_level(op->v, intid))
			op->result |= 1u << intid;
	}
}

/* Whoever has it active, or else who would get it, counts as taking it. */
static void op_active(struct vgic_op *op, uint32_t bits)
{
	const struct vgic *g = vgic_of(op->v);
	bool on = op->kind == VGIC_SET_ACTIVE;

	if (!op->bank) {
		vgic_mark_active(op->v, 0, bits, on);
		return;
	}
	for (; bits; bits &= bits - 1) {
		unsigned int i = (unsigned int)__builtin_ctz(bits);
		unsigned int spi = 32 * (op->bank - 1) + i;
		unsigned int to = g->owner[spi];

		if (to == VGIC_NOBODY)
			to = g->target[spi];
		if (to == VGIC_NOBODY)
			to = 0;
		vgic_mark_active(op->v->vm->vcpus[to], op->bank, 1u << i, on);
	}
}

static void op_route(struct vgic_op *op, uint32_t bits)
{
	struct vgic *g = vgic_of(op->v);
	unsigned int intid = 32 * op->bank + (unsigned int)__builtin_ctz(bits);

	g->router[intid - VGIC_LOCAL] = op->val;
	vgic_route(op->v->vm, intid);
}

/* Performs @op on @bits, whose state is in memory. */
static void op_apply(struct vgic_op *op, uint32_t bits)
{
	struct vgic_bank *k = vgic_bank(op->v, op->bank);

	vgic_busy(vgic_of(op->v), op->bank);
	switch (op->kind) {
	case VGIC_READ_PENDING:
	case VGIC_READ_ACTIVE:
		op_read(op, k, bits);
		return;
	case VGIC_SET_ENABLE:
		k->enabled |= bits;
		break;
	case VGIC_CLEAR_ENABLE:
		k->enabled &= ~bits;
		break;
	case VGIC_SET_PENDING:
		k->latch |= bits;
		break;
	case VGIC_CLEAR_PENDING:
		k->latch &= ~bits;
		break;
	case VGIC_SET_ACTIVE:
	case VGIC_CLEAR_ACTIVE:
		op_active(op, bits);
		break;
	case VGIC_GROUP:
		k->group1 = (k->group1 & ~bits) | (op->val & bits);
		break;
	case VGIC_CONFIG:
		k->edge = (k->edge & ~bits) | (op->val & bits);
		break;
	case VGIC_ROUTE:
		op_route(op, bits);
		break;
	case VGIC_OPS:
		break;
	}
	vgic_notify(op->v, op->bank, bits);
}

/* Interrupts of @op that only the pCPU of another loaded vCPU can reach, and
 * one such pCPU. */
static uint32_t elsewhere(struct vgic_op *op, const struct vcpu *here)
{
	const struct vm *vm = op->v->vm;
	uint32_t bits = 0;

	if (!op->bank) {
		/* All of it: its timers are there too. */
		op->next = op->v->arch.vgic.pcpu;
		if (op->v != here && op->next != VGIC_NO_PCPU)
			bits = op->todo;
		return bits;
	}
	for (unsigned int i = 0; i < vm->nr_vcpus; i++) {
		const struct vcpu *v = vm->vcpus[i];
		uint32_t there = v->arch.vgic.in_lr[op->bank] & op->todo;

		if (v == here || !there)
			continue;
		bits |= there;
		op->next = v->arch.vgic.pcpu;
	}
	return bits;
}

/* May list registers of @v have something of what @op is about? */
static bool concerns(const struct vgic_op *op, const struct vcpu *v)
{
	if (!op->bank)
		return v == op->v;
	return v->vm == op->v->vm && (v->arch.vgic.in_lr[op->bank] & op->todo);
}

/* One step of an operation: what can be done on this CPU. */
static void op_here(void *arg)
{
	struct vgic_op *op = arg;
	struct vgic *g = vgic_of(op->v);
	struct vcpu *here = this_cpu()->arch.gic.vgic;
	uint32_t left = 0;

	spin_lock(&g->lock);
	/*
	 * Enabling needs no true state, only a second look by the holder; but a
	 * timer may have been turned off, without an exit, since it fired.
	 */
	if (op->kind != VGIC_SET_ENABLE ||
	    (!op->bank && (op->todo & (uint32_t)VTIMER_INTIDS))) {
		left = elsewhere(op, here);
		if (here && concerns(op, here)) {
			vgic_fold(here);
			vgic_stale(here);
		}
	}
	if (op->todo & ~left)
		op_apply(op, op->todo & ~left);
	op->todo = left;
	spin_unlock(&g->lock);
}

void vgic_do(struct vgic_op *op)
{
	op_here(op);
	/* The rest may have moved again when we get there; it then moves on
	 * with a vCPU that makes progress. */
	while (op->todo)
		cpu_call(op->next, op_here, op);
}

/* A trapped deactivation acts like a write to the active state. */
void vgic_dir(struct vcpu *v, uint64_t val)
{
	unsigned int intid = (unsigned int)field(val, 23, 0);
	struct vgic_op op = { .kind = VGIC_CLEAR_ACTIVE, .v = v };

	if (intid >= VGIC_INTIDS || !(vgic_hw_vmcr() & ICH_VMCR_EOIM))
		return;
	op.bank = intid / 32;
	op.todo = 1u << intid % 32;
	vgic_do(&op);
}

/* ---- group enables ------------------------------------------------------- */

static void refold_here(void *arg)
{
	struct vcpu *v = arg;
	struct vgic *g = vgic_of(v);

	spin_lock(&g->lock);
	if (this_cpu()->arch.gic.vgic == v) {
		vgic_fold(v);
		vgic_stale(v);
	}
	spin_unlock(&g->lock);
}

void vgic_set_ctlr(struct vm *vm, uint32_t val)
{
	struct vgic *g = &vm->arch.vgic;
	uint32_t old;

	spin_lock(&g->lock);
	old = g->ctlr;
	g->ctlr = val;
	spin_unlock(&g->lock);
	if (old == val)
		return;
	for (unsigned int i = 0; i < vm->nr_vcpus; i++) {
		struct vcpu *v = vm->vcpus[i];
		uint32_t pcpu;

		spin_lock(&g->lock);
		pcpu = v->arch.vgic.pcpu;
		for (unsigned int b = 0; b < VGIC_BANKS; b++)
			notify_vcpu(v, b, UINT32_MAX);
		spin_unlock(&g->lock);
		/* A group that is off must not be signalled any more. */
		if ((old & ~val) && pcpu != VGIC_NO_PCPU)
			cpu_call(pcpu, refold_here, v);
	}
}

/* ---- life ---------------------------------------------------------------- */

static void reset_bank(struct vgic_bank *k)
{
	uint32_t line = k->line;

	/* Inputs belong to the devices. Group 1, as KVM has it: guests that
	 * do not set groups expect their interrupts as IRQs. */
	*k = (struct vgic_bank){ .line = line, .group1 = UINT32_MAX };
}

void vgic_vcpu_reset(struct vcpu *v)
{
	struct vgic_cpu *vc = &v->arch.vgic;
	struct vgic *g = vgic_of(v);
	uint64_t bpr0 = 7u - vgic_hw.pre_bits;

	spin_lock(&g->lock);
	for (unsigned int b = 0; b < VGIC_BANKS; b++) {
		uint32_t ended = vgic_active(v, b);

		vgic_mark_active(v, b, ended, false);
		if (b)
			vgic_notify(v, b, ended);
	}
	for (unsigned int i = 0; i < VGIC_APRS; i++) {
		vc->apr[0][i] = 0;
		vc->apr[1][i] = 0;
	}
	vc->vmcr = bpr0 << ICH_VMCR_BPR0_SHIFT |
		   (bpr0 + 1) << ICH_VMCR_BPR1_SHIFT;
	spin_unlock(&g->lock);
}

void vgic_vcpu_init(struct vcpu *v)
{
	struct vgic_cpu *vc = &v->arch.vgic;

	*vc = (struct vgic_cpu){
		.route[0] = UINT32_MAX,
		.pcpu = VGIC_NO_PCPU,
		.asleep = true,
	};
	reset_bank(&vc->local);
	vc->local.edge = 0xffff;	/* SGIs; PPIs are levels */
}

int vgic_vm_init(struct vm *vm)
{
	struct vgic *g = &vm->arch.vgic;

	*g = (struct vgic){ 0 };
	for (unsigned int i = 0; i < VGIC_SPIS; i++) {
		g->target[i] = VGIC_NOBODY;
		g->owner[i] = VGIC_NOBODY;
	}
	for (unsigned int b = 0; b < ARRAY_SIZE(g->spi); b++)
		reset_bank(&g->spi[b]);
	return 0;
}

/* Nothing is allocated. */
void vgic_vm_fini(struct vm *vm)
{
	(void)vm;
}

void vgic_vm_reset(struct vm *vm)
{
	struct vgic *g = &vm->arch.vgic;

	spin_lock(&g->lock);
	g->ctlr = 0;
	g->busy = UINT32_MAX;
	for (unsigned int b = 0; b < ARRAY_SIZE(g->spi); b++)
		reset_bank(&g->spi[b]);
	for (unsigned int i = 0; i < vm->nr_vcpus; i++)
		vgic_vcpu_init(vm->vcpus[i]);
	for (unsigned int i = 0; i < VGIC_SPIS; i++) {
		g->owner[i] = VGIC_NOBODY;
		g->target[i] = VGIC_NOBODY;
		g->router[i] = 0;
		vgic_route(vm, VGIC_LOCAL + i);
	}
	spin_unlock(&g->lock);
}
