// SPDX-License-Identifier: BSD-2-Clause
// objs: core/image.c core/gfdt.c core/fdtcheck.c core/dev.c core/pl011.c
// objs: core/pl031.c core/virtio_empty.c core/ns16550.c core/ls7a_rtc.c
// objs: core/timer.c
/*
 * Guest images and the guest device tree: placement, every refusal with its
 * message, RAM in several slots, hostile headers.
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

#include "elf.h"
#include "fake.h"
#include "gfdt.h"

#define RAM UINT64_C(0x40000000)

static struct vm_config cfg;
static struct vm *vm;
static struct image_layout lay;
static alignas(8) uint8_t file[256 * 1024];
static uint8_t ramdisk[100000];

static int teardown(void **)
{
	if (vm)
		fake_vm_free(vm);
	vm = NULL;
	return 0;
}

static void begin(void)
{
	teardown(NULL);
	memset(file, 0, sizeof(file));
	cfg = (struct vm_config){
		.name = "t",
		.nr_vcpus = 1,
		.memory = 16 * MiB,
		.kernel = { file, 4096 },
	};
}

static int load(void)
{
	teardown(NULL);
	fake_cpus_init(1);
	vm = fake_vm(&cfg);
	dev_init(vm);
	dev_reset(vm);
	fake_uart_clear();
	return image_load(vm, &lay);
}

static void loaded(void)
{
	assert_int_equal(load(), 0);
	assert_string_equal(fake_uart, "");
}

static void refused(int err, const char *message)
{
	char want[200];

	assert_int_equal(load(), err);
	snprintf(want, sizeof(want), "t: %s\n", message);
	assert_string_equal(fake_uart, want);
}

static void *at(gpa_t gpa)
{
	return vm_ram(vm, gpa, 1);
}

static bool zero(gpa_t from, gpa_t to)
{
	for (; from < to; from++)
		if (*(uint8_t *)at(from))
			return false;
	return true;
}

/* ---- Linux Image ------------------------------------------------------- */

static void put64(unsigned int off, uint64_t v)
{
	memcpy(file + off, &v, sizeof(v));
}

static void image(uint64_t text_offset, uint64_t size, uint64_t flags)
{
	begin();
	for (unsigned int i = 64; i < 4096; i++)
		file[i] = (uint8_t)(i * 7 + 1);
	put64(8, text_offset);
	put64(16, size);
	put64(24, flags);
	memcpy(file + 56, "ARM\x64", 4);
}

static void image_placement(void **)
{
	for (unsigned int flag3 = 0; flag3 < 2; flag3++) {
		image(0, 0x10000, 2 | flag3 << 3);
		loaded();
		assert_int_equal(lay.kernel, RAM);
		assert_int_equal(lay.entry, RAM);
		image(0x80000, 0x10000, 2 | flag3 << 3);
		loaded();
		assert_int_equal(lay.kernel, RAM + 0x80000);
		assert_int_equal(lay.entry, lay.kernel);
		assert_int_equal(lay.kernel_end, RAM + 0x90000);
		assert_memory_equal(at(lay.kernel), file, 4096);
		assert_true(zero(lay.kernel + 4096, lay.kernel_end));
	}
}

/* BT-02: the size of the header counts, not that of the file. */
static void image_bss(void **)
{
	image(0, 9 * MiB + 5, 2);
	cfg.ramdisk = (struct blob){ ramdisk, sizeof(ramdisk) };
	memset(ramdisk, 0x5a, sizeof(ramdisk));
	loaded();
	assert_int_equal(lay.dtb, RAM + 10 * MiB);
	assert_true(lay.ramdisk >= lay.dtb + lay.dtb_max);
	assert_true(is_aligned(lay.ramdisk, PAGE_SIZE));
	assert_int_equal(lay.ramdisk_end, lay.ramdisk + sizeof(ramdisk));
	assert_memory_equal(at(lay.ramdisk), ramdisk, sizeof(ramdisk));
	image(0, 15 * MiB, 2);
	refused(ERR_NOMEM, "ramdisk: 0 bytes and the device tree do not fit "
			   "into memory behind the kernel's 15728640");
	image(0, 16 * MiB + 1, 2);
	refused(ERR_NOMEM, "kernel: 16777217 bytes at offset 0x0 do not fit "
			   "into 16 MiB of memory");
	image(0, 5 * MiB, 2);
	cfg.memory = 8 * MiB;
	cfg.ramdisk = (struct blob){ ramdisk, sizeof(ramdisk) };
	loaded();
	cfg.ramdisk.size = 2 * MiB;
	refused(ERR_NOMEM, "ramdisk: 2097152 bytes and the device tree do not "
			   "fit into memory behind the kernel's 5242880");
}

static void image_old_header(void **)
{
	image(0x1234, 0, 0);
	loaded();
	assert_int_equal(lay.kernel, RAM + 0x80000);
	assert_int_equal(lay.kernel_end, lay.kernel + 4096);
	image(0, 100, 0);	/* smaller than the file */
	loaded();
	assert_int_equal(lay.kernel_end, RAM + 4096);
}

static void image_refused(void **)
{
	image(0, 0x10000, 1);
	refused(ERR_FORMAT, "kernel: is a big-endian Image");
	image(0x80004, 0x10000, 0);
	refused(ERR_FORMAT, "kernel: Image with text offset 0x80004");
	image(UINT64_MAX - 0xfff, 0x10000, 0);
	refused(ERR_NOMEM, "kernel: 65536 bytes at offset 0xfffffffffffff000 "
			   "do not fit into 16 MiB of memory");
	image(0, UINT64_MAX, 0);
	refused(ERR_NOMEM, "kernel: 18446744073709551615 bytes at offset 0x0 "
			   "do not fit into 16 MiB of memory");
	image(0x1000, UINT64_MAX - 0xfff, 0);
	refused(ERR_NOMEM, "kernel: 18446744073709547520 bytes at offset "
			   "0x1000 do not fit into 16 MiB of memory");
	image(0, 0x10000, 0);
	cfg.format = IMAGE_ELF;
	refused(ERR_FORMAT, "kernel: format is 'elf' but the file is a Linux "
			    "Image");
	image(0, 0x10000, 0);
	cfg.kernel.size = 63;
	refused(ERR_FORMAT, "kernel: is neither a Linux Image nor an ELF file");
}

static void other_files(void **)
{
	begin();
	memcpy(file, "\x1f\x8b\b", 3);
	refused(ERR_FORMAT, "kernel: is compressed by gzip: unpack it first");
	begin();
	memcpy(file, "MZ\0\0zimg", 8);
	refused(ERR_FORMAT, "kernel: is an EFI zboot file: unpack the Image in "
			    "it first");
	begin();
	cfg.kernel.size = 1;
	refused(ERR_FORMAT, "kernel: is neither a Linux Image nor an ELF file");
	begin();
	cfg.format = IMAGE_LINUX;
	refused(ERR_FORMAT, "kernel: is neither a Linux Image nor an ELF file");
}

/* ---- ELF --------------------------------------------------------------- */

static struct elf_header eh;
static struct elf_segment seg[4];

static void write_elf(void)
{
	memcpy(file, &eh, sizeof(eh));
	memcpy(file + 64, seg, sizeof(seg));
}

/* Two segments to load, one linked elsewhere, and others in between. */
static void elf(void)
{
	begin();
	eh = (struct elf_header){
		.ident = "\x7f" "ELF\2\1\1",
		.type = 2,
		.machine = 183,
		.entry = 0xffff000000000010,
		.phoff = 64,
		.phentsize = 56,
		.phnum = 4,
	};
	seg[0] = (struct elf_segment){ .type = 4, .offset = ~UINT64_C(0) };
	seg[1] = (struct elf_segment){
		.type = 1,
		.offset = 1000,
		.vaddr = 0xffff000000000000,
		.paddr = RAM + 0x200000,
		.filesz = 3000,
		.memsz = 0x5000,
	};
	seg[2] = (struct elf_segment){ .type = 1, .paddr = ~UINT64_C(0) };
	seg[3] = (struct elf_segment){
		.type = 1,
		.offset = 64,
		.vaddr = RAM + 0x100000,
		.paddr = RAM + 0x100000,
		.filesz = 64,
		.memsz = 64,
	};
	write_elf();
	for (unsigned int i = 400; i < 4096; i++)
		file[i] = (uint8_t)(i * 5 + 3);
}

static void elf_placement(void **)
{
	elf();
	cfg.ramdisk = (struct blob){ ramdisk, 5000 };
	loaded();
	assert_int_equal(lay.entry, RAM + 0x200010);
	assert_int_equal(lay.kernel, RAM + 0x100000);
	assert_int_equal(lay.kernel_end, RAM + 0x205000);
	assert_memory_equal(at(RAM + 0x200000), file + 1000, 3000);
	assert_true(zero(RAM + 0x200000 + 3000, RAM + 0x206000));
	assert_memory_equal(at(RAM + 0x100000), file + 64, 64);
	assert_int_equal(lay.dtb + lay.dtb_max, RAM + 16 * MiB);
	assert_int_equal(lay.ramdisk, lay.dtb - 2 * PAGE_SIZE);
	cfg.format = IMAGE_ELF;
	eh.type = 3;
	eh.entry = RAM + 0x100004;
	write_elf();
	loaded();
	assert_int_equal(lay.entry, RAM + 0x100004);
}

static void elf_refused(int err, const char *message)
{
	write_elf();
	refused(err, message);
	elf();
}

static void elf_bad_header(void **)
{
	elf();
	cfg.kernel.size = 63;
	elf_refused(ERR_FORMAT, "kernel: is an ELF file that is cut off");
	eh.ident[ELF_CLASS] = 1;
	elf_refused(ERR_FORMAT, "kernel: is a 32-bit ELF file");
	eh.ident[ELF_DATA] = 2;
	elf_refused(ERR_FORMAT, "kernel: is a big-endian ELF file");
	eh.machine = 62;
	elf_refused(ERR_FORMAT, "kernel: is an ELF file for machine 62, this "
				"is 183");
	eh.type = 1;
	elf_refused(ERR_FORMAT, "kernel: is an ELF file but no program");
	eh.phentsize = 32;
	elf_refused(ERR_FORMAT, "kernel: is an ELF file with broken program "
				"headers");
	eh.phnum = 65;
	elf_refused(ERR_FORMAT, "kernel: is an ELF file with broken program "
				"headers");
	eh.phoff = UINT64_MAX - 10;
	elf_refused(ERR_FORMAT, "kernel: is an ELF file with broken program "
				"headers");
	eh.phoff = 4096 - 4 * 56 + 1;
	elf_refused(ERR_FORMAT, "kernel: is an ELF file with broken program "
				"headers");
	eh.entry = 0x10;
	elf_refused(ERR_FORMAT, "kernel: is an ELF file whose entry 0x10 is in "
				"no segment");
	cfg.format = IMAGE_LINUX;
	elf_refused(ERR_FORMAT, "kernel: format is 'image' but the file is an "
				"ELF file");
	eh.phnum = 1;
	elf_refused(ERR_FORMAT, "kernel: is an ELF file with nothing to load");
}

static void elf_bad_segments(void **)
{
	elf();
	seg[1].memsz = 2999;
	elf_refused(ERR_FORMAT, "kernel: is an ELF file with a broken segment "
				"at 0x40200000");
	seg[1].offset = 4096 - 2999;
	elf_refused(ERR_FORMAT, "kernel: is an ELF file with a broken segment "
				"at 0x40200000");
	seg[1].offset = UINT64_MAX;
	elf_refused(ERR_FORMAT, "kernel: is an ELF file with a broken segment "
				"at 0x40200000");
	seg[3].paddr = RAM - 1;
	elf_refused(ERR_INVAL, "kernel: ELF segment 0x3fffffff..0x4000003f is "
			       "outside memory 0x40000000..0x41000000");
	seg[3].paddr = RAM + 16 * MiB - 63;
	elf_refused(ERR_INVAL, "kernel: ELF segment 0x40ffffc1..0x41000001 is "
			       "outside memory 0x40000000..0x41000000");
	seg[3].paddr = UINT64_MAX - 10;
	elf_refused(ERR_INVAL, "kernel: ELF segment 0xfffffffffffffff5..0x35 "
			       "is outside memory 0x40000000..0x41000000");
	seg[3].paddr = RAM;
	seg[3].memsz = UINT64_MAX;
	elf_refused(ERR_INVAL, "kernel: ELF segment 0x40000000..0x3fffffff is "
			       "outside memory 0x40000000..0x41000000");
	seg[3].paddr = RAM + 0x204fff;
	elf_refused(ERR_INVAL, "kernel: ELF segments at 0x40200000 and "
			       "0x40204fff overlap");
	seg[1].memsz = 15 * MiB - 0x110000;
	seg[1].paddr = RAM + 0x200000;
	write_elf();
	loaded();		/* just fits with the tree */
	elf();
	seg[1].memsz = 14 * MiB - PAGE_SIZE;
	elf_refused(ERR_NOMEM, "ramdisk: 0 bytes and the device tree do not "
			       "fit into memory behind the kernel's 15724544");
}

static void elf_random(void **)
{
	unsigned int good = 0;

	srand(9);
	for (unsigned int i = 0; i < 3000; i++) {
		uint8_t *copy;

		elf();
		for (int n = 1 + rand() % 3; n; n--)
			file[rand() % 288] = (uint8_t)rand();
		copy = malloc(4096);	/* exact, for the sanitizer */
		memcpy(copy, file, 4096);
		cfg.kernel.data = copy;
		good += load() == 0;
		free(copy);
	}
	assert_true(good > 10 && good < 2900);
}

/* ---- flat -------------------------------------------------------------- */

static void flat(void **)
{
	begin();
	memset(file, 0x77, 4096);
	cfg.format = IMAGE_FLAT;
	cfg.load_offset = 0x80000;
	cfg.memory = 2 * MiB;
	loaded();
	assert_int_equal(lay.entry, RAM + 0x80000);
	assert_memory_equal(at(lay.entry), file, 4096);
	assert_int_equal(lay.dtb + lay.dtb_max, RAM + 2 * MiB);
	assert_true(lay.dtb - lay.kernel_end > MiB);	/* for the stack */
	cfg.load_offset = 0x80002;
	refused(ERR_INVAL, "kernel: the first instruction, at 0x40080002, is "
			   "not at a multiple of 4");
	cfg.load_offset = 2 * MiB - 4095;
	refused(ERR_NOMEM, "kernel: 4096 bytes at load-offset 0x1ff001 do not "
			   "fit into memory");
	cfg.load_offset = UINT64_MAX;
	refused(ERR_NOMEM, "kernel: 4096 bytes at load-offset "
			   "0xffffffffffffffff do not fit into memory");
	cfg.load_offset = 2 * MiB - 4096;
	refused(ERR_NOMEM, "ramdisk: 0 bytes and the device tree do not fit "
			   "into memory behind the kernel's 4096");
	cfg.load_offset = 0;
	cfg.ramdisk = (struct blob){ ramdisk, UINT64_MAX };
	refused(ERR_NOMEM,
		"ramdisk: 18446744073709551615 bytes and the device tree do "
		"not fit into memory behind the kernel's 4096");
}

/* ---- slots ------------------------------------------------------------- */

/* RAM of physically scattered pieces: files and tree run across them. */
static void scattered_ram(void **)
{
	static uint8_t big[3 * 1024 * 1024];
	uint8_t *back = malloc(sizeof(big));
	unsigned int n = 0;
	paddr_t pa;

	begin();
	cfg.format = IMAGE_FLAT;
	cfg.kernel = (struct blob){ big, sizeof(big) };
	for (unsigned int i = 0; i < sizeof(big); i++)
		big[i] = (uint8_t)(i >> 12 ^ i);
	teardown(NULL);
	fake_cpus_init(1);
	vm = fake_vm(&cfg);
	dev_init(vm);
	dev_reset(vm);
	pa = vm->slots[0].pa;
	for (gpa_t g = RAM; g < RAM + 16 * MiB; g += 256 * KiB, n++)
		vm->slots[n] = (struct vm_slot){ g, pa + ((g - RAM) ^ MiB),
						 256 * KiB };
	vm->nr_slots = n;
	fake_synced = 0;
	assert_int_equal(image_load(vm, &lay), 0);
	assert_int_equal(fake_synced, sizeof(big));
	for (uint64_t off = 0; off < sizeof(big); off += 256 * KiB)
		memcpy(back + off, vm_ram(vm, RAM + off, 256 * KiB),
		       256 * KiB);
	assert_memory_equal(back, big, sizeof(big));
	assert_int_equal(gfdt_build(vm, &lay), 0);
	free(back);
	vm->slots[0].pa = pa;	/* as it was allocated */
}

/* ---- device tree ------------------------------------------------------- */

static const void *build(void)
{
	loaded();
	assert_int_equal(gfdt_build(vm, &lay), 0);
	assert_int_equal(fdt_check_full(at(lay.dtb), lay.dtb_max), 0);
	return at(lay.dtb);
}

static void expect_u64s(const void *fdt, const char *path, const char *prop,
			int n, const uint64_t *want)
{
	int len;
	const fdt64_t *p = fdt_getprop(fdt, fdt_path_offset(fdt, path), prop,
				       &len);

	assert_non_null(p);
	assert_int_equal(len, n * 8);
	for (int i = 0; i < n; i++)
		assert_int_equal(fdt64_ld(p + i), want[i]);
}

static const char *get(const void *fdt, const char *path, const char *prop)
{
	return fdt_getprop(fdt, fdt_path_offset(fdt, path), prop, NULL);
}

static void tree_is_true(void **)
{
	const void *fdt;

	image(0, 0x10000, 2);
	cfg.bootargs = "console=ttyAMA0";
	cfg.ramdisk = (struct blob){ ramdisk, 1234 };
	fdt = build();
	expect_u64s(fdt, "/memory@40000000", "reg", 2,
		    (uint64_t[]){ RAM, 16 * MiB });
	expect_u64s(fdt, "/pl011@9000000", "reg", 2,
		    (uint64_t[]){ 0x9000000, 0x1000 });
	expect_u64s(fdt, "/chosen", "linux,initrd-start", 1, &lay.ramdisk);
	expect_u64s(fdt, "/chosen", "linux,initrd-end", 1,
		    (uint64_t[]){ lay.ramdisk + 1234 });
	assert_string_equal(get(fdt, "/chosen", "bootargs"), "console=ttyAMA0");
	assert_string_equal(get(fdt, "/chosen", "stdout-path"),
			    "/pl011@9000000");
	assert_true(fdt_path_offset(fdt, "/pl031@9010000") > 0);
	assert_true(fdt_path_offset(fdt, "/intc") > 0);
	assert_string_equal(get(fdt, "/", "compatible"), "linux,dummy-virt");
	assert_int_equal(fdt_node_offset_by_phandle(fdt, GFDT_CLOCK),
			 fdt_path_offset(fdt, "/apb-pclk"));
	assert_int_equal(fdt32_ld((const void *)get(fdt, "/pl011@9000000",
						    "interrupts")), 1);
	/* Nothing that is not there. */
	assert_true(fdt_node_offset_by_compatible(fdt, -1, "virtio,mmio") < 0);
	assert_true(fdt_path_offset(fdt, "/cpus") < 0);
}

/* BT-03: no empty properties. */
static void tree_without_ramdisk(void **)
{
	const void *fdt;

	image(0, 0x10000, 2);
	fdt = build();
	assert_null(get(fdt, "/chosen", "linux,initrd-start"));
	assert_null(get(fdt, "/chosen", "linux,initrd-end"));
	assert_null(get(fdt, "/chosen", "bootargs"));
	assert_non_null(get(fdt, "/chosen", "stdout-path"));
}

/* BT-05: exactly the banks, adjacent slots as one. */
static void tree_with_a_hole(void **)
{
	const void *fdt;

	image(0, 0x10000, 2);
	loaded();
	vm->nr_slots = 3;
	vm->slots[0].size = 4 * MiB;
	vm->slots[1] = (struct vm_slot){ RAM + 4 * MiB,
					 vm->slots[0].pa + 4 * MiB, 4 * MiB };
	vm->slots[2] = (struct vm_slot){ RAM + GiB,
					 vm->slots[0].pa + 8 * MiB, 8 * MiB };
	assert_int_equal(gfdt_build(vm, &lay), 0);
	fdt = at(lay.dtb);
	expect_u64s(fdt, "/memory@40000000", "reg", 2,
		    (uint64_t[]){ RAM, 8 * MiB });
	expect_u64s(fdt, "/memory@80000000", "reg", 2,
		    (uint64_t[]){ RAM + GiB, 8 * MiB });
}

static void long_bootargs(void **)
{
	static char args[2 * 1024 * 1024];

	image(0, 0x10000, 2);
	memset(args, 'x', sizeof(args) - 1);
	cfg.bootargs = args;
	refused(ERR_INVAL, "dtb: device tree and bootargs exceed 2 MiB");
	args[1000000] = 0;
	assert_string_equal(get(build(), "/chosen", "bootargs"), args);
}

static void own_tree(void **)
{
	static alignas(8) char own[4096 + 8];
	const int odd = 4;	/* files of a bundle are only 4-byte aligned */

	image(0, 0x10000, 2);
	fdt_create_empty_tree(own, 4096);
	memmove(own + odd, own, 4096);
	cfg.dtb = (struct blob){ own + odd, 4096 };
	loaded();
	assert_int_equal(lay.dtb_max, 4096);
	assert_int_equal(gfdt_build(vm, &lay), 0);
	assert_memory_equal(at(lay.dtb), own + odd, 4096);
	memset(own + odd, 'x', 4096);
	loaded();
	assert_int_equal(gfdt_build(vm, &lay), ERR_FORMAT);
	assert_string_equal(fake_uart, "t: dtb: is no device tree: "
				       "FDT_ERR_BADMAGIC\n");
	cfg.dtb.size = 3;
	loaded();
	assert_int_equal(gfdt_build(vm, &lay), ERR_FORMAT);
	cfg.dtb.size = 2 * MiB + 1;
	refused(ERR_INVAL, "dtb: device tree and bootargs exceed 2 MiB");
}

#define TEST(fn) cmocka_unit_test_teardown(fn, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(image_placement),
		TEST(image_bss),
		TEST(image_old_header),
		TEST(image_refused),
		TEST(other_files),
		TEST(elf_placement),
		TEST(elf_bad_header),
		TEST(elf_bad_segments),
		TEST(elf_random),
		TEST(flat),
		TEST(scattered_ram),
		TEST(tree_is_true),
		TEST(tree_without_ramdisk),
		TEST(tree_with_a_hole),
		TEST(long_bootargs),
		TEST(own_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
