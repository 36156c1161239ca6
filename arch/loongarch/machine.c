// SPDX-License-Identifier: BSD-2-Clause
/*
 * The guest machine: a subset of QEMU's virt machine, at the same addresses and
 * interrupt numbers, so that images built for it run unchanged; and the nodes
 * of the guest device tree that belong to the architecture. Nothing here has
 * state: guest RAM is reached through the shadow tables of each vCPU.
 */
#include "lamachine.h"

#include "host.h"
#include "la.h"
#include "vintc.h"
#include "vm.h"

#include <libfdt.h>
#include <string.h>

#define LOW_RAM		(256 * MiB)
#define HIGH_RAM	UINT64_C(0x80000000)
/* With paging off addresses are physical ones, and those are canonical. */
#define RAM_LIMIT	BIT(LA_VALEN - 1)

const struct dev_place arch_machine[] = {
	{ DEV_LS7A_RTC, 0x100d0100, 0x100, 6 },
	{ DEV_NS16550, 0x1fe001e0, 0x100, 2 },
	{ 0, 0, 0, 0 },
};

const struct guest_ram arch_ram = {
	.bank = { { 0, LOW_RAM }, { HIGH_RAM, RAM_LIMIT - HIGH_RAM } },
	.reserved = GUEST_RESERVED,
	.dtb = GUEST_DTB,
};

const uint16_t arch_elf_machine = 258;		/* EM_LOONGARCH */
const bool arch_start_all = true;

uint64_t arch_ram_max(void)
{
	return arch_ram.bank[0].size + arch_ram.bank[1].size;
}

const char *arch_entry_refused(uint64_t entry)
{
	uint64_t top = entry >> (LA_VALEN - 1);

	if (!top || top == UINT64_MAX >> (LA_VALEN - 1))
		return NULL;
	return "code in a direct mapped window outside the 48-bit addresses "
	       "would need LVZ";
}

/* ---- life of a VM -------------------------------------------------------- */

int arch_vm_init(struct vm *vm)
{
	(void)vm;
	return 0;
}

void arch_vm_fini(struct vm *vm)
{
	(void)vm;
}

void arch_vm_reset(struct vm *vm)
{
	vintc_vm_reset(vm);
}

int arch_vm_map(struct vm *vm, gpa_t gpa, paddr_t pa, uint64_t size)
{
	(void)vm;
	(void)gpa;
	(void)pa;
	(void)size;
	return 0;
}

void *machine_page(const struct vm *vm, gpa_t gpa, bool *writable)
{
	gpa = align_down(gpa, PAGE_SIZE);
	*writable = gpa != GUEST_ROM;
	if (gpa == GUEST_ROM)
		return (void *)(uintptr_t)guest_rom;
	return vm_ram(vm, gpa, PAGE_SIZE);
}

/* ---- power control ------------------------------------------------------- */

/* Registers of ACPI's generic event device, in its reduced hardware form. */
#define GED_BASE	UINT64_C(0x100e001c)
#define GED_SIZE	3
#define GED_SLEEP	0	/* sleep control */
#define GED_SLEEP_OFF	0x34	/* SLP_EN, SLP_TYP 5 */
#define GED_RESET	2
#define GED_RESET_VALUE	0x42

static bool in_ged(const struct mmio *m)
{
	return m->size == 1 && m->gpa - GED_BASE < GED_SIZE;
}

static enum exit_action leave(struct vcpu *v, enum power_op op)
{
	v->arch.exit->kind = EXIT_POWER;
	v->arch.exit->power.op = op;
	return ACT_LEAVE;
}

static enum exit_action ged(struct vcpu *v, struct mmio *m)
{
	if (!m->write)
		m->value = 0;
	else if (m->gpa == GED_BASE + GED_SLEEP && m->value == GED_SLEEP_OFF)
		return leave(v, POWER_OFF);
	else if (m->gpa == GED_BASE + GED_RESET && m->value == GED_RESET_VALUE)
		return leave(v, POWER_RESET);
	return ACT_RESUME;
}

enum exit_action machine_mmio(struct vcpu *v)
{
	struct mmio *m = &v->arch.exit->mmio;

	if (vpic_access(v->vm, m))
		return ACT_RESUME;
	if (in_ged(m))
		return ged(v, m);
	v->arch.exit->kind = EXIT_MMIO;
	return ACT_LEAVE;
}

/* ---- device tree --------------------------------------------------------- */

#define FDT_GED		5	/* handle; vintc.h has the others */
#define IRQ_LEVEL_HIGH	4

#define TRY(call)							\
	do {								\
		int err_ = (call);					\
									\
		if (err_)						\
			return err_;					\
	} while (0)

static int prop_string(void *fdt, const char *name, const char *val)
{
	return fdt_property(fdt, name, val, (int)strlen(val) + 1);
}

/* The first name tells another Nestling that hypercalls are there. */
int arch_vm_fdt_root(struct vm *vm, void *fdt)
{
	static const char compat[] =
		"nestling,loongarch\0linux,dummy-loongson3";

	(void)vm;
	TRY(fdt_property(fdt, "compatible", compat, sizeof(compat)));
	return fdt_property_u32(fdt, "interrupt-parent", FDT_PCH_PIC);
}

int arch_fdt_irq(void *fdt, unsigned int irq)
{
	fdt32_t cells[] = { cpu_to_fdt32(irq), cpu_to_fdt32(IRQ_LEVEL_HIGH) };

	return fdt_property(fdt, "interrupts", cells, sizeof(cells));
}

static int fdt_cpus(const struct vm *vm, void *fdt)
{
	TRY(fdt_begin_node(fdt, "cpus"));
	TRY(fdt_property_u32(fdt, "#address-cells", 1));
	TRY(fdt_property_u32(fdt, "#size-cells", 0));
	for (unsigned int i = 0; i < vm->nr_vcpus; i++) {
		char name[16];

		ksnprintf(name, sizeof(name), "cpu@%x", i);
		TRY(fdt_begin_node(fdt, name));
		TRY(prop_string(fdt, "device_type", "cpu"));
		TRY(prop_string(fdt, "compatible",
				"loongarch,Loongson-3A5000"));
		TRY(fdt_property_u32(fdt, "reg", i));
		TRY(fdt_end_node(fdt));
	}
	return fdt_end_node(fdt);
}

/* What to write where for power-off and reset. */
static int fdt_power(void *fdt, const char *node, const char *compatible,
		     uint32_t offset, uint32_t value)
{
	TRY(fdt_begin_node(fdt, node));
	TRY(prop_string(fdt, "compatible", compatible));
	TRY(fdt_property_u32(fdt, "regmap", FDT_GED));
	TRY(fdt_property_u32(fdt, "offset", offset));
	TRY(fdt_property_u32(fdt, "value", value));
	return fdt_end_node(fdt);
}

static int fdt_ged(void *fdt)
{
	fdt64_t reg[2] = { cpu_to_fdt64(GED_BASE), cpu_to_fdt64(GED_SIZE) };

	TRY(fdt_begin_node(fdt, "ged@100e001c"));
	TRY(prop_string(fdt, "compatible", "syscon"));
	TRY(fdt_property(fdt, "reg", reg, sizeof(reg)));
	TRY(fdt_property_u32(fdt, "reg-shift", 0));
	TRY(fdt_property_u32(fdt, "reg-io-width", 1));
	TRY(fdt_property_u32(fdt, "phandle", FDT_GED));
	TRY(fdt_end_node(fdt));
	TRY(fdt_power(fdt, "reboot", "syscon-reboot", GED_RESET,
		      GED_RESET_VALUE));
	return fdt_power(fdt, "poweroff", "syscon-poweroff", GED_SLEEP,
			 GED_SLEEP_OFF);
}

int arch_vm_fdt(struct vm *vm, void *fdt)
{
	TRY(fdt_cpus(vm, fdt));
	TRY(vintc_fdt(fdt));
	return fdt_ged(fdt);
}
