/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Architecture parts that core embeds by value in its structures. Core never
 * looks inside. Assembly reaches the marked fields through offsets.h. Fields
 * of a vCPU belong to the pCPU that has it loaded unless marked [a], atomic.
 */
#ifndef ARCH_TYPES_H
#define ARCH_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <arch/csr_types.h>
#include <arch/host_types.h>
#include <arch/mem_types.h>
#include <arch/vintc_types.h>

#include "fplevel.h"
#include "lock.h"
#include "timer.h"

struct vcpu;
struct vm_exit;

/* Per pCPU. Begins with the id: inline.h. */
struct arch_cpu {
	uint32_t id;		/* copy of cpu->id; also hardware's CPUID */
	uint64_t stack_top;	/* asm: hypervisor stack */
	uint64_t panic_stack;	/* asm: top of the stack for own faults */
	uint64_t euen;		/* last value written to EUEN */
	struct asid_cpu asid;
	struct host_cpu host;
};

struct arch_vm {
	struct vintc vintc;
};

/* General registers of a guest: what every exit saves. */
struct arch_regs {
	uint64_t r[32];		/* asm; r[0] is always 0 */
	uint64_t pc;		/* asm: ERA */
};

/* The guest's constant timer: always an entry of some pCPU's timer queue. */
struct vtimer {
	uint64_t due;		/* tick of the next or last expiry */
	struct timer timer;
	struct spinlock lock;	/* fire() against a reset */
	uint32_t armed_on;	/* [a] pCPU whose queue may have @timer */
	uint32_t pending;	/* [a] the TI bit of ESTAT.IS */
};

struct arch_vcpu {
	struct arch_regs regs;	/* asm, first */
	uint64_t host_sp;	/* asm: stack of the pCPU that runs it */
	struct vm_exit *exit;	/* where exit_handle() describes the exit */
	struct la_csr csr;
	struct la_mem mem;
	struct vintc_cpu vintc;
	struct vtimer vtimer;
};

/* FP, LSX and LASX registers in memory: f0..f31 are the low words. */
struct arch_fp {
	alignas(32) uint64_t x[32][4];	/* asm */
	uint8_t fcc[8];			/* asm: condition flags, 0 or 1 */
	uint32_t fcsr;			/* asm: FCSR0 */
};

/* Is there a load that would lose something, so that a save must find out? */
#define ARCH_FP_PROBES	false

/*
 * Would a load at @level, no wider than the VM has, lose nothing of the image?
 * Inline: fp.c asks at each first use. What is above it waits in memory.
 */
static inline bool arch_fp_fits(const struct arch_fp *fp, enum fp_level level)
{
	(void)fp;
	(void)level;
	return true;
}

#endif
