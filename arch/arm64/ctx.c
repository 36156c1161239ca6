// SPDX-License-Identifier: BSD-2-Clause
/*
 * The vCPU's context: reset, load onto this CPU, put into memory. Registers
 * come from the tables in arch/el1.h. What a vCPU leaves in hardware after put
 * is only what the next load overwrites before a guest runs.
 */
#include "arm64.h"
#include "cpu.h"
#include "host.h"
#include "s2.h"
#include "sysreg.h"
#include "vgic.h"
#include "vm.h"
#include "vtimer.h"

#include <string.h>

/* MDCR_EL2: what a guest does not have traps. */
#define MDCR_TPMCR	BIT(5)		/* PMCR_EL0 */
#define MDCR_TPM	BIT(6)		/* performance monitors */
#define MDCR_TDA	BIT(9)		/* debug registers */
#define MDCR_TDOSA	BIT(10)		/* OS lock group */
#define MDCR_TDRA	BIT(11)		/* debug ROM address */
#define MDCR_TPMS	BIT(14)		/* statistical profiling */
#define MDCR_TTRF	BIT(19)		/* trace filter */
// clang-format off
#define MDCR_BASE	(MDCR_TPMCR | MDCR_TPM | MDCR_TDOSA | MDCR_TDRA | \
			 MDCR_TPMS | MDCR_TTRF)
// clang-format on
#define MDCR_HPMN	BITS(4, 0)

#define CLAIM_TAGS	BITS(7, 0)	/* DBGCLAIMSET_EL1, DBGCLAIMCLR_EL1 */

#define MPIDR_RES1	BIT(31)
#define VCPUS_PER_AFF0	16

static uint64_t mpidr_of(unsigned int id)
{
	return MPIDR_RES1 | (id / VCPUS_PER_AFF0) << 8 | id % VCPUS_PER_AFF0;
}

int arch_vcpu_init(struct vcpu *v)
{
	v->arch.mpidr = mpidr_of(v->id);
	vgic_vcpu_init(v);
	vtimer_vcpu_init(v);
	return 0;
}

void arch_vcpu_fini(struct vcpu *v)
{
	vtimer_vcpu_fini(v);
}

void arch_vcpu_reset(struct vcpu *v, gpa_t entry, uint64_t arg)
{
	struct el1_ctx *c = &v->arch.el1;

	memset(&v->arch.regs, 0, sizeof(v->arch.regs));
	v->arch.regs.pc = entry;
	v->arch.regs.x[0] = arg;
	v->arch.regs.pstate = PSTATE_DAIF | PSTATE_EL1H;
#define X(field, reg, reset) c->field = reset;
	EL1_REGS(X)
#undef X
	v->arch.vdisr = 0;
	memset(&v->arch.dbg, 0, sizeof(v->arch.dbg));
	/* The OS Lock is set by a cold reset (Arm ARM, OSLSR_EL1). */
	v->arch.dbg.oslk = 1;
	memset(&v->arch.pauth, 0, sizeof(v->arch.pauth));
	vgic_vcpu_reset(v);
	vtimer_vcpu_reset(v);
}

static void el1_load(const struct el1_ctx *c)
{
#define X(field, reg, reset) sysreg_write(reg, c->field);
	EL1_REGS(X)
#undef X
}

static void el1_save(struct el1_ctx *c)
{
#define X(field, reg, reset) c->field = sysreg_read(reg);
	EL1_REGS(X)
#undef X
}

static void pauth_load(const struct pauth_ctx *c)
{
#define X(field, reg) sysreg_write(reg, c->field);
	PAUTH_REGS(X)
#undef X
}

static void pauth_save(struct pauth_ctx *c)
{
#define X(field, reg) c->field = sysreg_read(reg);
	PAUTH_REGS(X)
#undef X
}

/* One case per register number: the names are part of the instruction. */
// clang-format off
#define DBG_CASES(X)							\
	X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)				\
	X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
// clang-format on

static void bp_load(const struct dbg_ctx *d, unsigned int n)
{
	switch (n) {
#define X(i)								\
	case i:								\
		sysreg_write(dbgbvr##i##_el1, d->bvr[i]);		\
		sysreg_write(dbgbcr##i##_el1, d->bcr[i]);		\
		break;
		DBG_CASES(X)
#undef X
	}
}

static void wp_load(const struct dbg_ctx *d, unsigned int n)
{
	switch (n) {
#define X(i)								\
	case i:								\
		sysreg_write(dbgwvr##i##_el1, d->wvr[i]);		\
		sysreg_write(dbgwcr##i##_el1, d->wcr[i]);		\
		break;
		DBG_CASES(X)
#undef X
	}
}

static void bp_save(struct dbg_ctx *d, unsigned int n)
{
	switch (n) {
#define X(i)								\
	case i:								\
		d->bvr[i] = sysreg_read(dbgbvr##i##_el1);		\
		d->bcr[i] = sysreg_read(dbgbcr##i##_el1);		\
		break;
		DBG_CASES(X)
#undef X
	}
}

static void wp_save(struct dbg_ctx *d, unsigned int n)
{
	switch (n) {
#define X(i)								\
	case i:								\
		d->wvr[i] = sysreg_read(dbgwvr##i##_el1);		\
		d->wcr[i] = sysreg_read(dbgwcr##i##_el1);		\
		break;
		DBG_CASES(X)
#undef X
	}
}

/* Puts @d into the hardware breakpoints, watchpoints and CLAIM tags. */
static void dbg_write(const struct dbg_ctx *d)
{
	sysreg_write(dbgclaimclr_el1, CLAIM_TAGS);
	isb();		/* two registers, one state */
	sysreg_write(dbgclaimset_el1, d->claim);
	for (unsigned int n = 0; n < cpu_breakpoints(); n++)
		bp_load(d, n);
	for (unsigned int n = 0; n < cpu_watchpoints(); n++)
		wp_load(d, n);
}

void dbg_traps(struct vcpu *v)
{
	struct cpu *c = this_cpu();
	uint64_t val = MDCR_BASE | (c->arch.mdcr & MDCR_HPMN) |
		       (v->arch.dbg.used ? 0 : MDCR_TDA);

	if (c->arch.mdcr == val)
		return;
	c->arch.mdcr = val;
	sysreg_write(mdcr_el2, val);
}

static void dbg_load(struct vcpu *v)
{
	static const struct dbg_ctx off;
	struct cpu *c = this_cpu();

	if (v->arch.dbg.used) {
		dbg_write(&v->arch.dbg);
		c->arch.dbg_dirty = true;
	} else if (c->arch.dbg_dirty) {
		/* A vCPU without breakpoints must not hit another's. */
		dbg_write(&off);
		c->arch.dbg_dirty = false;
	}
	sysreg_write(oslar_el1, v->arch.dbg.oslk);
	dbg_traps(v);
}

static void dbg_save(struct vcpu *v)
{
	struct dbg_ctx *d = &v->arch.dbg;

	if (!d->used)
		return;
	d->claim = sysreg_read(dbgclaimclr_el1) & CLAIM_TAGS;
	for (unsigned int n = 0; n < cpu_breakpoints(); n++)
		bp_save(d, n);
	for (unsigned int n = 0; n < cpu_watchpoints(); n++)
		wp_save(d, n);
}

void dbg_use(struct vcpu *v)
{
	v->arch.dbg.used = true;
	dbg_load(v);
}

void arch_vcpu_load(struct vcpu *v)
{
	/*
	 * While we are at EL2 the EL1&0 regime is out of context: no walk uses
	 * it, so the order of these writes is free (Arm ARM, "Use of
	 * out-of-context translation regimes"). The exception is AT, which
	 * some CPUs execute speculatively (Cortex-A55 erratum 1530923, A76
	 * 1165522) and so would cache a mix of two vCPUs: there is no AT in the
	 * hypervisor, which tools/fpcheck verifies.
	 */
	s2_load(&v->vm->arch.s2, v);
	sysreg_write(vmpidr_el2, v->arch.mpidr);
	el1_load(&v->arch.el1);
	/* With AMO set DISR_EL1 is this at EL1, and no trap hides it. */
	if (cpu_has_ras())
		sysreg_write(VDISR_EL2, v->arch.vdisr);
	if (cpu_has_pauth())
		pauth_load(&v->arch.pauth);
	dbg_load(v);
	vtimer_load(v);
	vgic_load(v);
	/* Synchronised by the ERET that enters the guest. */
}

void arch_vcpu_put(struct vcpu *v)
{
	vgic_put(v);
	vtimer_put(v);
	dbg_save(v);
	if (cpu_has_ras())
		v->arch.vdisr = sysreg_read(VDISR_EL2);
	if (cpu_has_pauth())
		pauth_save(&v->arch.pauth);
	el1_save(&v->arch.el1);
}

void arch_vcpu_sync(struct vcpu *v)
{
	vgic_sync(v);
}

bool arch_vcpu_wakes(struct vcpu *v)
{
	return vgic_wakes(v);
}
