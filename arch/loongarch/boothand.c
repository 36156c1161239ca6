// SPDX-License-Identifier: BSD-2-Clause
/*
 * The hand-over to a guest, in the manner of QEMU's machine: command line and
 * EFI-like tables below the device tree, their addresses in the arguments of
 * the first vCPU; the others wait in ROM. Unlike QEMU's, the memory map can be
 * used. The VM does not run; no lock.
 */
#include "efi.h"
#include "host.h"
#include "la.h"
#include "lamachine.h"
#include "image.h"
#include "vm.h"

#include <string.h>

#define CMDLINE		UINT64_C(0)
#define CMDLINE_MAX	512		/* bytes, with the final 0 */
#define SYSTAB		UINT64_C(0x200)
#define TABLES		UINT64_C(0x10200)
#define MEMMAP		UINT64_C(0x11000)
#define INITRD		UINT64_C(0x20200)

enum { A0 = 4, A1, A2 };		/* numbers of the argument registers */

/* What lies here is in one page and below the images, where all is RAM. */
static void put(struct vm *vm, gpa_t gpa, const void *data, uint64_t len)
{
	void *p = vm_ram(vm, gpa, len);

	ASSERT(p);
	memcpy(p, data, len);
	arch_sync_ram(p, len);
}

static struct efi_memory_desc desc(enum efi_memory type, gpa_t from, gpa_t to)
{
	return (struct efi_memory_desc){
		.type = type,
		.phys = from,
		.pages = (to - from) / PAGE_SIZE,
		.attributes = EFI_MEMORY_WB,
	};
}

/* What the hypervisor put in, then all else. */
static void put_memmap(struct vm *vm)
{
	const struct ram_bank *high = &arch_ram.bank[1];
	uint64_t low = min_u64(vm->cfg->memory, arch_ram.bank[0].size);
	struct {
		struct efi_memmap head;
		struct efi_memory_desc desc[3];
	} map = {
		.desc = {
			desc(EFI_LOADER_DATA, 0, GUEST_RESERVED),
			desc(EFI_CONVENTIONAL, GUEST_RESERVED, low),
			desc(EFI_CONVENTIONAL, high->base,
			     high->base + vm->cfg->memory - low),
		},
	};
	uint64_t size = 0;

	/* An empty last one stays away. */
	for (unsigned int i = 0; i < ARRAY_SIZE(map.desc); i++)
		if (map.desc[i].pages)
			size = (i + 1) * sizeof(map.desc[0]);
	map.head = (struct efi_memmap){ size, sizeof(map.desc[0]), 1, 0, size };
	put(vm, MEMMAP, &map, sizeof(map));
}

static void put_tables(struct vm *vm, const struct image_layout *l)
{
	const struct efi_initrd initrd = { l->ramdisk,
					   l->ramdisk_end - l->ramdisk };
	const struct efi_table tables[] = {
		{ EFI_GUID_MEMMAP, MEMMAP },
		{ EFI_GUID_INITRD, INITRD },
		{ EFI_GUID_FDT, l->dtb },
	};
	const struct efi_system_table systab = {
		.signature = EFI_SIGNATURE,
		.revision = EFI_REVISION,
		.size = sizeof(systab),
		.nr_tables = ARRAY_SIZE(tables),
		.tables = TABLES,
	};

	put_memmap(vm);
	put(vm, INITRD, &initrd, sizeof(initrd));
	put(vm, TABLES, tables, sizeof(tables));
	put(vm, SYSTAB, &systab, sizeof(systab));
}

int arch_vm_boot(struct vm *vm, const struct image_layout *l)
{
	const char *args = vm->cfg->bootargs ? vm->cfg->bootargs : "";
	uint64_t len = strlen(args) + 1;
	struct vcpu *v0 = vm->vcpus[0];

	if (len > CMDLINE_MAX) {
		log_error("%s: bootargs: %lu characters are more than %d",
			  vm->cfg->name, len - 1, CMDLINE_MAX - 1);
		return ERR_INVAL;
	}
	put(vm, CMDLINE, args, len);
	put_tables(vm, l);
	reg_write(v0, A0, 1);
	reg_write(v0, A1, CMDLINE);
	reg_write(v0, A2, SYSTAB);
	for (unsigned int i = 1; i < vm->nr_vcpus; i++)
		vm->vcpus[i]->arch.regs.pc = GUEST_ROM;
	return 0;
}
