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

/* For machine_read_devices(), which is the architecture's part of it. A region
 * is entry `index` of the "reg" of a node; false when it has fewer. */
void machine_read_devices(void);
bool fdt_region(int node, int index, struct region *out);
int fdt_find(const char *compatible);
[[noreturn]] void fdt_bad(const char *what);

/* runtime/args.c: splits the boot arguments; argv[0] is "guest". */
int args_split(char ***argv);

/* runtime/syscalls.c: one byte to the console, polled, at any time. */
void console_putc(char c);

/* runtime/<arch>: called by assembly. */
[[noreturn]] void secondary_main(unsigned id);
void irq_entry(void);
void secondary_start(void);
#ifdef __aarch64__
[[noreturn]] void runtime_main(const void *fdt);
uint64_t mmu_boot_tables(const void *fdt);
void trap_entry(struct trap_frame *frame, unsigned vector);
#else
[[noreturn]] void runtime_main(uint64_t efi, const char *cmdline,
			       const void *systab);
void trap_entry(struct trap_frame *frame);
#endif

#endif
