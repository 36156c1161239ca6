// SPDX-License-Identifier: BSD-2-Clause
/*
 * The run loop of every pCPU: pick a vCPU, bring its state here if it is not
 * here yet, enter it, handle one exit, decide. Nothing blocks; all work for
 * other CPUs goes through cpu->work and v->req, which are looked at here.
 */
#include "run.h"

#include "arch.h"
#include "cpu.h"
#include "hcall.h"
#include "host.h"
#include "power.h"
#include "print.h"
#include "sched.h"
#include "timer.h"
#include "vcpu.h"
#include "vm.h"

void host_timer(void)
{
	struct cpu *c = this_cpu();

	timer_run(&c->timers, arch_time());
	arch_timer_set(timer_next(&c->timers));
}

void host_timer_set(struct timer *t, uint64_t deadline)
{
	timer_set(&this_cpu()->timers, t, deadline);
}

void host_timer_cancel(struct timer *t)
{
	timer_cancel(&this_cpu()->timers, t);
}

/* What other CPUs want of this one, but a new choice of vCPU. */
static void do_work(struct cpu *c)
{
	uint32_t work = __atomic_load_n(&c->work, __ATOMIC_ACQUIRE);

	if (work & CPU_HALT)
		cpu_halt();
	if (work & CPU_CALL)
		cpu_answer();
}

static bool take_resched(struct cpu *c)
{
	return __atomic_fetch_and(&c->work, ~(uint32_t)CPU_RESCHED,
				  __ATOMIC_ACQ_REL) & CPU_RESCHED;
}

/* Brings @v onto this CPU, from another one if it is still there. */
static void load(struct cpu *c, struct vcpu *v)
{
	if (c->loaded == v)
		return;
	if (c->loaded)
		vcpu_put_here(c->loaded);
	vcpu_bring(v);
	c->loaded = v;
	__atomic_store_n(&v->loaded_on, c->id, __ATOMIC_RELAXED);
	/* Before v->req is read: who sets a bit there reads loaded_on next. */
	arch_mb();
	fp_load(v);
	arch_vcpu_load(v);
	v->stats.switches++;
	c->switches++;
}

static void on_work(struct vcpu *v, struct vm_exit *e)
{
	(void)v;
	(void)e;
}

static void on_idle(struct vcpu *v, struct vm_exit *e)
{
	(void)e;
	v->stats.idles++;
	arch_vcpu_sync(v);
	sched_block(v);
}

static void on_mmio(struct vcpu *v, struct vm_exit *e)
{
	v->stats.mmio++;
	if (dev_access(v->vm, &e->mmio))
		arch_vcpu_mmio_done(v, e);
	else
		arch_vcpu_mmio_abort(v, e);
}

static void (*const on_exit[EXIT_KINDS])(struct vcpu *v, struct vm_exit *e) = {
	[EXIT_WORK] = on_work,
	[EXIT_IDLE] = on_idle,
	[EXIT_MMIO] = on_mmio,
	[EXIT_HCALL] = hcall_exit,
	[EXIT_POWER] = power_exit,
};

static_assert(EXIT_KINDS == 5, "every exit kind needs its handler above");

/* Requests to @v that make it leave: true when it is not this CPU's now. */
static bool do_requests(struct cpu *c, struct vcpu *v)
{
	uint32_t req = __atomic_load_n(&v->req, __ATOMIC_ACQUIRE);

	if (!(req & (VCPU_REQ_OFF | VCPU_REQ_STOP | VCPU_REQ_MOVE)))
		return false;
	if (req & VCPU_REQ_OFF) {
		run_leave_off(v);
		return true;
	}
	if (req & VCPU_REQ_STOP) {
		vm_vcpu_stop(v);
		return true;
	}
	__atomic_fetch_and(&v->req, ~(uint32_t)VCPU_REQ_MOVE,
			   __ATOMIC_ACQ_REL);
	sched_preempt(v, false);
	return c->curr != v;
}

void run_leave_off(struct vcpu *v)
{
	vcpu_unload(v);
	sched_off(v, VCPU_OFF);
	vm_vcpu_gone(v);
}

/* Runs @v until this CPU has another vCPU to run, or none. */
static void run_vcpu(struct cpu *c, struct vcpu *v)
{
	struct vm_exit exit;

	load(c, v);
	while (c->curr == v) {
		do_work(c);
		if (do_requests(c, v))
			return;
		if (take_resched(c) && sched_must_leave(v)) {
			sched_preempt(v, false);
			return;
		}
		/* A call or a timer may have changed what comes next. */
		if (c->loaded != v)
			load(c, v);
		arch_timer_set(timer_next(&c->timers));
		arch_vcpu_run(v, &exit);
		on_exit[exit.kind](v, &exit);
	}
}

void run_cpu(void)
{
	struct cpu *c = this_cpu();

	for (;;) {
		struct vcpu *v;

		do_work(c);
		take_resched(c);
		v = sched_pick();
		if (v) {
			run_vcpu(c, v);
			continue;
		}
		arch_timer_set(timer_next(&c->timers));
		/* Posted after sched_pick: comes with an interrupt. */
		if (!__atomic_load_n(&c->work, __ATOMIC_ACQUIRE))
			arch_cpu_idle();
		arch_irq_poll();
	}
}
