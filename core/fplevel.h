/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Widths of FP/SIMD state, ordered by how much state is live: a wider one
 * contains every narrower one of its architecture. arm64 has NONE, SIMD and
 * SVE; LoongArch has NONE, SCALAR, LSX and LASX.
 */
#ifndef CORE_FPLEVEL_H
#define CORE_FPLEVEL_H

enum fp_level {
	FP_NONE,		/* every FP instruction traps */
	FP_SCALAR,		/* 64-bit registers */
	FP_SIMD,		/* 128-bit: arm64 FPSIMD */
	FP_LSX = FP_SIMD,	/* 128-bit: LoongArch LSX */
	FP_LASX,		/* 256-bit: LoongArch LASX */
	FP_SVE,			/* arm64 SVE at the VM's vector length */
	FP_LEVELS
};

#endif
