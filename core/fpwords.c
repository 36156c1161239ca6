// SPDX-License-Identifier: BSD-2-Clause
/*
 * What VMs get that do not say otherwise, and the words for it in options and
 * in the manifest. The defaults are written only by options.c, at boot.
 */
#include "fp.h"

enum fp_policy fp_policy = FP_OWNER;
enum fp_width fp_width = FP_MAX;

const char *const fp_policy_words[] = {
	[FP_EAGER] = "eager",
	[FP_LAZY] = "lazy",
	[FP_OWNER] = "owner",
	[FP_POLICIES] = NULL,
};

const char *const fp_width_words[] = {
	[FP_STEP] = "step",
	[FP_MAX] = "max",
	[FP_ADAPTIVE] = "adaptive",
	[FP_WIDTHS] = NULL,
};
