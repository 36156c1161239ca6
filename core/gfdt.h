/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The device tree a guest is given: generated from what the VM really has, or
 * the user's own file.
 */
#ifndef CORE_GFDT_H
#define CORE_GFDT_H

#include "image.h"
#include "types.h"

struct device;
struct vm;

/* Handle of the fixed 24 MHz clock, for the nodes of devices; the interrupt
 * controller, an arch node, is 1. */
#define GFDT_CLOCK	2

/* Bytes that gfdt_build() will need at most. Pure. */
uint64_t gfdt_size(const struct vm *vm);

/*
 * Writes the device tree to @l->dtb in guest RAM: vm->cfg->dtb unchanged when
 * there is one, else a generated one. One message names what is wrong:
 * ERR_FORMAT, ERR_NOMEM. The VM does not run, no lock.
 */
int gfdt_build(struct vm *vm, const struct image_layout *l);

/*
 * For the fdt function of a device. gfdt_device begins a node with reg,
 * interrupts (when it has a line) and compatible, a list of strings of @len
 * bytes in all; the caller ends the node. gfdt_clocks adds the fixed clock once
 * for each of the names. 0 or a libfdt error.
 */
int gfdt_device(struct device *d, void *fdt, const char *compatible, int len);
int gfdt_clocks(void *fdt, const char *names, int len);

#endif
