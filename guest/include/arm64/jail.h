// SPDX-License-Identifier: BSD-2-Clause
/*
 * Runs instructions that may do anything to the vCPU, and comes back. Words are
 * put into slots; a run loads all general registers, goes to a slot and returns
 * after one word or after the first exception, with the vCPU's own state put
 * right again. Three ways to run: at EL1 or EL0 on tables that map nothing of
 * the program but its text, or at EL1 with the MMU off, which is the one for
 * writes of system registers that control translation or exceptions.
 *
 * What a word must not do is listed with each mode; words that end the VM are
 * the caller's business. State is per vCPU.
 */
#ifndef GUEST_ARM64_JAIL_H
#define GUEST_ARM64_JAIL_H

#define JAIL_SLOTS	64
#define JAIL_PASSED	16	/* result: no exception */

/* Offsets in struct jail_result, and of what follows it. */
#define JAIL_VECTOR	0
#define JAIL_ESR	8
#define JAIL_FAR	16
#define JAIL_ELR	24
#define JAIL_SAVED	32	/* x19..x30, SP */
#define JAIL_SIZE	256

#ifndef __ASSEMBLY__
#include <stdint.h>

enum jail_mode {
	/*
	 * IRQs open. No MSR of EL1 registers, of timers or of debug registers.
	 * A loop ends with the next interrupt, so the caller keeps a timer
	 * going.
	 */
	JAIL_EL1,
	/* IRQs open. Anything. */
	JAIL_EL0,
	/* IRQs masked, MMU off. No branches; SCTLR_EL1.M stays 0. */
	JAIL_BARE,
};

struct jail_result {
	uint64_t vector;	/* 0..15, or JAIL_PASSED */
	uint64_t esr;
	uint64_t far;
	uint64_t elr;
};

/* Once, on the boot vCPU. False when there are not enough page tables. */
bool jail_init(void);

/*
 * Memory that runs may use as they like, of this vCPU: its address in a mode.
 */
uint64_t jail_scratch(enum jail_mode mode);
#define JAIL_SCRATCH_SIZE	0x10000

/* Where slots of this vCPU are executed in a mode. */
uint64_t jail_code(enum jail_mode mode);

/* Maps a device, or a hole, at its own address for JAIL_EL1 runs. */
bool jail_map_device(uint64_t pa, uint64_t size);

/* Fills all slots of this vCPU. */
void jail_fill(const uint32_t words[JAIL_SLOTS]);

/*
 * Runs one slot with x0..x30 and SP from regs. IRQs masked, before and after.
 */
const struct jail_result *jail_run(unsigned slot, enum jail_mode mode,
				   const uint64_t regs[32]);
#endif

#endif
