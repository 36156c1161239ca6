// SPDX-License-Identifier: BSD-2-Clause
/*
 * FP mechanism: moving the register file, and CPTR_EL2. With E2H=1 CPTR_EL2
 * has the layout of CPACR_EL1 and is reached by that name, and its FPEN also
 * gates EL2's own use of the registers.
 */
#include "arch.h"
#include "cpu.h"
#include "fp.h"
#include "print.h"
#include "vcpu.h"

#include "sysreg.h"

#include <string.h>

#define CPTR_FPEN	(UINT64_C(3) << 20)
#define CPTR_TTA	BIT(28)		/* trace registers trap */
#define CPTR_TAM	BIT(30)		/* activity monitors trap */
#define CPTR_BASE	(CPTR_TTA | CPTR_TAM)	/* ZEN, SMEN = 0: trap */

void fp_simd_save(struct arch_fp *fp);
void fp_simd_load(const struct arch_fp *fp);

enum fp_level arch_fp_max(void)
{
	return FP_SIMD;
}

void arch_fp_init(struct arch_fp *fp)
{
	memset(fp, 0, sizeof(*fp));
}

uint32_t arch_fp_bytes(enum fp_level level)
{
	return level == FP_NONE ? 0 : sizeof(struct arch_fp);
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

void arch_fp_save(struct arch_fp *fp, enum fp_level level)
{
	ASSERT(level == FP_SIMD);
	cptr_write(CPTR_BASE | CPTR_FPEN);
	fp_simd_save(fp);
}

void arch_fp_load(const struct arch_fp *fp, enum fp_level level)
{
	ASSERT(level == FP_SIMD);
	cptr_write(CPTR_BASE | CPTR_FPEN);
	fp_simd_load(fp);
}

void arch_fp_access(struct vcpu *v)
{
	cptr_write(fp_access(v) >= FP_SIMD ? CPTR_BASE | CPTR_FPEN : CPTR_BASE);
}
