// SPDX-License-Identifier: BSD-2-Clause
/*
 * The monitor's view of FP ownership: whose registers each pCPU has, what each
 * vCPU cost so far; and the policy of a VM, which may change at any time since
 * every decision looks at it anew. A snapshot: the machine does not stop.
 */
#include "monitor_int.h"

#include <string.h>

#include "arch.h"
#include "cpu.h"
#include "print.h"
#include "vm.h"

static const char *level_name(enum fp_level l)
{
	const char *name = arch_fp_name(l);

	return name ? name : "-";
}

static void show_owner(struct monitor *m, unsigned int cpu)
{
	for (unsigned int i = 0; i < nr_vms; i++) {
		if (!vm_get(vms[i]))
			continue;
		for (unsigned int j = 0; j < vms[i]->nr_vcpus; j++) {
			const struct fp_state *s = &vms[i]->vcpus[j]->fp;

			if (__atomic_load_n(&s->cpu, __ATOMIC_RELAXED) == cpu)
				monitor_say(m, "pCPU %u has the registers of "
					       "%s vCPU %u, %s", cpu,
					    vms[i]->cfg->name, j,
					    level_name(s->level));
		}
		vm_put(vms[i]);
	}
}

static void show_vcpu(struct monitor *m, const struct vcpu *v)
{
	const struct fp_state *s = &v->fp;
	uint32_t cpu = __atomic_load_n(&s->cpu, __ATOMIC_RELAXED);
	struct row r = { 0 };

	column(&r, name_width(), "%s", v->vm->cfg->name);
	column(&r, 6, "%u", v->id);
	if (cpu == FP_IN_MEMORY)
		column(&r, 8, "memory");
	else
		column(&r, 8, "pCPU %u", cpu);
	column(&r, 8, "%s", level_name(s->level));
	column(&r, 8, "%s", level_name(s->par.max));
	column(&r, 7, "%s", fp_policy_words[s->par.policy]);
	column(&r, 10, "%s", fp_width_words[s->par.width]);
	column(&r, 10, "%lu", fp_count(s->stats.traps));
	column(&r, 10, "%lu", fp_count(s->stats.saves));
	column(&r, 10, "%lu", fp_count(s->stats.loads));
	column(&r, 8, "%lu", s->stats.widens);
	column(&r, 0, "%lu", fp_bytes(s));
	end_row(m, &r);
}

static void show(struct monitor *m)
{
	struct row r = { 0 };

	for (unsigned int i = 0; i < nr_cpus; i++)
		show_owner(m, i);
	column(&r, name_width(), "name");
	column(&r, 0, "vCPU  where   live    max     fp     fpwidth   "
		      "traps     saves     loads     widens  bytes");
	end_row(m, &r);
	for (unsigned int i = 0; i < nr_vms; i++) {
		if (!vm_get(vms[i]))
			continue;
		for (unsigned int j = 0; j < vms[i]->nr_vcpus; j++)
			show_vcpu(m, vms[i]->vcpus[j]);
		vm_put(vms[i]);
	}
}

/* True, and its index in @words, for a word of the list. */
static bool word_index(const char *const *words, const char *word,
		       unsigned int *index)
{
	for (*index = 0; words[*index]; ++*index)
		if (!strcmp(words[*index], word))
			return true;
	return false;
}

/* One word for all vCPUs of a VM that is built. */
static void change(struct monitor *m, struct vm *vm, const char *word)
{
	unsigned int i;
	bool policy = word_index(fp_policy_words, word, &i);

	if (!policy && !word_index(fp_width_words, word, &i)) {
		monitor_say(m, "%s is neither eager, lazy, owner nor step, "
			       "max, adaptive", word);
		return;
	}
	for (unsigned int j = 0; j < vm->nr_vcpus; j++) {
		struct fp_params *p = &vm->vcpus[j]->fp.par;

		if (policy)
			__atomic_store_n(&p->policy, (enum fp_policy)i,
					 __ATOMIC_RELAXED);
		else
			__atomic_store_n(&p->width, (enum fp_width)i,
					 __ATOMIC_RELAXED);
	}
}

void monitor_fp(struct monitor *m, unsigned int n, char **arg)
{
	struct vm *vm;

	if (!n) {
		show(m);
		return;
	}
	vm = monitor_vm(m, arg[0]);
	if (!vm)
		return;
	if (!vm_get(vm)) {
		monitor_say(m, "VM %s is not running", vm->cfg->name);
		return;
	}
	for (unsigned int i = 1; i < n; i++)
		change(m, vm, arg[i]);
	vm_put(vm);
}
