/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of the virtual GIC share: the interrupt state as bit maps, and
 * changes to it that must reach list registers on other CPUs. "Bank" is 32
 * interrupts; bank 0 (SGIs and PPIs) is per vCPU, the others per VM.
 */
#ifndef ARM64_VGIC_STATE_H
#define ARM64_VGIC_STATE_H

#include "vcpu.h"
#include "vm.h"

/* GICD_CTLR. */
#define VGIC_CTLR_GRP0	BIT(0)
#define VGIC_CTLR_GRP1	BIT(1)

/* Bank @b as @v sees it. */
static inline struct vgic_bank *vgic_bank(struct vcpu *v, unsigned int b)
{
	return b ? &v->vm->arch.vgic.spi[b - 1] : &v->arch.vgic.local;
}

/* Pending: a latched edge or write, or the level of a level-sensitive input. */
static inline uint32_t vgic_pending(const struct vgic_bank *k)
{
	return k->latch | (k->line & ~k->edge);
}

/* Enabled, and so is their group at the distributor. */
static inline uint32_t vgic_enabled(const struct vgic *g,
				    const struct vgic_bank *k)
{
	uint32_t on0 = g->ctlr & VGIC_CTLR_GRP0 ? UINT32_MAX : 0;
	uint32_t on1 = g->ctlr & VGIC_CTLR_GRP1 ? UINT32_MAX : 0;

	return k->enabled & ((k->group1 & on1) | (~k->group1 & on0));
}

/* A latch, line or active bit of bank @b is about to be set. */
static inline void vgic_busy(struct vgic *g, unsigned int b)
{
	g->busy |= 1u << b;
}

/* May bank @b have anything to do? Saves looking at most of them. */
static inline bool vgic_is_busy(const struct vgic *g, unsigned int b)
{
	return !b || (g->busy >> b & 1);
}

/* Interrupts of bank @b that the distributor would send to @v. */
static inline uint32_t vgic_deliverable(const struct vcpu *v, unsigned int b)
{
	const struct vgic *g = &v->vm->arch.vgic;
	const struct vgic_bank *k = b ? &g->spi[b - 1] : &v->arch.vgic.local;
	uint32_t bits = vgic_pending(k) & ~k->active & v->arch.vgic.route[b];

	return bits ? bits & vgic_enabled(g, k) : 0;
}

/* Active interrupts that @v took. */
static inline uint32_t vgic_active(const struct vcpu *v, unsigned int b)
{
	return b ? v->arch.vgic.act[b] : v->arch.vgic.local.active;
}

/* vCPU with GICD_IROUTER affinity @aff (Aff2..Aff0), VGIC_NOBODY: none. */
unsigned int vgic_vcpu_at(const struct vm *vm, uint32_t aff);

/*
 * The functions below are called with the vgic lock held.
 */

/*
 * Moves the state of what is in list registers of @v, loaded on this CPU, into
 * memory, and looks at its linked timers. The registers are stale then until
 * vgic_flush(), which the caller must cause.
 */
void vgic_fold(struct vcpu *v);

/*
 * One interrupt of @v, loaded on this CPU, has changed: brings its list
 * register up to date, or causes a flush.
 */
void vgic_refresh(struct vcpu *v, unsigned int intid);

/* Active @intid of @v has ended, as the guest did it. */
void vgic_ended(struct vcpu *v, unsigned int intid);

/* Makes @v, loaded on this CPU, look before its next entry. Any lock. */
void vgic_stale(struct vcpu *v);

/* Marks @bits of bank @b active or not, as taken by @v. */
void vgic_mark_active(struct vcpu *v, unsigned int b, uint32_t bits, bool on);

/* Tells those concerned that interrupts @bits of bank @b changed; @v is the
 * owner of the bank if it is 0, else any vCPU of the VM. */
void vgic_notify(struct vcpu *v, unsigned int b, uint32_t bits);

/* Sets where SPI @intid goes from its IROUTER value. */
void vgic_route(struct vm *vm, unsigned int intid);

/*
 * Operations on up to 32 interrupts that must see or change their true state,
 * wherever it is. No lock held: other CPUs are asked.
 */
enum vgic_op_kind {
	VGIC_READ_PENDING,
	VGIC_READ_ACTIVE,
	VGIC_SET_ENABLE,
	VGIC_CLEAR_ENABLE,
	VGIC_SET_PENDING,
	VGIC_CLEAR_PENDING,
	VGIC_SET_ACTIVE,
	VGIC_CLEAR_ACTIVE,
	VGIC_GROUP,		/* @val: group 1 */
	VGIC_CONFIG,		/* @val: edge */
	VGIC_ROUTE,		/* one SPI, @val: IROUTER */
	VGIC_OPS
};

struct vgic_op {
	enum vgic_op_kind kind;
	struct vcpu *v;		/* whose bank 0; else any of the VM */
	unsigned int bank;
	uint32_t todo;		/* interrupts; those left when it returns */
	uint32_t val;
	uint32_t result;	/* of reads */
	uint32_t next;		/* pCPU that can go on with the rest */
};

/* Performs @op on all its interrupts. */
void vgic_do(struct vgic_op *op);

/* GICD_CTLR = @val; in force on all vCPUs when it returns. No lock held. */
void vgic_set_ctlr(struct vm *vm, uint32_t val);

#endif
