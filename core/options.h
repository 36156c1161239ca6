/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Boot options of the hypervisor: space separated key=value words in
 * /chosen/bootargs of the host device tree. Read once at boot, constant
 * afterwards.
 */
#ifndef CORE_OPTIONS_H
#define CORE_OPTIONS_H

#include "types.h"

/* Ways to fail on purpose once everything runs. */
enum crash_test { CRASH_NONE, CRASH_ASSERT, CRASH_FAULT, CRASH_STACK };

struct options {
	uint64_t slice_us;	/* slice=: time slice in microseconds */
	uint64_t seed;		/* seed=: for everything that is random */
	uint64_t lines;		/* console=lines: whole lines of every VM */
	uint64_t walk;		/* walk=on: walk a guest's tables for it */
	uint64_t crash;		/* crash=: enum crash_test, to see a dump */
};

extern struct options options;

/*
 * Reads @bootargs (NULL: none), sets log_level, fp_policy, fp_width
 * and options.
 * An unknown key or a value that is not acceptable is a config_error(). Boot
 * CPU, before the first VM.
 */
void options_parse(const char *bootargs);

#endif
