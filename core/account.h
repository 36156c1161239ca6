/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Time of vCPUs: to which state it goes, and what a fair or a real-time vCPU
 * pays for it. Part of the scheduler. All functions: the queue lock of the
 * CPU, or of the one that se.cpu names.
 */
#ifndef CORE_ACCOUNT_H
#define CORE_ACCOUNT_H

#include "types.h"
#include "vcpu.h"

struct cpu;

/* Books the time since the last booking to the state that @v is in. */
void account_vcpu(struct vcpu *v, uint64_t now);

/* Brings the vCPU that runs on @c, if any, up to date. */
void account_cpu(struct cpu *c, uint64_t now);

/* Books, then changes the state. */
void account_state(struct vcpu *v, enum vcpu_state to, uint64_t now);

#endif
