// SPDX-License-Identifier: BSD-2-Clause
/*
 * The cheapest use of each width of FP registers, and passing a token between
 * two vCPUs, for images that measure what that costs. Interrupts stay masked.
 */
#ifndef GUEST_FPUSE_H
#define GUEST_FPUSE_H

#include "arm64/irq.h"
#include "arm64/smp.h"
#include "arm64/sysreg.h"

#define INSTRUCTIONS_PER_TICK	1
#define TOKEN_SGI		1

/* Lets this vCPU use all widths. */
static inline void fp_use_all(void)
{
	/* CPACR_EL1.ZEN and FPEN; ZCR_EL1 at its reset value does. */
	write_sysreg(read_sysreg(cpacr_el1) | 3 << 16 | 3 << 20, cpacr_el1);
	isb();
}

/* 'f' or 'l': FPSIMD, 'x': SVE, else nothing. */
static inline void fp_use(char width)
{
	if (width == 'f' || width == 'l')
		asm volatile(".inst 0x9e670000"); /* fmov d0, x0 */
	else if (width == 'x')
		asm volatile(".inst 0x04a00000"); /* add z0.s, z0.s, z0.s */
}

static inline void token_listen(void)
{
	irq_enable_id(TOKEN_SGI);
}

static inline void token_wait(void)
{
	uint64_t iar;

	for (;;) {
		iar = read_sysreg(s3_0_c12_c12_0); /* ICC_IAR1_EL1 */
		if (iar == TOKEN_SGI)
			break;
		asm volatile("wfi" ::: "memory");
	}
	write_sysreg(iar, s3_0_c12_c12_1); /* ICC_EOIR1_EL1 */
}

static inline void token_send(unsigned vcpu)
{
	sgi_to(mpidr_of(vcpu), TOKEN_SGI);
}

#endif
