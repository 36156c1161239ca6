// SPDX-License-Identifier: BSD-2-Clause
/*
 * FP mechanism: moving the register file, CPTR_EL2 and ZCR_EL2. With E2H=1
 * CPTR_EL2 has the layout of CPACR_EL1 and is reached by that name, and its
 * enables also gate EL2's own use of the registers.
 *
 * FP_SVE is Z, P, FFR and ZCR_EL1 at the vector length of the VM, which is
 * ZCR_EL2 while its registers are live. FP_SIMD is V, the low 128 bits of Z.
 * Writing a V register may zero the rest of its Z register (Arm ARM, "SIMD&FP
 * register writes"), so a VM that has SVE is loaded as FP_SIMD only when the
 * rest of every Z register is zero anyway; P, FFR and ZCR_EL1 wait in memory.
 * An image therefore has one of two forms: V, with all else of Z zero, or Z.
 */
#include "arch.h"
#include "arm64.h"
#include "cpu.h"
#include "fp.h"
#include "print.h"
#include "vcpu.h"

#include "sysreg.h"

#include <string.h>

#define CPTR_ZEN	BITS(17, 16)
#define CPTR_FPEN	BITS(21, 20)
#define CPTR_TTA	BIT(28)		/* trace registers trap */
#define CPTR_TAM	BIT(30)		/* activity monitors trap */
#define CPTR_BASE	(CPTR_TTA | CPTR_TAM)	/* ZEN, SMEN = 0: trap */

#define ZCR_EL2		S3_4_C1_C2_0
#define ZCR_EL12	S3_5_C1_C2_0

#define QUADWORD	128		/* bits */

/* fp.S. V or Z, each with the control registers, Z with P and FFR; P and FFR
 * alone; the length of a vector. */
void fp_simd_save(struct arch_fp *fp);
void fp_simd_load(const struct arch_fp *fp);
void fp_sve_save(struct arch_fp *fp);
void fp_sve_load(const struct arch_fp *fp);
void fp_pred_save(struct arch_fp *fp);
void fp_pred_load(const struct arch_fp *fp);
bool fp_sve_narrow(struct arch_fp *fp);
uint64_t fp_sve_bytes(void);

/* Bit n: every CPU has vectors of n + 1 quadwords. [a] while CPUs come up,
 * the boot CPU before all others; constant from the first VM on. */
static uint32_t lengths;

/* Opens the registers at @level for EL2. */
static uint64_t cptr_for(enum fp_level level)
{
	if (level == FP_NONE)
		return CPTR_BASE;
	return CPTR_BASE | CPTR_FPEN | (level == FP_SVE ? CPTR_ZEN : 0);
}

static void cptr_write(uint64_t val)
{
	struct cpu *c = this_cpu();

	/* Compared, since a guest hypervisor pays a trap for each write. */
	if (c->arch.cptr == val)
		return;
	c->arch.cptr = val;
	sysreg_write(cpacr_el1, val);
	isb();
}

/* Vectors of @vq quadwords from here on; CPTR_EL2.ZEN is open. */
static void length_write(uint64_t vq)
{
	struct cpu *c = this_cpu();

	if (c->arch.zcr == vq - 1)
		return;
	c->arch.zcr = vq - 1;
	sysreg_write(ZCR_EL2, vq - 1);
	isb();
}

static void open(const struct arch_fp *fp, enum fp_level level)
{
	cptr_write(cptr_for(level));
	if (level == FP_SVE)
		length_write(fp->vq);
}

/* ---- what there is ------------------------------------------------------- */

void fp_cpu_init(struct cpu *c)
{
	uint32_t have = 0;

	c->arch.cptr = ~UINT64_C(0);
	c->arch.zcr = ~UINT64_C(0);
	if (cpu_has_sve()) {
		cptr_write(cptr_for(FP_SVE));
		for (uint64_t vq = 1; vq <= FP_MAX_VQ; vq++) {
			length_write(vq);
			/* A length it lacks is the next smaller one. */
			have |= (uint32_t)BIT(fp_sve_bytes() * 8 / QUADWORD -
					      1);
		}
	}
	cptr_write(CPTR_BASE);
	if (c->id == 0)
		lengths = have;
	else
		__atomic_fetch_and(&lengths, have, __ATOMIC_RELAXED);
}

enum fp_level arch_fp_max(void)
{
	return lengths ? FP_SVE : FP_SIMD;
}

const char *arch_fp_name(enum fp_level level)
{
	if (level == FP_SIMD)
		return "fpsimd";
	return level == FP_SVE ? "sve" : NULL;
}

uint32_t arch_fp_length(uint32_t bits)
{
	uint32_t fit = lengths;

	if (bits && bits / QUADWORD < FP_MAX_VQ)
		fit &= (uint32_t)BIT(bits / QUADWORD) - 1;
	return fit ? (32 - (uint32_t)__builtin_clz(fit)) * QUADWORD : 0;
}

uint32_t arch_fp_bytes(const struct arch_fp *fp, enum fp_level level)
{
	enum : uint32_t { CONTROL = 16 };	/* FPCR, FPSR */

	if (level == FP_SIMD)
		return sizeof(fp->v) + CONTROL;
	/* ZCR_EL1, 32 Z registers, 16 P registers and FFR. */
	return level == FP_SVE ? CONTROL + 8 + fp->vq * (32 * 16 + 17 * 2) : 0;
}

/* ---- moving -------------------------------------------------------------- */

void arch_fp_init(struct arch_fp *fp, uint32_t length)
{
	memset(fp, 0, sizeof(*fp));
	fp->vq = length / QUADWORD;
}

void arch_fp_save(struct arch_fp *fp, enum fp_level level, bool probe)
{
	open(fp, level);
	if (level == FP_SIMD) {
		fp_simd_save(fp);
		return;
	}
	fp->zcr = sysreg_read(ZCR_EL12);
	fp->wide = fp->vq > 1;
	if (!fp->wide) {
		fp_simd_save(fp);
		fp_pred_save(fp);
		return;
	}
	fp_sve_save(fp);
	if (probe)
		fp->wide = !fp_sve_narrow(fp);
}

static void load_sve(struct arch_fp *fp)
{
	sysreg_write(ZCR_EL12, fp->zcr);
	if (fp->wide) {
		fp_sve_load(fp);
		return;
	}
	fp_simd_load(fp);	/* zeroes the rest of Z */
	fp_pred_load(fp);
}

void arch_fp_load(struct arch_fp *fp, enum fp_level level)
{
	open(fp, level);
	if (level == FP_SVE)
		load_sve(fp);
	else
		fp_simd_load(fp);
}

/*
 * From FP_SIMD to FP_SVE. Not just by loading the rest: with SVE trapped a
 * write of V may have kept what another vCPU left in the rest of Z, and only
 * a load with the vector length set is sure to zero it.
 */
void arch_fp_widen(struct arch_fp *fp, enum fp_level from, enum fp_level to)
{
	ASSERT(from == FP_SIMD && to == FP_SVE && !fp->wide);
	open(fp, FP_SVE);
	fp_simd_save(fp);
	load_sve(fp);
}

/* Trapped SVE may be taken for a vector length of 128 bits, and what is beyond
 * the length is lost at a change of exception level (Arm ARM, ZCR_EL2). */
bool arch_fp_stays(const struct arch_fp *fp, enum fp_level level)
{
	return level == FP_SIMD || fp->vq == 1;
}

void arch_fp_access(struct vcpu *v, enum fp_level level)
{
	(void)v;
	cptr_write(cptr_for(level));
}
