// SPDX-License-Identifier: BSD-2-Clause
/*
 * The guest's constant timer (Reference Manual 7.6). It is a timer queue entry
 * of one pCPU at all times, whether its vCPU is loaded or not: of the one that
 * loaded the vCPU last. @due is the next or the last expiry. The timer is armed
 * only while TI is not pending: an expiry that finds it pending would change
 * nothing, so a short period costs a guest that does not clear TI nothing, and
 * nobody else. @pending and @armed_on are atomic; the rest belongs to the pCPU
 * that has the vCPU loaded, which is the one that fire() runs on then. Only a
 * reset may meet fire() on another pCPU: the lock is for that.
 */
#include "la.h"

#include "cpu.h"
#include "host.h"
#include "hostirq.h"

#define NOT_ARMED	UINT32_MAX

static uint64_t initial(const struct vcpu *v)
{
	return v->arch.csr.tcfg & TCFG_INIT;
}

static bool running(const struct vcpu *v)
{
	return v->arch.csr.tcfg & TCFG_EN;
}

static bool periodic(const struct vcpu *v)
{
	return v->arch.csr.tcfg & TCFG_PERIODIC;
}

/* A period of 0 ticks is one of the shortest that there is. */
static uint64_t period(const struct vcpu *v)
{
	return max_u64(initial(v), 4);
}

static void fire(struct timer *timer)
{
	struct vcpu *v = container_of(timer, struct vcpu, arch.vtimer.timer);
	struct vtimer *vt = &v->arch.vtimer;
	bool due;

	spin_lock(&vt->lock);
	due = vt->due <= arch_time();
	if (due)
		__atomic_store_n(&vt->pending, 1, __ATOMIC_RELEASE);
	spin_unlock(&vt->lock);
	if (due)
		host_vcpu_irq(v);
	/* Last: from here on another pCPU may arm it. */
	__atomic_store_n(&vt->armed_on, NOT_ARMED, __ATOMIC_RELEASE);
}

static void cancel_here(void *arg)
{
	struct vcpu *v = arg;

	host_timer_cancel(&v->arch.vtimer.timer);
}

/* The queue belongs to the pCPU that armed the timer, so another asks it. */
static void disarm(struct vcpu *v)
{
	struct vtimer *vt = &v->arch.vtimer;
	uint32_t on = __atomic_load_n(&vt->armed_on, __ATOMIC_ACQUIRE);

	if (on == NOT_ARMED)
		return;
	if (on == this_cpu()->id)
		host_timer_cancel(&vt->timer);
	else
		cpu_call(on, cancel_here, v);
	__atomic_store_n(&vt->armed_on, NOT_ARMED, __ATOMIC_RELAXED);
}

static void arm(struct vcpu *v)
{
	struct vtimer *vt = &v->arch.vtimer;

	__atomic_store_n(&vt->armed_on, this_cpu()->id, __ATOMIC_RELAXED);
	host_timer_set(&vt->timer, vt->due);
	/* The guest may run on without a look at the queue. */
	timer_by(vt->due);
}

/* ---- registers ----------------------------------------------------------- */

void vtimer_config(struct vcpu *v)
{
	struct vtimer *vt = &v->arch.vtimer;
	uint64_t now = arch_time();

	disarm(v);
	vt->due = running(v) ? now + initial(v) : TIMER_NEVER;
	if (running(v) && !vt->pending)
		arm(v);
}

/* First expiry behind @now of a timer with a period. */
static uint64_t next_due(const struct vcpu *v, uint64_t now)
{
	uint64_t due = v->arch.vtimer.due, p = period(v);

	return due > now ? due : due + ((now - due) / p + 1) * p;
}

uint64_t vtimer_tval(const struct vcpu *v)
{
	uint64_t now = arch_time();

	/* A timer that does not run stands at the value it starts from, or
	 * at the 0 that it has reached. */
	if (!running(v))
		return initial(v);
	if (periodic(v))
		return next_due(v, now) - now;
	return v->arch.vtimer.due > now ? v->arch.vtimer.due - now : 0;
}

void vtimer_clear(struct vcpu *v)
{
	struct vtimer *vt = &v->arch.vtimer;
	uint64_t now = arch_time();

	if (!vt->pending)
		return;
	__atomic_store_n(&vt->pending, 0, __ATOMIC_RELAXED);
	if (!running(v))
		return;
	if (periodic(v))
		vt->due = next_due(v, now);
	else if (vt->due <= now)
		return;		/* it is the one that was pending */
	arm(v);
}

/* ---- life ---------------------------------------------------------------- */

void vtimer_vcpu_init(struct vcpu *v)
{
	v->arch.vtimer.timer = (struct timer){ .fire = fire };
	v->arch.vtimer.armed_on = NOT_ARMED;
}

void vtimer_vcpu_fini(struct vcpu *v)
{
	disarm(v);
}

void vtimer_vcpu_reset(struct vcpu *v)
{
	struct vtimer *vt = &v->arch.vtimer;

	/* One still armed finds nothing due. */
	spin_lock(&vt->lock);
	vt->due = TIMER_NEVER;
	__atomic_store_n(&vt->pending, 0, __ATOMIC_RELAXED);
	spin_unlock(&vt->lock);
}

void vtimer_load(struct vcpu *v)
{
	uint32_t on = __atomic_load_n(&v->arch.vtimer.armed_on,
				      __ATOMIC_ACQUIRE);

	if (on == NOT_ARMED || on == this_cpu()->id)
		return;
	/* It may fire until the call returns, and then is not armed. */
	disarm(v);
	if (v->arch.vtimer.due != TIMER_NEVER &&
	    !__atomic_load_n(&v->arch.vtimer.pending, __ATOMIC_ACQUIRE))
		arm(v);
}
