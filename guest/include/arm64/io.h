// SPDX-License-Identifier: BSD-2-Clause
/*
 * Device accesses of an exact width. Each is one plain load or store, so a
 * hypervisor sees a syndrome it can decode.
 */
#ifndef GUEST_IO_H
#define GUEST_IO_H

#include <stdint.h>

#define IO_ACCESSORS(bits, insn, reg)                                          \
	static inline uint##bits##_t io_read##bits(uint64_t addr)              \
	{                                                                      \
		uint##bits##_t value;                                          \
                                                                               \
		asm volatile("ldr" insn " %" reg "0, [%1]"                     \
			     : "=r"(value)                                     \
			     : "r"(addr)                                       \
			     : "memory");                                      \
		return value;                                                  \
	}                                                                      \
                                                                               \
	static inline void io_write##bits(uint64_t addr, uint##bits##_t value) \
	{                                                                      \
		asm volatile("str" insn " %" reg "0, [%1]" ::"r"(value),       \
			     "r"(addr)                                         \
			     : "memory");                                      \
	}

IO_ACCESSORS(8, "b", "w")
IO_ACCESSORS(16, "h", "w")
IO_ACCESSORS(32, "", "w")
IO_ACCESSORS(64, "", "x")

#undef IO_ACCESSORS

#endif
