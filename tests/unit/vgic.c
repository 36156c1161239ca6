// SPDX-License-Identifier: BSD-2-Clause
// objs: arch/arm64/vgic.c arch/arm64/vgic_over.c arch/arm64/vgic_state.c
// objs: arch/arm64/vgic_mmio.c tests/vgic/iface.c tests/vgic/ref.c
// objs: tests/vgic/walk.c
// incs: tests/vgic/include arch/arm64/include arch/arm64 tests/vgic
/*
 * The virtual GIC against an emulated virtual interface (tests/vgic/iface.h):
 * random walks that a reference model follows step by step, and the cases that
 * a walk does not reach or that deserve a name.
 */
#include "iface.h"
#include "vgic.h"
#include "vgic_hw.h"
#include "vgic_mmio.h"
#include "walk.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>

#define D(off)		(VGIC_GICD_BASE + (off))
#define R(v, off)	(VGIC_GICR_BASE + (v) * VGIC_GICR_SIZE + (off))
#define SGI(v, off)	R(v, 0x10000 + (off))
#define VMCR_ALL	((uint64_t)0xf8 << 24 | 2 << 21 | 3 << 18 |	\
		  ICH_VMCR_GRP0 | ICH_VMCR_GRP1)

static struct vm *vm;

/* QEMU's parameters, groups on, vCPU n loaded on pCPU n as far as they go. */
static void setup(unsigned int vcpus, unsigned int lrs)
{
	vm = machine(vcpus, lrs, 5, 5, true);
	for (unsigned int i = 0; i < vcpus; i++) {
		vm->vcpus[i]->arch.vgic.vmcr = VMCR_ALL;
		if (i < PCPUS)
			load(vm->vcpus[i], i);
	}
	gic_write(vm->vcpus[0], D(0), 4, 3);
}

static void enable_spi(unsigned int intid, uint8_t prio, unsigned int vcpu)
{
	struct vcpu *v = vm->vcpus[0];

	gic_write(v, D(0x400 + intid), 1, prio);
	gic_write(v, D(0x6000 + 8 * intid), 8, vcpu);
	gic_write(v, D(0x100 + intid / 32 * 4), 4, 1u << intid % 32);
}

static unsigned int enter_ack(unsigned int v)
{
	enter(vm->vcpus[v]);
	return ack(v);
}

/* ---- walks --------------------------------------------------------------- */

static unsigned int steps(void)
{
	return getenv("NESTLING_SOAK") ? 400000 : 40000;
}

static void test_walks(void **state)
{
	static const struct walk walks[] = {
		{ 1, 0, 1, 4, 5, 5, false, true },
		{ 2, 0, 3, 4, 5, 5, false, true },
		{ 3, 0, 3, 4, 5, 5, true, true },
		{ 4, 0, 4, 4, 5, 5, true, true },
		{ 5, 0, 1, 4, 5, 5, true, true },
		{ 6, 0, 3, 1, 5, 5, false, true },
		{ 7, 0, 3, 1, 5, 5, true, true },
		{ 8, 0, 3, 2, 6, 6, false, false },
		{ 9, 0, 2, 2, 8, 7, true, true },
		{ 10, 0, 4, 16, 7, 6, true, true },
		{ 11, 0, 4, 16, 8, 7, false, true },
		{ 12, 0, 2, 3, 8, 5, false, false },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(walks); i++) {
		struct walk w = walks[i];

		w.steps = steps();
		walk_run(&w);
	}
}

/* ---- more interrupts than list registers --------------------------------- */

static void test_pending_in_order(void **state)
{
	unsigned int last = 0, n = 0, intid, prio = 0;
	bool seen[128] = { false };

	(void)state;
	setup(1, 4);
	for (unsigned int i = 0; i < 20; i++) {
		enable_spi(40 + i, (uint8_t)((i * 7 % 20) * 8), 0);
		vgic_set_line(vm, 40 + i, true);
	}
	for (;;) {
		enter(vm->vcpus[0]);
		if (signalled(0, &prio) == SPURIOUS)
			break;
		intid = ack(0);
		assert_in_range(intid, 40, 59);
		assert_true(prio >= last && !seen[intid]);
		seen[intid] = true;
		last = prio;
		vgic_set_line(vm, intid, false);
		eoi(0, intid);
		n++;
	}
	assert_int_equal(n, 20);
}

/* With group 1 going off, group 0 must get the registers, and vice versa. */
static void test_group_turned_off(void **state)
{
	(void)state;
	for (unsigned int g = 0; g < 2; g++) {
		setup(1, 4);
		gic_write(vm->vcpus[0], D(0x84), 4, UINT32_MAX);
		gic_write(vm->vcpus[0], D(0x88), 4, UINT32_MAX);
		gic_write(vm->vcpus[0], D(g ? 0x88 : 0x84), 4, 0);
		for (unsigned int i = 0; i < 6; i++) {
			enable_spi(40 + i, 0x10, 0);
			vgic_set_line(vm, 40 + i, true);
			enable_spi(70 + i, 0x20, 0);
			vgic_set_line(vm, 70 + i, true);
		}
		enter(vm->vcpus[0]);
		ifaces[0].vmcr &= g ? ~ICH_VMCR_GRP1 : ~ICH_VMCR_GRP0;
		assert_in_range(enter_ack(0), 70, 75);
	}
}

/* Each preempts the one before, twice as deep as there are registers. */
static void nest(unsigned int depth)
{
	for (unsigned int i = 0; i < depth; i++) {
		enable_spi(40 + i, (uint8_t)(0xe0 - 8 * i), 0);
		vgic_set_line(vm, 40 + i, true);
		assert_int_equal(enter_ack(0), 40 + i);
		vgic_set_line(vm, 40 + i, false);
	}
	assert_int_equal(gic_read(vm->vcpus[0], D(0x304), 4),
			 ((1u << depth) - 1) << 8);
}

static void test_nested_in_reverse(void **state)
{
	(void)state;
	setup(1, 4);
	nest(9);
	for (unsigned int i = 9; i-- > 0;) {
		enter(vm->vcpus[0]);
		eoi(0, 40 + i);
		enter(vm->vcpus[0]);
		assert_int_equal(gic_read(vm->vcpus[0], D(0x304), 4),
				 ((1u << i) - 1) << 8);
	}
}

static void test_nested_dir_any_order(void **state)
{
	uint32_t left = 0x1ff;

	(void)state;
	setup(1, 4);
	ifaces[0].vmcr |= ICH_VMCR_EOIM;
	nest(9);
	for (unsigned int i = 9; i-- > 0;)
		eoi(0, 40 + i);
	for (unsigned int i = 0; i < 9; i++) {
		unsigned int n = i * 4 % 9;

		enter(vm->vcpus[0]);
		if (dir(0, 40 + n))
			vgic_dir(vm->vcpus[0], 40 + n);
		left &= ~(1u << n);
		enter(vm->vcpus[0]);
		assert_int_equal(gic_read(vm->vcpus[0], D(0x304), 4),
				 left << 8);
	}
}

/* Pending of the group that the guest has off must not block the others, and
 * come when it turns the group on, without an exit of its own. */
static void test_group_off_then_on(void **state)
{
	(void)state;
	setup(1, 4);
	ifaces[0].vmcr &= ~ICH_VMCR_GRP0;
	for (unsigned int i = 0; i < 6; i++) {
		gic_write(vm->vcpus[0], D(0x84), 4, 0xffffc0ff);
		enable_spi(40 + i, 0x10, 0);
		vgic_set_line(vm, 40 + i, true);
	}
	enable_spi(50, 0xa0, 0);
	vgic_set_line(vm, 50, true);
	assert_int_equal(enter_ack(0), 50);
	vgic_set_line(vm, 50, false);
	eoi(0, 50);
	assert_int_equal(enter_ack(0), SPURIOUS);
	ifaces[0].vmcr |= ICH_VMCR_GRP0;
	assert_in_range(enter_ack(0), 40, 45);
}

/* ---- timers -------------------------------------------------------------- */

static void arm_timer(bool enabled)
{
	struct vcpu *v = vm->vcpus[0];

	gic_write(v, SGI(0, 0x400 + 27), 1, 0x80);
	gic_write(v, SGI(0, enabled ? 0x100 : 0x180), 4, BIT(27));
}

/* enter() fails the test when interrupts do not end. */
static void test_timer_with_ppi_off(void **state)
{
	struct vcpu *v;

	(void)state;
	setup(1, 4);
	v = vm->vcpus[0];
	arm_timer(false);
	timer_levels[0] = BIT(27);
	assert_int_equal(enter_ack(0), SPURIOUS);
	assert_int_equal(ifaces[0].phys_active, BIT(27));
	assert_int_equal(gic_read(v, SGI(0, 0x200), 4), BIT(27));
	/* The guest turns it off: no exit, but every look shows it. */
	timer_levels[0] = 0;
	assert_int_equal(gic_read(v, SGI(0, 0x200), 4), 0);
	arm_timer(true);
	assert_int_equal(enter_ack(0), SPURIOUS);
	assert_int_equal(ifaces[0].phys_active, 0);
	timer_levels[0] = BIT(27);
	assert_int_equal(enter_ack(0), 27);
}

/* Due, but its interrupt not taken yet: by then the vCPU is put. */
static void test_timer_due_at_put(void **state)
{
	struct vcpu *v;
	unsigned int before;

	(void)state;
	setup(1, 4);
	v = vm->vcpus[0];
	arm_timer(true);
	enter(v);
	vgic_sync(v);
	assert_false(vgic_wakes(v));
	before = told[0];
	timer_levels[0] = BIT(27);
	put(v);
	assert_true(vgic_wakes(v));
	assert_true(told[0] > before);
	/* And while it is here, a read shows it at once. */
	timer_levels[0] = 0;
	load(v, 0);
	timer_levels[0] = BIT(27);
	assert_int_equal(gic_read(v, SGI(0, 0x200), 4), BIT(27));
}

/* Moved while it waits in a list register: one too many, none lost. */
static void test_timer_moved_silently(void **state)
{
	(void)state;
	setup(1, 4);
	arm_timer(true);
	timer_levels[0] = BIT(27);
	enter(vm->vcpus[0]);
	timer_levels[0] = 0;
	assert_int_equal(ack(0), 27);
	timer_levels[0] = BIT(27);
	assert_int_equal(enter_ack(0), SPURIOUS);
	eoi(0, 27);
	assert_int_equal(ifaces[0].phys_active, 0);
	assert_int_equal(enter_ack(0), 27);
}

static void test_timer_moves_with_vcpu(void **state)
{
	struct vcpu *v;

	(void)state;
	setup(1, 4);
	v = vm->vcpus[0];
	arm_timer(true);
	timer_levels[0] = BIT(27);
	assert_int_equal(enter_ack(0), 27);
	put(v);
	load(v, 1);
	enter(v);
	assert_int_equal(ifaces[1].phys_active, BIT(27));
	timer_levels[0] = 0;
	eoi(1, 27);
	assert_int_equal(ifaces[1].phys_active, 0);
	/* Back to where it was active: that must be gone. */
	put(v);
	load(v, 0);
	enter(v);
	assert_int_equal(ifaces[0].phys_active, 0);
	timer_levels[0] = BIT(27);
	assert_int_equal(enter_ack(0), 27);
}

/* ---- levels, routes, reset ----------------------------------------------- */

static void test_level_again_after_end(void **state)
{
	(void)state;
	setup(1, 4);
	enable_spi(33, 0xa0, 0);
	vgic_set_line(vm, 33, true);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(enter_ack(0), 33);
		assert_int_equal(enter_ack(0), SPURIOUS);
		eoi(0, 33);
	}
	assert_int_equal(enter_ack(0), 33);
	vgic_set_line(vm, 33, false);
	enter(vm->vcpus[0]);
	eoi(0, 33);
	assert_int_equal(enter_ack(0), SPURIOUS);
}

static void test_reroute_while_active(void **state)
{
	(void)state;
	setup(2, 4);
	enable_spi(33, 0xa0, 0);
	vgic_set_line(vm, 33, true);
	assert_int_equal(enter_ack(0), 33);
	gic_write(vm->vcpus[1], D(0x6000 + 8 * 33), 4, 1);
	enter(vm->vcpus[0]);
	assert_int_equal(enter_ack(1), SPURIOUS);
	eoi(0, 33);
	assert_int_equal(enter_ack(0), SPURIOUS);
	assert_int_equal(enter_ack(1), 33);
	/* The same when it becomes pending after the change. */
	vgic_set_line(vm, 33, false);
	gic_write(vm->vcpus[1], D(0x6000 + 8 * 33), 4, 0);
	enter(vm->vcpus[1]);
	vgic_set_line(vm, 33, true);
	enter(vm->vcpus[1]);
	assert_int_equal(enter_ack(0), SPURIOUS);
	eoi(1, 33);
	enter(vm->vcpus[1]);
	assert_int_equal(enter_ack(0), 33);
}

static void test_disable_while_active(void **state)
{
	struct vcpu *v;

	(void)state;
	setup(1, 4);
	v = vm->vcpus[0];
	enable_spi(33, 0xa0, 0);
	for (unsigned int i = 0; i < 3; i++) {
		vgic_set_line(vm, 33, true);
		assert_int_equal(enter_ack(0), 33);
		gic_write(v, D(0x184), 4, BIT(1));
		enter(v);
		eoi(0, 33);
		assert_int_equal(enter_ack(0), SPURIOUS);
		assert_int_equal(gic_read(v, D(0x304), 4), 0);
		gic_write(v, D(0x104), 4, BIT(1));
	}
	assert_int_equal(enter_ack(0), 33);
}

static void test_reset(void **state)
{
	struct vcpu *v;

	(void)state;
	setup(2, 4);
	v = vm->vcpus[0];
	enable_spi(33, 0xa0, 0);
	vgic_set_line(vm, 33, true);
	assert_int_equal(enter_ack(0), 33);
	put(v);
	vgic_vcpu_reset(v);
	load(v, 0);
	assert_int_equal(gic_read(v, D(0x304), 4), 0);
	assert_int_equal(ifaces[0].apr[1][0], 0);
	assert_int_equal(enter_ack(0), SPURIOUS);
	put(v);
	put(vm->vcpus[1]);
	vgic_vm_reset(vm);
	load(v, 0);
	assert_int_equal(gic_read(v, D(0x104), 4), 0);
	assert_int_equal(gic_read(v, D(0), 4), 0x50);
	assert_int_equal(gic_read(v, D(0x204), 4), BIT(1));
}

/* ---- SGIs ---------------------------------------------------------------- */

static uint32_t pending_sgis(unsigned int v)
{
	return vm->vcpus[v]->arch.vgic.local.latch;
}

static uint64_t sgi(unsigned int intid, unsigned int aff1, uint64_t list)
{
	return (uint64_t)intid << 24 | aff1 << 16 | list;
}

static void test_sgi_targets(void **state)
{
	struct vcpu *v;
	uint32_t all = 0;

	(void)state;
	vm = machine(20, 4, 5, 5, true);
	v = vm->vcpus[3];
	load(v, 0);
	vgic_sgi(v, VGIC_SGI1R, sgi(5, 1, BIT(3)));
	vgic_sgi(v, VGIC_SGI1R, sgi(6, 0, 0xffff));
	for (unsigned int i = 0; i < 20; i++)
		assert_int_equal(pending_sgis(i),
				 (i == 19 ? BIT(5) : 0) |
					 (i < 16 ? BIT(6) : 0));
	/* Nobody: absent vCPU, Aff1 to Aff3, range selector, empty list. */
	vgic_sgi(v, VGIC_SGI1R, sgi(7, 1, 0xfff0));
	vgic_sgi(v, VGIC_SGI1R, sgi(7, 2, 0xffff));
	vgic_sgi(v, VGIC_SGI1R, sgi(7, 0, 0xffff) | BIT(32));
	vgic_sgi(v, VGIC_SGI1R, sgi(7, 0, 0xffff) | BIT(48));
	vgic_sgi(v, VGIC_SGI1R, sgi(7, 0, 0xffff) | BIT(44));
	vgic_sgi(v, VGIC_SGI1R, sgi(7, 0, 0));
	/* Group 1 only by the first register. */
	vgic_sgi(v, VGIC_ASGI1R, sgi(7, 0, 0xffff));
	vgic_sgi(v, VGIC_SGI0R, sgi(7, 0, 0xffff));
	for (unsigned int i = 0; i < 20; i++)
		all |= pending_sgis(i);
	assert_int_equal(all, BIT(5) | BIT(6));
	vgic_sgi(v, VGIC_SGI1R, sgi(8, 3, 1) | BIT(40));
	for (unsigned int i = 0; i < 20; i++)
		assert_int_equal(pending_sgis(i) >> 8 & 1, i != 3);
}

static void test_sgi_while_active(void **state)
{
	struct vcpu *v;

	(void)state;
	setup(2, 4);
	v = vm->vcpus[0];
	gic_write(v, SGI(0, 0x100), 4, BIT(1));
	vgic_sgi(v, VGIC_SGI1R, sgi(1, 0, 1));
	assert_int_equal(enter_ack(0), 1);
	vgic_sgi(v, VGIC_SGI1R, sgi(1, 0, 1));
	on_cpu(1);
	vgic_sgi(vm->vcpus[1], VGIC_SGI1R, sgi(1, 0, 1));
	assert_int_equal(enter_ack(0), SPURIOUS);
	eoi(0, 1);
	assert_int_equal(enter_ack(0), 1);
	eoi(0, 1);
	assert_int_equal(enter_ack(0), SPURIOUS);
}

/* ---- registers ----------------------------------------------------------- */

static void test_identification(void **state)
{
	struct vcpu *v;

	(void)state;
	vm = machine(18, 4, 5, 5, true);
	v = vm->vcpus[0];
	load(v, 0);
	assert_int_equal(gic_read(v, D(0), 4), 0x50);
	assert_int_equal(gic_read(v, D(4), 4), 3 | 9 << 19);
	assert_int_equal(gic_read(v, D(0xffe8), 4), 0x3b);
	assert_int_equal(gic_read(v, D(0xffe0), 4), 0x92);
	assert_int_equal(gic_read(v, R(2, 0xffe0), 4), 0x93);
	assert_int_equal(gic_read(v, R(2, 0xfff0), 4), 0x0d);
	for (uint64_t i = 0; i < 18; i++)
		assert_int_equal(gic_read(v, R(i, 8), 8),
				 (i / 16 << 8 | i % 16) << 32 | i << 8 |
					 (i == 17 ? 0x10 : 0));
	assert_int_equal(gic_read(v, R(17, 0x14), 4), 6);
	gic_write(v, R(17, 0x14), 4, 0);
	assert_int_equal(gic_read(v, R(17, 0x14), 4), 0);
}

static void test_read_back(void **state)
{
	struct vcpu *v;

	(void)state;
	setup(1, 4);
	v = vm->vcpus[0];
	gic_write(v, D(0x404 + 32), 4, 0x12345678);
	assert_int_equal(gic_read(v, D(0x404 + 32), 4), 0x10305078);
	assert_int_equal(gic_read(v, D(0x406 + 32), 1), 0x30);
	gic_write(v, D(0x406 + 32), 2, 0xabcd);
	assert_int_equal(gic_read(v, D(0x400 + 32), 8), 0xa8c8507800000000);
	gic_write(v, SGI(0, 0xc04), 4, UINT32_MAX);
	assert_int_equal(gic_read(v, SGI(0, 0xc00), 8), 0xaaaaaaaa);
	gic_write(v, D(0xc08), 4, 0xe4e4e4e4);
	assert_int_equal(gic_read(v, D(0xc08), 4), 0xa0a0a0a0);
	gic_write(v, D(0x84), 8, 0x1122334455667788);
	assert_int_equal(gic_read(v, D(0x84), 4), UINT32_MAX);
	gic_write(v, D(0x88), 8, 0x1122334455667788);
	assert_int_equal(gic_read(v, D(0x88), 8), 0x1122334455667788);
	assert_int_equal(gic_read(v, D(0x88), 1), 0x88);
	assert_int_equal(gic_read(v, D(0x8a), 2), 0x5566);
	gic_write(v, D(0x6000 + 8 * 40), 8, UINT64_MAX);
	assert_int_equal(gic_read(v, D(0x6000 + 8 * 40), 8), 0x80ffffff);
	gic_write(v, D(0x6004 + 8 * 40), 4, UINT32_MAX);
	gic_write(v, D(0x6000 + 8 * 40), 4, 0x81);
	assert_int_equal(gic_read(v, D(0x6000 + 8 * 40), 8), 0x81);
	gic_write(v, D(0x6000 + 8 * 31), 8, 1);
	assert_int_equal(gic_read(v, D(0x6000 + 8 * 31), 8), 0);
	/* Bank 0 is not the distributor's. */
	gic_write(v, D(0x100), 4, UINT32_MAX);
	assert_int_equal(gic_read(v, D(0x100), 4), 0);
	assert_int_equal(gic_read(v, SGI(0, 0x100), 4), 0);
}

/* Every offset and size of all frames; sanitizers watch. */
static void sweep(struct vcpu *v, uint64_t base, uint64_t size)
{
	for (unsigned int w = 1; w <= 8; w *= 2) {
		for (uint64_t off = 0; off < size; off++) {
			gic_read(v, base + off, w);
			gic_write(v, base + off, w, UINT64_MAX);
		}
		for (uint64_t off = 0; off < size; off++)
			gic_write(v, base + off, w, 0);
	}
	enter(v);
	check_interfaces(vm);
}

static void test_sweep(void **state)
{
	struct mmio m = { .size = 4 };
	struct vcpu *v;

	(void)state;
	setup(2, 4);
	v = vm->vcpus[0];
	sweep(v, VGIC_GICD_BASE, VGIC_GICD_SIZE);
	sweep(v, VGIC_GICR_BASE, 2 * VGIC_GICR_SIZE);
	m.gpa = VGIC_GICD_BASE + VGIC_GICD_SIZE;
	assert_false(vgic_mmio(v, &m));
	m.gpa = VGIC_GICR_BASE - 4;
	assert_false(vgic_mmio(v, &m));
	m.gpa = VGIC_GICR_BASE + 2 * VGIC_GICR_SIZE;
	assert_false(vgic_mmio(v, &m));
	m.gpa = 0;
	assert_false(vgic_mmio(v, &m));
	m.gpa = UINT64_MAX - 3;
	assert_false(vgic_mmio(v, &m));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pending_in_order),
		cmocka_unit_test(test_group_turned_off),
		cmocka_unit_test(test_nested_in_reverse),
		cmocka_unit_test(test_nested_dir_any_order),
		cmocka_unit_test(test_group_off_then_on),
		cmocka_unit_test(test_timer_with_ppi_off),
		cmocka_unit_test(test_timer_due_at_put),
		cmocka_unit_test(test_timer_moved_silently),
		cmocka_unit_test(test_timer_moves_with_vcpu),
		cmocka_unit_test(test_level_again_after_end),
		cmocka_unit_test(test_reroute_while_active),
		cmocka_unit_test(test_disable_while_active),
		cmocka_unit_test(test_reset),
		cmocka_unit_test(test_sgi_targets),
		cmocka_unit_test(test_sgi_while_active),
		cmocka_unit_test(test_identification),
		cmocka_unit_test(test_read_back),
		cmocka_unit_test(test_sweep),
		cmocka_unit_test(test_walks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
