// SPDX-License-Identifier: BSD-2-Clause
// objs: core/manifest.c core/fdtcheck.c core/bundle.c core/fpwords.c
/*
 * The manifest reader: every property with its default, the exact message for
 * every mistake, every truncation and random damage.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <libfdt.h>

#include "cpio.h"
#include "fake.h"
#include "manifest.h"

static alignas(8) char tree[65536];
static struct cpio bundle;
static struct vm_config cfg[MAX_VMS];
static unsigned int nr;

/* load_tree() keeps a copy of the manifest for ever: freed here instead. */
static void *copies[64];
static unsigned int nr_copies;

void *page_zalloc(size_t size)
{
	void *p = calloc(1, size);

	copies[nr_copies++ % 64] = p;
	return p;
}

static int cleanup(void **)
{
	for (unsigned int i = 0; i < 64; i++) {
		free(copies[i]);
		copies[i] = NULL;
	}
	cpio_free(&bundle);
	return 0;
}

/* ---- making a manifest ------------------------------------------------- */

static void begin(void)
{
	cleanup(NULL);
	fake_cpus_init(4);
	assert_int_equal(fdt_create(tree, sizeof(tree)), 0);
	fdt_finish_reservemap(tree);
	fdt_begin_node(tree, "");
}

static void str(const char *name, const char *value)
{
	assert_int_equal(fdt_property(tree, name, value,
				      (int)strlen(value) + 1), 0);
}

static void u32(const char *name, uint32_t value)
{
	assert_int_equal(fdt_property_u32(tree, name, value), 0);
}

static void u64(const char *name, uint64_t value)
{
	assert_int_equal(fdt_property_u64(tree, name, value), 0);
}

static void begin_vms(void)
{
	begin();
	str("compatible", "nestling,manifest");
	u32("version", 1);
	fdt_begin_node(tree, "vms");
}

static void begin_vm(const char *name)
{
	assert_int_equal(fdt_begin_node(tree, name), 0);
	str("kernel", "Image");
}

static void end_node(void)
{
	assert_int_equal(fdt_end_node(tree), 0);
}

static void end(void)
{
	end_node();
	assert_int_equal(fdt_finish(tree), 0);
	cpio_add(&bundle, "Image", "kernel", 6);
	cpio_add(&bundle, "rd", "ramdisk", 7);
	cpio_add(&bundle, "nil", NULL, 0);
	cpio_add(&bundle, "manifest.dtb", tree, fdt_totalsize(tree));
	cpio_end(&bundle);
}

static void end_vm(void)
{
	end_node();
	end_node();
	end();
}

static void load(void *arg)
{
	nr = manifest_load(arg, cfg, MAX_VMS);
}

static int try_load(void)
{
	struct blob b = { bundle.data, bundle.size };

	fake_uart_clear();
	return fake_run(load, &b);
}

static void accepted(void)
{
	assert_int_equal(try_load(), -1);
}

static void refused(const char *message)
{
	char want[200];

	assert_int_equal(try_load(), 2);
	snprintf(want, sizeof(want), "%s\n", message);
	assert_string_equal(fake_uart, want);
}

/* ---- good ones --------------------------------------------------------- */

static void defaults(void **)
{
	begin_vms();
	begin_vm("a-1_z");
	end_vm();
	accepted();
	assert_int_equal(nr, 1);
	assert_string_equal(cfg[0].name, "a-1_z");
	assert_int_equal(cfg[0].kernel.size, 6);
	assert_int_equal(cfg[0].ramdisk.size, 0);
	assert_int_equal(cfg[0].dtb.size, 0);
	assert_int_equal(cfg[0].format, IMAGE_AUTO);
	assert_null(cfg[0].bootargs);
	assert_int_equal(cfg[0].nr_vcpus, 1);
	assert_int_equal(cfg[0].memory, 128 * MiB);
	assert_int_equal(cfg[0].sched.weight, 1000);
	assert_int_equal(cfg[0].sched.affinity, 0xf);
	assert_int_equal(cfg[0].sched.rt_budget, 0);
	assert_true(cfg[0].autostart);
	assert_true(cfg[0].hypercalls);
}

static void everything(void **)
{
	const fdt32_t cpus_13[] = { cpu_to_fdt32(3), cpu_to_fdt32(1) };

	begin_vms();
	begin_vm("first");
	str("format", "flat");
	end_node();
	begin_vm("second");
	str("format", "flat");
	u32("load-offset", 0x1000);
	str("ramdisk", "rd");
	str("dtb", "rd");
	str("bootargs", "x y");
	u32("vcpus", 32);
	u64("memory", 1 * GiB);
	u32("weight", 10000);
	fdt_property(tree, "affinity", cpus_13, sizeof(cpus_13));
	str("autostart", "no");
	str("hypercalls", "none");
	u32("rt-budget", 2000);
	u32("rt-period", 10000);
	str("fp", "lazy");
	str("fpwidth", "adaptive");
	str("fp-max", "fpsimd");
	end_vm();
	accepted();
	assert_int_equal(nr, 2);
	assert_int_equal(cfg[0].fp.policy, FP_OWNER);
	assert_int_equal(cfg[0].fp.width, FP_MAX);
	assert_int_equal(cfg[0].fp.max, FP_SVE);
	assert_int_equal(cfg[0].fp.length, 2048);
	assert_int_equal(cfg[1].fp.policy, FP_LAZY);
	assert_int_equal(cfg[1].fp.width, FP_ADAPTIVE);
	assert_int_equal(cfg[1].fp.max, FP_SIMD);
	assert_int_equal(cfg[0].load_offset, 0x80000);
	assert_int_equal(cfg[1].format, IMAGE_FLAT);
	assert_int_equal(cfg[1].load_offset, 0x1000);
	assert_int_equal(cfg[1].ramdisk.size, 7);
	assert_int_equal(cfg[1].dtb.size, 7);
	assert_string_equal(cfg[1].bootargs, "x y");
	assert_int_equal(cfg[1].nr_vcpus, 32);
	assert_int_equal(cfg[1].memory, GiB);
	assert_int_equal(cfg[1].sched.weight, 10000);
	assert_int_equal(cfg[1].sched.affinity, 0xa);
	assert_int_equal(cfg[1].sched.rt_budget, 2000);	/* 1 MHz clock */
	assert_int_equal(cfg[1].sched.rt_period, 10000);
	assert_false(cfg[1].autostart);
	assert_false(cfg[1].hypercalls);
}

/* An empty ramdisk file is the same as none. */
static void empty_ramdisk(void **)
{
	begin_vms();
	begin_vm("a");
	str("ramdisk", "nil");
	end_vm();
	accepted();
	assert_int_equal(cfg[0].ramdisk.size, 0);
}

/* ---- bad properties ---------------------------------------------------- */

static void one_string(const char *prop, const char *value, const char *message)
{
	begin_vms();
	begin_vm("a");
	str(prop, value);
	end_vm();
	refused(message);
}

static void one_u32(const char *prop, uint32_t value, const char *message)
{
	begin_vms();
	begin_vm("a");
	u32(prop, value);
	end_vm();
	refused(message);
}

static void one_u64(const char *prop, uint64_t value, const char *message)
{
	begin_vms();
	begin_vm("a");
	u64(prop, value);
	end_vm();
	refused(message);
}

static void one_bytes(const char *prop, const char *bytes, int len,
		      const char *message)
{
	begin_vms();
	begin_vm("a");
	fdt_property(tree, prop, bytes, len);
	end_vm();
	refused(message);
}

static void bad_strings(void **)
{
	one_string("ramdisk", "nix", "manifest: /vms/a: ramdisk: file nix is "
				     "not in the bundle");
	one_string("dtb", "nil", "manifest: /vms/a: dtb: file nil is empty");
	one_string("format", "pe", "manifest: /vms/a: format: 'pe' is neither "
				   "'image' nor 'elf' nor 'flat'");
	one_string("autostart", "true", "manifest: /vms/a: autostart: 'true' "
					"is neither 'yes' nor 'no'");
	one_string("hypercalls", "", "manifest: /vms/a: hypercalls: '' is "
				     "neither 'all' nor 'none'");
	one_bytes("bootargs", "abc", 3,
		  "manifest: /vms/a: bootargs: must be one string");
	one_bytes("bootargs", "a\0b", 4,
		  "manifest: /vms/a: bootargs: must be one string");
	one_bytes("ramdisk", "", 0,
		  "manifest: /vms/a: ramdisk: must be one string");
	one_string("fp", "never", "manifest: /vms/a: fp: 'never' is none of: "
				  "eager, lazy, owner");
	one_string("fpwidth", "", "manifest: /vms/a: fpwidth: '' is none of: "
				  "step, max, adaptive");
	one_string("fp-max", "lasx", "manifest: /vms/a: fp-max: 'lasx' is none "
				     "of: fpsimd, sve");
	one_string("color", "red", "manifest: /vms/a: color: unknown property");
	one_string("kernel", "Image", "manifest: /vms/a: kernel: is given "
				      "twice");
}

static void bad_numbers(void **)
{
	one_u32("vcpus", 0, "manifest: /vms/a: vcpus: 0 is not in 1..32");
	one_u32("vcpus", 33, "manifest: /vms/a: vcpus: 33 is not in 1..32");
	one_u64("vcpus", 1, "manifest: /vms/a: vcpus: must be one 32-bit "
			    "number, it has 8 bytes");
	one_u32("weight", 0, "manifest: /vms/a: weight: 0 is not in 1..10000");
	one_u32("weight", 10001, "manifest: /vms/a: weight: 10001 is not in "
				 "1..10000");
	one_u32("memory", 1, "manifest: /vms/a: memory: must be one 64-bit "
			     "number (/bits/ 64 <...>), it has 4 bytes");
	one_u64("memory", 100, "manifest: /vms/a: memory: 100 bytes is not a "
			       "multiple of 2 MiB");
	one_u64("memory", 0, "manifest: /vms/a: memory: 0 bytes is not a "
			     "multiple of 2 MiB");
	one_u64("memory", GiB + 2 * MiB,
		"manifest: /vms/a: memory: 1075838976 bytes is more than a VM "
		"can have here, 1073741824");
	one_u32("affinity", 4, "manifest: /vms/a: affinity: pCPU 4 is not "
			       "there, the machine has 4");
	one_u32("affinity", 0xffffffff,
		"manifest: /vms/a: affinity: pCPU 4294967295 is not there, the "
		"machine has 4");
	one_bytes("affinity", "", 0, "manifest: /vms/a: affinity: must be a "
				     "list of 32-bit pCPU numbers");
	one_bytes("affinity", "12345", 5, "manifest: /vms/a: affinity: must be "
					  "a list of 32-bit pCPU numbers");
	one_u32("load-offset", 5, "manifest: /vms/a: load-offset: is only for "
				  "format = \"flat\"");
	one_u32("sve-vl", 0, "manifest: /vms/a: sve-vl: 0 is not in "
			     "1..4294967295");
	one_u32("sve-vl", 384, "manifest: /vms/a: sve-vl: 384 bits is no "
			       "vector length of this machine, whose longest "
			       "has 2048");
	begin_vms();
	begin_vm("a");
	u32("sve-vl", 256);
	str("fp-max", "fpsimd");
	end_vm();
	refused("manifest: /vms/a: sve-vl: is only for fp-max = \"sve\"");
	one_u32("rt-budget", 5, "manifest: /vms/a: rt-budget: needs rt-period, "
				"and the other way round");
	one_u32("rt-period", 5, "manifest: /vms/a: rt-budget: needs rt-period, "
				"and the other way round");
	begin_vms();
	begin_vm("a");
	u32("rt-budget", 11);
	u32("rt-period", 10);
	end_vm();
	refused("manifest: /vms/a: rt-budget: 11 us is more than the rt-period "
		"of 10 us");
}

static void bad_kernel(void **)
{
	begin_vms();
	fdt_begin_node(tree, "a");
	end_vm();
	refused("manifest: /vms/a: kernel: is missing");
	begin_vms();
	fdt_begin_node(tree, "a");
	str("kernel", "vmlinux");
	end_vm();
	refused("manifest: /vms/a: kernel: file vmlinux is not in the bundle");
	begin_vms();
	fdt_begin_node(tree, "a");
	str("kernel", "nil");
	end_vm();
	refused("manifest: /vms/a: kernel: file nil is empty");
}

static void bad_names(void **)
{
	begin_vms();
	begin_vm("A");
	end_vm();
	refused("manifest: /vms/A: a VM's name is made of a-z, 0-9, - and _");
	begin_vms();
	begin_vm("vm@1");
	end_vm();
	refused("manifest: /vms/vm@1: a VM's name is made of a-z, 0-9, - and "
		"_");
	begin_vms();
	begin_vm("a123456789012345678901234567890");	/* 31: fits */
	end_vm();
	accepted();
	begin_vms();
	begin_vm("a1234567890123456789012345678901");
	end_vm();
	refused("manifest: /vms/a1234567890123456789012345678901: a VM's name "
		"has 1 to 31 characters");
	begin_vms();
	begin_vm("same");
	end_node();
	begin_vm("other");
	end_node();
	begin_vm("same");
	end_vm();
	refused("manifest: /vms/same: the name is there twice");
}

/* ---- bad trees --------------------------------------------------------- */

static void bad_top(void **)
{
	begin();
	u32("version", 1);
	end();
	refused("manifest: /: compatible: is not 'nestling,manifest'");
	begin();
	str("compatible", "nestling,manifesto");
	end();
	refused("manifest: /: compatible: is not 'nestling,manifest'");
	begin();
	str("compatible", "nestling,manifest");
	u64("version", 1);
	end();
	refused("manifest: /: version: must be one 32-bit number");
	begin();
	str("compatible", "nestling,manifest");
	u32("version", 2);
	end();
	refused("manifest: /: version: 2 is not supported, only 1");
	begin();
	str("compatible", "nestling,manifest");
	u32("version", 1);
	end();
	refused("manifest: /vms: is missing");
	begin();
	str("compatible", "nestling,manifest");
	u32("version", 1);
	u32("extra", 1);
	end();
	refused("manifest: /: extra: unknown property");
}

static void bad_nodes(void **)
{
	begin_vms();
	end_node();
	end();
	refused("manifest: /vms: there is no VM");
	begin_vms();
	u32("x", 1);
	end_node();
	end();
	refused("manifest: /vms: x: unknown property");
	begin_vms();
	end_node();
	fdt_begin_node(tree, "vm");
	end_node();
	end();
	refused("manifest: /vm: unknown node");
	begin_vms();
	end_node();
	fdt_begin_node(tree, "vms");
	end_node();
	end();
	refused("manifest: /vms: is there twice");
	begin_vms();
	begin_vm("a");
	fdt_begin_node(tree, "disk");
	end_node();
	end_vm();
	refused("manifest: /vms/a/disk: unknown node");
	begin_vms();
	for (unsigned int i = 0; i <= MAX_VMS; i++) {
		char name[8];

		snprintf(name, sizeof(name), "v%u", i);
		begin_vm(name);
		end_node();
	}
	end_node();
	end();
	refused("manifest: /vms: more than 64 VMs");
}

static void bad_bundles(void **)
{
	begin();
	cpio_add(&bundle, "x", "y", 1);
	cpio_end(&bundle);
	refused("bundle: there is no manifest.dtb");
	begin();
	cpio_add(&bundle, "manifest.dtb", "/dts-v1/;", 9);
	cpio_end(&bundle);
	refused("bundle: manifest.dtb: is no device tree: FDT_ERR_TRUNCATED");
	begin();
	cpio_add(&bundle, "manifest.dtb", NULL, 0);
	cpio_end(&bundle);
	refused("bundle: manifest.dtb: 0 bytes do not fit into memory");
	begin();
	cpio_add(&bundle, "x", "y", 1);
	refused("bundle: ends without a trailer (at byte 116 of 116)");
}

/* ---- hostile bytes ----------------------------------------------------- */

static void rich(void)
{
	begin_vms();
	begin_vm("one");
	str("format", "flat");
	u32("load-offset", 0x1000);
	str("bootargs", "hello");
	end_node();
	begin_vm("two");
	u64("memory", 64 * MiB);
	u32("affinity", 1);
	end_vm();
}

/* Wraps the first @size bytes of @data as the manifest. */
static int try_tree(const char *data, size_t size)
{
	cleanup(NULL);
	cpio_add(&bundle, "Image", "kernel", 6);
	cpio_add(&bundle, "manifest.dtb", data, size);
	cpio_end(&bundle);
	return try_load();
}

static void truncations(void **)
{
	size_t size;

	rich();
	size = fdt_totalsize(tree);
	assert_int_equal(try_tree(tree, size), -1);
	for (size_t n = 0; n < size; n++) {
		assert_int_equal(try_tree(tree, n), 2);
		assert_memory_equal(fake_uart, "bundle: manifest.dtb: ", 22);
	}
}

static void random_damage(void **)
{
	static char copy[65536];
	unsigned int refusals = 0;
	size_t size;

	rich();
	size = fdt_totalsize(tree);
	srand(5);
	for (unsigned int i = 0; i < 60000; i++) {
		int status;

		memcpy(copy, tree, size);
		for (int n = 1 + rand() % 3; n; n--)
			copy[(size_t)rand() % size] = (char)
				(rand() & 1 ? rand() : rand() % 16);
		status = try_tree(copy, size);
		assert_true(status == 2 || status == -1);
		assert_true(status == -1 || fake_uart_len > 10);
		for (unsigned int k = 0; status < 0 && k < nr; k++) {
			assert_true(cfg[k].nr_vcpus <= MAX_VCPUS);
			assert_true(cfg[k].kernel.size == 6);
			assert_true(strlen(cfg[k].name) < VM_NAME_MAX);
		}
		refusals += status == 2;
	}
	assert_true(refusals > 30000);
	assert_true(refusals < 60000);
}

#define TEST(fn) cmocka_unit_test_teardown(fn, cleanup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(defaults),
		TEST(everything),
		TEST(empty_ramdisk),
		TEST(bad_strings),
		TEST(bad_numbers),
		TEST(bad_kernel),
		TEST(bad_names),
		TEST(bad_top),
		TEST(bad_nodes),
		TEST(bad_bundles),
		TEST(truncations),
		TEST(random_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
