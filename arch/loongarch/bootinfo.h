/* SPDX-License-Identifier: BSD-2-Clause */
/* What the loader handed over, as one device tree. Boot CPU, once. */
#ifndef LOONGARCH_BOOTINFO_H
#define LOONGARCH_BOOTINFO_H

#include "types.h"

/*
 * Copies the device tree that the EFI system table at @systab names and adds
 * the command line @cmdline and the initrd to its /chosen node, where portable
 * code looks for them. NULL when there is no usable tree.
 */
const void *bootinfo_fdt(paddr_t cmdline, paddr_t systab);

#endif
