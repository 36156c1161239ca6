// SPDX-License-Identifier: BSD-2-Clause
/*
 * Builds a guest's device tree with libfdt's sequential writer in a scratch
 * buffer and copies it into guest RAM. It describes what the VM has and nothing
 * else. Errors of the writer are sticky here: the first one stops the rest.
 * The VM does not run; no lock.
 */
#include "gfdt.h"

#include <string.h>

#include <libfdt.h>

#include "arch.h"
#include "fdtcheck.h"
#include "page.h"
#include "print.h"
#include "vm.h"

/* Root, memory, devices, interrupt controller; then one node per vCPU. */
#define SIZE_FIXED	(16 * KiB)
#define SIZE_VCPU	512
#define CLOCK_HZ	24000000

uint64_t gfdt_size(const struct vm *vm)
{
	uint64_t size = SIZE_FIXED + (uint64_t)vm->nr_vcpus * SIZE_VCPU;

	if (vm->cfg->dtb.size)
		return vm->cfg->dtb.size;
	return size + (vm->cfg->bootargs ? strlen(vm->cfg->bootargs) : 0);
}

/* Runs the next step only while all before were right. */
#define STEP(err, call)	((err) = (err) ? (err) : (call))

static int prop_string(void *fdt, const char *name, const char *value)
{
	return fdt_property(fdt, name, value, (int)strlen(value) + 1);
}

int gfdt_device(struct device *d, void *fdt, const char *compatible, int len)
{
	const struct dev_place *p = d->place;
	fdt64_t reg[2] = { cpu_to_fdt64(p->base), cpu_to_fdt64(p->size) };
	char name[32];
	int err = 0;

	ksnprintf(name, sizeof(name), "%s@%lx", d->ops->name, p->base);
	STEP(err, fdt_begin_node(fdt, name));
	STEP(err, fdt_property(fdt, "compatible", compatible, len));
	STEP(err, fdt_property(fdt, "reg", reg, sizeof(reg)));
	if (p->irq)
		STEP(err, arch_fdt_irq(fdt, p->irq));
	return err;
}

int gfdt_clocks(void *fdt, const char *names, int len)
{
	fdt32_t clocks[4] = { 0 };
	unsigned int n = 0;
	int err = 0;

	for (int i = 0; i < len; i++) {
		if (names[i])
			continue;
		ASSERT(n < ARRAY_SIZE(clocks));
		clocks[n++] = cpu_to_fdt32(GFDT_CLOCK);
	}
	STEP(err, fdt_property(fdt, "clocks", clocks,
			       (int)(n * sizeof(clocks[0]))));
	STEP(err, fdt_property(fdt, "clock-names", names, len));
	return err;
}

static int write_clock(const struct vm *vm, void *fdt)
{
	bool wanted = false;
	int err = 0;

	for (unsigned int i = 0; i < vm->nr_devs; i++)
		wanted |= vm->devs[i].ops->clocked;
	if (!wanted)
		return 0;

	STEP(err, fdt_begin_node(fdt, "apb-pclk"));
	STEP(err, prop_string(fdt, "compatible", "fixed-clock"));
	STEP(err, fdt_property_u32(fdt, "#clock-cells", 0));
	STEP(err, fdt_property_u32(fdt, "clock-frequency", CLOCK_HZ));
	STEP(err, prop_string(fdt, "clock-output-names", "clk24mhz"));
	STEP(err, fdt_property_u32(fdt, "phandle", GFDT_CLOCK));
	STEP(err, fdt_end_node(fdt));
	return err;
}

/* One node per run of adjacent slots. */
static int write_memory(const struct vm *vm, void *fdt)
{
	int err = 0;

	for (unsigned int i = 0; i < vm->nr_slots; i++) {
		uint64_t base = vm->slots[i].gpa, size = vm->slots[i].size;
		fdt64_t reg[2];
		char name[32];

		while (i + 1 < vm->nr_slots &&
		       vm->slots[i + 1].gpa == base + size)
			size += vm->slots[++i].size;
		reg[0] = cpu_to_fdt64(base);
		reg[1] = cpu_to_fdt64(size);
		ksnprintf(name, sizeof(name), "memory@%lx", base);
		STEP(err, fdt_begin_node(fdt, name));
		STEP(err, prop_string(fdt, "device_type", "memory"));
		STEP(err, fdt_property(fdt, "reg", reg, sizeof(reg)));
		STEP(err, fdt_end_node(fdt));
	}
	return err;
}

/* The device that takes typed characters is the console. */
static int write_stdout(const struct vm *vm, void *fdt)
{
	char path[32];

	for (unsigned int i = 0; i < vm->nr_devs; i++) {
		const struct device *d = &vm->devs[i];

		if (!d->ops->input)
			continue;
		ksnprintf(path, sizeof(path), "/%s@%lx", d->ops->name,
			  d->place->base);
		return prop_string(fdt, "stdout-path", path);
	}
	return 0;
}

static int write_chosen(const struct vm *vm, void *fdt,
			const struct image_layout *l)
{
	const char *args = vm->cfg->bootargs;
	int err = 0;

	STEP(err, fdt_begin_node(fdt, "chosen"));
	if (args)
		STEP(err, prop_string(fdt, "bootargs", args));
	STEP(err, write_stdout(vm, fdt));
	if (l->ramdisk_end > l->ramdisk) {
		STEP(err, fdt_property_u64(fdt, "linux,initrd-start",
					   l->ramdisk));
		STEP(err, fdt_property_u64(fdt, "linux,initrd-end",
					   l->ramdisk_end));
	}
	STEP(err, fdt_end_node(fdt));
	return err;
}

/* The whole tree into @fdt of @size bytes. */
static int generate(struct vm *vm, const struct image_layout *l, void *fdt,
		    int size)
{
	int err = 0;

	STEP(err, fdt_create(fdt, size));
	STEP(err, fdt_finish_reservemap(fdt));
	STEP(err, fdt_begin_node(fdt, ""));
	STEP(err, prop_string(fdt, "model", "Nestling virtual machine"));
	STEP(err, fdt_property_u32(fdt, "#address-cells", 2));
	STEP(err, fdt_property_u32(fdt, "#size-cells", 2));
	STEP(err, arch_vm_fdt_root(vm, fdt));
	STEP(err, write_chosen(vm, fdt, l));
	STEP(err, write_memory(vm, fdt));
	STEP(err, write_clock(vm, fdt));
	STEP(err, dev_fdt(vm, fdt));
	STEP(err, arch_vm_fdt(vm, fdt));
	STEP(err, fdt_end_node(fdt));
	STEP(err, fdt_finish(fdt));
	return err;
}

/* The user's tree into @fdt, unchanged: bootargs, ramdisk and memory in it are
 * the user's business. */
static int copy(const struct vm *vm, void *fdt)
{
	const struct blob *b = &vm->cfg->dtb;

	memcpy(fdt, b->data, b->size);
	return fdtcheck(fdt, b->size);
}

int gfdt_build(struct vm *vm, const struct image_layout *l)
{
	void *fdt = page_zalloc(l->dtb_max);
	int err;

	if (!fdt) {
		log_error("%s: dtb: out of memory", vm->cfg->name);
		return ERR_NOMEM;
	}
	if (vm->cfg->dtb.size) {
		err = copy(vm, fdt);
	} else {
		err = generate(vm, l, fdt, (int)l->dtb_max);
		ASSERT(!err);	/* gfdt_size() has room for all of it */
	}
	if (err) {
		log_error("%s: dtb: is no device tree: %s", vm->cfg->name,
			  fdt_strerror(err));
		page_zfree(fdt, l->dtb_max);
		return ERR_FORMAT;
	}
	image_place(vm, l->dtb, fdt, fdt_totalsize(fdt));
	page_zfree(fdt, l->dtb_max);
	return 0;
}
