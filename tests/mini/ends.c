// SPDX-License-Identifier: BSD-2-Clause
/*
 * One way to end, chosen by HOW: a number is the argument of the exit call;
 * "off" PSCI; "reset" resets for ever; the rest are crashes in which the guest
 * loses its own exception vectors.
 */
#include "mini.h"

static inline void lose_vectors(uint64_t vbar)
{
	asm volatile("msr vbar_el1, %0\n\tisb" : : "r"(vbar));
}

int main(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t)
{
	print("ends: " NAME "\n");
#if defined(OFF)
	hvc(PSCI_OFF, 0);
#elif defined(UNDEFINED)
	lose_vectors(0);
	asm volatile("udf #0");
#elif defined(JUMP)
	lose_vectors(0x1000);
	((void (*)(void))(1ull << 39))();
#elif defined(SPIN)
	asm volatile("msr daifset, #15");
	for (;;)
		asm volatile("" : : : "memory");
#elif defined(SLEEP)
	asm volatile("msr daifset, #15");
	for (;;)
		asm volatile("wfi");
#elif defined(REFUSED)
	/* Without hypercalls every call is unknown, exit too. */
	for (uint64_t n = 0; n < 64; n++)
		if (hvc(0xc6000000 + n, 0) != -1)
			return 1;
	if ((uint32_t)hvc(0x8600ff01, 0) != 0xffffffff)
		return 2;
	print("refused\n");
	hvc(PSCI_OFF, 0);
#else
	hvc(HYP_EXIT, STATUS);
#endif
	print("still here\n");
	for (;;)
		asm volatile("wfi");
}
