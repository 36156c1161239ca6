// SPDX-License-Identifier: BSD-2-Clause
/*
 * Interrupt controller, timers, devices and power control of the machine.
 */
#include <libfdt.h>
#include <string.h>
#include "../runtime.h"
#include "guest.h"

/* INTID of entry `index` of "interrupts" in the GIC's three-cell form. */
static unsigned node_irq(int node, int index)
{
	int len;
	const fdt32_t *irq =
		fdt_getprop(machine.fdt, node, "interrupts", &len);

	if (!irq || len < (index + 1) * 12)
		fdt_bad("a node without the interrupt it needs");
	irq += index * 3;
	return fdt32_to_cpu(irq[1]) + (fdt32_to_cpu(irq[0]) ? 16 : 32);
}

static void read_gic(void)
{
	int node = fdt_find("arm,gic-v3");

	if (node < 0 || !fdt_region(node, 0, &machine.gicd) ||
	    !fdt_region(node, 1, &machine.gicr))
		fdt_bad("no GICv3");
}

static void read_devices(void)
{
	int node = fdt_find("arm,armv8-timer");

	if (node < 0)
		fdt_bad("no timer");
	machine.ptimer_irq = node_irq(node, 1);
	machine.vtimer_irq = node_irq(node, 2);

	node = fdt_find("arm,pl011");
	if (node < 0 || !fdt_region(node, 0, &machine.uart))
		fdt_bad("no PL011");
	machine.uart_irq = node_irq(node, 0);

	node = fdt_find("arm,pl031");
	if (node >= 0 && fdt_region(node, 0, &machine.rtc))
		machine.rtc_irq = node_irq(node, 0);
}

static void read_psci(void)
{
	int node = fdt_find("arm,psci-1.0");
	const char *method;

	if (node < 0)
		node = fdt_find("arm,psci-0.2");
	method = node < 0 ? nullptr
			  : fdt_getprop(machine.fdt, node, "method", nullptr);
	machine.psci_smc = method && strcmp(method, "smc") == 0;
}

void machine_read_devices(void)
{
	read_gic();
	read_devices();
	read_psci();
}
