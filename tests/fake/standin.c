// SPDX-License-Identifier: BSD-2-Clause
/*
 * Stand-ins for core functions and data that a test does not link. All weak;
 * they do the least that makes sense.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "console.h"
#include "dev.h"
#include "fake.h"
#include "host.h"
#include "machine.h"
#include "page.h"
#include "print.h"

#define WEAK [[gnu::weak]]

WEAK struct vm *vms[MAX_VMS];
WEAK unsigned int nr_vms;
WEAK struct cpu *cpus[MAX_PCPUS];
WEAK unsigned int nr_cpus = 1;
WEAK enum log_level log_level = LOG_INFO;

WEAK const void *host_fdt(void)
{
	return fake_fdt;
}

/* ---- print.c and console.c --------------------------------------------- */

static void output(const char *fmt, va_list ap)
{
	size_t room = sizeof(fake_uart) - fake_uart_len;
	int n = vsnprintf(fake_uart + fake_uart_len, room, fmt, ap);

	if (n > 0 && (size_t)n + 1 < room) {
		fake_uart_len += (size_t)n;
		fake_uart[fake_uart_len++] = '\n';
	}
}

WEAK int kvsnprintf(char *buf, size_t size, const char *fmt, va_list ap)
{
	return vsnprintf(buf, size, fmt, ap);
}

WEAK int ksnprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(buf, size, fmt, ap);
	va_end(ap);
	return n;
}

WEAK void log_line(enum log_level, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	output(fmt, ap);
	va_end(ap);
}

WEAK void config_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	output(fmt, ap);
	va_end(ap);
	arch_poweroff(2);
}

WEAK void panic(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	output(fmt, ap);
	va_end(ap);
	arch_poweroff(121);
}

WEAK void console_guest_putc(struct vm *, uint8_t ch)
{
	arch_uart_putc(0, ch);
}

WEAK void console_line(const char *)
{
}

WEAK void console_input_more(struct vm *)
{
}

/* ---- page.c ------------------------------------------------------------ */

WEAK void *page_zalloc(size_t size)
{
	return calloc(1, align_up(size, PAGE_SIZE));
}

WEAK void page_zfree(void *p, size_t)
{
	free(p);
}

WEAK uint64_t page_free_bytes(void)
{
	return 5 * MiB;
}

WEAK uint64_t page_total_bytes(void)
{
	return 16 * MiB;
}

/* ---- dev.c, vm.c, vcpu.c, cpu.c ---------------------------------------- */

WEAK bool dev_input(struct vm *, uint8_t)
{
	return false;
}

WEAK int dev_fdt(struct vm *, void *)
{
	return 0;
}

WEAK void *vm_ram(const struct vm *vm, gpa_t gpa, uint64_t len)
{
	for (unsigned int i = 0; i < vm->nr_slots; i++) {
		const struct vm_slot *s = &vm->slots[i];

		if (gpa >= s->gpa && range_inside(gpa - s->gpa, len, s->size))
			return (char *)(uintptr_t)s->pa + (gpa - s->gpa);
	}
	return NULL;
}

WEAK gpa_t vm_ram_end(const struct vm *vm)
{
	return arch_ram.bank[0].base +
	       min_u64(vm->cfg->memory, arch_ram.bank[0].size);
}

WEAK bool vm_get(struct vm *vm)
{
	return vm->state == VM_RUNNING;
}

WEAK void vm_put(struct vm *)
{
}

WEAK int vm_pause(struct vm *vm)
{
	if (vm->state != VM_RUNNING || vm->paused)
		return ERR_BUSY;
	vm->paused = true;
	return 0;
}

WEAK int vm_resume(struct vm *vm)
{
	if (!vm->paused)
		return ERR_BUSY;
	vm->paused = false;
	return 0;
}

WEAK int vm_start(struct vm *vm)
{
	if (vm->state != VM_STOPPED)
		return ERR_BUSY;
	vm->state = VM_RUNNING;
	vm->starts++;
	return 0;
}

WEAK bool vm_settled(struct vm *vm)
{
	return vm->state == VM_STOPPED || vm->state == VM_RUNNING;
}

WEAK const char *vm_reason_word(enum vm_reason)
{
	return "reason";
}

WEAK struct sched_times sched_times(struct vcpu *v)
{
	return (struct sched_times){ v->se.run, v->se.wait, v->se.blocked };
}

WEAK void machine_keep(void)
{
}

WEAK void machine_drop(void)
{
}

WEAK void vm_end(struct vm *vm, enum vm_reason reason, int status)
{
	vm->state = VM_STOPPED;
	vm->reason = reason;
	vm->status = status;
}

WEAK const char *vcpu_state_name(enum vcpu_state s)
{
	static const char *const names[] = {
		[VCPU_OFF] = "off",
		[VCPU_READY] = "ready",
		[VCPU_RUNNING] = "running",
		[VCPU_BLOCKED] = "blocked",
		[VCPU_STOPPED] = "stopped",
	};

	return names[s];
}

WEAK void cpu_post(struct cpu *c, uint32_t work)
{
	c->work |= work;
	arch_cpu_kick(c->id);
}
