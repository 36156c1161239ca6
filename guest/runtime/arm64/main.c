// SPDX-License-Identifier: BSD-2-Clause
/*
 * From the first C line to main, on the boot vCPU and on the others, and PSCI
 * around them.
 */
#include <stdio.h>
#include <stdlib.h>
#include "../runtime.h"
#include "arm64/record.h"
#include "code.h"
#include "hcall.h"
#include "irq.h"
#include "layout.h"
#include "mmu.h"
#include "smp.h"

/* Where QEMU puts the device tree of an ELF image that it starts itself. */
#define BARE_FDT	0x40000000

alignas(64) struct entry_record entry_records[MAX_VCPUS]
	__attribute__((section(".noinit")));
alignas(64) char stacks[MAX_VCPUS][STACK_SIZE];

/* What a vCPU needs before it has the MMU; read past the caches. */
alignas(64) struct {
	uint64_t ttbr;
	uint64_t tcr;
} secondary_mmu;

static void (*secondary_fn[MAX_VCPUS])(void);

#define X(index, reg) [index] = #reg,
const char *const entry_sysreg_names[ENTRY_NR_SYSREGS] = { ENTRY_SYSREGS(X) };
#undef X

void runtime_main(const void *fdt)
{
	char **argv;
	int argc;

	machine_read(fdt ? fdt : (const void *)BARE_FDT);
	mmu_init();
	code_init();
	irq_init();
	argc = args_split(&argv);
	exit(main(argc, argv));
}

void secondary_main(unsigned id)
{
	irq_init_vcpu();
	secondary_fn[id]();
	irq_disable();
	psci(PSCI_CPU_OFF, 0, 0, 0);
	printf("guest: vCPU %u could not switch itself off\n", id);
	guest_exit(EXIT_CRASH);
}

/* Writes back what the new vCPU reads with its caches off. */
static void clean(const void *start, uint64_t size)
{
	uint64_t line = 4ull << (read_sysreg(ctr_el0) >> 16 & 15);
	uint64_t p = (uint64_t)start & ~(line - 1);

	for (; p < (uint64_t)start + size; p += line)
		asm volatile("dc civac, %0" ::"r"(p) : "memory");
	dsb();
}

uint64_t mpidr_of(unsigned id)
{
	for (unsigned i = 0; i < machine.nr_vcpus; i++)
		if (vcpu_of(machine.mpidr[i]) == id)
			return machine.mpidr[i];
	return ~0ull;
}

void vcpu_prepare(unsigned id, void (*fn)(void))
{
	secondary_fn[id] = fn;
	secondary_mmu.ttbr = mmu_ttbr(&mmu_kernel);
	secondary_mmu.tcr = mmu_tcr;
	clean(&secondary_mmu, sizeof(secondary_mmu));
	clean(&entry_records[id], sizeof(entry_records[id]));
	clean(stacks[id], STACK_SIZE);
}

int64_t vcpu_power_on(unsigned id)
{
	return psci(PSCI_CPU_ON | PSCI_64, mpidr_of(id),
		    (uint64_t)secondary_start, id);
}

bool vcpu_is(uint64_t mpidr)
{
	uint64_t own = read_sysreg(mpidr_el1);

	return (own & MPIDR_AFF) == mpidr && own & 1ull << 31 &&
	       gicr_frame(mpidr) != 0;
}

int64_t vcpu_start(unsigned id, void (*fn)(void))
{
	vcpu_prepare(id, fn);
	return vcpu_power_on(id);
}

unsigned smp_boot(void (*fn)(void))
{
	unsigned started = 0;

	for (unsigned i = 0; i < machine.nr_vcpus; i++) {
		unsigned id = vcpu_of(machine.mpidr[i]);

		if (id != vcpu_id() && vcpu_start(id, fn) == PSCI_SUCCESS)
			started++;
	}
	return started;
}

void smp_join(void)
{
	for (unsigned i = 0; i < machine.nr_vcpus; i++) {
		uint64_t mpidr = machine.mpidr[i];

		if (vcpu_of(mpidr) == vcpu_id())
			continue;
		while (psci(PSCI_AFFINITY_INFO | PSCI_64, mpidr, 0, 0) != 1)
			;
	}
}
