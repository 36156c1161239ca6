// SPDX-License-Identifier: BSD-2-Clause
/*
 * Guest images: recognises the kernel's format, copies it into guest RAM and
 * finds places for ramdisk and device tree. Everything that comes from a file
 * is hostile: 64-bit sums are checked for wrapping and every range for lying in
 * RAM and apart from the others. The VM does not run; no lock.
 */
#include "image.h"

#include <string.h>

#include "arch.h"
#include "elf.h"
#include "gfdt.h"
#include "print.h"
#include "vm.h"

#define BLOCK		(2 * MiB)	/* a device tree may not cross one */
#define LOONGARCH_LINUX_WINDOW	UINT64_C(0x9000000000000000)
#define MAX_HEADERS	64		/* program headers of an ELF file */

/* What the header of a Linux kernel says. */
struct linux_image {
	uint64_t offset;	/* from the begin of RAM */
	uint64_t entry;		/* from the begin of the image */
	uint64_t size;		/* in memory, with BSS */
};

/* Reports what is wrong with a file of @vm; returns @err. */
[[gnu::format(printf, 4, 5)]]
static int refuse(const struct vm *vm, const char *what, int err,
		  const char *fmt, ...)
{
	char text[128];
	va_list ap;

	va_start(ap, fmt);
	kvsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	log_error("%s: %s: %s", vm->cfg->name, what, text);
	return err;
}

/* Lowest address that an image may have. */
static gpa_t image_base(void)
{
	return arch_ram.bank[0].base + arch_ram.reserved;
}

/* Can an image have @gpa..@gpa+@len? Right for every input, wrapping sums
 * included. */
static bool usable(const struct vm *vm, gpa_t gpa, uint64_t len)
{
	return range_inside(gpa - image_base(), len,
			    vm_ram_end(vm) - image_base());
}

void image_place(const struct vm *vm, gpa_t gpa, const void *data,
		 uint64_t size)
{
	const uint8_t *from = data;

	for (unsigned int i = 0; size && i < vm->nr_slots; i++) {
		const struct vm_slot *s = &vm->slots[i];
		uint64_t n;
		void *to;

		if (gpa - s->gpa >= s->size)
			continue;
		n = min_u64(size, s->gpa + s->size - gpa);
		to = vm_ram(vm, gpa, n);
		ASSERT(to);
		memcpy(to, from, n);
		arch_sync_ram(to, n);
		gpa += n;
		from += n;
		size -= n;
	}
	ASSERT(!size);
}

/* Can the machine run code that is linked to run at @entry? */
static int check_entry(const struct vm *vm, uint64_t entry)
{
	const char *why = arch_entry_refused(entry);

	if (!why)
		return 0;
	return refuse(vm, "kernel", ERR_INVAL, "runs at 0x%lx: %s", entry, why);
}

/* ---- Linux Image ------------------------------------------------------- */

static uint64_t load64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Linux Documentation/arch/arm64/booting.rst, "Call the kernel image". */
static bool is_arm64_image(const struct blob *k)
{
	return k->size >= 64 &&
	       !memcmp((const char *)k->data + 56, "ARM\x64", 4);
}

static int arm64_image(const struct vm *vm, struct linux_image *out)
{
	const struct blob *k = &vm->cfg->kernel;
	const uint8_t *h = k->data;
	uint64_t flags = load64(h + 24);

	if (flags & 1)
		return refuse(vm, "kernel", ERR_FORMAT,
			      "is a big-endian Image");
	out->entry = 0;
	out->offset = load64(h + 8);
	out->size = load64(h + 16);
	if (!out->size) {	/* before Linux 3.17: the field is not there */
		out->offset = 0x80000;
		out->size = k->size;
	}
	if (out->offset % PAGE_SIZE)
		return refuse(vm, "kernel", ERR_FORMAT,
			      "Image with text offset 0x%lx", out->offset);
	out->size = max_u64(out->size, k->size);
	return 0;
}

/* Linux Documentation/arch/loongarch/booting.rst: a PE header with this word in
 * place of the pointer that precedes "PE". */
static bool is_loongarch_image(const struct blob *k)
{
	return k->size >= 64 && !memcmp(k->data, "MZ", 2) &&
	       !memcmp((const char *)k->data + 56, "\xcd\x23\x82\x81", 4);
}

/* The addresses in the header are physical; the kernel is linked to the window
 * that it opens on them first of all. */
static int loongarch_image(const struct vm *vm, struct linux_image *out)
{
	const uint8_t *h = vm->cfg->kernel.data;

	out->offset = load64(h + 24) & BITS(47, 0);
	out->size = max_u64(load64(h + 16), vm->cfg->kernel.size);
	out->entry = (load64(h + 8) & BITS(47, 0)) - out->offset;
	return check_entry(vm, LOONGARCH_LINUX_WINDOW | load64(h + 8));
}

// clang-format off
static const struct {
	uint16_t machine;	/* ELF number of the architecture */
	bool (*is)(const struct blob *k);
	int (*parse)(const struct vm *vm, struct linux_image *out);
} linux_formats[] = {
	{ ELF_MACHINE_AARCH64,	 is_arm64_image,     arm64_image },
	{ ELF_MACHINE_LOONGARCH, is_loongarch_image, loongarch_image },
};
// clang-format on

/* Row of the format that @k has, or -1. */
static int linux_format(const struct blob *k)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(linux_formats); i++)
		if (linux_formats[i].is(k))
			return (int)i;
	return -1;
}

static int load_linux(const struct vm *vm, struct image_layout *out)
{
	const struct blob *k = &vm->cfg->kernel;
	int row = linux_format(k);
	gpa_t base = arch_ram.bank[0].base;
	uint64_t ram = vm_ram_end(vm) - base;
	struct linux_image img;
	int err;

	if (row < 0)
		return refuse(vm, "kernel", ERR_FORMAT, "is no Linux Image");
	if (linux_formats[row].machine != arch_elf_machine)
		return refuse(vm, "kernel", ERR_FORMAT,
			      "is an Image for another architecture");
	err = linux_formats[row].parse(vm, &img);
	if (err)
		return err;
	if (!usable(vm, base + img.offset, img.size))
		return refuse(vm, "kernel", ERR_NOMEM,
			      "%lu bytes at offset 0x%lx do not fit into "
			      "%lu MiB of memory",
			      img.size, img.offset, ram / MiB);
	out->kernel = base + img.offset;
	out->entry = out->kernel + img.entry;
	out->kernel_end = out->kernel + img.size;
	image_place(vm, out->kernel, k->data, k->size);
	return 0;
}

/* ---- ELF --------------------------------------------------------------- */

static int check_elf(const struct vm *vm, struct elf_header *eh)
{
	const struct blob *k = &vm->cfg->kernel;

	if (k->size < sizeof(*eh))
		return refuse(vm, "kernel", ERR_FORMAT,
			      "is an ELF file that is cut off");
	memcpy(eh, k->data, sizeof(*eh));
	if (eh->ident[ELF_CLASS] != ELF_CLASS_64)
		return refuse(vm, "kernel", ERR_FORMAT, "is a 32-bit ELF file");
	if (eh->ident[ELF_DATA] != ELF_DATA_LITTLE)
		return refuse(vm, "kernel", ERR_FORMAT,
			      "is a big-endian ELF file");
	if (eh->machine != arch_elf_machine)
		return refuse(vm, "kernel", ERR_FORMAT, "is an ELF file for "
			      "machine %u, this is %u", eh->machine,
			      arch_elf_machine);
	if (eh->type != ELF_TYPE_EXEC && eh->type != ELF_TYPE_DYN)
		return refuse(vm, "kernel", ERR_FORMAT,
			      "is an ELF file but no program");
	if (eh->phentsize != sizeof(struct elf_segment) || !eh->phnum ||
	    eh->phnum > MAX_HEADERS ||
	    !range_inside(eh->phoff, (uint64_t)eh->phnum * eh->phentsize,
			  k->size))
		return refuse(vm, "kernel", ERR_FORMAT,
			      "is an ELF file with broken program headers");
	return 0;
}

/* Program header @i into @s; false: nothing to load. */
static bool segment(const struct vm *vm, const struct elf_header *eh,
		    unsigned int i, struct elf_segment *s)
{
	const uint8_t *p = vm->cfg->kernel.data;

	memcpy(s, p + eh->phoff + i * sizeof(*s), sizeof(*s));
	return s->type == ELF_LOAD && s->memsz;
}

/* Checks segment @n against the file, RAM and the segments before it. */
static int check_segment(const struct vm *vm, const struct elf_header *eh,
			 unsigned int n)
{
	struct elf_segment s, o;

	if (!segment(vm, eh, n, &s))
		return 0;
	if (s.filesz > s.memsz ||
	    !range_inside(s.offset, s.filesz, vm->cfg->kernel.size))
		return refuse(vm, "kernel", ERR_FORMAT, "is an ELF file with "
			      "a broken segment at 0x%lx", s.paddr);
	if (!usable(vm, s.paddr, s.memsz))
		return refuse(vm, "kernel", ERR_INVAL,
			      "ELF segment 0x%lx..0x%lx is outside memory "
			      "0x%lx..0x%lx",
			      s.paddr, s.paddr + s.memsz, image_base(),
			      vm_ram_end(vm));
	for (unsigned int i = 0; i < n; i++)
		if (segment(vm, eh, i, &o) && s.paddr < o.paddr + o.memsz &&
		    o.paddr < s.paddr + s.memsz)
			return refuse(vm, "kernel", ERR_INVAL, "ELF segments "
				      "at 0x%lx and 0x%lx overlap", o.paddr,
				      s.paddr);
	return 0;
}

/* Checks all segments; the physical address of the entry, which is a virtual
 * one in the file. */
static int check_segments(const struct vm *vm, const struct elf_header *eh,
			  gpa_t *entry)
{
	bool any = false, found = false;
	struct elf_segment s;

	for (unsigned int i = 0; i < eh->phnum; i++) {
		int err = check_segment(vm, eh, i);

		if (err)
			return err;
		if (!segment(vm, eh, i, &s))
			continue;
		any = true;
		if (!found && eh->entry - s.vaddr < s.memsz) {
			found = true;
			*entry = eh->entry - s.vaddr + s.paddr;
		}
	}
	if (!any)
		return refuse(vm, "kernel", ERR_FORMAT,
			      "is an ELF file with nothing to load");
	if (!found)
		return refuse(vm, "kernel", ERR_FORMAT, "is an ELF file whose "
			      "entry 0x%lx is in no segment", eh->entry);
	return 0;
}

static int load_elf(const struct vm *vm, struct image_layout *out)
{
	const uint8_t *file = vm->cfg->kernel.data;
	struct elf_header eh;
	struct elf_segment s;
	int err = check_elf(vm, &eh);

	if (!err)
		err = check_entry(vm, eh.entry);
	if (!err)
		err = check_segments(vm, &eh, &out->entry);
	if (err)
		return err;
	out->kernel = UINT64_MAX;
	out->kernel_end = 0;
	for (unsigned int i = 0; i < eh.phnum; i++) {
		if (!segment(vm, &eh, i, &s))
			continue;
		image_place(vm, s.paddr, file + s.offset, s.filesz);
		out->kernel = min_u64(out->kernel, s.paddr);
		out->kernel_end = max_u64(out->kernel_end, s.paddr + s.memsz);
	}
	return 0;
}

/* ---- flat binary ------------------------------------------------------- */

static int load_flat(const struct vm *vm, struct image_layout *out)
{
	const struct blob *k = &vm->cfg->kernel;
	gpa_t gpa = arch_ram.bank[0].base + vm->cfg->load_offset;

	if (!usable(vm, gpa, k->size))
		return refuse(vm, "kernel", ERR_NOMEM,
			      "%lu bytes at load-offset 0x%lx do not fit "
			      "into memory",
			      k->size, vm->cfg->load_offset);
	out->kernel = out->entry = gpa;
	out->kernel_end = gpa + k->size;
	image_place(vm, gpa, k->data, k->size);
	return 0;
}

/* ---- all together ------------------------------------------------------ */

/* A phrase for files that users take for a kernel, or a general one. */
static const char *unknown_format(const struct blob *k)
{
	const uint8_t *p = k->data;

	if (k->size > 8 && !memcmp(p, "MZ", 2) && !memcmp(p + 4, "zimg", 4))
		return "is an EFI zboot file: unpack the Image in it first";
	if (k->size > 2 && p[0] == 0x1f && p[1] == 0x8b)
		return "is compressed by gzip: unpack it first";
	return "is neither a Linux Image nor an ELF file";
}

static enum image_format detect(const struct blob *k)
{
	if (k->size >= 4 && !memcmp(k->data, ELF_MAGIC, 4))
		return IMAGE_ELF;
	return linux_format(k) >= 0 ? IMAGE_LINUX : IMAGE_AUTO;
}

static int load_kernel(const struct vm *vm, struct image_layout *out)
{
	const struct blob *k = &vm->cfg->kernel;
	enum image_format found = detect(k);
	enum image_format format = vm->cfg->format;

	if (format == IMAGE_FLAT)
		return load_flat(vm, out);
	if (found == IMAGE_AUTO)
		return refuse(vm, "kernel", ERR_FORMAT, "%s",
			      unknown_format(k));
	if (format != IMAGE_AUTO && format != found)
		return refuse(vm, "kernel", ERR_FORMAT, "format is '%s' but "
							"the file is %s",
			      format == IMAGE_ELF ? "elf" : "image",
			      found == IMAGE_ELF ? "an ELF file" :
			      "a Linux Image");
	return found == IMAGE_ELF ? load_elf(vm, out) : load_linux(vm, out);
}

/*
 * Linux wants its tree within 512 MiB of the kernel and both out of its BSS:
 * the tree goes to the next 2 MiB boundary behind the kernel and the ramdisk
 * behind it. Other programs know only the end of their image and put stacks and
 * heap there: for them both go to the end of RAM. A machine with a fixed place
 * for the tree has it below all images.
 */
static bool arrange(const struct vm *vm, bool is_linux,
		    struct image_layout *out)
{
	uint64_t ramdisk = align_up(vm->cfg->ramdisk.size, PAGE_SIZE);
	uint64_t dtb = arch_ram.dtb ? 0 : out->dtb_max;
	gpa_t end = vm_ram_end(vm);

	if (is_linux) {
		out->dtb = align_up(out->kernel_end, BLOCK);
		out->ramdisk = out->dtb + dtb;
	} else if (range_inside(ramdisk, dtb, end - image_base())) {
		out->dtb = end - dtb;
		out->ramdisk = out->dtb - ramdisk;
	} else {
		return false;
	}
	if (!dtb)
		out->dtb = arch_ram.dtb;
	out->ramdisk_end = out->ramdisk + vm->cfg->ramdisk.size;
	return out->ramdisk >= out->kernel_end &&
	       (!dtb || usable(vm, out->dtb, dtb)) &&
	       usable(vm, out->ramdisk, vm->cfg->ramdisk.size);
}

/* Bytes that a device tree may have. */
static uint64_t dtb_room(void)
{
	return arch_ram.dtb ? image_base() - arch_ram.dtb : BLOCK;
}

int image_load(struct vm *vm, struct image_layout *out)
{
	const struct vm_config *cfg = vm->cfg;
	int err;

	out->dtb_max = align_up(gfdt_size(vm), PAGE_SIZE);
	if (out->dtb_max > dtb_room())
		return refuse(vm, "dtb", ERR_INVAL,
			      "device tree and bootargs exceed %lu MiB",
			      dtb_room() / MiB);
	err = load_kernel(vm, out);
	if (err)
		return err;
	if (!is_aligned(out->entry, 4))
		return refuse(vm, "kernel", ERR_INVAL,
			      "the first instruction, at 0x%lx, is not at a "
			      "multiple of 4",
			      out->entry);
	if (!arrange(vm, cfg->format != IMAGE_FLAT &&
		     detect(&cfg->kernel) == IMAGE_LINUX, out))
		return refuse(vm, "ramdisk", ERR_NOMEM, "%lu bytes and the "
			      "device tree do not fit into memory behind the "
			      "kernel's %lu", cfg->ramdisk.size,
			      out->kernel_end - out->kernel);
	image_place(vm, out->ramdisk, cfg->ramdisk.data, cfg->ramdisk.size);
	return 0;
}
