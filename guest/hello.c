// SPDX-License-Identifier: BSD-2-Clause
/*
 * The smallest image: says what machine it runs on and ends.
 *
 * Arguments: exit=N is the status it ends with (default 0).
 */
#include <stdio.h>
#include <stdlib.h>
#include "guest.h"
#include "hcall.h"
#include "smp.h"
#include "timer.h"

int main(int argc, char **argv)
{
	uint64_t memory = 0;
	char *text;

	for (unsigned i = 0; i < machine.nr_ram; i++)
		memory += machine.ram[i].size;
	printf("hello: %u vCPU, %lu MiB at %#lx, %s, timer %lu Hz\n",
	       machine.nr_vcpus, memory >> 20, machine.ram[0].base,
	       privilege(), timer_freq());
	if (on_nestling())
		printf("hello: guest ABI %#llx\n",
		       (unsigned long long)nestling(NESTLING_VERSION, 0));
	for (int i = 1; i < argc; i++)
		printf("hello: argument %d is \"%s\"\n", i, argv[i]);

	text = malloc(64);
	if (!text)
		return 1;
	snprintf(text, 64, "hello: malloc and %.3f work", 3.14159);
	puts(text);
	free(text);
	return (int)arg_u64("exit", 0);
}
