// SPDX-License-Identifier: BSD-2-Clause
/*
 * Runs one instruction at level 0 whatever it does. Afterwards mode, windows,
 * EUEN and ECFG (all off) are as the runtime has them; other CSRs and the TLB
 * are as the instruction left them.
 */
#ifndef GUEST_LOONGARCH_TRY_H
#define GUEST_LOONGARCH_TRY_H

#include <stdint.h>

/*
 * Calls `code`, an instruction and a return, with all but r1, r3 and r20 from
 * `registers`, interrupts masked; ERTN returns, too. It must not write r1 and
 * r3, nor the CSRs that try.S names.
 */
void try_run(const uint32_t *code, const uint64_t registers[32]);

/* Where a handler of an exception of `code` lets the frame return to: level 0,
 * interrupts masked, $sp as interrupted. */
extern const char try_back[];

#endif
