// SPDX-License-Identifier: BSD-2-Clause
// objs: core/hfdt.c core/fdtcheck.c
/*
 * The host device tree: RAM banks, what is reserved in them, and /chosen, with
 * one and two cells, and odd trees.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <libfdt.h>

#include "fake.h"
#include "hfdt.h"

static alignas(8) char tree[8192];
static struct hfdt_list ram, used;

static void begin(uint32_t na, uint32_t ns)
{
	assert_int_equal(fdt_create(tree, sizeof(tree)), 0);
	fdt_add_reservemap_entry(tree, 0x48000000, 0x1000);
	fdt_finish_reservemap(tree);
	fdt_begin_node(tree, "");
	fdt_property_u32(tree, "#address-cells", na);
	fdt_property_u32(tree, "#size-cells", ns);
}

static void end(void)
{
	fdt_end_node(tree);
	assert_int_equal(fdt_finish(tree), 0);
	fake_fdt = tree;
}

static void prop(const char *name, const uint32_t *cells, int n)
{
	fdt32_t out[16];

	for (int i = 0; i < n; i++)
		out[i] = cpu_to_fdt32(cells[i]);
	assert_int_equal(fdt_property(tree, name, out, 4 * n), 0);
}

static void node(const char *name, const char *type, const char *status,
		 const uint32_t *reg, int n)
{
	fdt_begin_node(tree, name);
	if (type)
		fdt_property(tree, "device_type", type, (int)strlen(type) + 1);
	if (status)
		fdt_property(tree, "status", status, (int)strlen(status) + 1);
	prop("reg", reg, n);
	fdt_end_node(tree);
}

static void get_ram(void *)
{
	hfdt_ram(&ram);
}

static void get_used(void *)
{
	hfdt_reserved(&used);
}

static void refused(void (*fn)(void *), const char *message)
{
	char want[128] = "host device tree: ";

	fake_uart_clear();
	assert_int_equal(fake_run(fn, NULL), 2);
	strcat(strcat(want, message), "\n");
	assert_string_equal(fake_uart, want);
}

static void banks(void **)
{
	begin(2, 2);
	node("memory@40000000", "memory", NULL,
	     (uint32_t[]){ 0, 0x40000000, 0, 0x10000000,
			   0, 0x60000000, 0, 0,			/* empty */
			   1, 0, 2, 0x1000 },
	     12);
	node("memory@e000000", "memory", "disabled",
	     (uint32_t[]){ 0, 0xe000000, 0, 0x1000 }, 4);
	node("memory@80000000", "memory", "okay",
	     (uint32_t[]){ 0, 0x80000000, 0, 0x2000 }, 4);
	node("flash@0", NULL, NULL, (uint32_t[]){ 0, 0, 0, 0x1000 }, 4);
	end();
	hfdt_check();
	hfdt_ram(&ram);
	assert_int_equal(ram.n, 3);
	assert_int_equal(ram.r[0].base, 0x40000000);
	assert_int_equal(ram.r[0].size, 0x10000000);
	assert_int_equal(ram.r[1].base, 0x100000000);
	assert_int_equal(ram.r[1].size, 0x200001000);
	assert_int_equal(ram.r[2].base, 0x80000000);
}

static void one_cell(void **)
{
	begin(1, 1);
	node("memory", "memory", NULL,
	     (uint32_t[]){ 0x40000000, 0x1000, 0xfffff000, 0x1000 }, 4);
	fdt_begin_node(tree, "reserved-memory");
	fdt_property_u32(tree, "#address-cells", 2);
	fdt_property_u32(tree, "#size-cells", 1);
	node("a", NULL, NULL, (uint32_t[]){ 1, 0x1000, 0x2000 }, 3);
	fdt_begin_node(tree, "secure");
	fdt_property(tree, "no-map", "", 0);
	prop("reg", (uint32_t[]){ 2, 0x3000, 0x4000 }, 3);
	fdt_end_node(tree);
	fdt_begin_node(tree, "off");
	fdt_property(tree, "no-map", "", 0);
	fdt_property(tree, "status", "disabled", 9);
	prop("reg", (uint32_t[]){ 3, 0, 0x4000 }, 3);
	fdt_end_node(tree);
	fdt_begin_node(tree, "dynamic");
	fdt_property_u32(tree, "size", 0x1000);
	fdt_end_node(tree);
	fdt_end_node(tree);
	end();
	hfdt_ram(&ram);
	assert_int_equal(ram.n, 2);
	assert_int_equal(ram.r[1].base, 0xfffff000);
	hfdt_reserved(&used);
	assert_int_equal(used.n, 4);
	assert_int_equal(used.r[0].base, (uintptr_t)tree);
	assert_int_equal(used.r[0].size, fdt_totalsize(tree));
	assert_int_equal(used.r[1].base, 0x48000000);
	assert_int_equal(used.r[2].base, 0x100001000);
	assert_int_equal(used.r[2].size, 0x2000);
	/* Of these, what must not be mapped. */
	hfdt_no_map(&used);
	assert_int_equal(used.n, 1);
	assert_int_equal(used.r[0].base, 0x200003000);
	assert_int_equal(used.r[0].size, 0x4000);
}

static void odd_trees(void **)
{
	begin(2, 2);
	end();
	refused(get_ram, "no memory node");
	begin(2, 2);
	node("memory", "memory", NULL, (uint32_t[]){ 0, 1, 2 }, 3);
	end();
	refused(get_ram, "memory: reg has an odd size");
	begin(3, 2);
	node("memory", "memory", NULL, (uint32_t[]){ 0, 0, 1, 0, 2 }, 5);
	end();
	refused(get_ram, "/: #address-cells or #size-cells is not 1 or 2");
	begin(2, 2);
	node("memory", "memory", NULL,
	     (uint32_t[]){ ~0u, 0xfffff000, 0, 0x1001 }, 4);
	end();
	refused(get_ram, "memory: range wraps around");
	begin(2, 0);
	fdt_begin_node(tree, "reserved-memory");
	fdt_property_u32(tree, "#size-cells", 0);
	node("x", NULL, NULL, (uint32_t[]){ 0, 1 }, 2);
	fdt_end_node(tree);
	end();
	refused(get_used, "reserved-memory: #address-cells or #size-cells is "
			  "not 1 or 2");
}

static void check(void *)
{
	hfdt_check();
}

static void no_tree(void **)
{
	fake_fdt = NULL;
	fake_uart_clear();
	assert_int_equal(fake_run(check, NULL), 2);
	assert_string_equal(fake_uart, "no usable host device tree: "
				       "FDT_ERR_BADMAGIC\n");
}

/* ---- free pieces ------------------------------------------------------- */

static struct hfdt_range got[16];
static unsigned int nr_got;

static void note(paddr_t at, uint64_t size)
{
	got[nr_got++] = (struct hfdt_range){ at, size };
}

static void add(struct hfdt_list *l, paddr_t at, uint64_t size)
{
	hfdt_append(l, at, size, "test");
}

static void expect(unsigned int i, paddr_t from, paddr_t to)
{
	assert_int_equal(got[i].base, from);
	assert_int_equal(got[i].size, to - from);
}

static void free_pieces(void **)
{
	ram.n = used.n = nr_got = 0;
	add(&ram, 0x40000000, 0x100000);
	add(&ram, 0x0, 0x3000);
	add(&used, 0x0, 0x1000);
	add(&ram, 0x50000800, 0x2000);		/* odd ends */
	add(&ram, 0x60000000, 0x1000);		/* covered whole */
	add(&used, 0x40080000, 0x1000);
	add(&used, 0x3fff0000, 0x18000);	/* over the beginning */
	add(&used, 0x40010000, 0x10);		/* part of a page */
	add(&used, 0x40012000, 0x3000);		/* these three overlap */
	add(&used, 0x40011000, 0x8000);
	add(&used, 0x40013000, 0x100);
	add(&used, 0x400ff001, 0x5000);		/* over the end */
	add(&used, 0x5fff0000, 0x20000);
	hfdt_rest(&ram, &used, note);
	assert_int_equal(nr_got, 5);
	expect(0, 0x40008000, 0x40010000);
	expect(1, 0x40019000, 0x40080000);
	expect(2, 0x40081000, 0x400ff000);
	expect(3, 0x1000, 0x3000);
	expect(4, 0x50001000, 0x50002000);
}

/* Against a map of bytes, for random lists. */
static void free_random(void **)
{
	enum { UNITS = 64 };

	srand(3);
	for (unsigned int round = 0; round < 3000; round++) {
		bool map[UNITS] = { 0 }, own[UNITS] = { 0 };

		ram.n = used.n = nr_got = 0;
		add(&ram, PAGE_SIZE, 20 * PAGE_SIZE);
		add(&ram, 30 * PAGE_SIZE, 30 * PAGE_SIZE);
		for (unsigned int u = 0; u < UNITS; u++)
			map[u] = (u >= 1 && u < 21) || (u >= 30 && u < 60);
		for (int i = rand() % 6; i; i--) {
			unsigned int from = (unsigned int)rand() % UNITS;
			unsigned int n = (unsigned int)rand() % 12;

			add(&used, from * PAGE_SIZE, n * PAGE_SIZE);
			for (unsigned int u = from; u < from + n; u++)
				if (u < UNITS)
					map[u] = false;
		}
		hfdt_rest(&ram, &used, note);
		for (unsigned int i = 0; i < nr_got; i++)
			for (uint64_t u = 0; u < got[i].size / PAGE_SIZE; u++)
				own[got[i].base / PAGE_SIZE + u] = true;
		assert_memory_equal(map, own, sizeof(map));
	}
}

static void full_list(void *)
{
	for (uint64_t i = 0; i <= HFDT_RANGES; i++)
		hfdt_append(&used, i * 0x2000, 0x1000, "many");
}

static void list_is_bounded(void **)
{
	used.n = 0;
	refused(full_list, "many: more than 64 ranges");
}

/* ---- /chosen ----------------------------------------------------------- */

static void begin_chosen(void)
{
	begin(2, 2);
	fdt_begin_node(tree, "chosen");
}

static void end_chosen(void)
{
	fdt_end_node(tree);
	end();
}

static void get_args(void *)
{
	hfdt_bootargs();
}

static void get_initrd(void *)
{
	struct blob b;

	hfdt_initrd(&b);
}

static void chosen_props(void **)
{
	struct blob b;

	begin(2, 2);
	end();
	assert_null(hfdt_bootargs());
	assert_false(hfdt_initrd(&b));
	begin_chosen();
	fdt_property(tree, "bootargs", "a=b c", 6);
	prop("linux,initrd-start", (uint32_t[]){ 0x48000000 }, 1);
	prop("linux,initrd-end", (uint32_t[]){ 1, 0x48000010 }, 2);
	end_chosen();
	assert_string_equal(hfdt_bootargs(), "a=b c");
	assert_true(hfdt_initrd(&b));
	assert_int_equal((uintptr_t)b.data, 0x48000000);
	assert_int_equal(b.size, 0x100000010);
	begin_chosen();
	prop("linux,initrd-start", (uint32_t[]){ 5 }, 1);
	end_chosen();
	assert_false(hfdt_initrd(&b));
	begin_chosen();
	prop("linux,initrd-start", (uint32_t[]){ 0x10 }, 1);
	prop("linux,initrd-end", (uint32_t[]){ 0x10 }, 1);
	end_chosen();
	assert_false(hfdt_initrd(&b));
}

static void odd_chosen(void **)
{
	begin_chosen();
	fdt_property(tree, "bootargs", "ab", 2);
	prop("linux,initrd-start", (uint32_t[]){ 1, 2, 3 }, 3);
	end_chosen();
	refused(get_args, "/chosen: bootargs is no string");
	refused(get_initrd, "/chosen: linux,initrd-start has 12 bytes");
	begin_chosen();
	prop("linux,initrd-start", (uint32_t[]){ 0x11 }, 1);
	prop("linux,initrd-end", (uint32_t[]){ 0x10 }, 1);
	end_chosen();
	refused(get_initrd, "/chosen: initrd ends before it begins");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(banks),
		cmocka_unit_test(one_cell),
		cmocka_unit_test(odd_trees),
		cmocka_unit_test(no_tree),
		cmocka_unit_test(free_pieces),
		cmocka_unit_test(free_random),
		cmocka_unit_test(list_is_bounded),
		cmocka_unit_test(chosen_props),
		cmocka_unit_test(odd_chosen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
