// SPDX-License-Identifier: BSD-2-Clause
/*
 * The guest machine: a subset of QEMU's virt board, at the same addresses and
 * interrupt numbers, so that images built for it run unchanged; and the nodes
 * of the guest device tree that belong to the architecture.
 */
#include "arch.h"
#include "arm64.h"
#include "host.h"
#include "mmu.h"
#include "s2.h"
#include "tlb.h"
#include "vgic.h"
#include "vm.h"
#include "vtimer.h"
#include "sysreg.h"

#include <libfdt.h>
#include <string.h>

#define PPI_TYPE	1
#define IRQ_LEVEL_HIGH	4
#define PPI_PHYS_SECURE	13
#define PPI_PHYS	14	/* INTID 30 */
#define PPI_VIRT	11	/* INTID 27 */
#define PPI_HYP		10
#define SPI_BASE	32

const struct dev_place arch_machine[] = {
	{ DEV_PL011, 0x09000000, 0x1000, 1 },
	{ DEV_PL031, 0x09010000, 0x1000, 2 },
	{ DEV_VIRTIO_EMPTY, 0x0a000000, 0x4000, 0 },
	{ 0, 0, 0, 0 },
};

/* As large as the IPA space allows. */
const struct guest_ram arch_ram = {
	.bank = { { 0x40000000, BIT(52) } },
};

const bool arch_start_all = false;
const uint16_t arch_elf_machine = 183;		/* EM_AARCH64 */

uint64_t arch_ram_max(void)
{
	return BIT(s2_ipa_bits()) - arch_ram.bank[0].base;
}

int arch_vm_init(struct vm *vm)
{
	int err = s2_init(&vm->arch.s2);

	if (err)
		return err;
	err = vgic_vm_init(vm);
	if (err)
		s2_fini(&vm->arch.s2);
	return err;
}

static void forget(void *arg)
{
	const struct vm *vm = arg;

	tlb_forget(vm->arch.s2.vttbr);
}

void arch_vm_fini(struct vm *vm)
{
	/* No walk may start at tables that are about to be freed. */
	for (unsigned int i = 0; i < MAX_PCPUS && cpus[i]; i++)
		cpu_call(i, forget, vm);
	vgic_vm_fini(vm);
	s2_fini(&vm->arch.s2);
}

void arch_vm_reset(struct vm *vm)
{
	vgic_vm_reset(vm);
	vtimer_vm_init(vm);
}

int arch_vm_boot(struct vm *vm, const struct image_layout *l)
{
	(void)vm;
	(void)l;
	return 0;
}

const char *arch_entry_refused(uint64_t entry)
{
	(void)entry;
	return NULL;
}

int arch_vm_map(struct vm *vm, gpa_t gpa, paddr_t pa, uint64_t size)
{
	return s2_map(&vm->arch.s2, gpa, pa, size,
		      S2_READ | S2_WRITE | S2_EXEC);
}

void arch_vm_irq(struct vm *vm, unsigned int irq, bool level)
{
	vgic_set_line(vm, irq + SPI_BASE, level);
}

void arch_sync_ram(void *p, uint64_t size)
{
	/*
	 * With forced write-back the guest's data accesses hit the cache; its
	 * fetches may need more, and without it everything does.
	 */
	uint64_t ctr = sysreg_read(ctr_el0);
	bool idc = ctr & BIT(28), dic = ctr & BIT(29);

	if (!cpu_has_fwb() || !idc)
		mmu_clean(p, size);
	/* Even where nothing is to be maintained: before any CPU fetches. */
	dsb_ish();
	if (!dic) {
		/* PIPT or not, stale instructions of all CPUs go. */
		__asm__ volatile("ic ialluis\n\tdsb ish\n\tisb" ::: "memory");
	}
}

/* FEAT_MOPS: the CPU knows best how to fill memory. */
static void zero_mops(uintptr_t a, uint64_t size)
{
	__asm__ volatile(".arch_extension mops\n\t"
			 "setp [%0]!, %1!, xzr\n\t"
			 "setm [%0]!, %1!, xzr\n\t"
			 "sete [%0]!, %1!, xzr"
			 : "+r"(a), "+r"(size) : : "cc", "memory");
}

static void zero_blocks(uintptr_t a, uintptr_t end, uint64_t block)
{
	for (; a < end; a += 2 * block)
		__asm__ volatile("dc zva, %0\n\tdc zva, %1"
				 : : "r"(a), "r"(a + block) : "memory");
}

void arch_zero_ram(void *p, uint64_t size)
{
	uint64_t dczid = sysreg_read(dczid_el0);
	uint64_t block = UINT64_C(4) << (dczid & 0xf);
	uintptr_t a = (uintptr_t)p, end = a + size;

	if (cpu_has_mops()) {
		zero_mops(a, size);
		return;
	}
	/* DZP, bit 4: the instruction may not be used. */
	if (!(dczid & BIT(4)) && 2 * block <= PAGE_SIZE) {
		zero_blocks(a, end, block);
		return;
	}
	for (; a < end; a += 16)
		__asm__ volatile("stp xzr, xzr, [%0]" : : "r"(a) : "memory");
}

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

int arch_vm_fdt_root(struct vm *vm, void *fdt)
{
	(void)vm;
	TRY(prop_string(fdt, "compatible", "linux,dummy-virt"));
	return fdt_property_u32(fdt, "interrupt-parent", 1);
}

static int fdt_cpu(const struct vcpu *v, void *fdt)
{
	uint64_t aff = v->arch.mpidr & 0xffffff;
	char name[24];

	ksnprintf(name, sizeof(name), "cpu@%llx", (unsigned long long)aff);
	TRY(fdt_begin_node(fdt, name));
	TRY(prop_string(fdt, "device_type", "cpu"));
	TRY(prop_string(fdt, "compatible", "arm,armv8"));
	TRY(fdt_property_u64(fdt, "reg", aff));
	TRY(prop_string(fdt, "enable-method", "psci"));
	return fdt_end_node(fdt);
}

static int fdt_cpus(const struct vm *vm, void *fdt)
{
	TRY(fdt_begin_node(fdt, "cpus"));
	TRY(fdt_property_u32(fdt, "#address-cells", 2));
	TRY(fdt_property_u32(fdt, "#size-cells", 0));
	for (unsigned int i = 0; i < vm->nr_vcpus; i++)
		TRY(fdt_cpu(vm->vcpus[i], fdt));
	return fdt_end_node(fdt);
}

static int fdt_psci(void *fdt)
{
	static const char compat[] = "arm,psci-1.0\0arm,psci-0.2";

	TRY(fdt_begin_node(fdt, "psci"));
	TRY(fdt_property(fdt, "compatible", compat, sizeof(compat)));
	TRY(prop_string(fdt, "method", "hvc"));
	return fdt_end_node(fdt);
}

/*
 * The binding wants four interrupts in a fixed order; the secure and the
 * hypervisor timer are named although the guest can reach neither.
 */
static int fdt_timer(void *fdt)
{
	static const uint32_t ppi[] = { PPI_PHYS_SECURE, PPI_PHYS, PPI_VIRT,
					PPI_HYP };
	fdt32_t irqs[3 * ARRAY_SIZE(ppi)];

	for (unsigned int i = 0; i < ARRAY_SIZE(ppi); i++) {
		irqs[3 * i] = cpu_to_fdt32(PPI_TYPE);
		irqs[3 * i + 1] = cpu_to_fdt32(ppi[i]);
		irqs[3 * i + 2] = cpu_to_fdt32(IRQ_LEVEL_HIGH);
	}
	TRY(fdt_begin_node(fdt, "timer"));
	TRY(prop_string(fdt, "compatible", "arm,armv8-timer"));
	TRY(fdt_property(fdt, "interrupts", irqs, sizeof(irqs)));
	TRY(fdt_property(fdt, "always-on", NULL, 0));
	return fdt_end_node(fdt);
}

int arch_vm_fdt(struct vm *vm, void *fdt)
{
	TRY(fdt_cpus(vm, fdt));
	TRY(fdt_psci(fdt));
	TRY(fdt_timer(fdt));
	return vgic_fdt(vm, fdt);
}
