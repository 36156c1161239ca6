// SPDX-License-Identifier: BSD-2-Clause
/*
 * FP mechanism: moving the register file, and EUEN. What a guest may use
 * without a trap is its own EUEN and what the FP record allows; while the
 * hypervisor moves registers it opens the widest unit it has. BTE stays 0:
 * there is no LBT state.
 */
#include "la.h"

#include "cpu.h"
#include "fp.h"
#include "print.h"

#include <string.h>

/* CPUCFG word 2. */
#define CPUCFG2_FP	BIT(0)
#define CPUCFG2_LSX	BIT(6)
#define CPUCFG2_LASX	BIT(7)

void fp_scalar_save(struct arch_fp *fp);
void fp_scalar_load(const struct arch_fp *fp);
void fp_lsx_save(struct arch_fp *fp);
void fp_lsx_load(const struct arch_fp *fp);
void fp_lasx_save(struct arch_fp *fp);
void fp_lasx_load(const struct arch_fp *fp);
void fp_scalar_save_regs(struct arch_fp *fp);
void fp_lsx_save_regs(struct arch_fp *fp);
void fp_lsx_load_regs(const struct arch_fp *fp);
void fp_lasx_load_regs(const struct arch_fp *fp);

static_assert(FP_SCALAR == 1 && FP_LSX == 2 && FP_LASX == 3);
static_assert(EUEN_FPE == 1 && EUEN_SXE == 2 && EUEN_ASXE == 4);

/* The units of a width and all below it. */
static inline uint64_t enables(enum fp_level level)
{
	return BIT(level) - 1;
}

enum fp_level arch_fp_max(void)
{
	uint32_t c = cpucfg(2);

	if (c & CPUCFG2_LASX)
		return FP_LASX;
	if (c & CPUCFG2_LSX)
		return FP_LSX;
	return c & CPUCFG2_FP ? FP_SCALAR : FP_NONE;
}

const char *arch_fp_name(enum fp_level level)
{
	static const char *const names[] = {
		[FP_SCALAR] = "scalar",
		[FP_LSX] = "lsx",
		[FP_LASX] = "lasx",
	};

	return level <= FP_LASX ? names[level] : NULL;
}

uint32_t arch_fp_length(uint32_t bits)
{
	(void)bits;
	return 0;
}

void arch_fp_init(struct arch_fp *fp, uint32_t length)
{
	(void)length;
	memset(fp, 0, sizeof(*fp));
}

uint32_t arch_fp_bytes(const struct arch_fp *fp, enum fp_level level)
{
	enum : uint32_t { REGS = 32, SCALAR = 8, CONTROL = 12 };

	(void)fp;
	/* FCC and FCSR are the control registers. */
	return level == FP_NONE ? 0 :
				  REGS * (SCALAR << (level - 1)) + CONTROL;
}

/* A disabled unit keeps its registers. */
bool arch_fp_stays(const struct arch_fp *fp, enum fp_level level)
{
	(void)fp;
	(void)level;
	return true;
}

static void euen_write(uint64_t val)
{
	struct cpu *c = this_cpu();

	/* Compared, since a guest hypervisor pays a trap for each write. */
	if (c->arch.euen == val)
		return;
	c->arch.euen = val;
	csr_write(CSR_EUEN, val);
}

void arch_fp_save(struct arch_fp *fp, enum fp_level level, bool probe)
{
	(void)probe;
	euen_write(enables(level));
	if (level == FP_LASX)
		fp_lasx_save(fp);
	else if (level == FP_LSX)
		fp_lsx_save(fp);
	else
		fp_scalar_save(fp);
}

void arch_fp_load(struct arch_fp *fp, enum fp_level level)
{
	euen_write(enables(level));
	if (level == FP_LASX)
		fp_lasx_load(fp);
	else if (level == FP_LSX)
		fp_lsx_load(fp);
	else
		fp_scalar_load(fp);
}

/* Through memory: no instruction loads only the upper half of a register. */
void arch_fp_widen(struct arch_fp *fp, enum fp_level from, enum fp_level to)
{
	ASSERT(from > FP_NONE && from < to && to <= FP_LASX);
	euen_write(enables(to));
	if (from == FP_SCALAR)
		fp_scalar_save_regs(fp);
	else
		fp_lsx_save_regs(fp);
	if (to == FP_LSX)
		fp_lsx_load_regs(fp);
	else
		fp_lasx_load_regs(fp);
}

uint64_t la_euen_mask(enum fp_level level)
{
	return enables(level);
}

void arch_fp_access(struct vcpu *v, enum fp_level level)
{
	euen_write(v->arch.csr.euen & enables(level));
}

static_assert(ECODE_SXD - ECODE_FPD == FP_LSX - FP_SCALAR &&
	      ECODE_ASXD - ECODE_FPD == FP_LASX - FP_SCALAR);

/*
 * A disabled unit. A unit that the VM does not have does not exist, whatever
 * EUEN says; one that the guest has closed is the guest's business; what is
 * left is ours.
 */
enum exit_action la_fp_trap(struct vcpu *v, unsigned int ecode)
{
	enum fp_level level = ecode - ECODE_FPD + FP_SCALAR;

	if (__builtin_expect(level <= v->fp.par.max &&
				     v->arch.csr.euen & BIT(level - 1),
			     1)) {
		fp_trap(v, level);
		return ACT_RESUME;
	}
	if (level > v->fp.par.max)
		ecode = ECODE_INE;
	inject_insn(v, ecode, 0, (uint32_t)csr_read(CSR_BADI));
	return ACT_RESUME;
}
