/* SPDX-License-Identifier: BSD-2-Clause */
/* The calls of abi/nestling.h. */
#ifndef CORE_HCALL_H
#define CORE_HCALL_H

struct vcpu;
struct vm_exit;

/* Performs the call of exit @e; @v is the current vCPU of this CPU. */
void hcall_exit(struct vcpu *v, struct vm_exit *e);

#endif
