/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The part of ELF64 (System V gABI) that the loader of guest images reads: the
 * file header and the program headers, in their layout on disk.
 */
#ifndef CORE_ELF_H
#define CORE_ELF_H

#include "types.h"

#define ELF_MAGIC "\x7f" \
		  "ELF"
#define ELF_CLASS		4	/* indices of ident */
#define ELF_DATA		5
#define ELF_CLASS_64		2
#define ELF_DATA_LITTLE		1
#define ELF_TYPE_EXEC		2
#define ELF_TYPE_DYN		3
#define ELF_MACHINE_AARCH64	183
#define ELF_MACHINE_LOONGARCH	258
#define ELF_LOAD		1

struct elf_header {
	uint8_t ident[16];
	uint16_t type;
	uint16_t machine;
	uint32_t version;
	uint64_t entry;
	uint64_t phoff;
	uint64_t shoff;
	uint32_t flags;
	uint16_t ehsize;
	uint16_t phentsize;
	uint16_t phnum;
	uint16_t shentsize;
	uint16_t shnum;
	uint16_t shstrndx;
};

struct elf_segment {
	uint32_t type;
	uint32_t flags;
	uint64_t offset;
	uint64_t vaddr;
	uint64_t paddr;
	uint64_t filesz;
	uint64_t memsz;
	uint64_t align;
};

static_assert(sizeof(struct elf_header) == 64);
static_assert(sizeof(struct elf_segment) == 56);

#endif
