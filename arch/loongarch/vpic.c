// SPDX-License-Identifier: BSD-2-Clause
/*
 * PCH-PIC of a guest (Loongson 7A1000 manual, chapter 5): turns the lines of
 * devices into inputs of the EIOINTC. Level or rising edge; polarity and the
 * routing bytes, which choose between the EIOINTC and an older controller that
 * is not here, only store. Everything under the VM's vintc lock. Invariant:
 * exactly the EIOINTC inputs that vector[] names for bits of driven are up.
 */
#include "vintc.h"

#include "la.h"
#include "vm.h"

#include <string.h>

#define REG_ID		0x000
#define REG_MASK	0x020
#define REG_HTMSI	0x040
#define REG_EDGE	0x060
#define REG_CLEAR	0x080
#define REG_ROUTE	0x100
#define REG_VECTOR	0x200
#define REG_STATUS	0x3a0
#define REG_POLARITY	0x3e0

/* Version 1 of it with 32 inputs; the lower half names the block. */
#define ID_VALUE	(UINT64_C(0x001f0001) << 32 | 0x07000000)

/* Rows of registers that are kept as they are written. */
static const struct area {
	uint16_t base, size;
	uint16_t offset;	/* in struct vpic */
	bool read_only;
} areas[] = {
	{ REG_MASK, 8, offsetof(struct vpic, mask), false },
	{ REG_HTMSI, 8, offsetof(struct vpic, htmsi), false },
	{ REG_EDGE, 8, offsetof(struct vpic, edge), false },
	{ REG_ROUTE, PIC_INPUTS, offsetof(struct vpic, route), false },
	{ REG_VECTOR, PIC_INPUTS, offsetof(struct vpic, vector), false },
	{ REG_STATUS, 8, offsetof(struct vpic, driven), true },
	{ REG_POLARITY, 8, offsetof(struct vpic, polarity), false },
};

static struct vpic *vpic(struct vm *vm)
{
	return &vm->arch.vintc.pic;
}

/* Makes @want the inputs that are driven. */
static void drive(struct vm *vm, uint64_t want)
{
	struct vpic *p = vpic(vm);
	uint64_t change = want ^ p->driven;

	p->driven = want;
	for (; change; change &= change - 1) {
		unsigned int n = (unsigned int)__builtin_ctzll(change);

		vintc_input(vm, p->vector[n], want & BIT(n));
	}
}

static void update(struct vm *vm)
{
	drive(vm, vpic(vm)->request & ~vpic(vm)->mask);
}

void vpic_reset(struct vm *vm)
{
	struct vpic *p = vpic(vm);

	memset(p, 0, sizeof(*p));
	p->mask = UINT64_MAX;
}

void vpic_input(struct vm *vm, unsigned int irq, bool level)
{
	struct vpic *p = vpic(vm);
	uint64_t bit = BIT(irq % PIC_INPUTS), old = p->level;

	p->level = level ? old | bit : old & ~bit;
	if (!(p->edge & bit))
		p->request = level ? p->request | bit : p->request & ~bit;
	else if (level && !(old & bit))
		p->request |= bit;
	update(vm);
}

static const struct area *find(uint64_t off, unsigned int size)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(areas); i++)
		if (range_inside(off - areas[i].base, size, areas[i].size))
			return &areas[i];
	return NULL;
}

static uint64_t read(struct vm *vm, uint64_t off, unsigned int size)
{
	const struct area *a = find(off, size);
	uint64_t val = 0;

	if (a)
		memcpy(&val, (char *)vpic(vm) + a->offset + (off - a->base),
		       size);
	else if (range_inside(off - REG_ID, size, 8))
		val = ID_VALUE >> (off - REG_ID) * 8 & BITS(size * 8 - 1, 0);
	return val;
}

/* The value is @size bytes wide. */
static void write(struct vm *vm, uint64_t off, unsigned int size, uint64_t val)
{
	const struct area *a = find(off, size);
	struct vpic *p = vpic(vm);

	if (range_inside(off - REG_CLEAR, size, 8)) {
		p->request &= ~(val << (off - REG_CLEAR) * 8 & p->edge);
		update(vm);
		return;
	}
	if (!a || a->read_only)
		return;
	if (a->base == REG_VECTOR)
		drive(vm, 0);	/* by the vectors that they were raised with */
	memcpy((char *)p + a->offset + (off - a->base), &val, size);
	if (a->base == REG_EDGE)
		/* What is level triggered now follows its line. */
		p->request = (p->request & p->edge) | (p->level & ~p->edge);
	update(vm);
}

bool vpic_access(struct vm *vm, struct mmio *m)
{
	uint64_t off = m->gpa - PIC_BASE;

	if (!range_inside(off, m->size, PIC_SIZE))
		return false;
	if (!is_aligned(off, m->size)) {
		m->value = 0;
		return true;
	}
	spin_lock(&vm->arch.vintc.lock);
	if (m->write)
		write(vm, off, m->size, m->value & BITS(m->size * 8 - 1, 0));
	else
		m->value = read(vm, off, m->size);
	spin_unlock(&vm->arch.vintc.lock);
	return true;
}
