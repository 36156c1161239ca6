// SPDX-License-Identifier: BSD-2-Clause
/*
 * Calls to the hypervisor, and the end of the VM through them.
 */
#include <stdio.h>
#include "../runtime.h"
#include "guest.h"
#include "hcall.h"
#include "trap.h"

int64_t psci(uint64_t id, uint64_t a1, uint64_t a2, uint64_t a3)
{
	struct smccc regs = { .x = { id, a1, a2, a3 } };

	if (machine.psci_smc)
		smccc_smc(&regs);
	else
		smccc_hvc(&regs);
	return (int64_t)regs.x[0];
}

/*
 * Where nothing answers calls at all, HVC itself is UNDEFINED; the note
 * then leaves x0 as it was.
 */
static bool ask_uid(void)
{
	struct smccc regs = { .x = { NESTLING_UID } };

	trap_arm();
	smccc_hvc(&regs);
	if (trap_result().count)
		return false;
	return (uint32_t)regs.x[0] == NESTLING_UID_W0 &&
	       (uint32_t)regs.x[1] == NESTLING_UID_W1 &&
	       (uint32_t)regs.x[2] == NESTLING_UID_W2 &&
	       (uint32_t)regs.x[3] == NESTLING_UID_W3;
}

bool on_nestling(void)
{
	static enum { UNKNOWN, YES, NO } answer;

	if (answer == UNKNOWN)
		answer = ask_uid() ? YES : NO;
	return answer == YES;
}

int64_t nestling(uint64_t id, uint64_t a1)
{
	struct smccc regs = { .x = { id, a1 } };

	if (!on_nestling())
		return NESTLING_NOT_SUPPORTED;
	smccc_hvc(&regs);
	return (int64_t)regs.x[0];
}

int64_t nestling_stat(unsigned index)
{
	return nestling(NESTLING_STAT, index);
}

/*
 * Without the exit call the status is a line of text and the machine is
 * switched off. Past stdio, which exit() has closed by now.
 */
void guest_exit(int status)
{
	char text[32];

	nestling(NESTLING_EXIT, (uint64_t)status);
	snprintf(text, sizeof(text), "EXIT: STATUS=%d\n", status);
	for (const char *c = text; *c; c++)
		console_putc(*c);
	psci(PSCI_SYSTEM_OFF, 0, 0, 0);
	for (;;)
		wfi();
}
