// SPDX-License-Identifier: BSD-2-Clause
/*
 * The run loop's inner half: enters the loaded vCPU and takes its exits. What
 * is purely architectural is handled here; hot exits come back to the guest
 * without leaving exit_handle(). Before every entry one test of the bits that
 * other CPUs and handlers may have set decides whether anything else is to do;
 * a bit set after the test comes with an interrupt, which is pending then and
 * taken right after the ERET.
 */
#include "arm64.h"
#include "cpu.h"
#include "host.h"
#include "sysreg.h"
#include "vgic.h"

/* ISS of EC_WFX: TI, which instruction. */
#define WFX_TI(esr)	((esr) & 3)
enum { WFX_WFI, WFX_WFE, WFX_WFIT, WFX_WFET };

void exit_skip(struct vcpu *v)
{
	v->arch.regs.pc += 4;
	v->arch.regs.pstate &= ~(PSTATE_BTYPE | PSTATE_SS);
}

static enum exit_action on_wfx(struct vcpu *v)
{
	uint64_t ti = WFX_TI(v->arch.esr);

	if (ti == WFX_WFIT || ti == WFX_WFET) {
		/* FEAT_WFxT is hidden. */
		inject_undef(v);
		return ACT_RESUME;
	}
	exit_skip(v);
	if (ti == WFX_WFE)
		return ACT_RESUME;
	v->arch.exit->kind = EXIT_IDLE;
	return ACT_LEAVE;
}

/* The guest's own CPACR_EL1 comes first, so it has opened what it used. */
static enum exit_action on_fp(struct vcpu *v)
{
	fp_trap(v, FP_SIMD);
	return ACT_RESUME;
}

static enum exit_action on_sve(struct vcpu *v)
{
	if (v->fp.par.max == FP_SVE)
		fp_trap(v, FP_SVE);
	else
		inject_undef(v);
	return ACT_RESUME;
}

static enum exit_action on_dabt(struct vcpu *v)
{
	return abort_handle(v, false);
}

static enum exit_action on_iabt(struct vcpu *v)
{
	return abort_handle(v, true);
}

/* Everything that a guest without the feature finds UNDEFINED. */
static enum exit_action on_undef(struct vcpu *v)
{
	inject_undef(v);
	return ACT_RESUME;
}

/*
 * Illegal state is normally taken by EL1 itself; here it means PSTATE.IL was
 * set by what we returned to, so the guest gets the exception it is due.
 */
static enum exit_action on_same(struct vcpu *v)
{
	inject_sync(v, v->arch.esr);
	return ACT_RESUME;
}

static enum exit_action on_unknown(struct vcpu *v)
{
	vm_fault(v, "unexpected exit, ESR 0x%llx",
		 (unsigned long long)v->arch.esr);
	v->arch.exit->kind = EXIT_WORK;
	return ACT_LEAVE;
}

static enum exit_action (*const on_sync[64])(struct vcpu *v) = {
	[EC_UNKNOWN] = on_undef,
	[EC_WFX] = on_wfx,
	[0x02 ... 0x06] = on_unknown,
	[EC_FP] = on_fp,
	[0x08] = on_unknown,
	[EC_PAUTH] = on_undef,
	[EC_LS64] = on_undef,
	[0x0b ... 0x0d] = on_unknown,
	[EC_ILLEGAL] = on_same,
	[0x0f ... 0x13] = on_unknown,
	[EC_SYSREG128] = on_undef,
	[EC_SVC64] = on_unknown,
	[EC_HVC64] = psci_call,
	[EC_SMC64] = psci_call,
	[EC_SYSREG] = trapreg_handle,
	[EC_SVE] = on_sve,
	[EC_ERET] = on_undef,
	[0x1b ... 0x1c] = on_unknown,
	[EC_SME] = on_undef,
	[0x1e ... 0x1f] = on_unknown,
	[EC_IABT_LOW] = on_iabt,
	[0x21 ... 0x23] = on_unknown,
	[EC_DABT_LOW] = on_dabt,
	[0x25 ... 0x3f] = on_unknown,
};

static enum exit_action other_source(struct vcpu *v, enum exit_source src)
{
	v->arch.exit->kind = EXIT_WORK;
	if (src == SRC_SERROR) {
		/* HCR_EL2.AMO: a guest's bad access may end here. */
		vm_fault(v, "SError, ESR 0x%llx",
			 (unsigned long long)v->arch.esr);
		return ACT_LEAVE;
	}
	vm_fault(v, "AArch32 state is not supported");
	return ACT_LEAVE;
}

/* Work for core, or for us: 0 when the guest may go on. */
static unsigned int pending_work(struct vcpu *v)
{
	struct cpu *c = this_cpu();
	uint32_t req = __atomic_load_n(&v->req, __ATOMIC_RELAXED);

	if (__builtin_expect(!(req |
			       __atomic_load_n(&c->work, __ATOMIC_RELAXED)),
			     1))
		return 0;
	if (req & VCPU_REQ_IRQ) {
		__atomic_fetch_and(&v->req, ~VCPU_REQ_IRQ, __ATOMIC_ACQ_REL);
		vgic_flush(v);
		req = __atomic_load_n(&v->req, __ATOMIC_RELAXED);
	}
	return (req & ~VCPU_REQ_IRQ) |
	       __atomic_load_n(&c->work, __ATOMIC_RELAXED);
}

unsigned int exit_handle(struct vcpu *v, enum exit_source src)
{
	enum exit_action act;

	v->stats.exits++;
	if (src == SRC_SYNC) {
		act = on_sync[ESR_EC(v->arch.esr)](v);
	} else if (src == SRC_IRQ) {
		arch_irq_poll();
		act = ACT_RESUME;
	} else {
		act = other_source(v, src);
	}
	if (act == ACT_LEAVE)
		return 1;
	if (!pending_work(v))
		return 0;
	v->arch.exit->kind = EXIT_WORK;
	return 1;
}

void arch_vcpu_run(struct vcpu *v, struct vm_exit *exit)
{
	ASSERT(this_cpu()->loaded == v);
	v->arch.exit = exit;
	if (pending_work(v)) {
		exit->kind = EXIT_WORK;
		return;
	}
	arm64_enter(v);
}
