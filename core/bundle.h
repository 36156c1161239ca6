/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bundle: a cpio archive (newc format, not compressed) in host memory that
 * holds the manifest and the files of all VMs. It is a user's file: every
 * length is checked before it is used, and nothing outside the blob is read.
 */
#ifndef CORE_BUNDLE_H
#define CORE_BUNDLE_H

#include "image.h"
#include "types.h"

/*
 * Checks the whole archive: headers, lengths, names, no file twice, trailer
 * at the end, at most 1024 entries. NULL, or a phrase that says what is wrong,
 * with the offset of the entry in @where. Pure.
 */
const char *bundle_check(const struct blob *bundle, uint64_t *where);

/* Finds the regular file @name in a checked bundle; false: it is not there. A
 * leading "./" in the archive does not matter. Pure. */
bool bundle_find(const struct blob *bundle, const char *name, struct blob *out);

#endif
