// SPDX-License-Identifier: BSD-2-Clause
/*
 * The cheapest use of each width of FP registers, and passing a token between
 * two vCPUs, for images that measure what that costs. Interrupts stay masked.
 */
#ifndef GUEST_LOONGARCH_FPUSE_H
#define GUEST_LOONGARCH_FPUSE_H

#include "csr.h"
#include "io.h"
#include "irq.h"
#include "smp.h"
#include "timer.h"

#define INSTRUCTIONS_PER_TICK	10
#define TOKEN_IPI		1

/* Lets this vCPU use all widths. */
static inline void fp_use_all(void)
{
	csr_write(CSR_EUEN, 7);
}

/* 'f': scalar, 'l': LSX, 'x': LASX, else nothing. */
static inline void fp_use(char width)
{
	if (width == 'f')
		asm volatile("movgr2fr.d $f0, $zero");
	else if (width == 'l')
		asm volatile(".word 0x700a0000"); /* vadd.b $vr0, $vr0, $vr0 */
	else if (width == 'x')
		asm volatile(".word 0x740a0000"); /* xvadd.b */
}

static inline void token_listen(void)
{
	iocsr_write32(IOCSR_IPI_EN, 1u << TOKEN_IPI);
	csr_write(CSR_ECFG, ESTAT_IPI);
}

static inline void token_wait(void)
{
	while (!(csr_read(CSR_ESTAT) & ESTAT_IPI))
		wfi();
	iocsr_write32(IOCSR_IPI_CLEAR, 1u << TOKEN_IPI);
}

static inline void token_send(unsigned vcpu)
{
	sgi_to(vcpu, TOKEN_IPI);
}

#endif
