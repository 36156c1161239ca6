/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Architecture parts that core embeds by value in its structures. Core never
 * looks inside. Assembly reaches the marked fields through offsets.h.
 */
#ifndef ARCH_TYPES_H
#define ARCH_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <arch/el1.h>
#include <arch/vgic_types.h>

#include "fplevel.h"

struct vcpu;
struct vm_exit;

/* Per pCPU. Begins with the id: inline.h. */
struct arch_cpu {
	uint32_t id;		/* copy of cpu->id */
	uint64_t mpidr;		/* affinity fields, as in the device tree */
	uint64_t stack_top;	/* asm: hypervisor stack */
	uint64_t panic_stack;	/* asm: top of the stack for own faults */
	struct gic_cpu gic;	/* host interrupt controller */
	struct vtimer_cpu vtimer;	/* physical state of the guest timers */
	uint64_t cptr;		/* last value written to CPTR_EL2 */
	uint64_t zcr;		/* last value written to ZCR_EL2 */
	uint64_t mdcr;		/* last value written to MDCR_EL2 */
	uint64_t vttbr;		/* last value written to VTTBR_EL2 */
	bool dbg_dirty;		/* guest breakpoints are in hardware */
};

/* A stage-2 translation: tables and the VMID that tags them in TLBs. */
struct s2 {
	uint64_t root;		/* PA of the concatenated root tables */
	uint64_t vttbr;		/* value for VTTBR_EL2 */
	uint32_t vmid;
	uint32_t levels;	/* of lookup; the first is concatenated */
	const struct vcpu *last[64];	/* per pCPU: who used the VMID last */
};

struct arch_vm {
	struct s2 s2;		/* the VM's own (canonical) stage 2 */
	struct vgic vgic;
};

/* General registers of a guest: what every exit saves. */
struct arch_regs {
	uint64_t x[31];		/* asm */
	uint64_t pc;		/* asm: ELR_EL2 */
	uint64_t pstate;	/* asm: SPSR_EL2 */
};

struct arch_vcpu {
	struct arch_regs regs;	/* asm, first */
	uint64_t esr;		/* asm: ESR_EL2 of the last exit */
	uint64_t host_sp;	/* asm: stack of the pCPU that runs it */
	uint64_t far, hpfar;	/* of the last abort */
	uint64_t mpidr;		/* what the guest reads */
	struct vm_exit *exit;	/* where exit_handle() describes the exit */
	struct el1_ctx el1;	/* EL1 and EL0 registers while not loaded */
	uint64_t vdisr;		/* the guest's DISR_EL1 */
	struct dbg_ctx dbg;
	struct pauth_ctx pauth;
	struct vgic_cpu vgic;
	struct vtimer vtimer;
};

#define FP_MAX_VQ	16	/* quadwords of the longest vector */

/* FP/SIMD and SVE registers in memory. Z and P lie packed at the length of the
 * VM's vectors. */
struct arch_fp {
	alignas(16) uint64_t v[32][2];	/* asm: V0..V31, low half first */
	uint64_t fpcr, fpsr;		/* asm */
	uint64_t zcr;			/* ZCR_EL1 */
	uint32_t vq;			/* quadwords of a vector, 0: no SVE */
	bool wide;			/* z is valid, else v, all else zero */
	alignas(16) uint8_t p[17 * FP_MAX_VQ * 2];	/* asm: P, FFR */
	alignas(16) uint8_t z[32 * FP_MAX_VQ * 16];	/* asm: Z0..Z31 */
};

/* Is there a load that would lose something, so that a save must find out? */
#define ARCH_FP_PROBES	true

/*
 * Would a load at @level, no wider than the VM has, lose nothing of the image?
 * Inline: fp.c asks at each first use. Zeroed by a narrow load: see arm64fp.c.
 */
static inline bool arch_fp_fits(const struct arch_fp *fp, enum fp_level level)
{
	return level == FP_SVE || !fp->wide;
}

#endif
