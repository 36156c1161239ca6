/* SPDX-License-Identifier: BSD-2-Clause */
/* Power control of vCPUs and VMs, below PSCI and its like. */
#ifndef CORE_POWER_H
#define CORE_POWER_H

struct vcpu;
struct vm_exit;

/* Performs the power call of exit @e; @v is the current vCPU of this CPU. */
void power_exit(struct vcpu *v, struct vm_exit *e);

#endif
