/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A random walk: guests, devices and hypervisor act at random on the virtual
 * GIC and the reference model, which must agree after every step about what
 * each vCPU is signalled, and about every pending and active bit that is read.
 */
#ifndef TESTS_VGIC_WALK_H
#define TESTS_VGIC_WALK_H

#include <stdbool.h>
#include <stdint.h>

struct walk {
	uint64_t seed;
	unsigned int steps;
	unsigned int vcpus, lrs, pri_bits, pre_bits;
	bool eoimode1;
	bool tdir;
};

/* Fails the test at the first disagreement, naming seed and step. */
void walk_run(const struct walk *w);

#endif
