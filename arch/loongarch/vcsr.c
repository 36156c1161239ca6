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

#define PTE_FIELDS	BITS(6, 0) | PTE_PPN | PTE_NR | PTE_NX | PTE_RPLV
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
	uint16_t off;		/* in struct arch_vcpu; 0: always reads 0 */
	uint64_t mask;		/* bits that writes change */
	uint64_t reset;
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
	v->arch.csr.euen &= la_euen_mask(v->fp.max);
	arch_fp_access(v);
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
		mem_dmw(v, num - CSR_DMW0);
}

/* ---- the table ----------------------------------------------------------- */

#define AT(f)		.off = offsetof(struct arch_vcpu, csr.f)
#define SAVE_ROW(n)	[CSR_SAVE0 + (n)] = { AT(save[n]), ALL }

// clang-format off
static const struct csr_row low[CSR_LOW] = {
	[CSR_CRMD] = { AT(crmd), BITS(9, 0), CRMD_DA, NULL, crmd_changed },
	[CSR_PRMD] = { AT(prmd), BITS(3, 0) },
	[CSR_EUEN] = { AT(euen), BITS(2, 0), 0, NULL, euen_changed },
	[CSR_ECFG] = { AT(ecfg), INT_ALL | ECFG_VS, 0, NULL, irq_changed },
	[CSR_ESTAT] = { AT(estat), INT_SWI, 0, read_estat, irq_changed },
	[CSR_ERA] = { AT(era), ALL },
	[CSR_BADV] = { AT(badv), ALL },
	[CSR_BADI] = { AT(badi), 0 },
	[CSR_EENTRY] = { AT(eentry), ADDR_PAGE },
	[CSR_TLBIDX] = { AT(tlbidx), TLBIDX_INDEX | TLBIDX_PS | TLBIDX_NE },
	[CSR_TLBEHI] = { AT(tlbehi), TLBEHI_VPPN, 0, NULL, tlbehi_changed },
	[CSR_TLBELO0] = { AT(tlbelo0), PTE_FIELDS },
	[CSR_TLBELO1] = { AT(tlbelo1), PTE_FIELDS },
	[CSR_ASID] = { AT(asid), ASID_ASID, 0, read_asid, asid_changed },
	[CSR_PGDL] = { AT(pgdl), ADDR_PAGE },
	[CSR_PGDH] = { AT(pgdh), ADDR_PAGE },
	[CSR_PGD] = { .read = read_pgd },
	[CSR_PWCL] = { AT(pwcl), BITS(29, 0) },	/* PTEs of 64 bits only */
	[CSR_PWCH] = { AT(pwch), BITS(23, 0) },	/* no hardware walker */
	[CSR_STLBPS] = { AT(stlbps), BITS(5, 0), PAGE_SHIFT, NULL,
			 stlbps_changed },
	[CSR_CPUID] = { AT(cpuid), 0 },
	[CSR_PRCFG1] = { AT(prcfg1), 0, LA_PRCFG1 },
	[CSR_PRCFG2] = { AT(prcfg2), 0, LA_PAGE_SIZES },
	[CSR_PRCFG3] = { AT(prcfg3), 0, LA_PRCFG3 },
	SAVE_ROW(0), SAVE_ROW(1), SAVE_ROW(2), SAVE_ROW(3),
	SAVE_ROW(4), SAVE_ROW(5), SAVE_ROW(6), SAVE_ROW(7),
	[CSR_TID] = { AT(tid), BITS(31, 0), 0, NULL, tid_changed },
	[CSR_TCFG] = { AT(tcfg), BITS(47, 0), 0, NULL, tcfg_changed },
	[CSR_TVAL] = { .read = read_tval },
	[CSR_CNTC] = { AT(cntc), ALL },
	[CSR_TICLR] = { AT(ticlr), TICLR_CLR, 0, NULL, ticlr_changed },
	[CSR_LLBCTL] = { AT(llbctl), LLBCTL_WCLLB | LLBCTL_KLO, 0, NULL,
			 llbctl_changed },
	[CSR_TLBRENTRY] = { AT(tlbrentry), PHYS_PAGE },
	[CSR_TLBRBADV] = { AT(tlbrbadv), ALL },
	[CSR_TLBRERA] = { AT(tlbrera), TLBRERA_ISTLBR | TLBRERA_PC },
	[CSR_TLBRSAVE] = { AT(tlbrsave), ALL },
	[CSR_TLBRELO0] = { AT(tlbrelo0), PTE_FIELDS },
	[CSR_TLBRELO1] = { AT(tlbrelo1), PTE_FIELDS },
	[CSR_TLBREHI] = { AT(tlbrehi), TLBEHI_VPPN | TLBREHI_PS, 0, NULL,
			  tlbrehi_changed },
	[CSR_TLBRPRMD] = { AT(tlbrprmd), TLBRPRMD_PPLV | TLBRPRMD_PIE |
					 TLBRPRMD_PWE },
	[CSR_MERRCTL] = { AT(merrctl), MERRCTL_WRITABLE },
	[CSR_MERRENTRY] = { AT(merrentry), PHYS_PAGE },
	[CSR_MERRERA] = { AT(merrera), ALL },
	[CSR_MERRSAVE] = { AT(merrsave), ALL },
	[CSR_CTAG] = { AT(ctag), ALL },
};

static const struct csr_row dmws[LA_DMWS] = {
#define DMW_ROW(n) { AT(dmw[n]), BITS(5, 0) | DMW_VSEG, 0, NULL, dmw_changed }
	DMW_ROW(0), DMW_ROW(1), DMW_ROW(2), DMW_ROW(3),
};

static const struct csr_row debug[] = {
	[CSR_DBG - CSR_DBG] = {},		/* never in debug mode */
	[CSR_DERA - CSR_DBG] = { AT(dera), ALL },
	[CSR_DSAVE - CSR_DBG] = { AT(dsave), ALL },
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

static inline const struct csr_row *row_of(unsigned int num)
{
	return num < CSR_LOW ? &low[num] : high_row(num);
}

/* Offset 0 is the guest's $r0, which is 0. */
static_assert(offsetof(struct arch_vcpu, regs.r[0]) == 0);

static uint64_t *stored(struct vcpu *v, const struct csr_row *row)
{
	return (uint64_t *)(void *)((char *)&v->arch + row->off);
}

uint64_t vcsr_read(struct vcpu *v, unsigned int num)
{
	const struct csr_row *row = row_of(num);

	return row->read ? row->read(v) : *stored(v, row);
}

void vcsr_write(struct vcpu *v, unsigned int num, uint64_t val, uint64_t mask)
{
	const struct csr_row *row = row_of(num);
	uint64_t *p = stored(v, row), old = *p;

	mask &= row->mask;
	if (!row->off)
		return;
	*p = (old & ~mask) | (val & mask);
	if (row->changed)
		row->changed(v, num, old);
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
