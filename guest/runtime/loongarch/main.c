// SPDX-License-Identifier: BSD-2-Clause
/*
 * From the first C line to main, on the boot vCPU and on the others, and how
 * the others wait for work.
 */
#include <stdlib.h>
#include <string.h>
#include "../runtime.h"
#include "irq.h"
#include "layout.h"
#include "smp.h"

#define TABLES		13	/* in the EFI system table: words 13 and 14 */
#define WAKE		0	/* IPI vector that ends a wait */

alignas(64) char stacks[MAX_VCPUS][1 << STACK_SHIFT];

/* fn: not null while it is called; met: the vCPU has left the stub. */
static struct {
	void (*fn)(void);
	bool met;
} work[MAX_VCPUS];

/* DEVICE_TREE_GUID of the UEFI specification. */
static const uint64_t fdt_guid[2] = { 0x41a5f19cb1b621d5, 0xe0aa692c15d90b83 };

/* The device tree among the tables of the loader. */
static const void *find_fdt(const uint64_t *systab)
{
	const uint64_t *table = (const uint64_t *)systab[TABLES + 1];

	for (uint64_t i = 0; i < systab[TABLES]; i++, table += 3)
		if (memcmp(table, fdt_guid, sizeof(fdt_guid)) == 0)
			return (const void *)table[2];
	fdt_bad("the loader gave none");
}

void runtime_main(uint64_t efi, const char *cmdline, const void *systab)
{
	char **argv;
	int argc;

	if (efi != 1)
		fdt_bad("the loader is not like EFI");
	machine_read(find_fdt(systab));
	/* What the loader left below the tree is not free either. */
	machine.dtb.size += machine.dtb.base;
	machine.dtb.base = 0;
	if (!*machine.bootargs)
		machine.bootargs = cmdline;
	irq_init();
	argc = args_split(&argv);
	exit(main(argc, argv));
}

/* Sleeps until there is work; interrupts are masked all the time. */
static void await(unsigned id)
{
	irq_init_vcpu();
	iocsr_write32(IOCSR_IPI_EN, 1u << WAKE);
	csr_write(CSR_ECFG, ESTAT_IPI);
	while (!__atomic_load_n(&work[id].fn, __ATOMIC_ACQUIRE)) {
		wfi();
		iocsr_write32(IOCSR_IPI_CLEAR, 1u << WAKE);
	}
	irq_init_vcpu();
}

void secondary_main(unsigned id)
{
	for (;;) {
		await(id);
		work[id].fn();
		irq_disable();
		__atomic_store_n(&work[id].fn, nullptr, __ATOMIC_RELEASE);
	}
}

/* Half of a mailbox of another vCPU. */
static void mail(unsigned id, unsigned half, uint64_t value)
{
	iocsr_write64(IOCSR_MAIL_SEND,
		      MAIL_SEND_BLOCKING |
			      (uint64_t)id << MAIL_SEND_CPU_SHIFT |
			      half << MAIL_SEND_BOX_SHIFT |
			      value << MAIL_SEND_DATA_SHIFT);
}

int64_t vcpu_start(unsigned id, void (*fn)(void))
{
	if (__atomic_load_n(&work[id].fn, __ATOMIC_ACQUIRE))
		return -1;
	__atomic_store_n(&work[id].fn, fn, __ATOMIC_RELEASE);
	dsb();
	if (!work[id].met) {
		work[id].met = true;
		mail(id, 1, (uint64_t)secondary_start >> 32);
		mail(id, 0, (uint32_t)(uint64_t)secondary_start);
	}
	sgi_to(id, WAKE);
	return 0;
}

unsigned smp_boot(void (*fn)(void))
{
	unsigned started = 0;

	for (unsigned i = 0; i < machine.nr_vcpus; i++) {
		unsigned id = vcpu_of(machine.mpidr[i]);

		if (id != vcpu_id() && vcpu_start(id, fn) == 0)
			started++;
	}
	return started;
}

void smp_join(void)
{
	for (unsigned i = 0; i < machine.nr_vcpus; i++) {
		unsigned id = vcpu_of(machine.mpidr[i]);

		while (id != vcpu_id() &&
		       __atomic_load_n(&work[id].fn, __ATOMIC_ACQUIRE))
			;
	}
}
