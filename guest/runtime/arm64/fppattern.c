// SPDX-License-Identifier: BSD-2-Clause
/*
 * Patterns for the vector registers and their comparison.
 */
#include "arm64/fp.h"
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

	for (unsigned n = 0; n < 32; n++) {
		state->q[n][1] = who | (uint64_t)n << 32;
		state->q[n][0] = mix(state->q[n][1]);
	}
	state->fpcr = mix(who) & FPCR_BITS;
	state->fpsr = mix(who + 1) & FPSR_BITS;
}

uint64_t fp_compare(const struct fp_state *want, const struct fp_state *got)
{
	uint64_t mask = 0;

	for (unsigned n = 0; n < 32; n++)
		if (want->q[n][0] != got->q[n][0] ||
		    want->q[n][1] != got->q[n][1])
			mask |= 1ull << n;
	if (want->fpcr != got->fpcr)
		mask |= 1ull << 32;
	if (want->fpsr != got->fpsr)
		mask |= 1ull << 33;
	return mask;
}
