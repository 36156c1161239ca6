// SPDX-License-Identifier: BSD-2-Clause
/*
 * Power calls. A vCPU's power state (v->on) is what the guest sees and changes
 * under the VM lock together with the payload it comes with, so two callers
 * can race for one target and exactly one wins.
 */
#include "power.h"

#include "arch.h"
#include "fp.h"
#include "run.h"
#include "sched.h"
#include "vcpu.h"
#include "vm.h"

/* A vCPU is on until its last pCPU has left it: vm_vcpu_gone(). */
static enum power_result cpu_on(struct vm *vm, const struct vm_exit *e)
{
	struct vcpu *t = vm->vcpus[e->power.target];
	enum power_result res = POWER_OK;

	spin_lock(&vm->lock);
	if (vm->state != VM_RUNNING) {
		res = POWER_INVALID;
	} else if (t->on) {
		res = POWER_ALREADY_ON;
	} else {
		fp_reset(t);
		arch_vcpu_reset(t, e->power.entry, e->power.arg);
		__atomic_store_n(&t->on, true, __ATOMIC_RELEASE);
		vm->refs++;
		/* From an earlier pause, or for one under way. */
		__atomic_fetch_and(&t->req, ~(uint32_t)VCPU_REQ_STOP,
				   __ATOMIC_RELAXED);
		if (vm->paused)
			__atomic_fetch_or(&t->req, VCPU_REQ_STOP,
					  __ATOMIC_RELAXED);
		sched_start(t);
	}
	spin_unlock(&vm->lock);
	return res;
}

void power_exit(struct vcpu *v, struct vm_exit *e)
{
	switch (e->power.op) {
	case POWER_CPU_ON:
		arch_vcpu_power_done(v, cpu_on(v->vm, e));
		break;
	case POWER_CPU_OFF:
		run_leave_off(v);
		break;
	case POWER_OFF:
		vm_end(v->vm, VM_OFF, 0);
		break;
	case POWER_RESET:
		vm_end(v->vm, VM_RESET, 0);
		break;
	}
}
