/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Generic timers. The host's own timer is the EL2 physical one (CNTHP), under
 * the name CNTP at E2H=1; guests use CNTV and CNTP of EL1 directly. A guest
 * timer that expires is a physical PPI which stays active on this CPU until
 * the guest ends the virtual interrupt linked to it, so an expired timer never
 * interrupts twice. Per pCPU, struct vtimer_cpu says which are active.
 */
#ifndef ARM64_VTIMER_H
#define ARM64_VTIMER_H

#include "types.h"

struct vcpu;
struct vm;

/* What the guest machine connects its timers to (as QEMU's virt does). */
#define VTIMER_INTID_VIRT	27
#define VTIMER_INTID_PHYS	30
#define VTIMER_INTIDS							\
	(BIT(VTIMER_INTID_VIRT) | BIT(VTIMER_INTID_PHYS))

/* Host PPIs of the timers, from the device tree. */
struct timer_ppis {
	unsigned int hyp, virt, phys;
};

extern struct timer_ppis timer_ppis;

/* Boot CPU, from gic_init(): fills timer_ppis; config_error() without. */
void timer_discover(void);

/* This CPU, once: all timers off, EL1 may use its two. */
void timer_cpu_init(void);

/* The EL2 timer of this CPU has fired: turns it off. */
void timer_expired(void);

/* The virtual counter of @vm starts at 0 now; no vCPU is loaded. */
void vtimer_vm_init(struct vm *vm);

/* Once per vCPU; and timers back to their reset state, @v not loaded. */
void vtimer_vcpu_init(struct vcpu *v);
void vtimer_vcpu_reset(struct vcpu *v);

/* Nothing of @v stays in a timer queue. Not loaded, no lock. */
void vtimer_vcpu_fini(struct vcpu *v);

/*
 * Timers of @v onto this CPU: before vgic_load(), which links the interrupts.
 * Off it: after vgic_put(), and when it sleeps one timer of this CPU's queue
 * stands in. No lock.
 */
void vtimer_load(struct vcpu *v);
void vtimer_put(struct vcpu *v);

/*
 * Physical timer PPI @pintid was acknowledged here, its priority dropped but
 * not deactivated. No lock.
 */
void vtimer_irq(unsigned int pintid);

/*
 * Level of the timer output behind guest PPI @intid (a bit of VTIMER_INTIDS)
 * now: ENABLE, not IMASK, ISTATUS. @v is loaded on this CPU or nowhere. Any
 * lock.
 */
bool vtimer_level(const struct vcpu *v, unsigned int intid);

/* Host PPI behind guest PPI @intid. */
unsigned int vtimer_pintid(unsigned int intid);

#endif
