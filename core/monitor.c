// SPDX-License-Identifier: BSD-2-Clause
/*
 * Monitor commands: a const table of names, and one of keys that stand for
 * lines. Here is what changes something; monitor_show.c has what shows.
 */
#include "monitor_int.h"

#include <string.h>

#include "console.h"
#include "print.h"
#include "prompt.h"
#include "vm.h"

#define MAX_WORDS	4	/* of a command line */

struct command {
	const char *name;
	const char *args;	/* in the help; words in brackets may lack */
	unsigned int min, max;	/* how many */
	const char *help;
	void (*run)(struct monitor *m, unsigned int n, char **arg);
};

/* ---- answers ----------------------------------------------------------- */

void monitor_say(struct monitor *m, const char *fmt, ...)
{
	char text[160];
	int len = ksnprintf(text, sizeof(text), "nestling: ");
	va_list ap;

	va_start(ap, fmt);
	kvsnprintf(text + len, sizeof(text) - (size_t)len, fmt, ap);
	va_end(ap);
	m->line(m, text);
}

/* ---- arguments --------------------------------------------------------- */

bool monitor_number(const char *s, unsigned int end, unsigned int *out)
{
	unsigned int n = 0;

	if (!*s)
		return false;
	for (; *s; s++) {
		if (*s < '0' || *s > '9' || n >= end)
			return false;
		n = n * 10 + (unsigned int)(*s - '0');
	}
	*out = n;
	return n < end;
}

struct vm *monitor_vm(struct monitor *m, const char *name)
{
	unsigned int id;

	for (unsigned int i = 0; i < nr_vms; i++)
		if (!strcmp(vms[i]->cfg->name, name))
			return vms[i];
	if (monitor_number(name, nr_vms, &id))
		return vms[id];
	monitor_say(m, "there is no VM %s", name);
	return NULL;
}

/* ---- life of a VM ------------------------------------------------------ */

static void cmd_pause(struct monitor *m, unsigned int, char **arg)
{
	struct vm *vm = monitor_vm(m, arg[0]);

	if (!vm)
		return;
	if (vm_pause(vm))
		monitor_say(m, "VM %s is %s", vm->cfg->name, monitor_state(vm));
	m->changes = vm;
}

static void cmd_resume(struct monitor *m, unsigned int, char **arg)
{
	struct vm *vm = monitor_vm(m, arg[0]);

	if (vm && vm_resume(vm))
		monitor_say(m, "VM %s is not paused", vm->cfg->name);
}

/* A user's wish is no failure: the VM ends with status 0. */
static void end_vm(struct monitor *m, const char *name, enum vm_reason reason)
{
	struct vm *vm = monitor_vm(m, name);

	if (!vm)
		return;
	if (__atomic_load_n(&vm->state, __ATOMIC_RELAXED) == VM_STOPPED) {
		monitor_say(m, "VM %s is not running", vm->cfg->name);
		return;
	}
	vm_end(vm, reason, 0);
	m->changes = vm;
}

static void cmd_reset(struct monitor *m, unsigned int, char **arg)
{
	end_vm(m, arg[0], VM_RESET);
}

static void cmd_kill(struct monitor *m, unsigned int, char **arg)
{
	end_vm(m, arg[0], VM_KILLED);
}

static void cmd_start(struct monitor *m, unsigned int, char **arg)
{
	struct vm *vm = monitor_vm(m, arg[0]);

	/* Every other reason has been printed already. */
	if (vm && vm_start(vm) == ERR_BUSY)
		monitor_say(m, "VM %s is %s", vm->cfg->name, monitor_state(vm));
}

static void cmd_quit(struct monitor *, unsigned int, char **)
{
	for (unsigned int i = 0; i < nr_vms; i++)
		vm_end(vms[i], VM_KILLED, 0);
	prompt_close();
}

/* ---- the rest ---------------------------------------------------------- */

static void cmd_focus(struct monitor *m, unsigned int, char **arg)
{
	struct vm *vm;

	if (!strcmp(arg[0], "all")) {
		monitor_say(m, "no VM has the focus");
		console_focus(CONSOLE_NO_FOCUS);
		return;
	}
	vm = monitor_vm(m, arg[0]);
	if (!vm)
		return;
	monitor_say(m, "focus on %s", vm->cfg->name);
	console_focus(vm->id);
}

static void cmd_log(struct monitor *m, unsigned int, char **arg)
{
	static const char *const words[] = {
		[LOG_ERROR] = "error", [LOG_WARN] = "warn",
		[LOG_INFO] = "info", [LOG_DEBUG] = "debug",
	};

	for (enum log_level i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcmp(words[i], arg[0]))
			continue;
		__atomic_store_n(&log_level, i, __ATOMIC_RELAXED);
		return;
	}
	monitor_say(m, "log: '%s' is none of error, warn, info, debug", arg[0]);
}

static void cmd_leave(struct monitor *, unsigned int, char **)
{
	prompt_close();
}

static void cmd_help(struct monitor *m, unsigned int n, char **arg);

// clang-format off
static const struct command commands[] = {
	{ "help", "", 0, 0, "this help", cmd_help },
	{ "vms", "", 0, 0, "the VMs; * has the focus", monitor_vms },
	{ "vcpus", "[VM]", 0, 1, "the vCPUs: where they are, their times",
	  monitor_vcpus },
	{ "pause", "VM", 1, 1, "stop all vCPUs of a VM", cmd_pause },
	{ "resume", "VM", 1, 1, "let them go on", cmd_resume },
	{ "reset", "VM", 1, 1, "start a VM anew from its images", cmd_reset },
	{ "kill", "VM", 1, 1, "end a VM; its status is 0", cmd_kill },
	{ "start", "VM", 1, 1, "start a VM that has ended or never ran",
	  cmd_start },
	{ "focus", "VM|all", 1, 1, "who gets the keys; all: nobody does, and "
	  "all are shown in whole lines", cmd_focus },
	{ "log", "LEVEL", 1, 1, "error, warn, info or debug", cmd_log },
	{ "regs", "VM VCPU", 2, 2, "registers of a vCPU that does not run",
	  monitor_regs },
	{ "fp", "[VM W..]", 0, 3, "who owns FP registers, what it cost; "
	  "or set VM's policy, width", monitor_fp },
	{ "mem", "", 0, 0, "the machine's memory", monitor_mem },
	{ "leave", "", 0, 0, "close this prompt; Ctrl-C and Ctrl-D do too",
	  cmd_leave },
	{ "quit", "", 0, 0, "end all VMs and the machine", cmd_quit },
};
// clang-format on

static void cmd_help(struct monitor *m, unsigned int, char **)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(commands); i++) {
		const struct command *c = &commands[i];

		monitor_say(m, "  %-7s%-9s%s", c->name, c->args, c->help);
	}
	monitor_say(m, "A VM is given by its name or number.");
}

/* Splits @line at blanks; returns the number of words, at most @max + 1. */
static unsigned int split(char *line, char **words, unsigned int max)
{
	unsigned int n = 0;

	for (;;) {
		while (*line == ' ')
			*line++ = 0;
		if (!*line)
			return n;
		if (n == max)
			return n + 1;
		words[n++] = line;
		while (*line && *line != ' ')
			line++;
	}
}

static void usage(struct monitor *m, const struct command *c)
{
	const char *blank = *c->args ? " " : "";

	monitor_say(m, "usage: %s%s%s", c->name, blank, c->args);
}

void monitor_execute(struct monitor *m, char *line)
{
	char *words[MAX_WORDS];
	unsigned int n = split(line, words, MAX_WORDS);

	m->changes = NULL;
	if (!n)
		return;
	for (unsigned int i = 0; i < ARRAY_SIZE(commands); i++) {
		const struct command *c = &commands[i];

		if (strcmp(c->name, words[0]))
			continue;
		if (n - 1 < c->min || n - 1 > c->max)
			usage(m, c);
		else
			c->run(m, n - 1, words + 1);
		return;
	}
	monitor_say(m, "there is no command '%s'; help lists them", words[0]);
}

bool monitor_done(struct monitor *m)
{
	return !m->changes || vm_settled(m->changes);
}

/* ---- keys -------------------------------------------------------------- */

static void key_help(void);

static void to_console(struct monitor *, const char *text)
{
	console_line(text);
}

static void key_next(void)
{
	struct monitor m = { .line = to_console };
	unsigned int id = console_focused() + 1;
	char number_text[12], *arg = number_text;

	ksnprintf(number_text, sizeof(number_text), "%u",
		  id < nr_vms ? id : 0);
	cmd_focus(&m, 1, &arg);
}

// clang-format off
static const struct {
	const char *keys, *shown, *help;
	void (*run)(void);	/* or: */
	const char *line;	/* with the key in place of '#' */
} keys[] = {
	{ ":m", ": or m", "open a prompt for commands", prompt_open, NULL },
	{ "?h", "?", "this help", key_help, NULL },
	{ "n", "n", "focus on the next VM", key_next, NULL },
	{ "0123456789", "0-9", "focus on VM 0..9", NULL, "focus #" },
	{ "l", "l", "list the VMs", NULL, "vms" },
	{ "q", "q", "end all VMs and the machine", NULL, "quit" },
};
// clang-format on

static void key_help(void)
{
	struct monitor m = { .line = to_console };

	monitor_say(&m, "Ctrl-T, then a key:");
	for (unsigned int i = 0; i < ARRAY_SIZE(keys); i++)
		monitor_say(&m, "  %-7s%s", keys[i].shown,
			    keys[i].help);
	monitor_say(&m, "  Ctrl-T Ctrl-T itself, to the focused VM");
}

static void run_line(const char *line, uint8_t key)
{
	struct monitor m = { .line = to_console };
	char text[16];
	size_t i;

	for (i = 0; i < sizeof(text) - 1 && line[i]; i++)
		text[i] = line[i] == '#' ? (char)key : line[i];
	text[i] = 0;
	monitor_execute(&m, text);
}

void monitor_key(uint8_t key)
{
	struct monitor m = { .line = to_console };

	for (unsigned int i = 0; i < ARRAY_SIZE(keys); i++) {
		if (!key || !strchr(keys[i].keys, key))
			continue;
		if (keys[i].run)
			keys[i].run();
		else
			run_line(keys[i].line, key);
		return;
	}
	monitor_say(&m, "no such command; Ctrl-T ? lists them");
}
