// SPDX-License-Identifier: BSD-2-Clause
/*
 * Memory of the hypervisor itself. The windows of mmu.h map everything from
 * the first instructions on, so there are no tables of our own; what is kept
 * here is where RAM is. Written at boot by one CPU, only read afterwards.
 */
#include "mmu.h"

#include "arch.h"
#include "csr.h"
#include "host.h"

#define MAX_BANKS	128	/* pieces of RAM between what is reserved */

extern char __image_start[], __image_end[];

static struct {
	paddr_t base;
	uint64_t size;
} banks[MAX_BANKS];
static unsigned int nr_banks;

void arch_map_ram(paddr_t base, uint64_t size)
{
	/* Physical addresses end where the segment of the window does. */
	if (!range_inside(base, size, BIT(DMW_VSEG_SHIFT)))
		config_error("device tree: memory at %llx is out of reach",
			     (unsigned long long)base);
	if (nr_banks == MAX_BANKS)
		config_error("device tree: more than %d pieces of memory",
			     MAX_BANKS);
	banks[nr_banks].base = base;
	banks[nr_banks].size = size;
	nr_banks++;
}

bool mmu_is_ram(paddr_t pa, uint64_t size)
{
	if (range_inside(pa - (uintptr_t)__image_start, size,
			 (uint64_t)(__image_end - __image_start)))
		return true;
	for (unsigned int i = 0; i < nr_banks; i++)
		if (range_inside(pa - banks[i].base, size, banks[i].size))
			return true;
	return false;
}

/* The part next to the stack: no frame is larger. */
#define GUARD_WORDS	128
#define GUARD_VALUE	UINT64_C(0x677561726467756d)

static uint64_t *guard(uint64_t top)
{
	return (uint64_t *)(top - STACK_SIZE) - GUARD_WORDS;
}

void stack_guard(uint64_t top)
{
	for (unsigned int i = 0; i < GUARD_WORDS; i++)
		guard(top)[i] = GUARD_VALUE;
}

bool stack_intact(uint64_t top)
{
	for (unsigned int i = 0; i < GUARD_WORDS; i++)
		if (guard(top)[i] != GUARD_VALUE)
			return false;
	return true;
}

void arch_reserved(paddr_t *base, uint64_t *size)
{
	*base = (uintptr_t)__image_start;
	*size = (uint64_t)(__image_end - __image_start);
}

volatile void *arch_map_device(paddr_t pa, uint64_t size)
{
	ASSERT(range_inside(pa, size, BIT(DMW_VSEG_SHIFT)));
	return (volatile void *)(pa | (DMW_DEVICE & DMW_VSEG));
}

void arch_sync_ram(void *p, uint64_t size)
{
	/*
	 * Instruction caches are coherent with the stores of every CPU; what is
	 * left is to order them before the first fetch. A CPU that has been
	 * idle meanwhile gets there through an ERTN.
	 */
	(void)p;
	(void)size;
	arch_mb();
	ibar();
}

void arch_zero_ram(void *p, uint64_t size)
{
	for (uint64_t *w = p, *end = w + size / sizeof(*w); w < end; w += 16)
		__asm__ volatile(".irp n, 0, 8, 16, 24, 32, 40, 48, 56, 64, "
				 "72, 80, 88, 96, 104, 112, 120\n\t"
				 "st.d $zero, %0, \\n\n\t"
				 ".endr" : : "r"(w) : "memory");
}
