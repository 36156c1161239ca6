// SPDX-License-Identifier: BSD-2-Clause
/*
 * Exceptions of the guest itself: a table of handlers for each vCPU, indexed by
 * the level the exception came from and its code, and a way to run something
 * that is expected to fault. An exception without a handler prints a dump and
 * ends the guest with status 99.
 */
#ifndef GUEST_LOONGARCH_TRAP_H
#define GUEST_LOONGARCH_TRAP_H

#include <stdint.h>
#include "csr.h"

#define EXIT_CRASH	99

struct trap_frame {
	uint64_t r[32];
	uint64_t era;
	uint64_t prmd;
	uint64_t estat;
	uint64_t badv;
	uint64_t badi;
};

#define TRAP_ECODE(estat)	((unsigned)((estat) >> 16 & 0x3f))
#define TRAP_ESUB(estat)	((unsigned)((estat) >> 22 & 0x1ff))

/* True: handled, go back by the frame. False: nobody's, dump and end. */
typedef bool (*trap_fn)(struct trap_frame *frame);

/*
 * Handler of exceptions with code `ecode` from privilege level 0 or 3, for the
 * calling vCPU; nullptr to remove it. Handlers run with interrupts masked, on
 * the interrupted stack of level 0, or on the vCPU's own stack for level 3.
 */
void trap_on(unsigned plv, unsigned ecode, trap_fn fn);

/*
 * Whether an exception keeps the FP registers of what it interrupted: true
 * unless an image says otherwise with a definition of its own. Images that must
 * not use FP at all do.
 */
extern const bool trap_keeps_fp;

/*
 * What went wrong between trap_arm() and trap_result(), on this vCPU. Armed,
 * the first exception from level 0 is noted and its instruction skipped; one of
 * an instruction fetch returns to $ra instead. It stays armed.
 */
struct trap_note {
	unsigned count;
	uint64_t estat;
	uint64_t badv;
	uint64_t badi;
	uint64_t era;
	uint64_t prmd;
};

void trap_arm(void);

/* Disarms and returns the note; count 0 when nothing happened. */
struct trap_note trap_result(void);

/* The code a statement raises, 0 for none. */
#define TRAP_OF(statement)                                                     \
	({                                                                     \
		trap_arm();                                                    \
		statement;                                                     \
		dsb();                                                         \
		TRAP_ECODE(trap_result().estat);                               \
	})

#endif
