/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The monitor's prompt on the console: a line that is typed, edited and given
 * to monitor_execute(). Backspace, Ctrl-U, Ctrl-W and the up arrow edit; Ctrl-C
 * and Ctrl-D leave. It works the same when a script sends whole lines. While it
 * is open it keeps the machine, so that a VM can be started when none is left.
 *
 * All functions run on the CPU that serves the console's UART, IRQs masked, no
 * lock held; so there is no lock here.
 */
#ifndef CORE_PROMPT_H
#define CORE_PROMPT_H

#include "types.h"

#define PROMPT_LINE_MAX	 78
#define PROMPT_AHEAD_MAX 4096	/* typed while a command is under way */

/* Opens the prompt; nothing when it is open. */
void prompt_open(void);

/* Closes it; nothing when it is closed. May end the machine. */
void prompt_close(void);
bool prompt_is_open(void);

/* A character typed at the open prompt. */
void prompt_input(uint8_t ch);

/*
 * Is a command under way whose effect must come first? Then @ch is kept, and
 * given to console_input() afterwards.
 */
bool prompt_defers(uint8_t ch);

#endif
