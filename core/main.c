// SPDX-License-Identifier: BSD-2-Clause
/*
 * Boot of the hypervisor in the order in which things become usable, and the
 * end of the machine.
 */
#include "arch.h"
#include "bundle.h"
#include "console.h"
#include "cpu.h"
#include "hfdt.h"
#include "host.h"
#include "machine.h"
#include "manifest.h"
#include "options.h"
#include "run.h"
#include "vm.h"

static const void *fdt;
static struct vm_config configs[MAX_VMS];
static struct spinlock end_lock;
static bool ending;
static uint32_t keepers;	/* [a] machine_keep() without machine_drop() */

const void *host_fdt(void)
{
	return fdt;
}

void host_set_fdt(const void *tree)
{
	fdt = tree;
}

/* Everything in RAM that is not free: image, device tree, bundle, firmware. */
static void init_memory(const struct blob *initrd)
{
	static struct hfdt_list ram, used, no_map;	/* large; used once */
	paddr_t lowest = UINT64_MAX, end = 0;

	hfdt_ram(&ram);
	hfdt_reserved(&used);
	arch_reserved(&used.r[used.n].base, &used.r[used.n].size);
	used.n++;
	if (initrd)
		hfdt_append(&used, (uintptr_t)initrd->data, initrd->size,
			    "initrd");
	hfdt_no_map(&no_map);
	hfdt_rest(&ram, &no_map, arch_map_ram);
	for (unsigned int i = 0; i < ram.n; i++) {
		lowest = min_u64(lowest, ram.r[i].base);
		end = max_u64(end, ram.r[i].base + ram.r[i].size);
	}
	page_init(lowest, end);
	/* Page 0 is no page: a null pointer must not be valid. */
	hfdt_append(&used, 0, PAGE_SIZE, "page 0");
	hfdt_rest(&ram, &used, page_add);
}

static void cpu_setup(struct cpu *c, unsigned int id)
{
	c->id = id;
	cpus[id] = c;
	sched_cpu_init(c);
}

/* Starts the CPUs of the device tree; one that does not come is left out. */
static void start_cpus(void)
{
	unsigned int count = arch_cpu_count();

	for (unsigned int id = 1; id < count; id++) {
		struct cpu *c = page_zalloc(sizeof(*c));
		uint64_t end;

		if (!c)
			config_error("machine: no memory for CPU %u", id);
		cpu_setup(c, id);
		if (arch_cpu_start(c)) {
			log_warn("CPU %u does not start", id);
			cpus[id] = NULL;
			return;
		}
		end = arch_time() + arch_time_hz();
		while (!__atomic_load_n(&c->online, __ATOMIC_ACQUIRE))
			if (arch_time() > end)
				config_error("machine: CPU %u does not answer",
					     id);
		nr_cpus = id + 1;
	}
}

void host_cpu_main(struct cpu *c)
{
	arch_cpu_init(c);
	__atomic_store_n(&c->online, true, __ATOMIC_RELEASE);
	run_cpu();
}

static unsigned long long mib(uint64_t bytes)
{
	return bytes / MiB;
}

static void create_vms(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (vm_create(&configs[i]))
			config_error("VM %s: not enough memory",
				     configs[i].name);
}

void machine_keep(void)
{
	__atomic_add_fetch(&keepers, 1, __ATOMIC_SEQ_CST);
}

/* Every VM that starts by itself, or none: no one runs before all are built. */
static void start_vms(void)
{
	for (unsigned int i = 0; i < nr_vms; i++) {
		if (!vms[i]->cfg->autostart)
			continue;
		/* All counted before the first runs: it may end at once. */
		machine_keep();
		/* The reason has been printed by whoever found it. */
		if (vm_prepare(vms[i]))
			machine_end(STATUS_USER);
	}
	if (!keepers)
		config_error("manifest: no VM has autostart");
	for (unsigned int i = 0; i < nr_vms; i++)
		if (vms[i]->cfg->autostart)
			vm_run(vms[i]);
}

/* Grows the stack by some 24 KiB: past its end, which a guard page stops or
 * damage to the memory behind it shows. */
[[gnu::noinline, gnu::optimize("no-optimize-sibling-calls")]]
static uint64_t overflow(uint64_t n)
{
	volatile uint64_t frame[64];

	frame[n % 64] = n;
	if (n == 44)
		return 0;
	return overflow(n + 1) + frame[(n + 1) % 64];
}

/* Boot option crash=: what a failure of ours looks like. */
static void crash_test(void)
{
	switch (options.crash) {
	case CRASH_ASSERT:
		ASSERT(options.crash == CRASH_NONE);
		break;
	case CRASH_FAULT:
		*(volatile uint32_t *)BIT(62) = 0;	/* no such address */
		break;
	case CRASH_STACK:
		log_info("%llu", (unsigned long long)overflow(0));
		break;
	default:
		break;
	}
}

void host_main(const void *tree)
{
	struct blob initrd;
	bool have_initrd;
	unsigned int n;

	ASSERT(tree == fdt);
	hfdt_check();
	pvpanic_init();
	options_parse(hfdt_bootargs());
	have_initrd = hfdt_initrd(&initrd);
	init_memory(have_initrd ? &initrd : NULL);
	nr_cpus = 1;
	sched_init(arch_time_hz() / 1000000 * options.slice_us);
	cpu_setup(this_cpu(), 0);
	arch_cpu_init(this_cpu());
	this_cpu()->online = true;
	start_cpus();
	if (!have_initrd)
		config_error("bundle: no initrd was given");
	log_info("Nestling: %u CPUs, %llu MiB, %u-bit", nr_cpus,
		 mib(page_total_bytes()), 64);
	n = manifest_load(&initrd, configs, MAX_VMS);
	console_set_prefix(n > 1, options.lines);
	create_vms(n);
	crash_test();
	start_vms();
	run_cpu();
}

void host_uart_rx(unsigned int port, uint8_t ch)
{
	if (port == 0)
		console_input(ch);
}

/* 0 when every VM ended with 0, else the first other one. */
static int machine_status(void)
{
	for (unsigned int i = 0; i < nr_vms; i++)
		if (vms[i]->status)
			return vms[i]->status;
	return 0;
}

void machine_drop(void)
{
	if (!__atomic_sub_fetch(&keepers, 1, __ATOMIC_SEQ_CST))
		machine_end(machine_status());
}

void machine_end(int status)
{
	char text[40];
	bool first;

	spin_lock(&end_lock);
	first = !ending;
	ending = true;
	spin_unlock(&end_lock);
	if (!first)
		cpu_halt();
	for (unsigned int i = 0; i < nr_cpus; i++)
		if (cpus[i] && cpus[i] != this_cpu())
			cpu_post(cpus[i], CPU_HALT);
	ksnprintf(text, sizeof(text), "nestling status %d", status);
	console_status(text);
	arch_poweroff(status);
}
