// SPDX-License-Identifier: BSD-2-Clause
/*
 * Boot arguments: words separated by spaces, given to main as argv[1..] and to
 * the helpers of guest.h. The copy is made once, before main.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "guest.h"
#include "runtime.h"

#define MAX_ARGS	32
#define MAX_LENGTH	1024

static char copy[MAX_LENGTH];
static char name[] = "guest";
static char *args[MAX_ARGS + 2] = { name };
static int nr_args = 1;

int args_split(char ***argv)
{
	char *word, *rest = copy;

	strlcpy(copy, machine.bootargs, sizeof(copy));
	while ((word = strtok_r(rest, " ", &rest)) && nr_args <= MAX_ARGS)
		args[nr_args++] = word;
	*argv = args;
	return nr_args;
}

const char *arg_str(const char *key, const char *otherwise)
{
	size_t length = strlen(key);

	for (int i = 1; i < nr_args; i++)
		if (strncmp(args[i], key, length) == 0 &&
		    args[i][length] == '=')
			return args[i] + length + 1;
	return otherwise;
}

uint64_t arg_u64(const char *key, uint64_t otherwise)
{
	const char *text = arg_str(key, nullptr);
	uint64_t value;
	char *end;

	if (!text)
		return otherwise;
	value = strtoull(text, &end, 0);
	if (*text == '\0' || *end != '\0') {
		printf("guest: argument %s=%s is not a number\n", key, text);
		exit(2);
	}
	return value;
}
