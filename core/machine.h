/* SPDX-License-Identifier: BSD-2-Clause */
/* The whole machine: its boot is in main.c, its end here. */
#ifndef CORE_MACHINE_H
#define CORE_MACHINE_H

/* A VM is about to be started, the first time or again after its end. */
void machine_vm_started(void);

/* A VM has ended for good: ends the machine when none is left. No lock. */
void machine_vm_ended(void);

/*
 * Prints the machine's status record, stops the other CPUs and ends the
 * machine with @status. Any CPU, no lock.
 */
[[noreturn]] void machine_end(int status);

#endif
