// SPDX-License-Identifier: BSD-2-Clause
/*
 * Device accesses of an exact width, each one plain load or store, uncached.
 * Addresses are physical; the runtime has opened segment 8 for them, a window
 * that is not at canonical addresses, so each access is an address error at
 * real PLV3 which a hypervisor must resolve.
 */
#ifndef GUEST_LOONGARCH_IO_H
#define GUEST_LOONGARCH_IO_H

#include <stdint.h>

#define IO_WINDOW	0x8000000000000000ull

#define IO_ACCESSORS(bits, load, store)                                        \
	static inline uint##bits##_t io_read##bits(uint64_t addr)              \
	{                                                                      \
		uint64_t value;                                                \
                                                                               \
		asm volatile(load " %0, %1, 0"                                 \
			     : "=r"(value)                                     \
			     : "r"(addr | IO_WINDOW)                           \
			     : "memory");                                      \
		return (uint##bits##_t)value;                                  \
	}                                                                      \
                                                                               \
	static inline void io_write##bits(uint64_t addr, uint##bits##_t value) \
	{                                                                      \
		asm volatile(store " %0, %1, 0" ::"r"((uint64_t)value),        \
			     "r"(addr | IO_WINDOW)                             \
			     : "memory");                                      \
	}

IO_ACCESSORS(8, "ld.bu", "st.b")
IO_ACCESSORS(16, "ld.hu", "st.h")
IO_ACCESSORS(32, "ld.wu", "st.w")
IO_ACCESSORS(64, "ld.d", "st.d")

#undef IO_ACCESSORS

#endif
