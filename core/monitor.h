/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The commands behind the console's escape character: what a person at the
 * terminal can ask of the machine while guests run.
 */
#ifndef CORE_MONITOR_H
#define CORE_MONITOR_H

#include "types.h"

/* Executes the command with the key @key, typed behind the escape. Any CPU,
 * IRQs masked, no lock held. */
void monitor_command(uint8_t key);

#endif
