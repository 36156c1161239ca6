/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inline part of the simulator's architecture. Each simulated CPU is a host
 * thread or, in the event simulator, a turn of the only one.
 */
#ifndef ARCH_INLINE_H
#define ARCH_INLINE_H

#include <stdint.h>

struct cpu;

extern _Thread_local struct cpu *sim_this_cpu;

/* Waiting in a loop: an error with one thread, another's turn with several. */
void sim_relax(void);

static inline struct cpu *arch_this_cpu(void)
{
	return sim_this_cpu;
}

static inline uint32_t arch_cpu_id(void)
{
	return *(const uint32_t *)(const void *)sim_this_cpu;
}

static inline void arch_relax(void)
{
	sim_relax();
}

static inline void arch_mb(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

#endif
