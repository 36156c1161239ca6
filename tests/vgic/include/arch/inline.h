/* SPDX-License-Identifier: BSD-2-Clause */
/* The arm64 headers with the fake's inline part: found before both. */
#include "../../../fake/include/arch/inline.h"
