// SPDX-License-Identifier: BSD-2-Clause
/*
 * Physical CPUs: work bits and cross-CPU calls. A call lives on its caller's
 * stack; the caller waits until it is done, and answers calls to itself
 * meanwhile, so calls in a circle end.
 */
#include "cpu.h"

#include "arch.h"
#include "print.h"

struct xcall {
	struct xcall *next;
	void (*fn)(void *arg);
	void *arg;
	bool done;		/* [a] set last; then the caller may go on */
};

unsigned int nr_cpus;
struct cpu *cpus[MAX_PCPUS];

void cpu_post(struct cpu *c, uint32_t work)
{
	uint32_t old = __atomic_fetch_or(&c->work, work, __ATOMIC_SEQ_CST);

	/* Whoever set the bit first has kicked, or is about to. */
	if ((old & work) != work && c != this_cpu())
		arch_cpu_kick(c->id);
}

void cpu_answer(void)
{
	struct cpu *c = this_cpu();
	struct xcall *list, *next;

	__atomic_fetch_and(&c->work, ~(uint32_t)CPU_CALL, __ATOMIC_SEQ_CST);
	spin_lock(&c->call_lock);
	list = c->calls;
	c->calls = NULL;
	spin_unlock(&c->call_lock);
	for (; list; list = next) {
		next = list->next;
		list->fn(list->arg);
		__atomic_store_n(&list->done, true, __ATOMIC_RELEASE);
	}
}

/* The machine is ending or has failed: a CPU that waits must notice. */
static void check_halt(const struct cpu *c)
{
	if (__atomic_load_n(&c->work, __ATOMIC_RELAXED) & CPU_HALT)
		cpu_halt();
}

void cpu_call(unsigned int id, void (*fn)(void *arg), void *arg)
{
	struct cpu *self = this_cpu(), *c = cpus[id];
	struct xcall call = { NULL, fn, arg, false };

	ASSERT(id < nr_cpus && c);
	if (c == self) {
		fn(arg);
		return;
	}
	spin_lock(&c->call_lock);
	call.next = c->calls;
	c->calls = &call;
	spin_unlock(&c->call_lock);
	cpu_post(c, CPU_CALL);
	while (!__atomic_load_n(&call.done, __ATOMIC_ACQUIRE)) {
		cpu_answer();
		check_halt(self);
		arch_relax();
	}
}

void cpu_halt(void)
{
	for (;;)
		arch_cpu_idle();
}
