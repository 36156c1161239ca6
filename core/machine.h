/* SPDX-License-Identifier: BSD-2-Clause */
/* The whole machine: its boot is in main.c, its end here. */
#ifndef CORE_MACHINE_H
#define CORE_MACHINE_H

/*
 * The machine ends when nothing keeps it any more. A VM does from its start to
 * its end for good, and so does an open prompt of the monitor. No lock.
 */
void machine_keep(void);
void machine_drop(void);

/*
 * Prints the machine's status record, stops the other CPUs and ends the
 * machine with @status. Any CPU, no lock.
 */
[[noreturn]] void machine_end(int status);

#endif
