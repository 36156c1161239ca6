// SPDX-License-Identifier: BSD-2-Clause
/*
 * Calls of guests to the hypervisor itself, see docs/guest-abi.md. Whether a
 * VM may use them at all was decided before we get here.
 */
#include "hcall.h"

#include "arch.h"
#include "cpu.h"
#include "nestling.h"
#include "run.h"
#include "sched.h"
#include "vcpu.h"
#include "vm.h"

static int64_t stat(const struct vcpu *v, uint64_t index)
{
	switch (index) {
	case NESTLING_STAT_EXITS:
		return (int64_t)v->stats.exits;
	case NESTLING_STAT_SWITCHES:
		return (int64_t)v->stats.switches;
	case NESTLING_STAT_FP_SAVES:
		return (int64_t)fp_count(v->fp.stats.saves);
	case NESTLING_STAT_FP_LOADS:
		return (int64_t)fp_count(v->fp.stats.loads);
	case NESTLING_STAT_PCPU:
		return this_cpu()->id;
	case NESTLING_STAT_FP_TRAPS:
		return (int64_t)fp_count(v->fp.stats.traps);
	case NESTLING_STAT_FP_BYTES:
		return (int64_t)fp_bytes(&v->fp);
	case NESTLING_STAT_FP_WIDENS:
		return (int64_t)v->fp.stats.widens;
	case NESTLING_STAT_FP_LEVEL:
		return fp_access(v);
	default:
		return NESTLING_NOT_SUPPORTED;
	}
}

static int64_t migrate(struct vcpu *v, uint64_t pcpu)
{
	if (pcpu >= nr_cpus || sched_set_affinity(v, BIT(pcpu)))
		return NESTLING_INVALID;
	return NESTLING_OK;
}

static void done(struct vcpu *v, struct vm_exit *e, int64_t ret)
{
	e->hcall.ret = (uint64_t)ret;
	arch_vcpu_hcall_done(v, e);
}

int64_t host_hcall(const struct vcpu *v, uint32_t fn, uint64_t arg)
{
	switch (fn) {
	case NESTLING_VERSION:
		return NESTLING_ABI_MAJOR << 16 | NESTLING_ABI_MINOR;
	case NESTLING_STAT:
		return stat(v, arg);
	default:
		return HCALL_EXIT;
	}
}

void hcall_exit(struct vcpu *v, struct vm_exit *e)
{
	switch (e->hcall.fn) {
	case NESTLING_EXIT:
		vm_end(v->vm, VM_EXIT, (int)(e->hcall.arg[0] & 0xff));
		break;
	case NESTLING_YIELD:
		done(v, e, NESTLING_OK);
		sched_preempt(v, true);
		break;
	case NESTLING_MIGRATE:
		done(v, e, migrate(v, e->hcall.arg[0]));
		break;
	default:
		done(v, e, NESTLING_NOT_SUPPORTED);
		break;
	}
}
