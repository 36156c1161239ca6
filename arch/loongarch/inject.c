// SPDX-License-Identifier: BSD-2-Clause
/*
 * Exceptions and interrupts to the guest (Reference Manual 6.1.2, 6.2, 7.4):
 * the state change of hardware, on struct la_csr. The PC is the instruction's
 * when an exception is injected, the next one's for an interrupt.
 */
#include "la.h"

#define VECTOR_INT	64	/* number of interrupt 0's vector */

/* PLV0, interrupts and watchpoints off; PG and DA stay. */
static void enter_kernel(struct vcpu *v)
{
	v->arch.csr.crmd &= ~(CRMD_PLV | CRMD_IE | CRMD_WE);
}

static uint64_t vector_address(const struct vcpu *v, unsigned int vector)
{
	const struct la_csr *c = &v->arch.csr;
	unsigned int vs = (unsigned int)field(c->ecfg, 18, 16);

	/* 2^VS instructions each; VS = 0: one entry for all. */
	return c->eentry + (vs ? (uint64_t)vector << (vs + 2) : 0);
}

/* PRMD has PLV and IE in the places where CRMD has them. */
static void take(struct vcpu *v, uint64_t code, unsigned int vector)
{
	struct la_csr *c = &v->arch.csr;

	c->prmd = (c->crmd & (PRMD_PPLV | PRMD_PIE)) |
		  (c->crmd & CRMD_WE ? PRMD_PWE : 0);
	c->estat = (c->estat & INT_SWI) | code;
	c->era = v->arch.regs.pc;
	v->arch.regs.pc = vector_address(v, vector);
	enter_kernel(v);
	mem_mode(v);
}

void inject_exception(struct vcpu *v, unsigned int ecode, unsigned int esub)
{
	take(v, (uint64_t)ecode << ESTAT_ECODE_SHIFT |
			(uint64_t)esub << ESTAT_ESUB_SHIFT, ecode);
}

void inject_insn(struct vcpu *v, unsigned int ecode, unsigned int esub,
		 uint32_t badi)
{
	v->arch.csr.badi = badi;
	inject_exception(v, ecode, esub);
}

uint64_t la_vppn(gva_t va)
{
	/* Bits above the virtual address length repeat the topmost. */
	return (uint64_t)((int64_t)(va << (64 - LA_VALEN)) >> (64 - LA_VALEN)) &
	       ~BITS(12, 0);
}

void inject_badv(struct vcpu *v, unsigned int ecode, unsigned int esub,
		 gva_t badv, uint64_t badi)
{
	struct la_csr *c = &v->arch.csr;

	c->badv = badv;
	if (ecode >= ECODE_PIL && ecode <= ECODE_PPI)
		c->tlbehi = la_vppn(badv);
	if (badi != INJECT_NO_BADI)
		c->badi = (uint32_t)badi;
	inject_exception(v, ecode, esub);
}

void refill_registers(struct vcpu *v, gva_t badv, uint64_t badi)
{
	struct la_csr *c = &v->arch.csr;

	if (badi != INJECT_NO_BADI)
		c->badi = (uint32_t)badi;
	c->tlbrbadv = badv;
	c->tlbrehi = la_vppn(badv) | (c->tlbrehi & TLBREHI_PS);
	c->tlbrera = (v->arch.regs.pc & TLBRERA_PC) | TLBRERA_ISTLBR;
	c->tlbrprmd = (c->crmd & (TLBRPRMD_PPLV | TLBRPRMD_PIE)) |
		      (c->crmd & CRMD_WE ? TLBRPRMD_PWE : 0);
}

void inject_refill(struct vcpu *v, gva_t badv, uint64_t badi)
{
	struct la_csr *c = &v->arch.csr;

	refill_registers(v, badv, badi);
	c->crmd = (c->crmd & ~CRMD_PG) | CRMD_DA;
	enter_kernel(v);
	v->arch.regs.pc = c->tlbrentry;
	mem_mode(v);
}

/* ---- interrupts ---------------------------------------------------------- */

uint64_t la_lines(const struct vcpu *v)
{
	uint64_t is = __atomic_load_n(&v->arch.csr.estat, __ATOMIC_RELAXED) &
		      INT_SWI;

	if (__atomic_load_n(&v->arch.vtimer.pending, __ATOMIC_ACQUIRE))
		is |= INT_TI;
	return is | vintc_lines(v);
}

void la_irq_changed(struct vcpu *v)
{
	__atomic_fetch_or(&v->req, VCPU_REQ_IRQ, __ATOMIC_RELAXED);
}

/* The highest number has the highest priority. */
void la_irq_take(struct vcpu *v)
{
	const struct la_csr *c = &v->arch.csr;
	uint64_t is;

	if (!(c->crmd & CRMD_IE))
		return;
	is = la_lines(v) & c->ecfg & INT_ALL;
	if (is)
		take(v, 0, VECTOR_INT + 63 - (unsigned int)__builtin_clzll(is));
}

bool arch_vcpu_wakes(struct vcpu *v)
{
	/* IDLE ends for what is enabled by ECFG, CRMD.IE or not. */
	return la_lines(v) & INT_ALL &
	       __atomic_load_n(&v->arch.csr.ecfg, __ATOMIC_RELAXED);
}
