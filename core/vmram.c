// SPDX-License-Identifier: BSD-2-Clause
/*
 * RAM of a VM: taken from the page allocator in the largest blocks that fit,
 * scrubbed before a guest gets it, given back at the end. Scrubbing happens
 * once, before each life of a VM; page_alloc() does the same for memory of the
 * hypervisor itself. So whatever a guest left behind is seen by nobody. The
 * list of slots changes only while the VM is built and torn down, by the one
 * CPU that does it; no lock.
 */
#include "arch.h"
#include "cpu.h"
#include "page.h"
#include "vm.h"

/* Zeroing this much takes well below a millisecond. */
#define SCRUB_STEP	(2 * MiB)

/* RAM at @gpa, @size bytes of it. */
static int alloc_bank(struct vm *vm, gpa_t gpa, uint64_t size)
{
	uint64_t left = size;
	unsigned int order = PAGE_MAX_ORDER;

	while (left) {
		struct vm_slot *s = &vm->slots[vm->nr_slots];

		while ((PAGE_SIZE << order) > left)
			order--;
		if (vm->nr_slots == MAX_SLOTS)
			return ERR_NOMEM;
		s->pa = page_alloc_dirty(order);
		if (!s->pa) {
			/* Fragmented: smaller blocks may do. */
			if (!order--)
				return ERR_NOMEM;
			continue;
		}
		s->gpa = gpa;
		s->size = PAGE_SIZE << order;
		vm->nr_slots++;
		if (arch_vm_map(vm, s->gpa, s->pa, s->size))
			return ERR_NOMEM;
		gpa += s->size;
		left -= s->size;
	}
	return 0;
}

int vm_ram_alloc(struct vm *vm)
{
	uint64_t left = vm->cfg->memory;

	for (unsigned int i = 0; left && i < RAM_BANKS; i++) {
		const struct ram_bank *b = &arch_ram.bank[i];
		uint64_t n = min_u64(left, b->size);
		int err = alloc_bank(vm, b->base, n);

		if (err)
			return err;
		left -= n;
	}
	ASSERT(!left);		/* arch_ram_max() */
	return 0;
}

static void scrub(const struct vm_slot *s)
{
	for (uint64_t off = 0; off < s->size; off += SCRUB_STEP) {
		uint64_t n = min_u64(SCRUB_STEP, s->size - off);
		char *p = (char *)s->pa + off;

		arch_zero_ram(p, n);
		arch_sync_ram(p, n);
		/* Other CPUs wait for answers without doing anything else. */
		cpu_answer();
	}
}

void vm_ram_scrub(struct vm *vm)
{
	for (unsigned int i = 0; i < vm->nr_slots; i++)
		scrub(&vm->slots[i]);
}

void vm_ram_free(struct vm *vm)
{
	for (unsigned int i = 0; i < vm->nr_slots; i++)
		page_free(vm->slots[i].pa, page_order(vm->slots[i].size));
	vm->nr_slots = 0;
}

void *vm_ram(const struct vm *vm, gpa_t gpa, uint64_t len)
{
	for (unsigned int i = 0; i < vm->nr_slots; i++) {
		const struct vm_slot *s = &vm->slots[i];

		if (range_inside(gpa - s->gpa, len, s->size))
			return (char *)s->pa + (gpa - s->gpa);
	}
	return NULL;
}

gpa_t vm_ram_end(const struct vm *vm)
{
	const struct ram_bank *b = &arch_ram.bank[0];

	return b->base + min_u64(vm->cfg->memory, b->size);
}

bool vm_is_ram(const struct vm *vm, gpa_t gpa, uint64_t len)
{
	for (unsigned int i = 0; len && i < vm->nr_slots; i++) {
		const struct vm_slot *s = &vm->slots[i];

		if (gpa - s->gpa < s->size) {
			uint64_t n = min_u64(len, s->gpa + s->size - gpa);

			gpa += n;
			len -= n;
		}
	}
	return !len;
}
