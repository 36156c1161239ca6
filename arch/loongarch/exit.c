// SPDX-License-Identifier: BSD-2-Clause
/*
 * The run loop's inner half: enters the loaded vCPU and takes its exits. What
 * is purely architectural is handled here; hot exits come back to the guest
 * without leaving exit_handle(). Before every entry one test of the bits that
 * other CPUs and handlers may have set decides whether anything else is to do;
 * a bit set after the test comes with an interrupt, which is pending then and
 * taken right after the ERTN.
 */
#include "la.h"

#include "cpu.h"
#include "host.h"
#include "nestling.h"
#include "print.h"
#include "vm.h"

/* HVCL with code 0, the only one that is a hypercall. */
#define INSN_HVCL	0x002b8000u

/* CSRRD, CSRWR, CSRXCHG: the upper byte. */
#define INSN_CSR	0x04u

enum { A0 = 4, A1, A2, A3 };	/* numbers of the argument registers */

static uint32_t bad_insn(void)
{
	return (uint32_t)csr_read(CSR_BADI);
}

/* ---- hypercalls ---------------------------------------------------------- */

static enum exit_action answer(struct vcpu *v, int64_t ret)
{
	reg_write(v, A0, (uint64_t)ret);
	return ACT_RESUME;
}

static enum exit_action uid(struct vcpu *v)
{
	reg_write(v, A0, NESTLING_UID_W0);
	reg_write(v, A1, NESTLING_UID_W1);
	reg_write(v, A2, NESTLING_UID_W2);
	reg_write(v, A3, NESTLING_UID_W3);
	return ACT_RESUME;
}

static enum exit_action revision(struct vcpu *v)
{
	reg_write(v, A0, NESTLING_ABI_MAJOR);
	reg_write(v, A1, NESTLING_ABI_MINOR);
	return ACT_RESUME;
}

static enum exit_action leave(struct vcpu *v, uint32_t fn)
{
	struct vm_exit *e = v->arch.exit;

	e->kind = EXIT_HCALL;
	e->hcall.fn = fn;
	e->hcall.arg[0] = reg_read(v, A1);
	e->hcall.arg[1] = reg_read(v, A2);
	e->hcall.arg[2] = reg_read(v, A3);
	return ACT_LEAVE;
}

[[gnu::noipa]]
static enum exit_action hcall(struct vcpu *v)
{
	uint32_t fn = (uint32_t)reg_read(v, A0);
	int64_t now;

	exit_skip(v);
	if (!v->vm->cfg->hypercalls)
		return answer(v, NESTLING_NOT_SUPPORTED);
	now = host_hcall(v, fn, reg_read(v, A1));
	if (now != HCALL_EXIT)
		return answer(v, now);
	if (fn == NESTLING_UID)
		return uid(v);
	if (fn == NESTLING_REVISION)
		return revision(v);
	return leave(v, fn);
}

void arch_vcpu_hcall_done(struct vcpu *v, const struct vm_exit *exit)
{
	answer(v, (int64_t)exit->hcall.ret);
}

/* ---- exceptions ---------------------------------------------------------- */

static unsigned int subcode(uint64_t estat)
{
	return (unsigned int)field(estat, 30, 22);
}

static enum exit_action on_irq(struct vcpu *v, unsigned int ec, uint64_t estat)
{
	(void)v;
	(void)ec;
	(void)estat;
	arch_irq_poll();
	return ACT_RESUME;
}

static enum exit_action on_mem(struct vcpu *v, unsigned int ec, uint64_t estat)
{
	return mem_fault(v, ec, subcode(estat));
}

/* An instruction's own exception, unchanged. Behind a jump, not a call, for
 * whoever ends with it: so keep the compiler from knowing the result. */
[[gnu::noipa]]
static enum exit_action on_insn(struct vcpu *v, unsigned int ec, uint64_t estat)
{
	inject_insn(v, ec, subcode(estat), bad_insn());
	return ACT_RESUME;
}

/* The same with an address. */
static enum exit_action on_badv(struct vcpu *v, unsigned int ec, uint64_t estat)
{
	inject_badv(v, ec, subcode(estat), csr_read(CSR_BADV), bad_insn());
	return ACT_RESUME;
}

/*
 * HVCL does not exist without LVZ, and with it is privileged: then it comes as
 * IPE. It is a call from virtual PLV0 only.
 */
static enum exit_action on_ine(struct vcpu *v, unsigned int ec, uint64_t estat)
{
	if (bad_insn() == INSN_HVCL && !la_plv(v))
		return hcall(v);
	return on_insn(v, ec, estat);
}

static enum exit_action on_ipe(struct vcpu *v, unsigned int ec, uint64_t estat)
{
	uint32_t insn = bad_insn();

	if (insn == INSN_HVCL)
		return on_ine(v, ECODE_INE, estat);
	if (la_plv(v))
		return on_insn(v, ec, estat);
	if (insn >> 24 == INSN_CSR)
		return vcsr_insn(v, insn);
	return priv_handle(v, insn);
}

static enum exit_action on_fp(struct vcpu *v, unsigned int ec, uint64_t estat)
{
	(void)estat;
	return la_fp_trap(v, ec);
}

/* EUEN.BTE is never set: no guest has LBT. */
static enum exit_action on_btd(struct vcpu *v, unsigned int ec, uint64_t estat)
{
	(void)ec;
	return on_insn(v, ECODE_INE, estat);
}

static enum exit_action on_unknown(struct vcpu *v, unsigned int ec,
				   uint64_t estat)
{
	vm_fault(v, "unexpected exception %u.%u at 0x%llx", ec, subcode(estat),
		 (unsigned long long)v->arch.regs.pc);
	v->arch.exit->kind = EXIT_WORK;
	return ACT_LEAVE;
}

static enum exit_action (*const on_exception[ECODES])(struct vcpu *v,
						      unsigned int ec,
						      uint64_t estat) = {
	[ECODE_INT] = on_irq,
	[ECODE_PIL... ECODE_ADE] = on_mem,
	[ECODE_ALE... ECODE_BCE] = on_badv,
	[ECODE_SYS... ECODE_BRK] = on_insn,
	[ECODE_INE] = on_ine,
	[ECODE_IPE] = on_ipe,
	[ECODE_FPD... ECODE_ASXD] = on_fp,
	[ECODE_FPE] = on_insn,
	[ECODE_WPE] = on_unknown,
	[ECODE_BTD] = on_btd,
	[ECODE_BTE... ECODES - 1] = on_unknown,
};

/* ---- the loop ------------------------------------------------------------ */

/*
 * Volatile rather than a relaxed atomic load, behind which the compiler puts a
 * barrier that orders loads of one address: nothing here needs it. 64 bits, for
 * which it needs no extension.
 */
static inline uint64_t work_of(const struct vcpu *v)
{
	return (uint64_t)*(const volatile uint32_t *)&v->req |
	       *(const volatile uint32_t *)&this_cpu()->work;
}

/* Takes what is ours: 0 when the guest may go on, else it is work for core. */
static uint64_t do_work(struct vcpu *v)
{
	if (work_of(v) & VCPU_REQ_IRQ) {
		__atomic_fetch_and(&v->req, ~(uint32_t)VCPU_REQ_IRQ,
				   __ATOMIC_ACQ_REL);
		la_irq_take(v);
	}
	return work_of(v) & ~(uint64_t)VCPU_REQ_IRQ;
}

/* The guest does not simply go on: does it at all? */
[[gnu::noinline]]
static unsigned int decide(struct vcpu *v, enum exit_action act)
{
	if (act == ACT_LEAVE)
		return 1;
	if (!do_work(v))
		return 0;
	v->arch.exit->kind = EXIT_WORK;
	return 1;
}

unsigned int exit_handle(struct vcpu *v, uint64_t estat)
{
	unsigned int ec = (unsigned int)field(estat, 21, 16);
	enum exit_action act;

	v->stats.exits++;
	act = on_exception[ec](v, ec, estat);
	if (__builtin_expect(act == ACT_RESUME && !work_of(v), 1))
		return 0;
	return decide(v, act);
}

void arch_vcpu_run(struct vcpu *v, struct vm_exit *exit)
{
	ASSERT(this_cpu()->loaded == v);
	v->arch.exit = exit;
	if (work_of(v) && do_work(v)) {
		exit->kind = EXIT_WORK;
		return;
	}
	la_enter(v);
}
