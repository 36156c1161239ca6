/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Guest images: recognises and places Linux Image, ELF64 and flat binaries,
 * the ramdisk and the device tree in guest RAM. Sizes come from headers; every
 * overlap is checked.
 */
#ifndef CORE_IMAGE_H
#define CORE_IMAGE_H

#include "types.h"

struct vm;

struct blob {
	const void *data;
	uint64_t size;		/* bytes */
};

enum image_format { IMAGE_AUTO, IMAGE_LINUX, IMAGE_ELF, IMAGE_FLAT };

struct image_layout {
	gpa_t entry;			/* first instruction */
	gpa_t kernel, kernel_end;	/* with BSS */
	gpa_t ramdisk, ramdisk_end;	/* equal: none */
	gpa_t dtb;			/* crosses no 2 MiB boundary */
	uint64_t dtb_max;		/* bytes available there, whole pages */
};

/*
 * Places kernel and ramdisk of @vm in its zeroed RAM and chooses the place of
 * the device tree. One message names what is wrong: ERR_FORMAT, ERR_NOMEM (does
 * not fit), ERR_INVAL (overlap, outside RAM).
 */
int image_load(struct vm *vm, struct image_layout *out);

/*
 * Copies @size bytes to guest RAM at @gpa, which may span slots but is all RAM,
 * and makes them visible to a guest that runs with caches off. The VM does not
 * run.
 */
void image_place(const struct vm *vm, gpa_t gpa, const void *data,
		 uint64_t size);

#endif
