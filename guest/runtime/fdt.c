// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads the machine from the device tree, with machine_read_devices() of the
 * architecture. Nodes are found by their compatible
 * strings or device_type, never by name, so that any true description will do.
 */
#include <libfdt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "guest.h"
#include "runtime.h"

struct machine machine;

void fdt_bad(const char *what)
{
	printf("guest: device tree: %s\n", what);
	guest_exit(2);
}

static uint64_t cells(const fdt32_t *cell, int count)
{
	uint64_t value = 0;

	while (count-- > 0)
		value = value << 32 | fdt32_to_cpu(*cell++);
	return value;
}

bool fdt_region(int node, int index, struct region *out)
{
	const void *fdt = machine.fdt;
	int parent = fdt_parent_offset(fdt, node);
	int na = fdt_address_cells(fdt, parent);
	int ns = fdt_size_cells(fdt, parent);
	int len;
	const fdt32_t *reg = fdt_getprop(fdt, node, "reg", &len);

	if (!reg || na < 1 || na > 2 || ns < 0 || ns > 2 ||
	    (index + 1) * (na + ns) * 4 > len)
		return false;
	reg += index * (na + ns);
	out->base = cells(reg, na);
	out->size = cells(reg + na, ns);
	return true;
}

int fdt_find(const char *compatible)
{
	return fdt_node_offset_by_compatible(machine.fdt, -1, compatible);
}

static int next_of_type(int node, const char *type)
{
	return fdt_node_offset_by_prop_value(machine.fdt, node, "device_type",
					     type, (int)strlen(type) + 1);
}

static void read_memory(void)
{
	int node = -1;

	while ((node = next_of_type(node, "memory")) >= 0) {
		struct region bank;

		for (int i = 0; fdt_region(node, i, &bank); i++)
			if (bank.size && machine.nr_ram < MAX_BANKS)
				machine.ram[machine.nr_ram++] = bank;
	}
	if (machine.nr_ram == 0)
		fdt_bad("no memory");
}

static void read_cpus(void)
{
	int node = -1;

	while ((node = next_of_type(node, "cpu")) >= 0) {
		struct region reg;

		if (machine.nr_vcpus == MAX_VCPUS)
			break;
		if (!fdt_region(node, 0, &reg))
			fdt_bad("a cpu without reg");
		machine.mpidr[machine.nr_vcpus++] = reg.base;
	}
	if (machine.nr_vcpus == 0)
		fdt_bad("no cpu");
}

static void read_chosen(void)
{
	const void *fdt = machine.fdt;
	int node = fdt_path_offset(fdt, "/chosen");
	int start_len, end_len;
	const fdt32_t *start, *end;

	machine.bootargs = "";
	if (node < 0)
		return;
	if (fdt_getprop(fdt, node, "bootargs", nullptr))
		machine.bootargs = fdt_getprop(fdt, node, "bootargs", nullptr);
	start = fdt_getprop(fdt, node, "linux,initrd-start", &start_len);
	end = fdt_getprop(fdt, node, "linux,initrd-end", &end_len);
	if (!start || !end)
		return;
	machine.initrd.base = cells(start, start_len / 4);
	machine.initrd.size = cells(end, end_len / 4) - machine.initrd.base;
}

void machine_read(const void *fdt)
{
	machine.fdt = fdt;
	if (fdt_check_header(fdt) != 0)
		fdt_bad("there is none");
	machine.dtb.base = (uint64_t)fdt;
	machine.dtb.size = fdt_totalsize(fdt);
	machine.image.base = (uint64_t)image_start;
	machine.image.size = (uint64_t)(image_end - image_start);
	read_memory();
	read_cpus();
	machine_read_devices();
	read_chosen();
}
