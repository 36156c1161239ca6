// SPDX-License-Identifier: BSD-2-Clause
/*
 * The boot protocol of Linux for LoongArch: a0 says that there is firmware in
 * the manner of EFI, a1 is the command line, a2 an EFI system table whose
 * configuration tables name the device tree and the initrd. The tree is copied,
 * so the memory of all that is free afterwards.
 */
#include "bootinfo.h"

#include "efi.h"
#include "host.h"

#include <libfdt.h>
#include <string.h>

#define CMDLINE_MAX	4096
#define TABLES_MAX	64
#define FDT_MAX		(128 * KiB)

static const struct efi_guid guid_fdt = EFI_GUID_FDT;
static const struct efi_guid guid_initrd = EFI_GUID_INITRD;

static alignas(8) uint8_t fdt_copy[FDT_MAX];

static void *find_table(paddr_t systab, const struct efi_guid *guid)
{
	const struct efi_system_table *st = (const void *)systab;
	const struct efi_table *t;

	if (!systab || !is_aligned(systab, 8) || st->nr_tables > TABLES_MAX)
		return NULL;
	t = (const void *)st->tables;
	for (uint64_t i = 0; i < st->nr_tables; i++)
		if (!memcmp(&t[i].guid, guid, sizeof(*guid)))
			return (void *)t[i].table;
	return NULL;
}

static int add_initrd(int chosen, const struct efi_initrd *rd)
{
	int err;

	if (!rd || !rd->size)
		return 0;
	err = fdt_setprop_u64(fdt_copy, chosen, "linux,initrd-start", rd->base);
	if (err)
		return err;
	return fdt_setprop_u64(fdt_copy, chosen, "linux,initrd-end",
			       rd->base + rd->size);
}

static int add_bootargs(int chosen, const char *cmdline)
{
	size_t len = strnlen(cmdline, CMDLINE_MAX);

	if (!len || len == CMDLINE_MAX)
		return 0;
	return fdt_setprop(fdt_copy, chosen, "bootargs", cmdline, (int)len + 1);
}

const void *bootinfo_fdt(paddr_t cmdline, paddr_t systab)
{
	void *fdt = find_table(systab, &guid_fdt);
	int chosen;

	/* QEMU's tree is far larger than what is in it. */
	if (!fdt || fdt_pack(fdt) ||
	    fdt_open_into(fdt, fdt_copy, sizeof(fdt_copy)))
		return NULL;
	chosen = fdt_path_offset(fdt_copy, "/chosen");
	if (chosen == -FDT_ERR_NOTFOUND)
		chosen = fdt_add_subnode(fdt_copy, 0, "chosen");
	if (chosen < 0 || add_bootargs(chosen, (const char *)cmdline) ||
	    add_initrd(chosen, find_table(systab, &guid_initrd)))
		return NULL;
	return fdt_copy;
}
