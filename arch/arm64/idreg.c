// SPDX-License-Identifier: BSD-2-Clause
/*
 * The ID registers a guest sees. One table names every field that is passed
 * on and the largest value it may have; a field that is not in the table reads
 * as "not there", so a CPU newer than this file shows nothing that the
 * hypervisor does not know.
 */
#include "arm64.h"
#include "host.h"
#include "s2.h"
#include "sysreg.h"

/* Registers op0 3, op1 0, CRn 0, by (CRm, op2). */
#define ID(crm, op2)	((crm) << 3 | (op2))
enum {
	PFR0 = ID(4, 0), PFR1 = ID(4, 1), ZFR0 = ID(4, 4),
	DFR0 = ID(5, 0),
	ISAR0 = ID(6, 0), ISAR1 = ID(6, 1), ISAR2 = ID(6, 2),
	MMFR0 = ID(7, 0), MMFR1 = ID(7, 1), MMFR2 = ID(7, 2),
	NR_IDS = 64,
};

enum kind {
	UPTO,		/* unsigned: the smaller of hardware and @val */
	SIGNED,		/* 0xf means "not there": as UPTO, but keeps it */
	FIXED,		/* @val whatever the hardware says */
};

static const struct id_field {
	uint8_t reg, shift, kind, val;
} fields[] = {
	{ PFR0, 0, FIXED, 1 },		/* EL0: AArch64 only */
	{ PFR0, 4, FIXED, 1 },		/* EL1 */
	{ PFR0, 16, SIGNED, 1 },	/* FP with half precision */
	{ PFR0, 20, SIGNED, 1 },	/* AdvSIMD likewise */
	{ PFR0, 24, FIXED, 1 },		/* GIC system registers, v3 */
	{ PFR0, 32, UPTO, 1 },		/* SVE, with ZFR0 if the VM has it */
	{ PFR0, 48, UPTO, 1 },		/* DIT */
	{ PFR0, 56, UPTO, 1 },		/* CSV2, without SCXTNUM */
	{ PFR0, 60, UPTO, 1 },		/* CSV3 */
	{ PFR1, 0, UPTO, 1 },		/* BTI */
	{ PFR1, 4, UPTO, 2 },		/* SSBS */
	{ ZFR0, 0, UPTO, 1 },		/* SVE2 */
	{ ZFR0, 4, UPTO, 2 },		/* AES, PMULL */
	{ ZFR0, 16, UPTO, 1 },		/* BitPerm */
	{ ZFR0, 20, UPTO, 1 },		/* BF16 */
	{ ZFR0, 32, UPTO, 1 },		/* SHA3 */
	{ ZFR0, 40, UPTO, 1 },		/* SM4 */
	{ ZFR0, 44, UPTO, 1 },		/* I8MM */
	{ ZFR0, 52, UPTO, 1 },		/* F32MM */
	{ ZFR0, 56, UPTO, 1 },		/* F64MM */
	{ DFR0, 0, UPTO, 8 },		/* debug architecture: v8.2 */
	{ DFR0, 12, UPTO, 15 },		/* breakpoints */
	{ DFR0, 20, UPTO, 15 },		/* watchpoints */
	{ ISAR0, 4, UPTO, 2 },		/* AES, PMULL */
	{ ISAR0, 8, UPTO, 1 },		/* SHA1 */
	{ ISAR0, 12, UPTO, 2 },		/* SHA2 */
	{ ISAR0, 16, UPTO, 1 },		/* CRC32 */
	{ ISAR0, 20, UPTO, 3 },		/* LSE atomics */
	{ ISAR0, 28, UPTO, 1 },		/* RDM */
	{ ISAR0, 32, UPTO, 1 },		/* SHA3 */
	{ ISAR0, 36, UPTO, 1 },		/* SM3 */
	{ ISAR0, 40, UPTO, 1 },		/* SM4 */
	{ ISAR0, 44, UPTO, 1 },		/* DotProd */
	{ ISAR0, 48, UPTO, 1 },		/* FHM */
	{ ISAR0, 52, UPTO, 2 },		/* FlagM */
	{ ISAR0, 56, UPTO, 2 },		/* TLBI outer shareable, range */
	{ ISAR0, 60, UPTO, 1 },		/* RNDR */
	{ ISAR1, 0, UPTO, 2 },		/* DC CVAP, CVADP */
	{ ISAR1, 4, UPTO, 5 },		/* APA */
	{ ISAR1, 8, UPTO, 5 },		/* API */
	{ ISAR1, 12, UPTO, 1 },		/* JSCVT */
	{ ISAR1, 16, UPTO, 1 },		/* FCMA */
	{ ISAR1, 20, UPTO, 3 },		/* LRCPC */
	{ ISAR1, 24, UPTO, 1 },		/* GPA */
	{ ISAR1, 28, UPTO, 1 },		/* GPI */
	{ ISAR1, 32, UPTO, 1 },		/* FRINTTS */
	{ ISAR1, 36, UPTO, 1 },		/* SB */
	{ ISAR1, 44, UPTO, 1 },		/* BF16 */
	{ ISAR1, 48, UPTO, 1 },		/* DGH */
	{ ISAR1, 52, UPTO, 1 },		/* I8MM */
	{ ISAR2, 4, UPTO, 1 },		/* RPRES */
	{ ISAR2, 8, UPTO, 1 },		/* GPA3 */
	{ ISAR2, 12, UPTO, 5 },		/* APA3 */
	{ ISAR2, 28, UPTO, 1 },		/* CLRBHB */
	{ MMFR0, 4, UPTO, 2 },		/* ASID bits */
	{ MMFR0, 16, UPTO, 1 },		/* mixed endian at EL0 */
	{ MMFR0, 20, UPTO, 1 },		/* 16 KiB granule */
	{ MMFR0, 24, SIGNED, 0 },	/* 64 KiB granule */
	{ MMFR0, 28, SIGNED, 0 },	/* 4 KiB granule, without LPA2 */
	{ MMFR0, 8, UPTO, 1 },		/* mixed endian */
	{ MMFR1, 0, UPTO, 2 },		/* hardware AF, dirty state */
	{ MMFR1, 12, UPTO, 2 },		/* hierarchical permissions */
	{ MMFR1, 20, UPTO, 3 },		/* PAN */
	{ MMFR1, 36, UPTO, 1 },		/* ETS */
	{ MMFR1, 60, UPTO, 1 },		/* ECBHB */
	{ MMFR2, 0, UPTO, 1 },		/* CnP */
	{ MMFR2, 4, UPTO, 1 },		/* UAO */
	{ MMFR2, 32, UPTO, 1 },		/* unaligned single copy atomicity */
	{ MMFR2, 36, UPTO, 1 },		/* ID-space traps */
	{ MMFR2, 48, UPTO, 1 },		/* TTL in TLBI */
	{ MMFR2, 52, UPTO, 2 },		/* BBM */
	{ MMFR2, 60, UPTO, 1 },		/* E0PD */
};

#define PFR0_SVE	BITS(35, 32)

static uint64_t hw[NR_IDS], guest[NR_IDS];
static bool has_pauth;

static void read_hw(void)
{
	hw[PFR0] = sysreg_read(S3_0_C0_C4_0);
	hw[PFR1] = sysreg_read(S3_0_C0_C4_1);
	if (hw[PFR0] & PFR0_SVE)
		hw[ZFR0] = sysreg_read(S3_0_C0_C4_4);
	hw[DFR0] = sysreg_read(S3_0_C0_C5_0);
	hw[ISAR0] = sysreg_read(S3_0_C0_C6_0);
	hw[ISAR1] = sysreg_read(S3_0_C0_C6_1);
	hw[ISAR2] = sysreg_read(S3_0_C0_C6_2);
	hw[MMFR0] = sysreg_read(S3_0_C0_C7_0);
	hw[MMFR1] = sysreg_read(S3_0_C0_C7_1);
	hw[MMFR2] = sysreg_read(S3_0_C0_C7_2);
	has_pauth = (hw[ISAR1] & (BITS(11, 4) | BITS(31, 24))) ||
		    (hw[ISAR2] & BITS(15, 8));
}

static uint64_t field_value(const struct id_field *f)
{
	uint64_t v = hw[f->reg] >> f->shift & 0xf;

	if (f->kind == FIXED)
		return f->val;
	if (f->kind == SIGNED && v == 0xf)
		return v;
	return min_u64(v, f->val);
}

/* MMFR0.PARange: the largest coded size that fits the IPA space. */
static uint64_t pa_range(void)
{
	switch (s2_ipa_bits()) {
	case 32:
		return 0;
	case 36:
		return 1;
	default:
		return 2;
	}
}

void idreg_init(void)
{
	read_hw();
	s2_boot();
	for (unsigned int i = 0; i < ARRAY_SIZE(fields); i++)
		guest[fields[i].reg] |= field_value(&fields[i])
					<< fields[i].shift;
	guest[MMFR0] |= pa_range();
}

uint64_t idreg_value(const struct vcpu *v, unsigned int crm, unsigned int op2)
{
	unsigned int id = ID(crm & 7, op2 & 7);

	if (v->fp.par.max != FP_SVE) {
		if (id == PFR0)
			return guest[PFR0] & ~PFR0_SVE;
		if (id == ZFR0)
			return 0;
	}
	return guest[id];
}

bool cpu_has_sve(void)
{
	return hw[PFR0] & PFR0_SVE;
}

bool cpu_has_pauth(void)
{
	return has_pauth;
}

uint64_t cpu_pa_range(void)
{
	return hw[MMFR0] & 0xf;
}

bool cpu_has_mops(void)
{
	return hw[ISAR2] >> 16 & 0xf;
}

bool cpu_has_fwb(void)
{
	return hw[MMFR2] >> 40 & 0xf;
}

bool cpu_has_ras(void)
{
	return hw[PFR0] >> 28 & 0xf;
}

bool cpu_has_fgt(void)
{
	return hw[MMFR0] >> 56 & 0xf;
}

bool cpu_has_fgt2(void)
{
	return (hw[MMFR0] >> 56 & 0xf) >= 2;
}

bool cpu_has_mpam(void)
{
	/* Version: major in PFR0, minor in PFR1. */
	return (hw[PFR0] >> 40 & 0xf) || (hw[PFR1] >> 16 & 0xf);
}

bool cpu_has_nmi(void)
{
	return hw[PFR1] >> 36 & 0xf;
}

bool cpu_has_hcx(void)
{
	return hw[MMFR1] >> 40 & 0xf;
}

unsigned int cpu_breakpoints(void)
{
	return (hw[DFR0] >> 12 & 0xf) + 1;
}

unsigned int cpu_watchpoints(void)
{
	return (hw[DFR0] >> 20 & 0xf) + 1;
}
