/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The inline part of the contract on the host: the test says which CPU
 * executes by setting fake_cpu.
 */
#ifndef ARCH_INLINE_H
#define ARCH_INLINE_H

#include <stdint.h>

struct cpu;

extern struct cpu *fake_cpu;	/* never NULL */

static inline struct cpu *arch_this_cpu(void)
{
	return fake_cpu;
}

static inline uint32_t arch_cpu_id(void)
{
	return *(const uint32_t *)(const void *)arch_this_cpu();
}

static inline void arch_relax(void)
{
}

static inline void arch_mb(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static inline uint32_t arch_mmio_read32(const volatile void *p)
{
	return *(const volatile uint32_t *)p;
}

static inline uint64_t arch_mmio_read64(const volatile void *p)
{
	return *(const volatile uint64_t *)p;
}

static inline void arch_mmio_write8(volatile void *p, uint8_t v)
{
	*(volatile uint8_t *)p = v;
}

static inline void arch_mmio_write32(volatile void *p, uint32_t v)
{
	*(volatile uint32_t *)p = v;
}

static inline void arch_mmio_write64(volatile void *p, uint64_t v)
{
	*(volatile uint64_t *)p = v;
}

#endif
