// SPDX-License-Identifier: BSD-2-Clause
/*
 * Pseudo random numbers (xorshift64*). The state is the caller's, one for each
 * vCPU, so no lock; the same seed gives the same numbers.
 */
#ifndef GUEST_RANDOM_H
#define GUEST_RANDOM_H

#include <stdint.h>

/* A state from a seed and the number of a vCPU; never zero. */
static inline uint64_t random_start(uint64_t seed, unsigned vcpu)
{
	return (seed << 8 | vcpu) + 0x9e3779b97f4a7c15;
}

static inline uint64_t random_next(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1d;
}

/* 0..limit-1, limit not 0. */
static inline unsigned random_below(uint64_t *state, unsigned limit)
{
	return (unsigned)(random_next(state) >> 33) % limit;
}

/* A value of the kinds that break things. */
static inline uint64_t random_odd(uint64_t *state)
{
	switch (random_below(state, 6)) {
	case 0:
		return random_next(state);
	case 1:
		return random_next(state) >> random_below(state, 64);
	case 2:
		return 1ull << random_below(state, 64);
	case 3:
		return ~0ull << random_below(state, 64);
	case 4:
		return random_below(state, 64);
	default:
		return (uint32_t)random_next(state);
	}
}

#endif
