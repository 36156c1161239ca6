// SPDX-License-Identifier: BSD-2-Clause
/*
 * vCPU state and what other CPUs may ask of a vCPU.
 */
#include "vcpu.h"

#include "arch.h"
#include "cpu.h"
#include "host.h"
#include "print.h"
#include "vm.h"

#define S(state)	(1u << (state))

/* Where each state may go; anything else is a bug of ours. */
static const uint8_t allowed[VCPU_STATES] = {
	[VCPU_OFF] = S(VCPU_READY),
	[VCPU_READY] = S(VCPU_RUNNING) | S(VCPU_STOPPED) | S(VCPU_OFF),
	[VCPU_RUNNING] = S(VCPU_READY) | S(VCPU_BLOCKED) | S(VCPU_STOPPED) |
			 S(VCPU_OFF),
	[VCPU_BLOCKED] = S(VCPU_READY) | S(VCPU_STOPPED) | S(VCPU_OFF),
	[VCPU_STOPPED] = S(VCPU_READY) | S(VCPU_OFF),
};

static_assert(VCPU_STATES <= 8, "allowed[] has one bit per state");

static const char *const names[VCPU_STATES] = {
	"off", "ready", "running", "blocked", "stopped",
};

const char *vcpu_state_name(enum vcpu_state s)
{
	return s < VCPU_STATES ? names[s] : "?";
}

void vcpu_set_state(struct vcpu *v, enum vcpu_state to)
{
	if (!(allowed[v->state] & S(to)))
		panic("VM %s vCPU %u: %s -> %s", v->vm->cfg->name, v->id,
		      vcpu_state_name(v->state), vcpu_state_name(to));
	v->state = to;
}

void vcpu_request(struct vcpu *v, uint32_t bits)
{
	uint32_t old = __atomic_fetch_or(&v->req, bits, __ATOMIC_SEQ_CST);
	uint32_t on;

	/* The current vCPU of this CPU is awake and looks before it enters. */
	if (this_cpu()->curr == v)
		return;
	arch_mb();
	on = __atomic_load_n(&v->loaded_on, __ATOMIC_RELAXED);
	if (bits & VCPU_REQ_IRQ)
		sched_wake(v);
	if ((old & bits) != bits && on < nr_cpus && on != this_cpu()->id)
		arch_cpu_kick(on);
}

void host_vcpu_irq(struct vcpu *v)
{
	vcpu_request(v, VCPU_REQ_IRQ);
}

bool vcpu_has_work(struct vcpu *v)
{
	uint32_t req = __atomic_load_n(&v->req, __ATOMIC_SEQ_CST);

	/* VCPU_REQ_IRQ alone says "look", not "there is something". */
	return (req & ~VCPU_REQ_IRQ) || arch_vcpu_wakes(v);
}

void vcpu_put_here(struct vcpu *v)
{
	struct cpu *c = this_cpu();

	if (c->loaded != v)
		return;
	arch_vcpu_put(v);
	fp_put(v);
	c->loaded = NULL;
	__atomic_store_n(&v->loaded_on, VCPU_NOT_LOADED, __ATOMIC_RELEASE);
}

static void put_here(void *arg)
{
	vcpu_put_here(arg);
}

static void flush_here(void *arg)
{
	fp_flush(arg);
}

/* Brings @v off other CPUs, and its FP registers off all but @keep. */
static void bring(struct vcpu *v, uint32_t keep)
{
	uint32_t on = __atomic_load_n(&v->loaded_on, __ATOMIC_ACQUIRE);
	uint32_t fp;

	if (on < nr_cpus)
		cpu_call(on, put_here, v);
	fp = __atomic_load_n(&v->fp.cpu, __ATOMIC_ACQUIRE);
	if (fp < nr_cpus && fp != keep)
		cpu_call(fp, flush_here, v);
}

void vcpu_unload(struct vcpu *v)
{
	bring(v, FP_IN_MEMORY);
}

void vcpu_bring(struct vcpu *v)
{
	bring(v, this_cpu()->id);
}
