/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every fixed limit of the hypervisor. A limit that a user can run into has a
 * message that names it; docs/user-guide.md repeats the table.
 */
#ifndef CORE_LIMITS_H
#define CORE_LIMITS_H

#define MAX_PCPUS	64	/* physical CPUs; affinity is one 64-bit mask */
#define MAX_VMS		64	/* VMs in one manifest */
#define MAX_VCPUS	32	/* vCPUs of one VM */
#define MAX_SLOTS	64	/* physically contiguous pieces of a VM's RAM */
#define MAX_DEVICES	8	/* emulated devices of one VM */
#define VM_NAME_MAX	32	/* with the terminating 0 */

#endif
