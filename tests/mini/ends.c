// SPDX-License-Identifier: BSD-2-Clause
/*
 * One way to end, or not to: STATUS is the argument of the exit call; OFF and
 * RESET are PSCI calls; UNDEFINED, JUMP and WRITE crash without exception
 * vectors; SPIN and SLEEP go on for ever with interrupts masked, SPIN on two
 * vCPUs and with something in every vector register.
 */
#include "mini.h"

static inline void lose_vectors(uint64_t vbar)
{
	asm volatile("msr vbar_el1, %0\n\tisb" : : "r"(vbar));
}

#ifdef SPIN
[[noreturn, gnu::visibility("hidden")]] void spin(void);

asm(".pushsection .text.spin, \"ax\"\n"
    ".arch_extension simd\n"
    "spin:	msr	daifset, #15\n"
    "	mov	x0, #3 << 20\n"
    "	msr	cpacr_el1, x0\n"
    "	isb\n"
    "	mov	x0, #-1\n"
    ".irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,"
    "		16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29,"
    "		30, 31\n"
    "	dup	v\\n\\().2d, x0\n"
    ".endr\n"
    "0:	b	0b\n"
    ".popsection\n");

static void spin_on_two(void)
{
	register uint64_t x0 asm("x0") = PSCI_CPU_ON;
	register uint64_t x1 asm("x1") = 1;
	register uint64_t x2 asm("x2") = (uintptr_t)spin;
	register uint64_t x3 asm("x3") = 0;

	asm volatile("hvc #0" : "+r"(x0) : "r"(x1), "r"(x2), "r"(x3)
		     : "memory");
	print(x0 ? "no second vCPU\n" : "spinning\n");
	spin();
}
#endif

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
#elif defined(WRITE)
	lose_vectors(0);
	for (volatile uint64_t *p = 0;; p++)
		*p = -1ull;
#elif defined(RESET)
	hvc(PSCI_RESET, 0);
#elif defined(SPIN)
	spin_on_two();
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
