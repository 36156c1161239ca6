// SPDX-License-Identifier: BSD-2-Clause
/*
 * All FP or vector registers at once, in three widths. Between a load and a
 * store the caller must run no code that may use them: its file is compiled
 * with $(no-fp-ARCH) of images.mk, its handlers do not save them
 * (trap_keeps_fp), and it calls nothing of newlib.
 */
#ifndef GUEST_LOONGARCH_FP_H
#define GUEST_LOONGARCH_FP_H

/* Bits of FCSR0 that are kept and raise nothing: rounding, flags, causes. */
#define FCSR_BITS	0x1f1f0300u

/* For trap_keeps_fp: exceptions keep no more than 64 bits of each register, and
 * to load those may change the others. */
#define FP_KEPT		false

#define FP_STATE_FCSR	1024
#define FP_STATE_FCC	1032
#define FP_STATE_LEVEL	1040
#define FP_STATE_SIZE	1056

#ifndef __ASSEMBLY__
#include <stddef.h>
#include <stdint.h>

/* Scalar, LSX, LASX: 64, 128 and 256 bits of each register. */
enum fp_level { FP_SCALAR, FP_LSX, FP_LASX, FP_LEVELS };

struct fp_state {
	alignas(32) uint64_t x[32][4];
	uint64_t fcsr;
	uint8_t fcc[8];
	uint64_t level;
};

static_assert(offsetof(struct fp_state, fcsr) == FP_STATE_FCSR);
static_assert(offsetof(struct fp_state, fcc) == FP_STATE_FCC);
static_assert(offsetof(struct fp_state, level) == FP_STATE_LEVEL);
static_assert(sizeof(struct fp_state) == FP_STATE_SIZE);

/*
 * Load `state` at its level, and store at the level that was loaded last. EUEN
 * has just the units of that level on between the two; the store leaves FP on
 * and FCSR0 0. Level 0 only.
 */
void fp_load(const struct fp_state *state);
void fp_store(struct fp_state *state);

/*
 * Values that no other (VM, vCPU, register, round) has. One word of each
 * register says whose it is. The level changes with the round.
 */
void fp_pattern(struct fp_state *state, unsigned vm, uint64_t round);

/* Bit n for a different register n, as wide as it was loaded, bit 32 for FCSR0,
 * bit 33 for the condition flags. */
uint64_t fp_compare(const struct fp_state *want, const struct fp_state *got);
#endif

#endif
