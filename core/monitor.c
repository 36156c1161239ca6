// SPDX-License-Identifier: BSD-2-Clause
/*
 * Monitor commands: one key each, in one const table. They print whole
 * hypervisor lines and run in the interrupt context of the CPU that received
 * the key, with no lock held.
 */
#include "monitor.h"

#include <string.h>

#include "arch.h"
#include "console.h"
#include "print.h"
#include "vm.h"

struct command {
	const char *keys;
	const char *shown;	/* in the help */
	const char *help;
	void (*run)(uint8_t key);
};

static void help(uint8_t key);
static void focus(uint8_t key);
static void list(uint8_t key);
static void quit(uint8_t key);

// clang-format off
static const struct command commands[] = {
	{ "?h",		"?",	"this help",			help },
	{ "n0123456789", "n 0-9", "focus the next VM, or VM 0..9", focus },
	{ "l",		"l",	"list the VMs",			list },
	{ "q",		"q",	"end all VMs and the machine",	quit },
};
// clang-format on

[[gnu::format(printf, 1, 2)]]
static void say(const char *fmt, ...)
{
	char text[160];
	int len = ksnprintf(text, sizeof(text), "nestling: ");
	va_list ap;

	va_start(ap, fmt);
	kvsnprintf(text + len, sizeof(text) - (size_t)len, fmt, ap);
	va_end(ap);
	console_line(text);
}

static void help(uint8_t)
{
	say("Ctrl-T, then a key:");
	for (unsigned int i = 0; i < ARRAY_SIZE(commands); i++)
		say("  %-7s %s", commands[i].shown, commands[i].help);
	say("  %-7s %s", "Ctrl-T", "Ctrl-T itself, to the focused VM");
}

static void focus(uint8_t key)
{
	unsigned int id = (console_focused() + 1) % (nr_vms ? nr_vms : 1);

	if (key != 'n')
		id = key - '0';
	if (id >= nr_vms) {
		say("there is no VM %u", id);
		return;
	}
	say("focus on %s", vms[id]->cfg->name);
	console_focus(id);
}

/* "1 running, 3 blocked": how many vCPUs are in which state. A snapshot. */
static void count_states(const struct vm *vm, char *text, size_t size)
{
	unsigned int n[VCPU_STATES] = { 0 };
	size_t len = 0;

	for (unsigned int i = 0; i < vm->nr_vcpus; i++)
		n[__atomic_load_n(&vm->vcpus[i]->state, __ATOMIC_RELAXED)]++;
	for (enum vcpu_state s = 0; s < VCPU_STATES; s++) {
		if (!n[s] || len >= size)
			continue;
		len += (size_t)ksnprintf(text + len, size - len, "%s%u %s",
					 len ? ", " : "", n[s],
					 vcpu_state_name(s));
	}
}

static void list(uint8_t)
{
	static const char *const words[] = {
		[VM_STOPPED] = "stopped",
		[VM_RUNNING] = "running",
		[VM_ENDING] = "ending",
	};

	for (unsigned int i = 0; i < nr_vms; i++) {
		char states[80];

		count_states(vms[i], states, sizeof(states));
		say("%c%u %s %s, vCPUs: %s",
		    i == console_focused() ? '*' : ' ', i, vms[i]->cfg->name,
		    words[__atomic_load_n(&vms[i]->state, __ATOMIC_RELAXED)],
		    states);
	}
}

/* A user's wish is no failure: the VMs end with status 0. */
static void quit(uint8_t)
{
	bool any = false;

	for (unsigned int i = 0; i < nr_vms; i++) {
		if (__atomic_load_n(&vms[i]->state, __ATOMIC_RELAXED) ==
		    VM_STOPPED)
			continue;
		any = true;
		vm_end(vms[i], VM_KILLED, 0);
	}
	if (any)
		return;
	console_status("nestling status 0");
	arch_poweroff(0);
}

void monitor_command(uint8_t key)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(commands); i++) {
		if (key && strchr(commands[i].keys, key)) {
			commands[i].run(key);
			return;
		}
	}
	say("no such command; Ctrl-T ? lists them");
}
