/* SPDX-License-Identifier: BSD-2-Clause */
/* Boot check of the table of trapped system registers. */
#ifndef ARM64_TRAPREG_H
#define ARM64_TRAPREG_H

/* Boot CPU: asserts that the table is sorted and free of duplicates. */
void trapreg_init(void);

#endif
