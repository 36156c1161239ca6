// SPDX-License-Identifier: BSD-2-Clause
/*
 * Stage-2 aborts. Guest RAM is mapped for good, so an abort is an access to a
 * device or to nothing: decoded here into what core's device models know.
 */
#include "arm64.h"
#include "host.h"
#include "sysreg.h"
#include "vgic.h"

/* ISS of a data abort (Arm ARM, ESR_ELx). */
#define ISS_ISV		BIT(24)
#define ISS_SAS(iss)	((iss) >> 22 & 3)
#define ISS_SSE		BIT(21)
#define ISS_SRT(iss)	((iss) >> 16 & 31)
#define ISS_SF		BIT(15)
#define ISS_CM		BIT(8)
#define ISS_S1PTW	BIT(7)
#define ISS_WNR		BIT(6)
#define VECTORS_SIZE	0x800
#define FSC_TYPE(iss)	((iss) & 0x3c)
#define FSC_ADDR_SIZE	0x00
#define FSC_TRANSLATION	0x04

static gpa_t fault_gpa(const struct vcpu *v)
{
	/* HPFAR_EL2.FIPA, bits 43:4 are IPA bits 51:12. */
	return (v->arch.hpfar & BITS(43, 4)) << 8 | (v->arch.far & 0xfff);
}

static void read_done(struct vcpu *v, uint64_t val)
{
	uint64_t iss = v->arch.esr & ESR_ISS_MASK;
	unsigned int bits = 8u << ISS_SAS(iss);

	if (bits < 64) {
		val &= BIT(bits) - 1;
		if ((iss & ISS_SSE) && (val & BIT(bits - 1)))
			val |= ~UINT64_C(0) << bits;
	}
	if (!(iss & ISS_SF))
		val &= UINT32_MAX;
	reg_write(v, ISS_SRT(iss), val);
}

void arch_vcpu_mmio_done(struct vcpu *v, const struct vm_exit *exit)
{
	if (!exit->mmio.write)
		read_done(v, exit->mmio.value);
	exit_skip(v);
}

void arch_vcpu_mmio_abort(struct vcpu *v, const struct vm_exit *exit)
{
	(void)exit;
	inject_sea(v, v->arch.far, false);
}

static enum exit_action mmio(struct vcpu *v, uint64_t iss)
{
	struct vm_exit *exit = v->arch.exit;
	struct mmio *m = &exit->mmio;

	m->gpa = fault_gpa(v);
	m->size = (uint8_t)(1 << ISS_SAS(iss));
	m->write = iss & ISS_WNR;
	if (m->write) {
		m->value = reg_read(v, ISS_SRT(iss));
		if (m->size < 8)
			m->value &= BIT(8 * m->size) - 1;
	}
	if (vgic_mmio(v, m)) {
		arch_vcpu_mmio_done(v, exit);
		return ACT_RESUME;
	}
	exit->kind = EXIT_MMIO;
	return ACT_LEAVE;
}

/*
 * Fetching an exception vector failed, and the abort we would inject starts at
 * a vector as well: the guest can make no progress any more.
 */
static bool vectors_gone(const struct vcpu *v)
{
	uint64_t vbar = sysreg_read(vbar_el12);

	return (v->arch.regs.pstate & PSTATE_M) == PSTATE_EL1H &&
	       v->arch.regs.pc - vbar < VECTORS_SIZE;
}

enum exit_action abort_handle(struct vcpu *v, bool fetch)
{
	uint64_t iss = v->arch.esr & ESR_ISS_MASK;

	v->arch.far = sysreg_read(far_el1);	/* FAR_EL2 */
	v->arch.hpfar = sysreg_read(hpfar_el2);
	if (fetch && vectors_gone(v)) {
		vm_fault(v, "the exception vectors at 0x%llx are not RAM",
			 (unsigned long long)sysreg_read(vbar_el12));
		v->arch.exit->kind = EXIT_WORK;
		return ACT_LEAVE;
	}
	if (iss & ISS_S1PTW) {
		inject_walk_sea(v, v->arch.far, fetch);
		return ACT_RESUME;
	}
	/*
	 * Only translation faults and accesses beyond the IPA space come from a
	 * guest; anything else (a RAM error, say) is an abort to it as well.
	 */
	if (fetch || FSC_TYPE(iss) > FSC_TRANSLATION) {
		inject_sea(v, v->arch.far, fetch);
		return ACT_RESUME;
	}
	if (iss & ISS_CM) {
		/* Cache maintenance where no RAM is: nothing to maintain. */
		exit_skip(v);
		return ACT_RESUME;
	}
	if (!(iss & ISS_ISV) || FSC_TYPE(iss) == FSC_ADDR_SIZE) {
		/* Pairs, writeback, exclusives, vectors: not for devices. */
		inject_sea(v, v->arch.far, false);
		return ACT_RESUME;
	}
	return mmio(v, iss);
}
