// SPDX-License-Identifier: BSD-2-Clause
/*
 * Monitor commands that show something. It is a snapshot: the machine does not
 * stop for it. Who looks at vCPUs holds a reference to their VM. No state.
 */
#include "monitor_int.h"

#include <string.h>

#include "arch.h"
#include "console.h"
#include "cpu.h"
#include "page.h"
#include "print.h"
#include "vm.h"

void column(struct row *r, size_t width, const char *fmt, ...)
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

void end_row(struct monitor *m, struct row *r)
{
	while (r->len && r->text[r->len - 1] == ' ')
		r->text[--r->len] = 0;
	monitor_say(m, "%s", r->text);
}

size_t name_width(void)
{
	size_t width = strlen("name");

	for (unsigned int i = 0; i < nr_vms; i++)
		width = max_u64(width, strlen(vms[i]->cfg->name));
	return width + 2;
}

const char *monitor_state(const struct vm *vm)
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
	column(&r, 11, "%s", monitor_state(vm));
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

void monitor_vms(struct monitor *m, unsigned int, char **)
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

void monitor_vcpus(struct monitor *m, unsigned int n, char **arg)
{
	struct vm *vm = n ? monitor_vm(m, arg[0]) : NULL;
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

void monitor_mem(struct monitor *m, unsigned int, char **)
{
	uint64_t total = page_total_bytes(), left = page_free_bytes();

	monitor_say(m, "%lu pages of 4 KiB: %lu free, %lu used (%lu of %lu MiB "
		       "free)", total / PAGE_SIZE, left / PAGE_SIZE,
		    (total - left) / PAGE_SIZE, left / MiB, total / MiB);
}

static void show_regs(struct monitor *m, struct vcpu *v)
{
	enum vcpu_state s = __atomic_load_n(&v->state, __ATOMIC_RELAXED);

	if (s == VCPU_RUNNING)
		monitor_say(m, "VM %s vCPU %u is running: pause the VM first",
			    v->vm->cfg->name, v->id);
	else
		arch_vcpu_dump(v);
}

void monitor_regs(struct monitor *m, unsigned int, char **arg)
{
	struct vm *vm = monitor_vm(m, arg[0]);
	unsigned int id;

	if (!vm)
		return;
	if (!monitor_number(arg[1], vm->nr_vcpus, &id)) {
		monitor_say(m, "VM %s has no vCPU %s", vm->cfg->name, arg[1]);
		return;
	}
	if (!vm_get(vm)) {
		monitor_say(m, "VM %s is not running", vm->cfg->name);
		return;
	}
	show_regs(m, vm->vcpus[id]);
	vm_put(vm);
}
