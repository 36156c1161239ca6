// SPDX-License-Identifier: BSD-2-Clause
/*
 * Stage-1 tables of the hypervisor. Table pages come from a static pool until
 * the page allocator works. Entries only ever go from invalid to valid, so no
 * break-before-make is needed; the lock orders writers on several CPUs.
 */
#include "mmu.h"

#include "host.h"
#include "limits.h"
#include "lock.h"

#include "sysreg.h"

#include <libfdt.h>
#include <string.h>

#define PTE_VALID	BIT(0)
#define PTE_TABLE	BIT(1)		/* levels 0-2; at level 3: a page */
#define PTE_ATTR(n)	((uint64_t)(n) << 2)
#define PTE_RO		BIT(7)		/* AP[2] */
#define PTE_SH_INNER	(UINT64_C(3) << 8)
#define PTE_AF		BIT(10)
#define PTE_PXN		BIT(53)
#define PTE_UXN		BIT(54)
#define PTE_GUARD	BIT(55)		/* for us: invalid for good */
#define PTE_ADDR	BITS(47, 12)

#define ATTR_NORMAL	0
#define ATTR_DEVICE	1
/* MAIR_EL2: write-back write-allocate normal memory, Device-nGnRE. */
#define MAIR_VALUE	(UINT64_C(0xff) | UINT64_C(0x04) << 8)

/*
 * TCR_EL2 in its E2H=1 layout: T0SZ = 16, inner shareable write-back walks,
 * 4 KiB granule, no TTBR1 walks.
 */
#define TCR_T0SZ	UINT64_C(16)
#define TCR_IRGN0_WB	(UINT64_C(1) << 8)
#define TCR_ORGN0_WB	(UINT64_C(1) << 10)
#define TCR_SH0_INNER	(UINT64_C(3) << 12)
#define TCR_EPD1	BIT(23)
#define TCR_TG1_4K	(UINT64_C(2) << 30)
#define TCR_IPS_SHIFT	32

/* SCTLR_EL2: RES1 bits, MMU, caches, stack alignment, WXN. */
#define SCTLR_VALUE	UINT64_C(0x30d8180d)

/* Stacks: one slot of 64 KiB per CPU, far above any RAM. */
#define STACK_WINDOW	UINT64_C(0x800000000000)
#define STACK_SLOT	(64 * KiB)

#define POOL_PAGES	48

struct mmu_regs mmu_regs;

extern char __text_start[], __text_end[], __rodata_start[], __rodata_end[];
extern char __data_start[], __image_end[], boot_stack_guard[];

static alignas(4096) uint64_t root[512];
static alignas(4096) uint64_t pool[POOL_PAGES][512];
static unsigned int pool_used;
static struct spinlock map_lock;

static uint64_t *table_new(void)
{
	paddr_t pa;

	if (pool_used < POOL_PAGES)
		return pool[pool_used++];
	pa = page_alloc(0);
	if (!pa)
		panic("no memory for the hypervisor's own page tables");
	return (uint64_t *)pa;
}

static uint64_t pte_attr(enum mmu_attr attr)
{
	const uint64_t normal = PTE_VALID | PTE_AF | PTE_SH_INNER | PTE_UXN |
				PTE_ATTR(ATTR_NORMAL);

	switch (attr) {
	case MMU_RX:
		return normal | PTE_RO;
	case MMU_RO:
		return normal | PTE_RO | PTE_PXN;
	case MMU_DEVICE:
		return PTE_VALID | PTE_AF | PTE_UXN | PTE_PXN |
		       PTE_ATTR(ATTR_DEVICE);
	case MMU_GUARD:
		return PTE_GUARD;
	case MMU_RW:
		break;
	}
	return normal | PTE_PXN;
}

/*
 * The entry for @va where a leaf of at most @size bytes may go; *@level is the
 * level it is at. Stops at an existing leaf.
 */
static uint64_t *entry_for(uint64_t va, paddr_t pa, uint64_t size,
			   unsigned int *level)
{
	uint64_t *t = root;
	unsigned int l, shift;
	uint64_t *e;

	for (l = 0;; l++) {
		shift = 39 - 9 * l;
		e = &t[(va >> shift) & 511];
		if (l == 3 || (*e & (PTE_VALID | PTE_TABLE)) == PTE_VALID)
			break;
		if (!*e) {
			if (l > 0 && size >= BIT(shift) &&
			    is_aligned(va | pa, BIT(shift)))
				break;
			/* Contents before the pointer, for the walkers. */
			uint64_t *n = table_new();

			dsb_ishst();
			*e = (uintptr_t)n | PTE_VALID | PTE_TABLE;
		}
		t = (uint64_t *)(*e & PTE_ADDR);
	}
	*level = l;
	return e;
}

static void map_range(uint64_t va, paddr_t pa, uint64_t size,
		      enum mmu_attr attr)
{
	while (size) {
		unsigned int level;
		uint64_t *e = entry_for(va, pa, size, &level);
		uint64_t step = BIT(39 - 9 * level);

		if (!*e)
			*e = pa | pte_attr(attr) | (level == 3 ? PTE_TABLE : 0);
		/* An existing larger leaf may begin before va. */
		step -= va & (step - 1);
		if (step > size)
			step = size;
		va += step;
		pa += step;
		size -= step;
	}
	/* Visible to the walkers, and to this CPU's next instruction. */
	dsb_ishst();
	isb();
}

void mmu_map(uint64_t va, paddr_t pa, uint64_t size, enum mmu_attr attr)
{
	ASSERT(is_aligned(va | pa | size, PAGE_SIZE));
	spin_lock(&map_lock);
	map_range(va, pa, size, attr);
	spin_unlock(&map_lock);
}

uint64_t mmu_map_stack(unsigned int cpu, paddr_t pa, unsigned int pages)
{
	uint64_t top = STACK_WINDOW + (cpu + 1) * STACK_SLOT;
	uint64_t size = pages * PAGE_SIZE;

	/* At least one page below stays unmapped: the guard. */
	ASSERT(size < STACK_SLOT);
	mmu_map(top - size, pa, size, MMU_RW);
	return top;
}

bool mmu_mapped(uint64_t va)
{
	const uint64_t *t = root;
	unsigned int l;

	if (va >= BIT(48))
		return false;
	for (l = 0; l < 4; l++) {
		uint64_t e = t[(va >> (39 - 9 * l)) & 511];

		if (!(e & PTE_VALID))
			return false;
		if (l == 3 || !(e & PTE_TABLE))
			return true;
		t = (const uint64_t *)(e & PTE_ADDR);
	}
	return false;
}

static uint64_t tcr_value(void)
{
	uint64_t pa_range = sysreg_read(id_aa64mmfr0_el1) & 0xf;

	/* 48 bits are the most that the 4 KiB format without LPA2 reaches. */
	return TCR_T0SZ | TCR_IRGN0_WB | TCR_ORGN0_WB | TCR_SH0_INNER |
	       TCR_EPD1 | TCR_TG1_4K |
	       min_u64(pa_range, 5) << TCR_IPS_SHIFT;
}

static void map_image(const char *from, const char *to, enum mmu_attr attr)
{
	map_range((uintptr_t)from, (uintptr_t)from, (uint64_t)(to - from),
		  attr);
}

void mmu_boot(const void *fdt)
{
	uint64_t dt = align_down((uintptr_t)fdt, PAGE_SIZE);
	uint64_t size = fdt_check_header(fdt) ? 0 : fdt_totalsize(fdt);

	map_image(__text_start, __text_end, MMU_RX);
	map_image(__rodata_start, __rodata_end, MMU_RO);
	/* First, since what is in a table stays. */
	map_image(boot_stack_guard, boot_stack_guard + PAGE_SIZE, MMU_GUARD);
	map_image(__data_start, __image_end, MMU_RW);
	if (size)
		map_range(dt, dt,
			  align_up((uintptr_t)fdt + size, PAGE_SIZE) - dt,
			  MMU_RO);
	mmu_regs.mair = MAIR_VALUE;
	mmu_regs.tcr = tcr_value();
	mmu_regs.ttbr = (uintptr_t)root;
	mmu_regs.sctlr = SCTLR_VALUE;
}

void mmu_clean(const void *p, uint64_t size)
{
	uint64_t line = 4 << ((sysreg_read(ctr_el0) >> 16) & 0xf);
	uint64_t a = align_down((uintptr_t)p, line);
	uint64_t end = (uintptr_t)p + size;

	for (; a < end; a += line)
		__asm__ volatile("dc civac, %0" : : "r"(a) : "memory");
	dsb_sy();
}
