// SPDX-License-Identifier: BSD-2-Clause
/*
 * Guest timers. While a vCPU is loaded (running or idle) it has the two EL1
 * timers of the CPU; while not, one software timer on the CPU that put it
 * stands in for both. All deadlines are absolute: a timer is due when its
 * counter, as an unsigned number, has reached CVAL.
 *
 * The physical PPI of an expired timer stays active, so it does not interrupt
 * again, until one of: the guest ends the virtual interrupt (the list register
 * deactivates it), vgic.c finds the output low again when it looks at the
 * interrupt (link_sync), or another vCPU is loaded that has no such interrupt.
 * The invariant, for the loaded vCPU: a timer line is high in the vGIC only
 * while the physical PPI is active. No lock of its own; registers and
 * struct vtimer belong to the CPU that has the vCPU loaded.
 */
#include "vtimer.h"

#include "arch.h"
#include "cpu.h"
#include "gic.h"
#include "host.h"
#include "sysreg.h"
#include "vgic.h"
#include "vm.h"

/* CNTx_CTL_EL0. */
#define CTL_ENABLE	BIT(0)
#define CTL_IMASK	BIT(1)
#define CTL_ISTATUS	BIT(2)

#define NOT_ARMED	UINT32_MAX

static const uint8_t intids[VTIMERS] = {
	[VTIMER_VIRT] = VTIMER_INTID_VIRT,
	[VTIMER_PHYS] = VTIMER_INTID_PHYS,
};

/* ---- registers: the _EL02 names are the guest's timers at E2H=1 ---------- */

static uint64_t hw_ctl(enum vtimer_id t)
{
	if (t == VTIMER_VIRT)
		return sysreg_read(cntv_ctl_el02);
	return sysreg_read(cntp_ctl_el02);
}

static uint64_t hw_cval(enum vtimer_id t)
{
	if (t == VTIMER_VIRT)
		return sysreg_read(cntv_cval_el02);
	return sysreg_read(cntp_cval_el02);
}

static void hw_set_ctl(enum vtimer_id t, uint64_t v)
{
	if (t == VTIMER_VIRT)
		sysreg_write(cntv_ctl_el02, v);
	else
		sysreg_write(cntp_ctl_el02, v);
}

static void hw_set_cval(enum vtimer_id t, uint64_t v)
{
	if (t == VTIMER_VIRT)
		sysreg_write(cntv_cval_el02, v);
	else
		sysreg_write(cntp_cval_el02, v);
}

/* ---- level and deadline -------------------------------------------------- */

static bool hw_level(enum vtimer_id t)
{
	return (hw_ctl(t) & (CTL_ENABLE | CTL_IMASK | CTL_ISTATUS)) ==
	       (CTL_ENABLE | CTL_ISTATUS);
}

static bool may_fire(const struct vcpu *v, enum vtimer_id t)
{
	return (v->arch.vtimer.ctl[t] & (CTL_ENABLE | CTL_IMASK)) == CTL_ENABLE;
}

static uint64_t offset(const struct vcpu *v, enum vtimer_id t)
{
	return t == VTIMER_VIRT ? v->vm->arch.vgic.cntvoff : 0;
}

/* Tick of the physical counter at which saved timer @t is due. The offset is
 * in the past, so the guest's counter does not wrap before the host's. */
static uint64_t due_at(const struct vcpu *v, enum vtimer_id t)
{
	uint64_t cval = v->arch.vtimer.cval[t], off = offset(v, t);

	return cval > UINT64_MAX - off ? UINT64_MAX : cval + off;
}

static bool mem_level(const struct vcpu *v, enum vtimer_id t, uint64_t now)
{
	return may_fire(v, t) && due_at(v, t) <= now;
}

static uint32_t mem_levels(const struct vcpu *v, uint64_t now)
{
	uint32_t bits = 0;

	for (unsigned int t = 0; t < VTIMERS; t++)
		if (mem_level(v, t, now))
			bits |= 1u << intids[t];
	return bits;
}

static enum vtimer_id id_of(unsigned int intid)
{
	return intid == VTIMER_INTID_VIRT ? VTIMER_VIRT : VTIMER_PHYS;
}

bool vtimer_level(const struct vcpu *v, unsigned int intid)
{
	if (this_cpu()->arch.gic.vgic == v)
		return hw_level(id_of(intid));
	return mem_level(v, id_of(intid), arch_time());
}

unsigned int vtimer_pintid(unsigned int intid)
{
	return intid == VTIMER_INTID_VIRT ? timer_ppis.virt : timer_ppis.phys;
}

/* ---- the software timer of a vCPU that is not loaded --------------------- */

static void arm(struct vcpu *v, uint64_t now)
{
	struct vtimer *vt = &v->arch.vtimer;
	uint64_t next = UINT64_MAX;

	for (unsigned int t = 0; t < VTIMERS; t++)
		if (may_fire(v, t) && due_at(v, t) > now)
			next = min_u64(next, due_at(v, t));
	if (next == UINT64_MAX)
		return;
	vt->armed_on = this_cpu()->id;
	host_timer_set(&vt->timer, next);
}

static void fire(struct timer *timer)
{
	struct vcpu *v = container_of(timer, struct vcpu, arch.vtimer.timer);
	uint64_t now = arch_time();
	uint32_t bits = mem_levels(v, now);

	arm(v, now);
	for (; bits; bits &= bits - 1)
		vgic_set_ppi(v, (unsigned int)__builtin_ctz(bits), true);
}

static void cancel_here(void *arg)
{
	struct vcpu *v = arg;

	host_timer_cancel(&v->arch.vtimer.timer);
}

/*
 * The queue belongs to the CPU that armed the timer, so another one asks it.
 * Not by timer.armed, which is false for a moment while fire() runs: @armed_on
 * stays from the first arming in put until here.
 */
static void disarm(struct vcpu *v)
{
	struct vtimer *vt = &v->arch.vtimer;

	if (vt->armed_on == NOT_ARMED)
		return;
	if (vt->armed_on == this_cpu()->id)
		host_timer_cancel(&vt->timer);
	else
		cpu_call(vt->armed_on, cancel_here, v);
	vt->armed_on = NOT_ARMED;
}

/* ---- life ---------------------------------------------------------------- */

void vtimer_vm_init(struct vm *vm)
{
	vm->arch.vgic.cntvoff = arch_time();
}

void vtimer_vcpu_init(struct vcpu *v)
{
	v->arch.vtimer.timer = (struct timer){ .fire = fire };
	v->arch.vtimer.armed_on = NOT_ARMED;
}

void vtimer_vcpu_reset(struct vcpu *v)
{
	/* One still armed finds nothing due; load disarms it. */
	for (unsigned int t = 0; t < VTIMERS; t++) {
		v->arch.vtimer.ctl[t] = 0;
		v->arch.vtimer.cval[t] = 0;
	}
}

void vtimer_vcpu_fini(struct vcpu *v)
{
	disarm(v);
	/* A queue that still has it would follow links in freed memory. */
	ASSERT(!v->arch.vtimer.timer.armed);
}

/* Brings the physical PPIs of this CPU to the active state @want. */
static void set_active(uint32_t want)
{
	struct vtimer_cpu *c = &this_cpu()->arch.vtimer;
	uint32_t diff = c->active ^ want;

	c->active = want;
	for (; diff; diff &= diff - 1) {
		unsigned int intid = (unsigned int)__builtin_ctz(diff);

		if (want & 1u << intid)
			gic_set_active(vtimer_pintid(intid));
		else
			gic_deactivate(vtimer_pintid(intid));
	}
}

void vtimer_load(struct vcpu *v)
{
	struct vtimer_cpu *c = &this_cpu()->arch.vtimer;
	const struct vtimer *vt = &v->arch.vtimer;

	disarm(v);
	if (c->cntvoff != v->vm->arch.vgic.cntvoff) {
		c->cntvoff = v->vm->arch.vgic.cntvoff;
		sysreg_write(cntvoff_el2, c->cntvoff);
	}
	/* Before the timers run: none may interrupt for what is known. */
	set_active(vgic_link(v, this_cpu()->id, mem_levels(v, arch_time())));
	for (unsigned int t = 0; t < VTIMERS; t++)
		hw_set_cval(t, vt->cval[t]);
	isb();		/* not enabled with the values of another vCPU */
	for (unsigned int t = 0; t < VTIMERS; t++)
		if (vt->ctl[t])		/* put left 0 */
			hw_set_ctl(t, vt->ctl[t]);
	/* vgic_load() reads ISTATUS: of these values, not of the last ones. */
	isb();
}

void vtimer_put(struct vcpu *v)
{
	struct vtimer *vt = &v->arch.vtimer;
	uint64_t now;

	for (unsigned int t = 0; t < VTIMERS; t++) {
		vt->ctl[t] = hw_ctl(t) & (CTL_ENABLE | CTL_IMASK);
		vt->cval[t] = hw_cval(t);
		if (vt->ctl[t])
			hw_set_ctl(t, 0);
	}
	now = arch_time();	/* with an ISB: outputs are low from here */
	vgic_link(v, VGIC_NO_PCPU, mem_levels(v, now));
	/* Only a sleeper must be woken, and none falls asleep unloaded. */
	if (__atomic_load_n(&v->state, __ATOMIC_RELAXED) == VCPU_BLOCKED)
		arm(v, now);
}

void vtimer_irq(unsigned int pintid)
{
	struct cpu *c = this_cpu();
	struct vcpu *v = c->arch.gic.vgic;
	enum vtimer_id t = pintid == timer_ppis.virt ? VTIMER_VIRT :
						       VTIMER_PHYS;

	/* Late: raised before the timer was turned off or moved. */
	if (!v || !hw_level(t)) {
		c->arch.vtimer.active &= ~(1u << intids[t]);
		gic_deactivate(pintid);
		return;
	}
	vgic_link_fired(v, intids[t]);
}
