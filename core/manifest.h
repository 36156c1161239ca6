/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The manifest: manifest.dtb of the bundle, a device tree with one node per VM
 * below /vms. docs/user-guide.md is its reference.
 */
#ifndef CORE_MANIFEST_H
#define CORE_MANIFEST_H

#include "image.h"

struct vm_config;

/*
 * Checks @bundle and its manifest and fills @out, one element per VM in the
 * order of the tree; returns their number, 1..@max. Whatever is wrong is a
 * config_error() of the form "manifest: NODE: PROPERTY: what". Strings and
 * files of @out point into the bundle or a copy of the manifest that stays.
 * Boot CPU, after the other CPUs are online.
 */
unsigned int manifest_load(const struct blob *bundle, struct vm_config *out,
			   unsigned int max);

#endif
