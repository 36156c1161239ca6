// SPDX-License-Identifier: BSD-2-Clause
/*
 * Physical CPUs: the boot CPU's first C code, starting the others by mailbox
 * and IPI, and what every CPU sets up before it may run a guest.
 */
#include "bootinfo.h"
#include "cpu.h"
#include "csr.h"
#include "host.h"
#include "hostirq.h"
#include "la.h"
#include "mmu.h"

#include <libfdt.h>
#include <string.h>

#define PANIC_SIZE	4096

#define CPUID_MASK	BITS(8, 0)

/* IOCSR_MAIL_SEND: half of a mailbox, 4 bytes all of which are written. */
#define MAIL_WAIT	BIT(31)
#define MAIL_CPU(n)	((uint64_t)(n) << 16)
#define MAIL_HALF(n)	((uint64_t)(n) << 2)
#define MAIL_DATA(d)	((uint64_t)(d) << 32)

#define IPI_WAIT	UINT32_C(0x80000000)
#define IPI_CPU(n)	((uint32_t)(n) << 16)

/* CPUCFG word 1: ARCH 2 is LA64, PGMMU, IOCSR. */
#define CFG1_ARCH	BITS(1, 0)
#define CFG1_LA64	2
#define CFG1_PGMMU	BIT(2)
#define CFG1_IOCSR	BIT(3)
/* PRCFG3: the TLB is one of many page sizes and one set associative. */
#define PRCFG3_TLB	BITS(3, 0)
#define PRCFG3_TLB_BOTH	2

struct cpu boot_cpu;
static alignas(16) uint8_t boot_panic_stack[PANIC_SIZE];
extern char secondary_entry[], boot_stack_top[];

[[noreturn]] void la_main(uint64_t efi, paddr_t cmdline, paddr_t systab);
[[noreturn]] void la_secondary(struct cpu *c);

/* What the hypervisor cannot do without. */
static void check_machine(void)
{
	uint32_t cfg1 = cpucfg(1);

	if ((cfg1 & CFG1_ARCH) != CFG1_LA64 || !(cfg1 & CFG1_PGMMU) ||
	    !(cfg1 & CFG1_IOCSR))
		config_error("machine: the CPU is no LA64 with paging and "
			     "IOCSR");
	if ((csr_read(CSR_PRCFG3) & PRCFG3_TLB) != PRCFG3_TLB_BOTH)
		config_error("machine: the CPU has not the two TLBs (MTLB, "
			     "STLB) that are needed");
}

void la_main(uint64_t efi, paddr_t cmdline, paddr_t systab)
{
	struct arch_cpu *a = &boot_cpu.arch;

	a->stack_top = (uintptr_t)boot_stack_top;
	stack_guard(a->stack_top);
	a->panic_stack = (uintptr_t)boot_panic_stack + PANIC_SIZE;
	a->host.phys_id = csr_read(CSR_CPUID) & CPUID_MASK;
	host_set_fdt(efi == 1 ? bootinfo_fdt(cmdline, systab) : NULL);
	if (host_fdt())
		board_init();
	check_machine();
	timer_discover();
	host_main(host_fdt());
}

void la_secondary(struct cpu *c)
{
	host_cpu_main(c);
}

/*
 * Exceptions to entry.S; the TLB empty, pages of 4 KiB in the STLB, tables of
 * four levels with 9 bits each, as the shadow tables have them. ASID and roots
 * come with the vCPU that is loaded.
 */
static void init_traps(struct cpu *c)
{
	csr_write(CSR_EENTRY, (uintptr_t)la_vector);
	csr_write(CSR_TLBRENTRY, (uintptr_t)la_refill);
	csr_write(CSR_MERRENTRY, (uintptr_t)la_merr);
	csr_write(CSR_SAVE0, 0);
	csr_write(CSR_SAVE2, (uintptr_t)c);
	csr_write(CSR_EUEN, 0);
	csr_write(CSR_STLBPS, PAGE_SHIFT);
	csr_write(CSR_PWCL, HOST_PWCL);
	csr_write(CSR_PWCH, HOST_PWCH);
	invtlb_all();
	c->arch.euen = 0;
}

void arch_cpu_init(struct cpu *c)
{
	c->arch.id = c->id;
	if (c == &boot_cpu)
		hostirq_init();
	init_traps(c);
	timer_cpu_init();
	hostirq_cpu_init();
	if (c == &boot_cpu)
		board_enable_irqs();
}

/* ---- the other CPUs ------------------------------------------------------ */

/* Number of a CPU node of the host device tree, or ERR_NOENT. */
static int cpu_node_id(int node)
{
	const void *fdt = host_fdt();
	int len;
	const fdt32_t *reg = fdt_getprop(fdt, node, "reg", &len);
	const char *type = fdt_getprop(fdt, node, "device_type", NULL);

	if (!reg || len < 4 || !type || strcmp(type, "cpu") != 0 ||
	    fdt32_ld(reg) > CPUID_MASK)
		return ERR_NOENT;
	return (int)fdt32_ld(reg);
}

/*
 * Physical number of CPU @id: the boot CPU is 0, the others follow in order of
 * their numbers. ERR_NOENT beyond the last.
 */
static int cpu_phys(unsigned int id)
{
	const void *fdt = host_fdt();
	int boot = (int)boot_cpu.arch.host.phys_id;
	int parent = fdt_path_offset(fdt, "/cpus"), node, last = -1;

	if (id == 0)
		return boot;
	for (unsigned int n = 0; n < id; n++) {
		int next = INT32_MAX;

		fdt_for_each_subnode(node, fdt, parent) {
			int p = cpu_node_id(node);

			if (p > last && p < next && p != boot)
				next = p;
		}
		if (next == INT32_MAX)
			return ERR_NOENT;
		last = next;
	}
	return last;
}

unsigned int arch_cpu_count(void)
{
	unsigned int n = 1;

	while (n < MAX_PCPUS && cpu_phys(n) >= 0)
		n++;
	return n;
}

/* Writes @value to mailbox @box of the CPU with number @phys. */
static void mail(uint32_t phys, unsigned int box, uint64_t value)
{
	for (unsigned int half = 0; half < 2; half++)
		iocsr_write64(IOCSR_MAIL_SEND,
			      MAIL_WAIT | MAIL_CPU(phys) |
				      MAIL_HALF(2 * box + half) |
				      MAIL_DATA(value >> (32 * half)));
}

int arch_cpu_start(struct cpu *c)
{
	paddr_t stack = page_alloc(page_order(STACK_GUARD + STACK_SIZE));
	paddr_t panic = page_alloc(page_order(PANIC_SIZE));
	int phys = cpu_phys(c->id);

	if (!stack || !panic || phys < 0)
		return ERR_INVAL;
	c->arch.id = c->id;
	c->arch.stack_top = stack + STACK_GUARD + STACK_SIZE;
	stack_guard(c->arch.stack_top);
	c->arch.panic_stack = panic + PANIC_SIZE;
	c->arch.host.phys_id = (uint32_t)phys;
	arch_mb();
	/* The entry last: the stub goes as soon as it is not 0. */
	mail((uint32_t)phys, 1, (uintptr_t)c);
	mail((uint32_t)phys, 0, (uintptr_t)secondary_entry);
	iocsr_write32(IOCSR_IPI_SEND, IPI_WAIT | IPI_CPU(phys));
	return 0;
}
