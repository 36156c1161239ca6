// SPDX-License-Identifier: BSD-2-Clause
// objs: arch/arm64/vgic.c arch/arm64/vgic_over.c arch/arm64/vgic_state.c arch/arm64/vgic_mmio.c tests/vgic/iface.c tests/vgic/ref.c tests/vgic/walk.c
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
	return getenv("NESTLING_SOAK") ? 400000 : 20000;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_walks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
