/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The monitor: what a person or a script at the console can ask of the machine
 * while guests run. A command is one line of words; who gives it also says
 * where the answer goes. The most used ones are single keys too.
 *
 * All functions: one CPU at a time, the one that serves the console's UART; in
 * interrupt context, IRQs masked, no lock held. Nothing waits.
 */
#ifndef CORE_MONITOR_H
#define CORE_MONITOR_H

#include "types.h"

struct vm;

struct monitor {
	/* One line of the answer, without a line end. */
	void (*line)(struct monitor *m, const char *text);
	struct vm *changes;	/* the last command changes this VM, or NULL */
};

/* Executes @line, which is taken to pieces. Mistakes are answers as well. */
void monitor_execute(struct monitor *m, char *line);

/* Has the last command had its effect? Look again later if not. */
bool monitor_done(struct monitor *m);

/* Executes the command with the key @key, typed behind the console's escape. */
void monitor_key(uint8_t key);

#endif
