// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads the machine from the device tree. Nodes are found by their compatible
 * strings or device_type, never by name, so that any true description will do.
 */
#include <libfdt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "guest.h"
#include "runtime.h"

struct machine machine;

[[noreturn]] static void bad(const char *what)
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

/* Entry `index` of the "reg" of a node; false when it has fewer. */
static bool node_reg(int node, int index, struct region *out)
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

/* INTID of entry `index` of "interrupts" in the GIC's three-cell form. */
static unsigned node_irq(int node, int index)
{
	int len;
	const fdt32_t *irq =
		fdt_getprop(machine.fdt, node, "interrupts", &len);

	if (!irq || len < (index + 1) * 12)
		bad("a node without the interrupt it needs");
	irq += index * 3;
	return fdt32_to_cpu(irq[1]) + (fdt32_to_cpu(irq[0]) ? 16 : 32);
}

static int find(const char *compatible)
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

		for (int i = 0; node_reg(node, i, &bank); i++)
			if (bank.size && machine.nr_ram < MAX_BANKS)
				machine.ram[machine.nr_ram++] = bank;
	}
	if (machine.nr_ram == 0)
		bad("no memory");
}

static void read_cpus(void)
{
	int node = -1;

	while ((node = next_of_type(node, "cpu")) >= 0) {
		struct region reg;

		if (machine.nr_vcpus == MAX_VCPUS)
			break;
		if (!node_reg(node, 0, &reg))
			bad("a cpu without reg");
		machine.mpidr[machine.nr_vcpus++] = reg.base;
	}
	if (machine.nr_vcpus == 0)
		bad("no cpu");
}

static void read_gic(void)
{
	int node = find("arm,gic-v3");

	if (node < 0 || !node_reg(node, 0, &machine.gicd) ||
	    !node_reg(node, 1, &machine.gicr))
		bad("no GICv3");
}

static void read_devices(void)
{
	int node = find("arm,armv8-timer");

	if (node < 0)
		bad("no timer");
	machine.ptimer_irq = node_irq(node, 1);
	machine.vtimer_irq = node_irq(node, 2);

	node = find("arm,pl011");
	if (node < 0 || !node_reg(node, 0, &machine.uart))
		bad("no PL011");
	machine.uart_irq = node_irq(node, 0);

	node = find("arm,pl031");
	if (node >= 0 && node_reg(node, 0, &machine.rtc))
		machine.rtc_irq = node_irq(node, 0);
}

static void read_psci(void)
{
	int node = find("arm,psci-1.0");
	const char *method;

	if (node < 0)
		node = find("arm,psci-0.2");
	method = node < 0 ? nullptr
			  : fdt_getprop(machine.fdt, node, "method", nullptr);
	machine.psci_smc = method && strcmp(method, "smc") == 0;
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
		bad("there is none");
	machine.dtb.base = (uint64_t)fdt;
	machine.dtb.size = fdt_totalsize(fdt);
	machine.image.base = (uint64_t)image_start;
	machine.image.size = (uint64_t)(image_end - image_start);
	read_memory();
	read_cpus();
	read_gic();
	read_devices();
	read_psci();
	read_chosen();
}
