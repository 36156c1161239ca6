// SPDX-License-Identifier: BSD-2-Clause
/*
 * Exceptions to a guest's EL1 (Arm ARM D1.3, AArch64.TakeException). The vCPU
 * is loaded: its EL1 registers are the live ones.
 */
#include "arm64.h"
#include "sysreg.h"

#define FSC_SEA		0x10		/* external abort, not on a walk */
#define FSC_SEA_WALK	0x14		/* on a table walk, level 0..3 */

/* Offset into the vector table for a synchronous exception from @pstate. */
static uint64_t vector_offset(uint64_t pstate)
{
	switch (pstate & PSTATE_M) {
	case PSTATE_EL1H:
		return 0x200;
	case PSTATE_EL1T:
		return 0x000;
	default:
		return 0x400;
	}
}

/* PSTATE at the first instruction of the handler. */
static uint64_t handler_pstate(uint64_t old)
{
	uint64_t sctlr = sysreg_read(sctlr_el12);
	uint64_t new = old & (PSTATE_NZCV | PSTATE_DIT | PSTATE_PAN);

	if (!(sctlr & SCTLR_SPAN))
		new |= PSTATE_PAN;
	if (sctlr & SCTLR_DSSBS)
		new |= PSTATE_SSBS;
	return new | PSTATE_DAIF | PSTATE_EL1H;
}

void inject_sync(struct vcpu *v, uint64_t esr)
{
	struct arch_regs *r = &v->arch.regs;
	uint64_t old = r->pstate;

	sysreg_write(elr_el12, r->pc);
	sysreg_write(spsr_el12, old);
	sysreg_write(esr_el12, esr);
	r->pc = sysreg_read(vbar_el12) + vector_offset(old);
	r->pstate = handler_pstate(old);
}

void inject_undef(struct vcpu *v)
{
	inject_sync(v, (uint64_t)EC_UNKNOWN << ESR_EC_SHIFT | ESR_IL);
}

static void inject_abort(struct vcpu *v, uint64_t far, bool fetch,
			 uint64_t fsc)
{
	bool el0 = (v->arch.regs.pstate & PSTATE_M) == PSTATE_EL0T;
	uint64_t ec;

	if (fetch)
		ec = el0 ? EC_IABT_LOW : EC_IABT_CUR;
	else
		ec = el0 ? EC_DABT_LOW : EC_DABT_CUR;
	sysreg_write(far_el12, far);
	inject_sync(v, ec << ESR_EC_SHIFT | ESR_IL | fsc |
			       (fetch ? 0 : v->arch.esr & BIT(6)));
}

void inject_sea(struct vcpu *v, uint64_t far, bool fetch)
{
	inject_abort(v, far, fetch, FSC_SEA);
}

void inject_walk_sea(struct vcpu *v, uint64_t far, bool fetch)
{
	/* The level of the guest's walk is not reported to us: say 1. */
	inject_abort(v, far, fetch, FSC_SEA_WALK | 1);
}
