/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fake architecture's parts of core structures. Tests on the host look
 * inside to see what core did.
 */
#ifndef ARCH_TYPES_H
#define ARCH_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "fplevel.h"

struct arch_cpu {
	uint32_t id;		/* first: inline.h */
};

struct arch_vm {
	uint64_t mapped;	/* bytes of RAM mapped now */
	unsigned int resets;
};

struct arch_vcpu {
	uint64_t entry, arg;	/* of the last reset */
	bool loaded;
	bool wakes;		/* what arch_vcpu_wakes() answers */
};

struct arch_fp {
	uint64_t v[64];
};

/* Is there a load that would lose something, so that a save must find out? */
#define ARCH_FP_PROBES	true

/*
 * Would a load at @level, no wider than the VM has, lose nothing of the image?
 * Inline: fp.c asks at each first use.
 */
static inline bool arch_fp_fits(const struct arch_fp *fp, enum fp_level level)
{
	(void)fp;
	(void)level;
	return true;
}

#endif
