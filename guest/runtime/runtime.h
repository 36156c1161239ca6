// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the parts of the guest runtime need from each other and images do not.
 */
#ifndef RUNTIME_RUNTIME_H
#define RUNTIME_RUNTIME_H

#include <stdint.h>
#include "guest.h"
#include "trap.h"

/* runtime/fdt.c: fills in `machine`; prints and ends the guest on nonsense. */
void machine_read(const void *fdt);

/* runtime/args.c: splits the boot arguments; argv[0] is "guest". */
int args_split(char ***argv);

/* runtime/syscalls.c: one byte to the console, polled, at any time. */
void console_putc(char c);

/* runtime/<arch>: called by assembly. */
[[noreturn]] void runtime_main(const void *fdt);
[[noreturn]] void secondary_main(unsigned id);
uint64_t mmu_boot_tables(const void *fdt);
void trap_entry(struct trap_frame *frame, unsigned vector);
void irq_entry(void);
void secondary_start(void);

#endif
