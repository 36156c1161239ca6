/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a mini guest needs: console, hypercalls, and a reader for the few things
 * it looks up in its device tree. Everything static, one vCPU, no newlib: these
 * guests test how images are placed and described, before any runtime runs.
 */
#ifndef MINI_H
#define MINI_H

#include <stddef.h>
#include <stdint.h>

#define PSCI_CPU_ON	0xc4000003u
#define PSCI_OFF	0x84000008u
#define PSCI_RESET	0x84000009u
#define HYP_EXIT	0xc6000001u
#define FDT_MAGIC	0xd00dfeedu

static volatile uint32_t *const uart = (uint32_t *)0x09000000;

static inline void putch(char c)
{
	*uart = (uint8_t)c;
}

static inline void print(const char *s)
{
	for (; *s; s++)
		putch(*s);
}

static inline void hex(uint64_t v)
{
	print("0x");
	for (int i = 60; i >= 0; i -= 4)
		putch("0123456789abcdef"[v >> i & 15]);
}

/* "NAME=0x...\n" */
static inline void value(const char *name, uint64_t v)
{
	print(name);
	putch('=');
	hex(v);
	putch('\n');
}

static inline int64_t hvc(uint64_t id, uint64_t arg)
{
	register uint64_t x0 asm("x0") = id;
	register uint64_t x1 asm("x1") = arg;
	register uint64_t x2 asm("x2") = 0;
	register uint64_t x3 asm("x3") = 0;

	asm volatile("hvc #0" : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3)
		     : : "memory");
	return (int64_t)x0;
}

[[noreturn]] static inline void quit(int status)
{
	hvc(HYP_EXIT, (uint64_t)status);
	hvc(PSCI_OFF, 0);
	for (;;)
		asm volatile("wfi");
}

[[noreturn]] void trapped(uint64_t esr, uint64_t elr, uint64_t far);

[[noreturn]] void trapped(uint64_t esr, uint64_t elr, uint64_t far)
{
	print("\ntrapped\n");
	value("esr", esr);
	value("elr", elr);
	value("far", far);
	quit(99);
}

static inline uint32_t be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
	       (uint32_t)p[2] << 8 | p[3];
}

static inline uint64_t be64(const uint8_t *p)
{
	return (uint64_t)be32(p) << 32 | be32(p + 4);
}

static inline int same(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

/*
 * The first property of that name anywhere in the tree; its length in *len. The
 * names looked up occur once. NULL: it is not there.
 */
static inline const uint8_t *prop(const uint8_t *fdt, const char *name,
				  uint32_t *len)
{
	const uint8_t *p = fdt + be32(fdt + 8);
	const char *strings = (const char *)fdt + be32(fdt + 12);

	for (;;) {
		uint32_t token = be32(p);

		p += 4;
		if (token == 1) {
			while (*p)
				p++;
			p = fdt + (((uint64_t)(p - fdt) + 4) & ~3ull);
		} else if (token == 3) {
			*len = be32(p);
			if (same(strings + be32(p + 4), name))
				return p + 8;
			p += 8 + ((*len + 3) & ~3u);
		} else if (token == 9) {
			return NULL;
		}
	}
}

static inline uint64_t sum(const uint8_t *p, uint64_t n)
{
	uint64_t s = 0xcbf29ce484222325;

	for (; n; n--)
		s = (s ^ *p++) * 0x100000001b3;
	return s;
}

int main(uint64_t x0, uint64_t x1, uint64_t x2, uint64_t x3, uint64_t entry);

#endif
