// SPDX-License-Identifier: BSD-2-Clause
/*
 * Exceptions of the guest itself: a table of handlers for each vCPU, indexed by
 * where the exception came from and by its class, and a way to run something
 * that is expected to fault. An exception without a handler prints a dump and
 * ends the guest with status 99.
 */
#ifndef GUEST_TRAP_H
#define GUEST_TRAP_H

#include <stdint.h>
#include "arm64/sysreg.h"

#define EXIT_CRASH	99

struct trap_frame {
	uint64_t x[31];
	uint64_t sp;	/* SP_EL1 before, or SP_EL0 from a lower EL or EL1t */
	uint64_t elr;
	uint64_t spsr;
	uint64_t esr;
	uint64_t far;
};

enum trap_from {
	TRAP_EL1T,
	TRAP_EL1H,
	TRAP_EL0,
	TRAP_EL0_32,
	TRAP_FROMS,
};

/* True: handled, go back by the frame. False: nobody's, dump and end. */
typedef bool (*trap_fn)(struct trap_frame *frame);

/*
 * Handler of synchronous exceptions of class `ec` for the calling vCPU, nullptr
 * to remove it. Handlers run with exceptions masked on the interrupted stack.
 */
void trap_on(enum trap_from from, unsigned ec, trap_fn fn);

/* Handler of SErrors of the calling vCPU from EL1h. */
void trap_on_serror(trap_fn fn);

/*
 * Whether an exception keeps the vector registers of what it interrupted: true
 * unless an image says otherwise with a definition of its own. Images that
 * must not use FP at all do.
 */
extern const bool trap_keeps_fp;

/*
 * What went wrong between trap_arm() and trap_result(), on this vCPU. Armed,
 * the first synchronous exception from EL1h is noted and its instruction
 * skipped; one of an instruction fetch returns to x30 instead. It stays armed.
 */
struct trap_note {
	unsigned count;
	uint64_t esr;
	uint64_t far;
	uint64_t elr;
	uint64_t spsr;
};

void trap_arm(void);

/* Disarms and returns the note; count 0 when nothing happened. */
struct trap_note trap_result(void);

/* The ESR a statement raises, 0 for none. */
#define TRAP_OF(statement)                                                     \
	({                                                                     \
		trap_arm();                                                    \
		statement;                                                     \
		dsb();                                                         \
		isb();                                                         \
		trap_result().esr;                                             \
	})

#endif
