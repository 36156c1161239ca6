/* SPDX-License-Identifier: BSD-2-Clause */
/* The run loop of a pCPU. */
#ifndef CORE_RUN_H
#define CORE_RUN_H

struct vcpu;

/* Runs vCPUs for ever. Every CPU ends its boot here. */
[[noreturn]] void run_cpu(void);

/*
 * The current vCPU @v of this CPU becomes OFF: its state goes to memory, its
 * VM learns of it. Afterwards this CPU has no current vCPU.
 */
void run_leave_off(struct vcpu *v);

#endif
