// SPDX-License-Identifier: BSD-2-Clause
/*
 * Stage 1 tables of the guest. The boot tables (ASID 0) are built with the MMU
 * off and cover just enough to read the device tree; mmu_kernel (ASID 1) maps
 * the machine. Entries are non-global, so the two never conflict in the TLB.
 * One vCPU changes tables at a time; nobody locks.
 */
#include <stdio.h>
#include "../runtime.h"
#include "arm64/sysreg.h"
#include "layout.h"
#include "mmu.h"

#define POOL_PAGES	128

#define DESC_VALID	0x1ull
#define DESC_TABLE	0x3ull	/* also a page at level 3 */
#define DESC_AF		(1ull << 10)
#define DESC_NG		(1ull << 11)
#define DESC_SH_INNER	(3ull << 8)
#define DESC_RO		(1ull << 7)
#define DESC_USER	(1ull << 6)
#define DESC_PXN	(1ull << 53)
#define DESC_UXN	(1ull << 54)
#define DESC_ATTR(n)	((uint64_t)(n) << 2)
#define DESC_ADDR	0x0000fffffffff000ull

#define ATTR_DEVICE	1
#define ATTR_WB		2
#define ATTR_NC		3

extern char text_start[], text_end[], rodata_end[];

alignas(4096) static uint64_t pool[POOL_PAGES][512];
static unsigned pool_used;
alignas(4096) static uint64_t boot_tables[2][512];

/* Found by its address when nothing else can be trusted (jailasm.S). */
alignas(4096) uint64_t mmu_kernel_root[512];
struct mmu mmu_kernel = { mmu_kernel_root, 1 };
uint64_t mmu_tcr;

static uint64_t *new_table(void)
{
	return pool_used < POOL_PAGES ? pool[pool_used++] : nullptr;
}

static unsigned shift_of(unsigned level)
{
	return 39 - 9 * level;
}

static uint64_t desc_of(unsigned flags)
{
	uint64_t desc = DESC_AF | DESC_NG | DESC_SH_INNER | DESC_VALID;

	if (flags & MAP_DEVICE)
		desc |= DESC_ATTR(ATTR_DEVICE);
	else
		desc |= DESC_ATTR(flags & MAP_NC ? ATTR_NC : ATTR_WB);
	if (!(flags & MAP_WRITE))
		desc |= DESC_RO;
	if (flags & MAP_USER)
		desc |= DESC_USER;
	if (!(flags & MAP_EXEC) || (flags & MAP_USER))
		desc |= DESC_PXN;
	if (!(flags & MAP_EXEC) || !(flags & MAP_USER))
		desc |= DESC_UXN;
	return desc;
}

static void flush(uint64_t va, unsigned asid)
{
	uint64_t arg = (uint64_t)asid << 48 | (va >> 12 & 0xfffffffffffull);

	asm volatile("dsb ishst\n\ttlbi vae1is, %0\n\tdsb ish\n\tisb" ::"r"(arg)
		     : "memory");
}

/* Puts a new value into an entry that the MMU may be using. */
static void replace(uint64_t *entry, uint64_t value, uint64_t va, unsigned asid)
{
	if (*entry == value)
		return;
	if (*entry & DESC_VALID) {
		__atomic_store_n(entry, 0, __ATOMIC_RELAXED);
		flush(va, asid);
	}
	__atomic_store_n(entry, value, __ATOMIC_RELAXED);
	asm volatile("dsb ishst\n\tisb" ::: "memory");
}

/* The table below an entry; makes one, keeping what a block mapped. */
static uint64_t *descend(uint64_t *entry, unsigned level, uint64_t va,
			 unsigned asid)
{
	uint64_t old = *entry;
	uint64_t step = 1ull << shift_of(level + 1);
	uint64_t *table;

	if ((old & 3) == DESC_TABLE)
		return (uint64_t *)(old & DESC_ADDR);
	table = new_table();
	if (!table)
		return nullptr;
	for (unsigned i = 0; (old & DESC_VALID) && i < 512; i++)
		table[i] = (old + i * step) | (level == 2 ? DESC_TABLE : 0);
	replace(entry, (uint64_t)table | DESC_TABLE, va, asid);
	return table;
}

/* Whether [va, va + size) at pa can start with a block or page of a level. */
static bool fits(unsigned level, uint64_t va, uint64_t pa, uint64_t size)
{
	uint64_t block = 1ull << shift_of(level);

	return level > 0 && ((va | pa) & (block - 1)) == 0 && size >= block;
}

/* Maps as much as one entry can hold. Returns its size, 0 when out of pool. */
static uint64_t map_one(struct mmu *mmu, uint64_t va, uint64_t pa,
			uint64_t size, uint64_t desc)
{
	uint64_t *table = mmu->root;

	for (unsigned level = 0;; level++) {
		uint64_t *entry = &table[va >> shift_of(level) & 511];
		bool leaf = level == 3 ||
			    ((*entry & 3) != DESC_TABLE &&
			     fits(level, va, pa, size));

		if (leaf) {
			uint64_t value = desc ? desc | pa : 0;

			if (value && level == 3)
				value |= DESC_TABLE;
			replace(entry, value, va, mmu->asid);
			return 1ull << shift_of(level);
		}
		table = descend(entry, level, va, mmu->asid);
		if (!table)
			return 0;
	}
}

static bool map_all(struct mmu *mmu, uint64_t va, uint64_t pa, uint64_t size,
		    uint64_t desc)
{
	while (size) {
		uint64_t done = map_one(mmu, va, pa, size, desc);

		if (!done)
			return false;
		va += done;
		pa += done;
		size -= done;
	}
	return true;
}

bool mmu_map(struct mmu *mmu, uint64_t va, uint64_t pa, uint64_t size,
	     unsigned flags)
{
	return map_all(mmu, va, pa, size, desc_of(flags));
}

void mmu_unmap(struct mmu *mmu, uint64_t va, uint64_t size)
{
	map_all(mmu, va, va, size, 0);
}

bool mmu_new(struct mmu *mmu, unsigned asid)
{
	mmu->root = new_table();
	mmu->asid = asid;
	return mmu->root != nullptr;
}

uint64_t mmu_ttbr(const struct mmu *mmu)
{
	return (uint64_t)mmu->asid << 48 | (uint64_t)mmu->root;
}

void icache_sync(const void *addr, uint64_t size)
{
	uint64_t ctr = read_sysreg(ctr_el0);
	uint64_t dline = 4ull << (ctr >> 16 & 15);
	uint64_t iline = 4ull << (ctr & 15);
	uint64_t start = (uint64_t)addr, end = start + size;

	for (uint64_t p = start & ~(dline - 1); p < end; p += dline)
		asm volatile("dc cvau, %0" ::"r"(p) : "memory");
	asm volatile("dsb ish" ::: "memory");
	for (uint64_t p = start & ~(iline - 1); p < end; p += iline)
		asm volatile("ic ivau, %0" ::"r"(p) : "memory");
	asm volatile("dsb ish\n\tisb" ::: "memory");
}

/*
 * With the physical size that the CPU has. A code above 5 means 52 bits, which
 * 4 KiB granules of this form do not use.
 */
static uint64_t tcr_value(void)
{
	uint64_t parange = read_sysreg(id_aa64mmfr0_el1) & 0xf;
	uint64_t ips = parange > 5 ? 5 : parange;

	return ips << 32 | MMU_TCR;
}

/*
 * Runs with the MMU off: devices in the first GiB, and the GiBs in which this
 * image and the device tree lie.
 */
uint64_t mmu_boot_tables(const void *fdt)
{
	uint64_t *l0 = boot_tables[0], *l1 = boot_tables[1];
	uint64_t gib = 1ull << 30;
	uint64_t image = (uint64_t)image_start & ~(gib - 1);
	uint64_t tree = (uint64_t)fdt & ~(gib - 1) & ((1ull << 39) - 1);

	mmu_tcr = tcr_value();
	l0[0] = (uint64_t)l1 | DESC_TABLE;
	l1[tree / gib] = tree | desc_of(0);
	l1[0] = desc_of(MAP_WRITE | MAP_DEVICE);
	l1[image / gib] = image | (desc_of(MAP_WRITE | MAP_EXEC));
	return (uint64_t)l0;
}

static void map_or_die(const struct region *region, unsigned flags)
{
	uint64_t base = region->base & ~(PAGE_SIZE - 1);
	uint64_t end = region->base + region->size + PAGE_SIZE - 1;

	if (region->size == 0)
		return;
	if (!mmu_map(&mmu_kernel, base, base, (end & ~(PAGE_SIZE - 1)) - base,
		     flags)) {
		printf("guest: out of page tables\n");
		guest_exit(2);
	}
}

static void map_image(void)
{
	const struct region text = { (uint64_t)text_start,
				     (uint64_t)(text_end - text_start) };
	const struct region rodata = { (uint64_t)text_end,
				       (uint64_t)(rodata_end - text_end) };

	map_or_die(&machine.image, MAP_WRITE);
	map_or_die(&text, MAP_EXEC);
	map_or_die(&rodata, 0);
}

void mmu_init(void)
{
	const struct region transports = { 0x0a000000, 32 * 0x200 };

	for (unsigned i = 0; i < machine.nr_ram; i++)
		map_or_die(&machine.ram[i], MAP_WRITE);
	map_image();
	map_or_die(&machine.gicd, MAP_WRITE | MAP_DEVICE);
	map_or_die(&machine.gicr, MAP_WRITE | MAP_DEVICE);
	map_or_die(&machine.uart, MAP_WRITE | MAP_DEVICE);
	map_or_die(&machine.rtc, MAP_WRITE | MAP_DEVICE);
	map_or_die(&transports, MAP_WRITE | MAP_DEVICE);
	dsb();
	write_sysreg(mmu_ttbr(&mmu_kernel), ttbr0_el1);
	isb();
	asm volatile("tlbi vmalle1\n\tdsb nsh\n\tisb" ::: "memory");
}
