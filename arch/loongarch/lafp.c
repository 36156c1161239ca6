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

static const struct fp_unit {
	uint64_t euen;		/* enables of this width and all below */
	uint32_t bytes;		/* of one register */
	const char *name;
	void (*save)(struct arch_fp *fp);
	void (*load)(const struct arch_fp *fp);
	/* The 32 registers without control and condition registers. */
	void (*save_regs)(struct arch_fp *fp);
	void (*load_regs)(const struct arch_fp *fp);
} units[] = {
	[FP_NONE] = {},
	[FP_SCALAR] = { EUEN_FPE, 8, "scalar", fp_scalar_save,
			fp_scalar_load, fp_scalar_save_regs, NULL },
	[FP_LSX] = { EUEN_FPE | EUEN_SXE, 16, "lsx", fp_lsx_save, fp_lsx_load,
		     fp_lsx_save_regs, fp_lsx_load_regs },
	[FP_LASX] = { EUEN_FPE | EUEN_SXE | EUEN_ASXE, 32, "lasx",
		      fp_lasx_save, fp_lasx_load, NULL, fp_lasx_load_regs },
};

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
	return level <= FP_LASX ? units[level].name : NULL;
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
	enum : uint32_t { REGS = 32, CONTROL = 12 };	/* FCC and FCSR */

	(void)fp;
	return level == FP_NONE ? 0 : REGS * units[level].bytes + CONTROL;
}

/* What a narrow load leaves in memory is out of the guest's reach until it is
 * widened, and is loaded then. */
bool arch_fp_fits(const struct arch_fp *fp, enum fp_level level)
{
	(void)fp;
	(void)level;
	return true;
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
	ASSERT(level > FP_NONE && level <= FP_LASX);
	euen_write(units[level].euen);
	units[level].save(fp);
}

void arch_fp_load(struct arch_fp *fp, enum fp_level level)
{
	ASSERT(level > FP_NONE && level <= FP_LASX);
	euen_write(units[level].euen);
	units[level].load(fp);
}

/* Through memory: no instruction loads only the upper half of a register. */
void arch_fp_widen(struct arch_fp *fp, enum fp_level from, enum fp_level to)
{
	ASSERT(from > FP_NONE && from < to && to <= FP_LASX);
	euen_write(units[to].euen);
	units[from].save_regs(fp);
	units[to].load_regs(fp);
}

uint64_t la_euen_mask(enum fp_level level)
{
	ASSERT(level <= FP_LASX);
	return units[level].euen;
}

void arch_fp_access(struct vcpu *v)
{
	euen_write(v->arch.csr.euen & la_euen_mask(fp_access(v)));
}

/* ECODE_FPD, SXD or ASXD: the level it asks for. */
static enum fp_level wanted(unsigned int ecode)
{
	if (ecode == ECODE_FPD)
		return FP_SCALAR;
	return ecode == ECODE_SXD ? FP_LSX : FP_LASX;
}

/*
 * A disabled unit. A unit that the VM does not have does not exist, whatever
 * EUEN says; one that the guest has closed is the guest's business; what is
 * left is ours.
 */
enum exit_action la_fp_trap(struct vcpu *v, unsigned int ecode)
{
	enum fp_level level = wanted(ecode);
	uint64_t bit = la_euen_mask(level) & ~la_euen_mask(level - 1);

	if (level > v->fp.par.max) {
		inject_insn(v, ECODE_INE, 0, (uint32_t)csr_read(CSR_BADI));
		return ACT_RESUME;
	}
	if (!(v->arch.csr.euen & bit)) {
		inject_insn(v, ecode, 0, (uint32_t)csr_read(CSR_BADI));
		return ACT_RESUME;
	}
	fp_trap(v, level);
	return ACT_RESUME;
}
