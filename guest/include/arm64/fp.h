// SPDX-License-Identifier: BSD-2-Clause
/*
 * All vector registers at once. Between a load and a store the caller must run
 * no code that may use them: its file is compiled with -mgeneral-regs-only
 * (images.mk), and it calls nothing of newlib.
 */
#ifndef GUEST_ARM64_FP_H
#define GUEST_ARM64_FP_H

/* Bits of FPCR and FPSR that every CPU keeps: AHP, DN, FZ, RMode; QC, flags. */
#define FPCR_BITS	0x07c00000u
#define FPSR_BITS	0x0800009fu

#define FP_STATE_FPCR	512
#define FP_STATE_SIZE	528

/* For trap_keeps_fp: exceptions keep all that fp_load() loads. */
#define FP_KEPT		true

#ifndef __ASSEMBLY__
#include <stdint.h>

struct fp_state {
	uint64_t q[32][2];
	uint64_t fpcr;
	uint64_t fpsr;
};

static_assert(sizeof(struct fp_state) == FP_STATE_SIZE);

/* Clobber x0..x5. Any context with FP on. */
void fp_load(const struct fp_state *state);
void fp_store(struct fp_state *state);

/*
 * Values that no other (VM, vCPU, register, round) has. The upper half of each
 * register says whose it is.
 */
void fp_pattern(struct fp_state *state, unsigned vm, uint64_t round);

/* Bit n for a different qn, bit 32 for FPCR, bit 33 for FPSR. */
uint64_t fp_compare(const struct fp_state *want, const struct fp_state *got);
#endif

#endif
