// SPDX-License-Identifier: BSD-2-Clause
/*
 * Calls out of the guest under the SMC Calling Convention: PSCI, and the
 * hypercalls of Nestling (abi/nestling.h). Any vCPU, any context.
 */
#ifndef GUEST_HCALL_H
#define GUEST_HCALL_H

#include <stdint.h>
#include "nestling.h"

/* PSCI 1.1, Arm DEN0022. Ids of the 32-bit calls; bit 30 makes the 64-bit. */
#define PSCI_VERSION		0x84000000
#define PSCI_CPU_SUSPEND	0x84000001
#define PSCI_CPU_OFF		0x84000002
#define PSCI_CPU_ON		0x84000003
#define PSCI_AFFINITY_INFO	0x84000004
#define PSCI_MIGRATE		0x84000005
#define PSCI_MIGRATE_INFO_TYPE	0x84000006
#define PSCI_MIGRATE_INFO_UP_CPU 0x84000007
#define PSCI_SYSTEM_OFF		0x84000008
#define PSCI_SYSTEM_RESET	0x84000009
#define PSCI_FEATURES		0x8400000a
#define PSCI_SYSTEM_RESET2	0x84000012
#define PSCI_64			0x40000000

#define PSCI_SUCCESS		0
#define PSCI_NOT_SUPPORTED	(-1)
#define PSCI_INVALID_PARAMETERS	(-2)
#define PSCI_DENIED		(-3)
#define PSCI_ALREADY_ON		(-4)
#define PSCI_ON_PENDING		(-5)
#define PSCI_INVALID_ADDRESS	(-9)

#define SMCCC_VERSION		0x80000000
#define SMCCC_ARCH_FEATURES	0x80000001

/* x0..x17 before and after a call. */
struct smccc {
	uint64_t x[18];
};

/* One HVC or SMC with all of x0..x17 loaded before and stored after it. */
void smccc_hvc(struct smccc *regs);
void smccc_smc(struct smccc *regs);

/* A PSCI call by the conduit of the device tree; the result is x0. */
int64_t psci(uint64_t id, uint64_t a1, uint64_t a2, uint64_t a3);

/* True when the hypervisor below is Nestling (by its UUID). */
bool on_nestling(void);

/* A call of Nestling, by HVC; NESTLING_NOT_SUPPORTED anywhere else. */
int64_t nestling(uint64_t id, uint64_t a1);

/* Counter NESTLING_STAT_*, or -1 where there is none. */
int64_t nestling_stat(unsigned index);

#endif
