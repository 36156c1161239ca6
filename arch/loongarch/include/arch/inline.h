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
 * $tp holds the struct cpu of this CPU, from the first C instruction on; the
 * compiler never uses that register. Not volatile: it never changes for the
 * code that reads it, since nothing in the hypervisor moves between CPUs.
 */
static inline struct cpu *arch_this_cpu(void)
{
	struct cpu *c;

	__asm__("move %0, $tp" : "=r"(c));
	return c;
}

/* struct cpu begins with struct arch_cpu, and that with the id. */
static inline uint32_t arch_cpu_id(void)
{
	return *(const uint32_t *)(const void *)arch_this_cpu();
}

/* In a busy loop: there is no hint instruction for it. */
static inline void arch_relax(void)
{
	__asm__ volatile("" ::: "memory");
}

/* Device registers, in plain loads and stores whatever the compiler likes. */
static inline uint8_t arch_mmio_read8(const volatile void *p)
{
	uint8_t v;

	__asm__ volatile("ld.bu %0, %1, 0" : "=r"(v) : "r"(p) : "memory");
	return v;
}

static inline uint32_t arch_mmio_read32(const volatile void *p)
{
	uint32_t v;

	__asm__ volatile("ld.w %0, %1, 0" : "=r"(v) : "r"(p) : "memory");
	return v;
}

static inline uint64_t arch_mmio_read64(const volatile void *p)
{
	uint64_t v;

	__asm__ volatile("ld.d %0, %1, 0" : "=r"(v) : "r"(p) : "memory");
	return v;
}

static inline void arch_mmio_write8(volatile void *p, uint8_t v)
{
	__asm__ volatile("st.b %0, %1, 0" : : "r"(v), "r"(p) : "memory");
}

static inline void arch_mmio_write32(volatile void *p, uint32_t v)
{
	__asm__ volatile("st.w %0, %1, 0" : : "r"(v), "r"(p) : "memory");
}

static inline void arch_mmio_write64(volatile void *p, uint64_t v)
{
	__asm__ volatile("st.d %0, %1, 0" : : "r"(v), "r"(p) : "memory");
}

/* Orders all memory accesses before against all after, for every CPU. */
static inline void arch_mb(void)
{
	__asm__ volatile("dbar 0" ::: "memory");
}

#endif
