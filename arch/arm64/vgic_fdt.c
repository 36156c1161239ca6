// SPDX-License-Identifier: BSD-2-Clause
/*
 * Virtual GIC: what people and guests see of it, the device tree node and the
 * dump. Owns nothing; the dump reads without the lock, since the vCPU may be
 * at fault while somebody holds it.
 */
#include "arch.h"
#include "print.h"
#include "vgic.h"
#include "vgic_mmio.h"
#include "vgic_state.h"

#include <libfdt.h>

#define PHANDLE		1
#define FDT_SPI		0
#define LEVEL_HIGH	4

static int intc_props(const struct vm *vm, void *fdt)
{
	const uint64_t reg[] = { VGIC_GICD_BASE, VGIC_GICD_SIZE, VGIC_GICR_BASE,
				 VGIC_GICR_SIZE * vm->nr_vcpus };
	static const char compat[] = "arm,gic-v3";
	fdt64_t be[ARRAY_SIZE(reg)];
	int err;

	for (unsigned int i = 0; i < ARRAY_SIZE(reg); i++)
		be[i] = cpu_to_fdt64(reg[i]);
	err = fdt_property(fdt, "compatible", compat, sizeof(compat));
	if (!err)
		err = fdt_property_u32(fdt, "#interrupt-cells", 3);
	if (!err)
		err = fdt_property(fdt, "interrupt-controller", NULL, 0);
	if (!err)
		err = fdt_property(fdt, "reg", be, sizeof(be));
	if (!err)
		err = fdt_property_u32(fdt, "phandle", PHANDLE);
	return err;
}

int vgic_fdt(const struct vm *vm, void *fdt)
{
	int err = fdt_begin_node(fdt, "intc@8000000");

	if (!err)
		err = intc_props(vm, fdt);
	return err ? err : fdt_end_node(fdt);
}

int arch_fdt_irq(void *fdt, unsigned int irq)
{
	const fdt32_t cells[] = { cpu_to_fdt32(FDT_SPI), cpu_to_fdt32(irq),
				  cpu_to_fdt32(LEVEL_HIGH) };

	return fdt_property(fdt, "interrupts", cells, sizeof(cells));
}

void vgic_dump(struct vcpu *v)
{
	const struct vgic *g = &v->vm->arch.vgic;
	const struct vgic_cpu *vc = &v->arch.vgic;

	log_error("  GICD_CTLR %x  VMCR %llx  AP0R0 %llx  AP1R0 %llx", g->ctlr,
		  (unsigned long long)vc->vmcr,
		  (unsigned long long)vc->apr[0][0],
		  (unsigned long long)vc->apr[1][0]);
	for (unsigned int b = 0; b < VGIC_BANKS; b++) {
		const struct vgic_bank *k = vgic_bank(v, b);

		log_error("  INTID %3u..: enabled %08x  pending %08x  active "
			  "%08x  in LR %08x  here %08x", 32 * b, k->enabled,
			  vgic_pending(k), k->active, vc->in_lr[b],
			  vc->route[b]);
	}
}
