// SPDX-License-Identifier: BSD-2-Clause
/*
 * Patterns for the FP and vector registers and their comparison.
 */
#include "fp.h"
#include "smp.h"

static uint64_t mix(uint64_t value)
{
	value ^= value >> 30;
	value *= 0xbf58476d1ce4e5b9;
	value ^= value >> 27;
	value *= 0x94d049bb133111eb;
	return value ^ value >> 31;
}

void fp_pattern(struct fp_state *state, unsigned vm, uint64_t round)
{
	uint64_t who = 0xfull << 60 | (uint64_t)(vm & 0xff) << 48 |
		       (uint64_t)vcpu_id() << 40 | (round & 0xffffffff);

	for (unsigned n = 0; n < 32; n++)
		for (unsigned w = 0; w < 4; w++) {
			uint64_t value = who | (uint64_t)(n * 4 + w) << 32;

			state->x[n][w] = w == 1 ? value : mix(value);
		}
	state->fcsr = mix(who) & FCSR_BITS;
	for (unsigned n = 0; n < 8; n++)
		state->fcc[n] = mix(who + 1) >> n & 1;
	state->level = round / 5 % FP_LEVELS;
}

uint64_t fp_compare(const struct fp_state *want, const struct fp_state *got)
{
	uint64_t mask = 0;

	for (unsigned n = 0; n < 32; n++)
		for (unsigned w = 0; w < 1u << want->level; w++)
			if (want->x[n][w] != got->x[n][w])
				mask |= 1ull << n;
	if (want->fcsr != got->fcsr)
		mask |= 1ull << 32;
	for (unsigned n = 0; n < 8; n++)
		if (want->fcc[n] != got->fcc[n])
			mask |= 1ull << 33;
	return mask;
}
