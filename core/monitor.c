// SPDX-License-Identifier: BSD-2-Clause
/*
 * Monitor commands: a const table of names, and one of keys that stand for
 * lines. What they show is a snapshot: the machine does not stop for it. A
 * command that looks at vCPUs holds a reference to their VM.
 */
#include "monitor.h"

#include <string.h>

#include "arch.h"
#include "console.h"
#include "cpu.h"
#include "page.h"
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

[[gnu::format(printf, 2, 3)]]
static void say(struct monitor *m, const char *fmt, ...)
{
	char text[160];
	int len = ksnprintf(text, sizeof(text), "nestling: ");
	va_list ap;

	va_start(ap, fmt);
	kvsnprintf(text + len, sizeof(text) - (size_t)len, fmt, ap);
	va_end(ap);
	m->line(m, text);
}

/* A line of a table that is being written; what does not fit is lost. */
struct row {
	size_t len;
	char text[144];
};

/* Appends a column of at least @width characters. */
[[gnu::format(printf, 3, 4)]]
static void column(struct row *r, size_t width, const char *fmt, ...)
{
	size_t end = r->len + width, room = sizeof(r->text) - r->len;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = kvsnprintf(r->text + r->len, room, fmt, ap);
	va_end(ap);
	r->len += min_u64((uint64_t)len, room - 1);
	while (r->len < end && r->len < sizeof(r->text) - 1)
		r->text[r->len++] = ' ';
	r->text[r->len] = 0;
}

static void end_row(struct monitor *m, struct row *r)
{
	while (r->len && r->text[r->len - 1] == ' ')
		r->text[--r->len] = 0;
	say(m, "%s", r->text);
}

/* Width of a column of VM names. */
static size_t name_width(void)
{
	size_t width = strlen("name");

	for (unsigned int i = 0; i < nr_vms; i++)
		width = max_u64(width, strlen(vms[i]->cfg->name));
	return width + 2;
}

/* ---- arguments --------------------------------------------------------- */

/* A decimal number below @end; false: it is none. */
static bool number(const char *s, unsigned int end, unsigned int *out)
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

/* The VM with that name, or else that number; says so if there is none. */
static struct vm *find_vm(struct monitor *m, const char *name)
{
	unsigned int id;

	for (unsigned int i = 0; i < nr_vms; i++)
		if (!strcmp(vms[i]->cfg->name, name))
			return vms[i];
	if (number(name, nr_vms, &id))
		return vms[id];
	say(m, "there is no VM %s", name);
	return NULL;
}

/* ---- tables ------------------------------------------------------------ */

static const char *state_word(struct vm *vm)
{
	static const char *const words[] = {
		[VM_STOPPED] = "stopped",
		[VM_STARTING] = "starting",
		[VM_RUNNING] = "running",
		[VM_ENDING] = "ending",
	};

	if (vm->state == VM_RUNNING && vm->paused)
		return "paused";
	if (vm->state == VM_STOPPED && !vm->starts)
		return "never ran";
	return words[vm->state];
}

/* "1 running, 3 blocked": how many vCPUs are in which state. */
static void count_states(struct vm *vm, struct row *r)
{
	unsigned int n[VCPU_STATES] = { 0 }, before = 0;

	if (!vm_get(vm)) {
		column(r, 0, "-");
		return;
	}
	for (unsigned int i = 0; i < vm->nr_vcpus; i++)
		n[__atomic_load_n(&vm->vcpus[i]->state, __ATOMIC_RELAXED)]++;
	vm_put(vm);
	for (enum vcpu_state s = 0; s < VCPU_STATES; s++)
		if (n[s])
			column(r, 0, "%s%u %s", before++ ? ", " : "", n[s],
			       vcpu_state_name(s));
}

static void show_vm(struct monitor *m, struct vm *vm)
{
	struct row r = { 0 };
	char end[24] = "-";

	column(&r, 4, "%c%u", vm->id == console_focused() ? '*' : ' ', vm->id);
	column(&r, name_width(), "%s", vm->cfg->name);
	spin_lock(&vm->lock);
	column(&r, 11, "%s", state_word(vm));
	column(&r, 7, "%u", vm->nr_vcpus);
	column(&r, 10, "%lu", vm->cfg->memory / MiB);
	column(&r, 8, "%u", vm->starts);
	if (vm->state == VM_STOPPED && vm->starts)
		ksnprintf(end, sizeof(end), "%s %d", vm_reason_word(vm->reason),
			  vm->status);
	column(&r, 12, "%s", end);
	spin_unlock(&vm->lock);
	count_states(vm, &r);
	end_row(m, &r);
}

static void cmd_vms(struct monitor *m, unsigned int, char **)
{
	struct row r = { 0 };

	column(&r, 4, " #");
	column(&r, name_width(), "name");
	column(&r, 48, "state      vcpus  MiB       starts  status");
	column(&r, 0, "vCPU states");
	end_row(m, &r);
	for (unsigned int i = 0; i < nr_vms; i++)
		show_vm(m, vms[i]);
}

/* "0-3,6": the pCPUs of a mask. */
static void cpu_list(uint64_t mask, char *text, size_t size)
{
	size_t len = 0;

	text[0] = 0;
	for (unsigned int i = 0; i < nr_cpus && len + 8 < size; i++) {
		unsigned int first = i;

		if (!(mask & BIT(i)))
			continue;
		while (i + 1 < nr_cpus && (mask & BIT(i + 1)))
			i++;
		len += (size_t)ksnprintf(text + len, size - len, "%s%u",
					 len ? "," : "", first);
		if (i > first)
			len += (size_t)ksnprintf(text + len, size - len, "-%u",
						 i);
	}
}

static uint64_t us(uint64_t ticks)
{
	return ticks / max_u64(arch_time_hz() / 1000000, 1);
}

static uint64_t ms(uint64_t ticks)
{
	return ticks / max_u64(arch_time_hz() / 1000, 1);
}

static void sched_columns(struct row *r, const struct vcpu *v)
{
	const struct sched_params *p = &v->se.par;
	uint32_t on = __atomic_load_n(&v->loaded_on, __ATOMIC_RELAXED);
	char text[32];

	if (on < nr_cpus)
		column(r, 6, "%u", on);
	else
		column(r, 6, "-");
	cpu_list(p->affinity, text, sizeof(text));
	column(r, 10, "%s", text);
	if (p->rt_budget)
		ksnprintf(text, sizeof(text), "rt %lu/%lu us",
			  us(p->rt_budget), us(p->rt_period));
	else
		ksnprintf(text, sizeof(text), "fair %u", p->weight);
	column(r, 18, "%s", text);
}

static void show_vcpu(struct monitor *m, struct vcpu *v)
{
	struct sched_times t = sched_times(v);
	struct row r = { 0 };
	enum vcpu_state s = __atomic_load_n(&v->state, __ATOMIC_RELAXED);

	column(&r, name_width(), "%s", v->vm->cfg->name);
	column(&r, 6, "%u", v->id);
	column(&r, 9, "%s", vcpu_state_name(s));
	sched_columns(&r, v);
	column(&r, 9, "%lu", ms(t.run));
	column(&r, 9, "%lu", ms(t.wait));
	column(&r, 9, "%lu", ms(t.blocked));
	column(&r, 0, "%lu", v->stats.exits);
	end_row(m, &r);
}

static void show_vcpus(struct monitor *m, struct vm *vm)
{
	if (!vm_get(vm))
		return;
	for (unsigned int i = 0; i < vm->nr_vcpus; i++)
		show_vcpu(m, vm->vcpus[i]);
	vm_put(vm);
}

static void cmd_vcpus(struct monitor *m, unsigned int n, char **arg)
{
	struct vm *vm = n ? find_vm(m, arg[0]) : NULL;
	struct row r = { 0 };

	if (n && !vm)
		return;
	column(&r, name_width(), "name");
	column(&r, 0, "vCPU  state    pCPU  affinity  class             "
		      "run ms   wait ms  sleep ms exits");
	end_row(m, &r);
	if (vm)
		show_vcpus(m, vm);
	for (unsigned int i = 0; !vm && i < nr_vms; i++)
		show_vcpus(m, vms[i]);
}

static void cmd_mem(struct monitor *m, unsigned int, char **)
{
	uint64_t total = page_total_bytes(), left = page_free_bytes();

	say(m, "%lu pages of 4 KiB: %lu free, %lu used (%lu of %lu MiB free)",
	    total / PAGE_SIZE, left / PAGE_SIZE, (total - left) / PAGE_SIZE,
	    left / MiB, total / MiB);
}

/* ---- life of a VM ------------------------------------------------------ */

static void cmd_pause(struct monitor *m, unsigned int, char **arg)
{
	struct vm *vm = find_vm(m, arg[0]);

	if (!vm)
		return;
	if (vm_pause(vm))
		say(m, "VM %s is %s", vm->cfg->name, state_word(vm));
	m->changes = vm;
}

static void cmd_resume(struct monitor *m, unsigned int, char **arg)
{
	struct vm *vm = find_vm(m, arg[0]);

	if (vm && vm_resume(vm))
		say(m, "VM %s is not paused", vm->cfg->name);
}

/* A user's wish is no failure: the VM ends with status 0. */
static void end_vm(struct monitor *m, const char *name, enum vm_reason reason)
{
	struct vm *vm = find_vm(m, name);

	if (!vm)
		return;
	if (__atomic_load_n(&vm->state, __ATOMIC_RELAXED) == VM_STOPPED) {
		say(m, "VM %s is not running", vm->cfg->name);
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
	struct vm *vm = find_vm(m, arg[0]);

	/* Every other reason has been printed already. */
	if (vm && vm_start(vm) == ERR_BUSY)
		say(m, "VM %s is %s", vm->cfg->name, state_word(vm));
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
		say(m, "no VM has the focus");
		console_focus(CONSOLE_NO_FOCUS);
		return;
	}
	vm = find_vm(m, arg[0]);
	if (!vm)
		return;
	say(m, "focus on %s", vm->cfg->name);
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
	say(m, "log: '%s' is none of error, warn, info, debug", arg[0]);
}

static void show_regs(struct monitor *m, struct vcpu *v)
{
	enum vcpu_state s = __atomic_load_n(&v->state, __ATOMIC_RELAXED);

	if (s == VCPU_RUNNING)
		say(m, "VM %s vCPU %u is running: pause the VM first",
		    v->vm->cfg->name, v->id);
	else
		arch_vcpu_dump(v);
}

static void cmd_regs(struct monitor *m, unsigned int, char **arg)
{
	struct vm *vm = find_vm(m, arg[0]);
	unsigned int id;

	if (!vm)
		return;
	if (!number(arg[1], vm->nr_vcpus, &id)) {
		say(m, "VM %s has no vCPU %s", vm->cfg->name, arg[1]);
		return;
	}
	if (!vm_get(vm)) {
		say(m, "VM %s is not running", vm->cfg->name);
		return;
	}
	show_regs(m, vm->vcpus[id]);
	vm_put(vm);
}

static void cmd_leave(struct monitor *, unsigned int, char **)
{
	prompt_close();
}

static void cmd_help(struct monitor *m, unsigned int n, char **arg);

// clang-format off
static const struct command commands[] = {
	{ "help", "", 0, 0, "this help", cmd_help },
	{ "vms", "", 0, 0, "the VMs; * has the focus", cmd_vms },
	{ "vcpus", "[VM]", 0, 1, "the vCPUs: where they are, their times",
	  cmd_vcpus },
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
	  cmd_regs },
	{ "mem", "", 0, 0, "the machine's memory", cmd_mem },
	{ "leave", "", 0, 0, "close this prompt; Ctrl-C and Ctrl-D do too",
	  cmd_leave },
	{ "quit", "", 0, 0, "end all VMs and the machine", cmd_quit },
};
// clang-format on

static void cmd_help(struct monitor *m, unsigned int, char **)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(commands); i++) {
		const struct command *c = &commands[i];

		say(m, "  %-7s%-9s%s", c->name, c->args, c->help);
	}
	say(m, "A VM is given by its name or number.");
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
			say(m, "usage: %s%s%s", c->name, *c->args ? " " : "",
			    c->args);
		else
			c->run(m, n - 1, words + 1);
		return;
	}
	say(m, "there is no command '%s'; help lists them", words[0]);
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

	say(&m, "Ctrl-T, then a key:");
	for (unsigned int i = 0; i < ARRAY_SIZE(keys); i++)
		say(&m, "  %-7s%s", keys[i].shown, keys[i].help);
	say(&m, "  %-7s%s", "Ctrl-T", "Ctrl-T itself, to the focused VM");
}

static void run_line(const char *line, uint8_t key)
{
	struct monitor m = { .line = to_console };
	char text[16];
	size_t i;

	for (i = 0; line[i] && i < sizeof(text) - 1; i++)
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
	say(&m, "no such command; Ctrl-T ? lists them");
}
