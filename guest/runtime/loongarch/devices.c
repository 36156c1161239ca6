// SPDX-License-Identifier: BSD-2-Clause
/*
 * Devices of the machine, and how it is switched off.
 */
#include <libfdt.h>
#include "../runtime.h"
#include "guest.h"
#include "hcall.h"
#include "io.h"
#include "irq.h"

static struct {
	struct region regs;	/* size 0: there are none */
	uint64_t offset[2];	/* of power-off and reset */
	uint8_t value[2];
} power;

static uint32_t number(int node, const char *name)
{
	int length;
	const fdt32_t *cell = fdt_getprop(machine.fdt, node, name, &length);

	return cell && length == 4 ? fdt32_to_cpu(*cell) : 0;
}

/* Input of the PCH-PIC: number and kind. */
static unsigned node_irq(int node)
{
	int length;
	const fdt32_t *irq =
		fdt_getprop(machine.fdt, node, "interrupts", &length);

	if (!irq || length < 8)
		fdt_bad("a node without the interrupt it needs");
	return IRQ_SPI + fdt32_to_cpu(*irq);
}

static void read_power(int which, const char *compatible)
{
	int node = fdt_find(compatible), regs;

	if (node < 0)
		return;
	regs = fdt_node_offset_by_phandle(machine.fdt, number(node, "regmap"));
	if (regs < 0 || !fdt_region(regs, 0, &power.regs))
		fdt_bad("power control without registers");
	power.offset[which] = number(node, "offset");
	power.value[which] = (uint8_t)number(node, "value");
}

void machine_read_devices(void)
{
	int node = fdt_find("ns16550a");

	if (node < 0 || !fdt_region(node, 0, &machine.uart))
		fdt_bad("no 16550");
	machine.uart_irq = node_irq(node);
	node = fdt_find("loongson,ls7a-rtc");
	if (node >= 0)
		fdt_region(node, 0, &machine.rtc);
	machine.vtimer_irq = machine.ptimer_irq = IRQ_TIMER;
	read_power(0, "syscon-poweroff");
	read_power(1, "syscon-reboot");
}

static void power_write(int which)
{
	if (power.regs.size)
		io_write8(power.regs.base + power.offset[which],
			  power.value[which]);
}

void machine_off(void)
{
	power_write(0);
}

void machine_reset(void)
{
	power_write(1);
}
