// SPDX-License-Identifier: BSD-2-Clause
/*
 * Calls to the hypervisor, and the end of the VM through them.
 */
#include "hcall.h"
#include <stdio.h>
#include "../runtime.h"
#include "guest.h"
#include "trap.h"

void hvcl(uint64_t regs[4])
{
	asm volatile("ld.d $a0, %0, 0\n\t"
		     "ld.d $a1, %0, 8\n\t"
		     "ld.d $a2, %0, 16\n\t"
		     "ld.d $a3, %0, 24\n\t"
		     "hvcl 0\n\t"
		     "st.d $a0, %0, 0\n\t"
		     "st.d $a1, %0, 8\n\t"
		     "st.d $a2, %0, 16\n\t"
		     "st.d $a3, %0, 24" ::"r"(regs)
		     : "$a0", "$a1", "$a2", "$a3", "memory");
}

/* Without a hypervisor HVCL does not exist; the note then leaves a0. */
static bool ask_uid(void)
{
	uint64_t regs[4] = { NESTLING_UID };

	trap_arm();
	hvcl(regs);
	if (trap_result().count)
		return false;
	return regs[0] == NESTLING_UID_W0 && regs[1] == NESTLING_UID_W1 &&
	       regs[2] == NESTLING_UID_W2 && regs[3] == NESTLING_UID_W3;
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
	uint64_t regs[4] = { id, a1 };

	if (!on_nestling())
		return NESTLING_NOT_SUPPORTED;
	hvcl(regs);
	return (int64_t)regs[0];
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
	machine_off();
	for (;;)
		wfi();
}
