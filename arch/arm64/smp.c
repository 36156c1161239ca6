// SPDX-License-Identifier: BSD-2-Clause
/*
 * Physical CPUs: the boot CPU's first C code, starting the others by PSCI, and
 * what every CPU sets up before it may run a guest.
 */
#include "arm64.h"
#include "cpu.h"
#include "gic.h"
#include "host.h"
#include "mmu.h"
#include "s2.h"
#include "sysreg.h"
#include "trapreg.h"

#include <libfdt.h>
#include <string.h>

#define PSCI_CPU_ON	0xc4000003
#define MPIDR_AFF	(BITS(39, 32) | BITS(23, 0))

#define STACK_ORDER	2	/* 16 KiB */
#define PANIC_SIZE	4096

/*
 * HCR_EL2 while guests run, the same for all of them: QEMU and some CPUs flush
 * TLBs when VM and the like change, so it is written once.
 */
#define HCR_GUEST							\
	(HCR_E2H | HCR_RW | HCR_VM | HCR_PTW | HCR_SWIO | HCR_FMO |	\
	 HCR_IMO | HCR_AMO | HCR_FB | HCR_BSU_IS | HCR_TWI | HCR_TID1 |	\
	 HCR_TID3 | HCR_TSC | HCR_TIDCP | HCR_TACR | HCR_TLOR |		\
	 HCR_TERR | HCR_TEA | HCR_TID5)

/* Fine-grained trap registers (FEAT_FGT) and HCRX_EL2 (FEAT_HCX). */
#define HFGRTR_EL2	S3_4_C1_C1_4
#define HFGWTR_EL2	S3_4_C1_C1_5
#define HFGITR_EL2	S3_4_C1_C1_6
#define HDFGRTR_EL2	S3_4_C3_C1_4
#define HDFGWTR_EL2	S3_4_C3_C1_5
#define HDFGRTR2_EL2	S3_4_C3_C1_0	/* FEAT_FGT2 from here */
#define HDFGWTR2_EL2	S3_4_C3_C1_1
#define HFGRTR2_EL2	S3_4_C3_C1_2
#define HFGWTR2_EL2	S3_4_C3_C1_3
#define HFGITR2_EL2	S3_4_C3_C1_7
#define HCRX_EL2	S3_4_C1_C2_2
#define HCRX_TALLINT	BIT(6)		/* FEAT_NMI's ALLINT */

/* Memory partitioning (FEAT_MPAM), which guests do not have. */
#define MPAM2_EL2	S3_4_C10_C5_0
#define MPAM1_EL12	S3_5_C10_C5_0
#define MPAM0_EL1	S3_0_C10_C5_1
#define MPAMHCR_EL2	S3_4_C10_C4_0
#define MPAMIDR_EL1	S3_0_C10_C4_4
#define MPAM2_TRAPS	(BIT(48) | BIT(49))	/* MPAM1_EL1, MPAM0_EL1 */
#define MPAMIDR_HAS_HCR	BIT(17)
#define MPAMHCR_TRAP_ID	BIT(31)			/* MPAMIDR_EL1 */

#define MDCR_HPMN	BITS(4, 0)

struct cpu boot_cpu;
static alignas(16) uint8_t boot_panic_stack[PANIC_SIZE];

[[noreturn]] void arm64_main(const void *fdt);
[[noreturn]] void arm64_secondary(struct cpu *c);
extern char secondary_entry[], __image_start[], __image_end[];

volatile void *arch_map_device(paddr_t pa, uint64_t size)
{
	paddr_t first = align_down(pa, PAGE_SIZE);

	/* Before the MMU is on every address is its own device mapping. */
	if (mmu_regs.ttbr)
		mmu_map(first, first, align_up(pa + size, PAGE_SIZE) - first,
			MMU_DEVICE);
	return (volatile void *)pa;
}

void arch_map_ram(paddr_t base, uint64_t size)
{
	paddr_t first = align_up(base, PAGE_SIZE);

	mmu_map(first, first, align_down(base + size, PAGE_SIZE) - first,
		MMU_RW);
}

void arch_reserved(paddr_t *base, uint64_t *size)
{
	*base = (uintptr_t)__image_start;
	*size = (uint64_t)(__image_end - __image_start);
}

void arm64_main(const void *fdt)
{
	host_set_fdt(fdt);
	boot_cpu.arch.mpidr = sysreg_read(mpidr_el1) & MPIDR_AFF;
	boot_cpu.arch.panic_stack = (uintptr_t)boot_panic_stack + PANIC_SIZE;
	board_init();
	host_main(fdt);
}

void arm64_secondary(struct cpu *c)
{
	host_cpu_main(c);
}

/* Positive bits 0: no trap. Negative bits 0: SME, MTE and so on do. */
static void init_fine_traps(void)
{
	if (cpu_has_fgt()) {
		sysreg_write(HFGRTR_EL2, 0);
		sysreg_write(HFGWTR_EL2, 0);
		sysreg_write(HFGITR_EL2, 0);
		sysreg_write(HDFGRTR_EL2, 0);
		sysreg_write(HDFGWTR_EL2, 0);
	}
	if (cpu_has_fgt2()) {
		sysreg_write(HFGRTR2_EL2, 0);
		sysreg_write(HFGWTR2_EL2, 0);
		sysreg_write(HFGITR2_EL2, 0);
		sysreg_write(HDFGRTR2_EL2, 0);
		sysreg_write(HDFGWTR2_EL2, 0);
	}
}

/* Everybody in partition 0, whatever firmware chose; no guest may change it. */
static void init_mpam(void)
{
	if (!cpu_has_mpam())
		return;
	sysreg_write(MPAM0_EL1, 0);
	sysreg_write(MPAM1_EL12, 0);
	sysreg_write(MPAM2_EL2, MPAM2_TRAPS);
	if (sysreg_read(MPAMIDR_EL1) & MPAMIDR_HAS_HCR)
		sysreg_write(MPAMHCR_EL2, MPAMHCR_TRAP_ID);
}

/* Traps that every guest has; what depends on the vCPU is set at its load. */
static void init_traps(struct cpu *c)
{
	uint64_t hcr = HCR_GUEST;

	if (cpu_has_pauth())
		hcr |= HCR_API | HCR_APK;
	if (cpu_has_fwb())
		hcr |= HCR_FWB;
	sysreg_write(hcr_el2, hcr);
	sysreg_write(vtcr_el2, s2_vtcr());
	sysreg_write(vpidr_el2, sysreg_read(midr_el1));
	sysreg_write(hstr_el2, 0);
	init_fine_traps();
	init_mpam();
	/* TALLINT is RES0 without FEAT_NMI. */
	if (cpu_has_hcx())
		sysreg_write(HCRX_EL2, cpu_has_nmi() ? HCRX_TALLINT : 0);
	/* All event counters belong to the guest side: HPMN = N. */
	c->arch.mdcr = sysreg_read(mdcr_el2) & MDCR_HPMN;
	fp_cpu_init(c);
	c->arch.vttbr = ~UINT64_C(0);
	c->arch.dbg_dirty = true;
	isb();
}

void arch_cpu_init(struct cpu *c)
{
	c->arch.id = c->id;
	if (c == &boot_cpu) {
		idreg_init();
		trapreg_init();
		gic_init();
	}
	init_traps(c);
	gic_cpu_init(c);
	if (c == &boot_cpu)
		board_enable_irqs();
}

/* Affinity of CPU node @id in the host device tree, boot CPU first. */
static bool cpu_mpidr(unsigned int id, uint64_t *mpidr, unsigned int *count)
{
	const void *fdt = host_fdt();
	int parent = fdt_path_offset(fdt, "/cpus"), node;
	unsigned int n = 1;
	bool found = false;

	fdt_for_each_subnode(node, fdt, parent) {
		int len;
		const fdt32_t *reg = fdt_getprop(fdt, node, "reg", &len);
		const char *type = fdt_getprop(fdt, node, "device_type", NULL);
		uint64_t aff;

		if (!reg || !type || strcmp(type, "cpu") != 0)
			continue;
		aff = fdt32_to_cpu(reg[0]);
		if (len >= 8)
			aff = aff << 32 | fdt32_to_cpu(reg[1]);
		if ((aff & MPIDR_AFF) == boot_cpu.arch.mpidr)
			continue;
		if (n == id) {
			*mpidr = aff & MPIDR_AFF;
			found = true;
		}
		n++;
	}
	*count = n;
	return found;
}

unsigned int arch_cpu_count(void)
{
	uint64_t mpidr;
	unsigned int n;

	cpu_mpidr(0, &mpidr, &n);
	return n < MAX_PCPUS ? n : MAX_PCPUS;
}

int arch_cpu_start(struct cpu *c)
{
	paddr_t stack = page_alloc(STACK_ORDER), panic = page_alloc(0);
	unsigned int n;

	if (!stack || !panic || !cpu_mpidr(c->id, &c->arch.mpidr, &n))
		return ERR_INVAL;
	c->arch.id = c->id;
	c->arch.stack_top = mmu_map_stack(c->id, stack, 1 << STACK_ORDER);
	c->arch.panic_stack = panic + PANIC_SIZE;
	/* Read with the MMU off by the new CPU. */
	mmu_clean(&mmu_regs, sizeof(mmu_regs));
	mmu_clean(c, sizeof(*c));
	if (firmware_call(PSCI_CPU_ON, c->arch.mpidr,
			  (uintptr_t)secondary_entry, (uintptr_t)c))
		return ERR_INVAL;
	return 0;
}

void arch_cpu_kick(unsigned int id)
{
	gic_kick(id);
}

void arch_cpu_idle(void)
{
	/* Stores first; an interrupt wakes although it is masked. */
	__asm__ volatile("dsb sy\n\twfi" ::: "memory");
}
