/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the two halves of the monitor share: monitor.c, which takes lines apart
 * and changes things, and monitor_show.c, which shows them.
 */
#ifndef CORE_MONITOR_INT_H
#define CORE_MONITOR_INT_H

#include "monitor.h"
#include "types.h"

/* One line of the answer, with "nestling: " in front. */
[[gnu::format(printf, 2, 3)]]
void monitor_say(struct monitor *m, const char *fmt, ...);

/* A decimal number below @end; false: it is none. */
bool monitor_number(const char *s, unsigned int end, unsigned int *out);

/* The VM with that name, or else that number; says so if there is none. */
struct vm *monitor_vm(struct monitor *m, const char *name);

/* What state the VM is in, for people. VM lock held, or just a hint. */
const char *monitor_state(const struct vm *vm);

/* A line of a table that is being written; what does not fit is lost. */
struct row {
	size_t len;
	char text[144];
};

/* Appends a column of at least @width characters. */
[[gnu::format(printf, 3, 4)]]
void column(struct row *r, size_t width, const char *fmt, ...);

/* Says the line. */
void end_row(struct monitor *m, struct row *r);

/* Width of a column of VM names. */
size_t name_width(void);

/* The commands of monitor_show.c: @n arguments, as the table allows. */
void monitor_vms(struct monitor *m, unsigned int n, char **arg);
void monitor_vcpus(struct monitor *m, unsigned int n, char **arg);
void monitor_mem(struct monitor *m, unsigned int n, char **arg);
void monitor_regs(struct monitor *m, unsigned int n, char **arg);

/* The command of monitor_fp.c. */
void monitor_fp(struct monitor *m, unsigned int n, char **arg);

#endif
