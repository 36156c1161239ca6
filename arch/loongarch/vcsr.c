// SPDX-License-Identifier: BSD-2-Clause
/*
 * The guest's control and status registers (Reference Manual, chapter 7), as
 * one table: where a register is kept, its value after reset, the bits that a
 * write changes, and what follows from a change. Bits outside of the write mask
 * are read-only: reserved ones stay 0 because reset left them 0. Writes to
 * read-only registers change nothing; numbers that are not in the table read 0
 * and ignore writes, like the optional parts this machine does not have
 * (performance counters, watchpoints, debug mode, RVACFG, the ways to trap
 * RDTIME or to reduce addresses in MISC).
 */
#include "la.h"

#define CSR_LOW		0xa0	/* numbers below have a dense table */

#define PTE_FIELDS							\
	(BITS(6, 0) | PTE_PPN | PTE_NR | PTE_NX | PTE_RPLV)
#define ADDR_PAGE	~BITS(11, 0)		/* 64-bit address of a page */
#define PHYS_PAGE	BITS(LA_PALEN - 1, 12)
#define ALL		UINT64_MAX
/* PPLV, PIE, PWE, PDA, PPG, PDATF, PDATM; the rest says what happened. */
#define MERRCTL_WRITABLE						\
	(BITS(4, 2) | BIT(6) | BIT(7) | BIT(8) | BITS(12, 9))

/* SAVENum 8, TimerBits 48 - 1, VSMax 7. */
#define LA_PRCFG1	UINT64_C(0x72f8)
/* Both kinds of TLB; entries, ways and sets less 1, 1 and as a logarithm. */
#define LA_PRCFG3							\
	(2 | (LA_MTLB - 1) << 4 | (LA_STLB_WAYS - 1) << 12 |		\
	 (uint64_t)__builtin_ctz(LA_STLB_SETS) << 20)

struct csr_row {
	uint32_t off;		/* in struct arch_vcpu; 0: always reads 0 */
	uint32_t reset;
	uint64_t mask;		/* bits that writes change */
	/* Value that the guest sees, where it is not what is stored. */
	uint64_t (*read)(struct vcpu *v);
	/* After a write; @old is what was stored before. */
	void (*changed)(struct vcpu *v, unsigned int num, uint64_t old);
};

/* ---- values that are computed -------------------------------------------- */

static uint64_t read_estat(struct vcpu *v)
{
	return v->arch.csr.estat | la_lines(v);
}

static uint64_t read_asid(struct vcpu *v)
{
	return v->arch.csr.asid | LA_ASIDBITS << ASID_BITS_SHIFT;
}

/* The table for the address of the refill, or of the last page exception. */
static uint64_t read_pgd(struct vcpu *v)
{
	const struct la_csr *c = &v->arch.csr;
	uint64_t va = c->tlbrera & TLBRERA_ISTLBR ? c->tlbrbadv : c->badv;

	return va & BIT(63) ? c->pgdh : c->pgdl;
}

static uint64_t read_tval(struct vcpu *v)
{
	return vtimer_tval(v);
}

/* ---- what follows from a write ------------------------------------------- */

static void irq_changed(struct vcpu *v, unsigned int num, uint64_t old)
{
	(void)num;
	(void)old;
	la_irq_changed(v);
}

static void crmd_changed(struct vcpu *v, unsigned int num, uint64_t old)
{
	uint64_t new = v->arch.csr.crmd;

	(void)num;
	if ((old ^ new) & (CRMD_PLV | CRMD_DA | CRMD_PG))
		mem_mode(v);
	if (new & ~old & CRMD_IE)
		la_irq_changed(v);
}

static void euen_changed(struct vcpu *v, unsigned int num, uint64_t old)
{
	(void)num;
	(void)old;
	/* Bits of units that the VM does not have are read-only. */
	v->arch.csr.euen &= la_euen_mask(v->fp.par.max);
	arch_fp_access(v, fp_access(v));
}

static void tlbehi_changed(struct vcpu *v, unsigned int num, uint64_t old)
{
	(void)num;
	(void)old;
	v->arch.csr.tlbehi = la_vppn(v->arch.csr.tlbehi);
}

static void tlbrehi_changed(struct vcpu *v, unsigned int num, uint64_t old)
{
	uint64_t val = v->arch.csr.tlbrehi;

	(void)num;
	(void)old;
	v->arch.csr.tlbrehi = la_vppn(val) | (val & TLBREHI_PS);
}

static void asid_changed(struct vcpu *v, unsigned int num, uint64_t old)
{
	(void)num;
	if (v->arch.csr.asid != old)
		mem_mode(v);
}

/* A page size that PRCFG2 does not have is not taken. */
static void stlbps_changed(struct vcpu *v, unsigned int num, uint64_t old)
{
	(void)num;
	if (!(LA_PAGE_SIZES >> v->arch.csr.stlbps & 1))
		v->arch.csr.stlbps = old;
	else if (v->arch.csr.stlbps != old)
		mem_forget(v);
}

static void tid_changed(struct vcpu *v, unsigned int num, uint64_t old)
{
	(void)num;
	(void)old;
	/* The only one that lives in hardware: RDTIME reads it untrapped. */
	csr_write(CSR_TID, v->arch.csr.tid);
}

static void tcfg_changed(struct vcpu *v, unsigned int num, uint64_t old)
{
	(void)num;
	(void)old;
	vtimer_config(v);
}

static void ticlr_changed(struct vcpu *v, unsigned int num, uint64_t old)
{
	(void)num;
	(void)old;
	if (v->arch.csr.ticlr & TICLR_CLR)
		vtimer_clear(v);
	v->arch.csr.ticlr = 0;
}

/* WCLLB breaks the link, which the exit did already; it reads 0. */
static void llbctl_changed(struct vcpu *v, unsigned int num, uint64_t old)
{
	(void)num;
	(void)old;
	v->arch.csr.llbctl &= ~LLBCTL_WCLLB;
}

static void dmw_changed(struct vcpu *v, unsigned int num, uint64_t old)
{
	if (v->arch.csr.dmw[num - CSR_DMW0] != old)
		mem_forget(v);
}

/* ---- the table ----------------------------------------------------------- */

#define AT(f)		.off = offsetof(struct arch_vcpu, csr.f)
#define SAVE_ROW(n)	[CSR_SAVE0 + (n)] = { AT(save[n]), 0, ALL }

// clang-format off
static const struct csr_row low[CSR_LOW] = {
	[CSR_CRMD] = { AT(crmd), CRMD_DA, BITS(9, 0), NULL, crmd_changed },
	[CSR_PRMD] = { AT(prmd), 0, BITS(3, 0) },
	[CSR_EUEN] = { AT(euen), 0, BITS(2, 0), NULL, euen_changed },
	[CSR_ECFG] = { AT(ecfg), 0, INT_ALL | ECFG_VS, NULL, irq_changed },
	[CSR_ESTAT] = { AT(estat), 0, INT_SWI, read_estat, irq_changed },
	[CSR_ERA] = { AT(era), 0, ALL },
	[CSR_BADV] = { AT(badv), 0, ALL },
	[CSR_BADI] = { AT(badi), 0, 0 },
	[CSR_EENTRY] = { AT(eentry), 0, ADDR_PAGE },
	[CSR_TLBIDX] = { AT(tlbidx), 0, TLBIDX_INDEX | TLBIDX_PS | TLBIDX_NE },
	[CSR_TLBEHI] = { AT(tlbehi), 0, TLBEHI_VPPN, NULL, tlbehi_changed },
	[CSR_TLBELO0] = { AT(tlbelo0), 0, PTE_FIELDS },
	[CSR_TLBELO1] = { AT(tlbelo1), 0, PTE_FIELDS },
	[CSR_ASID] = { AT(asid), 0, ASID_ASID, read_asid, asid_changed },
	[CSR_PGDL] = { AT(pgdl), 0, ADDR_PAGE },
	[CSR_PGDH] = { AT(pgdh), 0, ADDR_PAGE },
	[CSR_PGD] = { .read = read_pgd },
	[CSR_PWCL] = { AT(pwcl), 0, BITS(29, 0) },	/* 64-bit PTEs only */
	[CSR_PWCH] = { AT(pwch), 0, BITS(23, 0) },	/* no hardware walker */
	[CSR_STLBPS] = { AT(stlbps), PAGE_SHIFT, BITS(5, 0), NULL,
			 stlbps_changed },
	[CSR_CPUID] = { AT(cpuid), 0, 0 },
	[CSR_PRCFG1] = { AT(prcfg1), LA_PRCFG1, 0 },
	[CSR_PRCFG2] = { AT(prcfg2), LA_PAGE_SIZES, 0 },
	[CSR_PRCFG3] = { AT(prcfg3), LA_PRCFG3, 0 },
	SAVE_ROW(0), SAVE_ROW(1), SAVE_ROW(2), SAVE_ROW(3),
	SAVE_ROW(4), SAVE_ROW(5), SAVE_ROW(6), SAVE_ROW(7),
	[CSR_TID] = { AT(tid), 0, BITS(31, 0), NULL, tid_changed },
	[CSR_TCFG] = { AT(tcfg), 0, BITS(47, 0), NULL, tcfg_changed },
	[CSR_TVAL] = { .read = read_tval },
	[CSR_CNTC] = { AT(cntc), 0, ALL },
	[CSR_TICLR] = { AT(ticlr), 0, TICLR_CLR, NULL, ticlr_changed },
	[CSR_LLBCTL] = { AT(llbctl), 0, LLBCTL_WCLLB | LLBCTL_KLO, NULL,
			 llbctl_changed },
	[CSR_TLBRENTRY] = { AT(tlbrentry), 0, PHYS_PAGE },
	[CSR_TLBRBADV] = { AT(tlbrbadv), 0, ALL },
	[CSR_TLBRERA] = { AT(tlbrera), 0, TLBRERA_ISTLBR | TLBRERA_PC },
	[CSR_TLBRSAVE] = { AT(tlbrsave), 0, ALL },
	[CSR_TLBRELO0] = { AT(tlbrelo0), 0, PTE_FIELDS },
	[CSR_TLBRELO1] = { AT(tlbrelo1), 0, PTE_FIELDS },
	[CSR_TLBREHI] = { AT(tlbrehi), 0, TLBEHI_VPPN | TLBREHI_PS, NULL,
			  tlbrehi_changed },
	[CSR_TLBRPRMD] = { AT(tlbrprmd), 0, TLBRPRMD_PPLV | TLBRPRMD_PIE |
					 TLBRPRMD_PWE },
	[CSR_MERRCTL] = { AT(merrctl), 0, MERRCTL_WRITABLE },
	[CSR_MERRENTRY] = { AT(merrentry), 0, PHYS_PAGE },
	[CSR_MERRERA] = { AT(merrera), 0, ALL },
	[CSR_MERRSAVE] = { AT(merrsave), 0, ALL },
	[CSR_CTAG] = { AT(ctag), 0, ALL },
};

static const struct csr_row dmws[LA_DMWS] = {
#define DMW_ROW(n) { AT(dmw[n]), 0, BITS(5, 0) | DMW_VSEG, NULL, dmw_changed }
	DMW_ROW(0), DMW_ROW(1), DMW_ROW(2), DMW_ROW(3),
};

static const struct csr_row debug[] = {
	[CSR_DBG - CSR_DBG] = {},		/* never in debug mode */
	[CSR_DERA - CSR_DBG] = { AT(dera), 0, ALL },
	[CSR_DSAVE - CSR_DBG] = { AT(dsave), 0, ALL },
};
// clang-format on

/* Where reset and the dump find every row. */
static const struct {
	unsigned int first, count;
	const struct csr_row *rows;
} groups[] = {
	{ 0, CSR_LOW, low },
	{ CSR_DMW0, LA_DMWS, dmws },
	{ CSR_DBG, ARRAY_SIZE(debug), debug },
};

static const struct csr_row *high_row(unsigned int num)
{
	static const struct csr_row none;

	for (unsigned int g = 1; g < ARRAY_SIZE(groups); g++)
		if (num - groups[g].first < groups[g].count)
			return &groups[g].rows[num - groups[g].first];
	return &none;
}

static const struct csr_row *row_of(unsigned int num)
{
	return num < CSR_LOW ? &low[num] : high_row(num);
}

/* Offset 0 is the guest's $r0, which is 0. */
static_assert(offsetof(struct arch_vcpu, regs.r[0]) == 0);

static uint64_t *stored(struct vcpu *v, const struct csr_row *row)
{
	return (uint64_t *)(void *)((char *)&v->arch + row->off);
}

/* CSRRD, CSRWR and CSRXCHG are told by the field of the mask register. */
#define RD(w)		((w) & 31)
#define RJ(w)		((w) >> 5 & 31)
#define NUM(w)		((w) >> 10 & 0x3fff)

static enum exit_action done(struct vcpu *v, uint32_t w, uint64_t old)
{
	reg_write(v, RD(w), old);
	exit_skip(v);
	return ACT_RESUME;
}

/* What a write of @val to the bits of @mask leaves in the register. */
static uint64_t written(const struct csr_row *row, uint64_t old, uint64_t val,
			uint64_t mask)
{
	mask &= row->mask;
	return (old & ~mask) | (val & mask);
}

static uint64_t write_mask(const struct vcpu *v, uint32_t w)
{
	return RJ(w) == 1 ? UINT64_MAX : reg_read(v, RJ(w));
}

[[gnu::noipa]]
static enum exit_action with_hooks(struct vcpu *v, uint32_t w)
{
	const struct csr_row *row = row_of(NUM(w));
	uint64_t *p = stored(v, row), old = *p;
	uint64_t seen = row->read ? row->read(v) : old;

	if (RJ(w) && row->off) {
		*p = written(row, old, reg_read(v, RD(w)), write_mask(v, w));
		if (row->changed)
			row->changed(v, NUM(w), old);
	}
	return done(v, w, seen);
}

enum exit_action vcsr_insn(struct vcpu *v, uint32_t w)
{
	const struct csr_row *row = &low[NUM(w)];
	uint64_t *p, old;

	/* Most registers are only memory. */
	if (NUM(w) >= CSR_LOW || row->read || (RJ(w) && row->changed))
		return with_hooks(v, w);
	p = stored(v, row);
	old = *p;
	if (RJ(w) && row->off)
		*p = written(row, old, reg_read(v, RD(w)), write_mask(v, w));
	return done(v, w, old);
}

void vcsr_reset(struct vcpu *v)
{
	for (unsigned int g = 0; g < ARRAY_SIZE(groups); g++)
		for (unsigned int i = 0; i < groups[g].count; i++)
			if (groups[g].rows[i].off)
				*stored(v, &groups[g].rows[i]) =
					groups[g].rows[i].reset;
	v->arch.csr.cpuid = v->id;
	v->arch.csr.tid = v->id;
}
