// SPDX-License-Identifier: BSD-2-Clause
/*
 * The bus of a VM: finds the device behind an address, makes accesses of any
 * size and alignment fit what device models accept, and drives interrupt
 * lines. The list of devices is fixed after creation and ordered by address;
 * state of the devices is protected by the VM lock, which is taken here.
 */
#include "dev.h"

#include <string.h>

#include "arch.h"
#include "console.h"
#include "lock.h"
#include "print.h"
#include "vm.h"

static const struct dev_ops *const kinds[DEV_KINDS] = {
	[DEV_PL011] = &pl011_ops,
	[DEV_PL031] = &pl031_ops,
	[DEV_VIRTIO_EMPTY] = &virtio_empty_ops,
	[DEV_NS16550] = &ns16550_ops,
	[DEV_LS7A_RTC] = &ls7a_rtc_ops,
};

void dev_init(struct vm *vm)
{
	const struct dev_place *p;

	vm->nr_devs = 0;
	for (p = arch_machine; p->size; p++) {
		struct device *d = &vm->devs[vm->nr_devs];

		ASSERT(vm->nr_devs < MAX_DEVICES);
		ASSERT(p->kind < DEV_KINDS && kinds[p->kind]);
		ASSERT(kinds[p->kind]->state_size <= DEV_STATE_MAX);
		ASSERT(p == arch_machine || p[-1].base + p[-1].size <= p->base);
		d->ops = kinds[p->kind];
		d->place = p;
		d->vm = vm;
		vm->nr_devs++;
	}
}

void dev_reset(struct vm *vm)
{
	spin_lock(&vm->lock);
	for (unsigned int i = 0; i < vm->nr_devs; i++) {
		vm->devs[i].ops->reset(&vm->devs[i]);
		dev_irq(&vm->devs[i], false);
	}
	spin_unlock(&vm->lock);
}

int dev_fdt(struct vm *vm, void *fdt)
{
	for (unsigned int i = 0; i < vm->nr_devs; i++) {
		struct device *d = &vm->devs[i];
		int err = d->ops->fdt ? d->ops->fdt(d, fdt) : 0;

		if (err)
			return err;
	}
	return 0;
}

static struct device *find(struct vm *vm, gpa_t gpa)
{
	for (unsigned int i = 0; i < vm->nr_devs; i++)
		if (gpa - vm->devs[i].place->base < vm->devs[i].place->size)
			return &vm->devs[i];
	return NULL;
}

static uint64_t read(struct device *d, uint64_t off, unsigned int size)
{
	if (!is_aligned(off, size))
		return 0;
	if (size == 8)
		return d->ops->read(d, off, 4) |
		       d->ops->read(d, off + 4, 4) << 32;
	return d->ops->read(d, off, size) & BITS(size * 8 - 1, 0);
}

static void write(struct device *d, uint64_t off, unsigned int size,
		  uint64_t val)
{
	if (!is_aligned(off, size))
		return;
	if (size == 8) {
		d->ops->write(d, off, 4, (uint32_t)val);
		d->ops->write(d, off + 4, 4, val >> 32);
		return;
	}
	d->ops->write(d, off, size, val & BITS(size * 8 - 1, 0));
}

bool dev_access(struct vm *vm, struct mmio *m)
{
	struct device *d = find(vm, m->gpa);
	uint64_t off;

	if (!d)
		return false;
	off = m->gpa - d->place->base;
	if (!range_inside(off, m->size, d->place->size))
		return false;
	spin_lock(&vm->lock);
	if (m->write)
		write(d, off, m->size, m->value);
	else
		m->value = read(d, off, m->size);
	spin_unlock(&vm->lock);
	if (d->ops->input)	/* the guest may have made room */
		console_input_more(vm);
	return true;
}

bool dev_input(struct vm *vm, uint8_t ch)
{
	bool taken = false;

	spin_lock(&vm->lock);
	for (unsigned int i = 0; i < vm->nr_devs; i++) {
		if (!vm->devs[i].ops->input)
			continue;
		taken = vm->state == VM_RUNNING &&
			vm->devs[i].ops->input(&vm->devs[i], ch);
		break;
	}
	spin_unlock(&vm->lock);
	return taken;
}

void dev_irq(struct device *d, bool level)
{
	if (!d->place->irq || d->line == level)
		return;
	d->line = level;
	arch_vm_irq(d->vm, d->place->irq, level);
}
