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

/* The commands of monitor_show.c: @n arguments, as the table allows. */
void monitor_vms(struct monitor *m, unsigned int n, char **arg);
void monitor_vcpus(struct monitor *m, unsigned int n, char **arg);
void monitor_mem(struct monitor *m, unsigned int n, char **arg);
void monitor_regs(struct monitor *m, unsigned int n, char **arg);

#endif
