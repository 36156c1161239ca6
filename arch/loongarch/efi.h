/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables of the boot protocol, in the manner of UEFI (specification 2.10,
 * chapters 4 and 7.2): what QEMU's machine gives to the hypervisor and what the
 * hypervisor gives to a guest. All pointers are physical addresses.
 */
#ifndef LOONGARCH_EFI_H
#define LOONGARCH_EFI_H

#include <stdint.h>

#define EFI_SIGNATURE	UINT64_C(0x5453595320494249)	/* "IBI SYST" */
#define EFI_REVISION	((2u << 16) | 100u)		/* 2.10 */

/* Up to the configuration tables; there are no consoles and services. */
struct efi_system_table {
	uint64_t signature;
	uint32_t revision;
	uint32_t size;
	uint32_t crc32;
	uint32_t reserved;
	uint64_t unused[10];
	uint64_t nr_tables;
	uint64_t tables;
};

struct efi_guid {
	uint64_t word[2];
};

struct efi_table {
	struct efi_guid guid;
	uint64_t table;
};

struct efi_initrd {
	uint64_t base;
	uint64_t size;
};

enum efi_memory { EFI_LOADER_DATA = 2, EFI_CONVENTIONAL = 7 };

#define EFI_MEMORY_WB	UINT64_C(8)

struct efi_memory_desc {
	uint32_t type;
	uint32_t reserved;
	uint64_t phys;
	uint64_t virt;
	uint64_t pages;		/* of 4 KiB */
	uint64_t attributes;
};

/* Linux's LINUX_EFI_BOOT_MEMMAP; the descriptors follow. */
struct efi_memmap {
	uint64_t map_size;
	uint64_t desc_size;
	uint64_t desc_version;
	uint64_t map_key;
	uint64_t buff_size;
};

/* DEVICE_TREE_GUID, LINUX_EFI_INITRD_MEDIA_GUID, LINUX_EFI_BOOT_MEMMAP_GUID. */
#define EFI_GUID_FDT	{ { 0x41a5f19cb1b621d5, 0xe0aa692c15d90b83 } }
#define EFI_GUID_INITRD	{ { 0x4f3d68fc5568e427, 0x68cc315255ca74ac } }
#define EFI_GUID_MEMMAP	{ { 0x423ad08b800f683f, 0xb4e26f3c5c9693a2 } }

#endif
