// SPDX-License-Identifier: BSD-2-Clause
/*
 * Calls to the hypervisor: HVCL with code 0, number in a0, arguments in a1..a3,
 * result in a0, from privilege level 0.
 */
#ifndef GUEST_LOONGARCH_HCALL_H
#define GUEST_LOONGARCH_HCALL_H

#include <stdint.h>
#include "nestling.h"

/* One HVCL with a0..a3 loaded from regs before and stored there after it. */
void hvcl(uint64_t regs[4]);

/* True when the hypervisor below is Nestling (by its UUID). */
bool on_nestling(void);

/* A call of Nestling; NESTLING_NOT_SUPPORTED anywhere else. */
int64_t nestling(uint64_t id, uint64_t a1);

/* Counter NESTLING_STAT_*, or -1 where there is none. */
int64_t nestling_stat(unsigned index);

/* Power-off and reset by the machine's registers; return when that fails. */
void machine_off(void);
void machine_reset(void);

#endif
