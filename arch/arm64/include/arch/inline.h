/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The few functions of the contract that must inline. Included by core/lock.h,
 * so it may use no core header but the freestanding ones.
 */
#ifndef ARCH_INLINE_H
#define ARCH_INLINE_H

#include <stdint.h>

struct cpu;

/*
 * TPIDR_EL2 holds the struct cpu of this CPU, from the first C instruction on.
 * Not volatile: it never changes for the code that reads it, since nothing in
 * the hypervisor moves between CPUs.
 */
static inline struct cpu *arch_this_cpu(void)
{
	struct cpu *c;

	__asm__("mrs %0, tpidr_el2" : "=r"(c));
	return c;
}

/* struct cpu begins with struct arch_cpu, and that with the id. */
static inline uint32_t arch_cpu_id(void)
{
	return *(const uint32_t *)(const void *)arch_this_cpu();
}

/* In a busy loop. */
static inline void arch_relax(void)
{
	__asm__ volatile("yield" ::: "memory");
}

/*
 * Device registers. Assembly, since a compiler may choose an addressing mode
 * that a hypervisor below us cannot emulate (no syndrome for writeback).
 */
static inline uint32_t arch_mmio_read32(const volatile void *p)
{
	uint32_t v;

	__asm__ volatile("ldr %w0, [%1]" : "=r"(v) : "r"(p) : "memory");
	return v;
}

static inline uint64_t arch_mmio_read64(const volatile void *p)
{
	uint64_t v;

	__asm__ volatile("ldr %0, [%1]" : "=r"(v) : "r"(p) : "memory");
	return v;
}

static inline void arch_mmio_write32(volatile void *p, uint32_t v)
{
	__asm__ volatile("str %w0, [%1]" : : "r"(v), "r"(p) : "memory");
}

static inline void arch_mmio_write64(volatile void *p, uint64_t v)
{
	__asm__ volatile("str %x0, [%1]" : : "rZ"(v), "r"(p) : "memory");
}

static inline void arch_mmio_write8(volatile void *p, uint8_t v)
{
	__asm__ volatile("strb %w0, [%1]" : : "r"((uint32_t)v), "r"(p)
			 : "memory");
}

/* Orders all memory accesses before against all after, for every CPU. */
static inline void arch_mb(void)
{
	__asm__ volatile("dmb ish" ::: "memory");
}

#endif
