// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rows that need Nestling's own calls, or VMs that know of each other. The word
 * behind "bench=" on the guest's command line says what an image does:
 *     single   boot, hypercall and console of one VM
 *     smp      switches between two vCPUs of one VM
 *     switch   switches to another VM that yields all the time
 *     yield    that other VM; yieldfp: it uses FP in every turn
 *     sleep    starts all vCPUs, sleeps for a second, ends
 */
#include "bench.h"

#include "nestling.h"

#define TURNS		20000	/* of the other VM: more than are measured */
#define LINES		(SAMPLES / 10)
#define MAX_VCPUS	16	/* from here on affinity is not the id */
#define FDT_SIZE	4	/* header field: size of the whole tree */

static volatile bool sleeping, second_fp;

static uint32_t be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
	       (uint32_t)p[2] << 8 | p[3];
}

static bool begins_with(const uint8_t *p, const char *word)
{
	while (*word && *p == (uint8_t)*word)
		p++, word++;
	return !*word;
}

/* Whether the command line says bench=@word; texts stand in a tree as they
 * are, so it is enough to look for the bytes. */
static bool told(const uint8_t *fdt, const char *word)
{
	static const char key[] = "bench=";
	uint32_t n = be32(fdt + FDT_SIZE);

	for (uint32_t i = 0; i + 32 < n; i++) {
		const uint8_t *value = fdt + i + sizeof(key) - 1;
		uint32_t len = 0;

		if (!begins_with(fdt + i, key))
			continue;
		while (word[len])
			len++;
		return begins_with(value, word) && !value[len];
	}
	return false;
}

static uint64_t hcall(uint64_t fn, uint64_t arg)
{
	register uint64_t x0 __asm__("x0") = fn;
	register uint64_t x1 __asm__("x1") = arg;

	__asm__ volatile("hvc #0" : "+r"(x0), "+r"(x1)
			 : : "x2", "x3", "memory");
	return x0;
}

static void print_line(void)
{
	print("................................"
	      "...............................\n");
}

static void console_row(void)
{
	MEASURE("console_line", LINES, , print_line());
}

static void single(uint64_t boot_counter)
{
	samples[0] = boot_counter;
	report("boot", 1, 0);
	MEASURE("hcall_version", SAMPLES, , call(NESTLING_VERSION));
	MEASURE("hcall_yield_alone", SAMPLES, , call(NESTLING_YIELD));
	console_row();
}

/* From here to the other side and back: two switches. */
static void switch_row(const char *name)
{
	MEASURE(name, SAMPLES, , call(NESTLING_YIELD));
}

static void switch_fp_row(const char *name)
{
	MEASURE(name, SAMPLES, use_fp(),
		({ call(NESTLING_YIELD); use_fp(); }));
}

static void smp(void)
{
	if (start_vcpu(1)) {
		print("no second vCPU\n");
		return;
	}
	call(NESTLING_YIELD);
	switch_row("smp_round");
	switch_fp_row("smp_round+fp0");
	second_fp = true;
	switch_row("smp_round+fp1");
	switch_fp_row("smp_round+fp01");
}

static void yield(bool fp)
{
	for (long i = 0; i < TURNS; i++) {
		if (fp)
			use_fp();
		call(NESTLING_YIELD);
	}
}

static void sleep_all(void)
{
	uint64_t until = now() + sysreg_read(cntfrq_el0);

	sleeping = true;
	for (uint64_t id = 1; id < MAX_VCPUS; id++)
		if (start_vcpu(id))
			break;
	gic_init(0);
	sysreg_write(cntv_cval_el0, until);
	sysreg_write(cntv_ctl_el0, 1);
	isb();
	wait_until(irqs);
}

void bench_secondary(void)
{
	while (sleeping)
		__asm__ volatile("wfi");
	for (;;) {
		if (second_fp)
			use_fp();
		call(NESTLING_YIELD);
	}
}

void bench_main(uint64_t fdt, uint64_t boot_counter)
{
	const uint8_t *tree = (const uint8_t *)fdt;

	if (told(tree, "sleep")) {
		sleep_all();
	} else if (told(tree, "yield") || told(tree, "yieldfp")) {
		yield(told(tree, "yieldfp"));
	} else {
		measure_overhead();
		if (told(tree, "single")) {
			single(boot_counter);
		} else if (told(tree, "smp")) {
			smp();
		} else if (told(tree, "switch")) {
			switch_row("vm_round");
			switch_fp_row("vm_round+fp");
			console_row();
		}
	}
	hcall(NESTLING_EXIT, 0);
	power_off();
}
