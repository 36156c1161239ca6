// SPDX-License-Identifier: BSD-2-Clause
/*
 * An init for Linux on arm64 that measures what FP registers cost two processes
 * which pass a token through pipes: forks, both use FP as the first two words
 * behind "--" on the kernel's command line say (n nothing, f FPSIMD, x SVE),
 * and prints the ticks of the virtual counter that ROUNDS round trips took.
 * Then it turns the machine off. No library: nothing else may use the
 * registers.
 */
#include <stdint.h>

#define ROUNDS		1000
#define WARM		50

enum {
	SYS_PIPE2 = 59,
	SYS_READ = 63,
	SYS_WRITE = 64,
	SYS_EXIT = 93,
	SYS_REBOOT = 142,
	SYS_CLONE = 220,
};

#define SIGCHLD		17
#define MAGIC1		0xfee1dead
#define MAGIC2		672274793
#define POWER_OFF	0x4321fedc

static long call(long n, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	register uint64_t x8 asm("x8") = (uint64_t)n;
	register uint64_t x0 asm("x0") = a;
	register uint64_t x1 asm("x1") = b;
	register uint64_t x2 asm("x2") = c;
	register uint64_t x3 asm("x3") = d;
	register uint64_t x4 asm("x4") = 0;

	asm volatile("svc #0"
		     : "+r"(x0)
		     : "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x8)
		     : "memory");
	return (long)x0;
}

static void print(const char *text)
{
	uint64_t n = 0;

	while (text[n])
		n++;
	call(SYS_WRITE, 1, (uint64_t)text, n, 0);
}

static void print_number(uint64_t n)
{
	char text[24], *at = text + sizeof(text) - 1;

	*at = 0;
	do
		*--at = (char)('0' + n % 10);
	while (n /= 10);
	print(at);
}

static void use(char width)
{
	if (width == 'f')
		asm volatile(".inst 0x9e670000"); /* fmov d0, x0 */
	else if (width == 'x')
		asm volatile(".inst 0x04a00000"); /* add z0.s, z0.s, z0.s */
}

static uint64_t now(void)
{
	uint64_t ticks;

	asm volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks)::"memory");
	return ticks;
}

static void get(const int *pipe)
{
	char token;

	call(SYS_READ, (uint64_t)pipe[0], (uint64_t)&token, 1, 0);
}

static void give(const int *pipe)
{
	char token = 0;

	call(SYS_WRITE, (uint64_t)pipe[1], (uint64_t)&token, 1, 0);
}

static void turns(const int *from, const int *to, char width, unsigned n)
{
	while (n--) {
		use(width);
		give(to);
		get(from);
	}
}

static void answer(const int *from, const int *to, char width)
{
	for (;;) {
		get(from);
		use(width);
		give(to);
	}
}

[[noreturn]] void begin(const uint64_t *stack);

[[noreturn]] void begin(const uint64_t *stack)
{
	const char *const *argv = (const char *const *)(stack + 1);
	char first = stack[0] > 1 ? argv[1][0] : 'n';
	char second = stack[0] > 2 ? argv[2][0] : first;
	int there[2], back[2];
	uint64_t ticks;

	call(SYS_PIPE2, (uint64_t)there, 0, 0, 0);
	call(SYS_PIPE2, (uint64_t)back, 0, 0, 0);
	if (call(SYS_CLONE, SIGCHLD, 0, 0, 0) == 0)
		answer(there, back, second);
	turns(back, there, first, WARM);
	ticks = now();
	turns(back, there, first, ROUNDS);
	ticks = now() - ticks;
	print("pipe: rounds ");
	print_number(ROUNDS);
	print(" ticks ");
	print_number(ticks);
	print("\n");
	for (;;)
		call(SYS_REBOOT, MAGIC1, MAGIC2, POWER_OFF, 0);
}

asm("	.globl	_start\n"
    "_start:\n"
    "	mov	x0, sp\n"
    "	b	begin\n");
