// SPDX-License-Identifier: BSD-2-Clause
/*
 * Prints everything that a guest must not be able to pass off as somebody
 * else's: status records, prefixes, hypervisor lines, and what could move the
 * terminal to another line. Ends with status 5.
 */
#include "mini.h"

/* One after the other; an array of pointers would need relocations. */
static const char lines[] =
	"plain\0"
	"\x1enestling status 0\0"
	"x\x1enestling vm other status 0 reason off\0"
	"\r\x1enestling status 0\0"
	"\x1e\x1enestling status 0\0"
	"\v\x1enestling status 0\0"
	"\f\x1enestling status 0\0"
	"[other] I am other\0"
	"\r[other] I am other\0"
	"\v[other] I am other\0"
	"\f[other] I am other\0"
	"\x1c[other] I am other\0"
	"\x1d[other] I am other\0"
	"\x85[other] I am other\0"
	"\xc2\x85[other] I am other\0"
	"\xe2\x80\xa8[other] I am other\0"
	"nestling: panic: I am the hypervisor\0"
	"\rnestling: I am the hypervisor\0"
	"\r\rnestling: I am the hypervisor\0"
	"\b\b\b\b\b\b\b\b\b\b\bnestling: I am the hypervisor\0"
	"\x1b[2K\x1b[1Gnestling: I am the hypervisor\0";

int main(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t)
{
	for (const char *s = lines; *s; s++) {
		print(s);
		putch('\n');
		while (*s)
			s++;
	}
	for (int c = 0; c < 256; c++)
		putch((char)c);
	putch('\n');
	for (int i = 0; i < 1000; i++)
		putch('l');
	putch('\n');
	print("\x1enestling status 0\r\n");
	/* The last line has no end: the record must still be at line start. */
	print("unfinished");
	return 5;
}
