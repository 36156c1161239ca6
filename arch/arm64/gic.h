/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The host's GICv3: one distributor, a redistributor and CPU interface per
 * CPU. All host interrupts are group 1 of this security state, of one
 * priority, and taken with priority drop and deactivation split (EOImode 1),
 * so that a guest's end of interrupt can deactivate a physical one. IRQs are
 * masked at EL2: an interrupt is taken by arch_irq_poll() only.
 */
#ifndef ARM64_GIC_H
#define ARM64_GIC_H

#include "types.h"

struct cpu;

/* SGI that makes a CPU leave its guest or its sleep. */
#define GIC_SGI_KICK	0

/*
 * Boot CPU, once, host device tree mapped: finds GIC and timers, sets up the
 * distributor. config_error() for a machine without a usable GICv3.
 */
void gic_init(void);

/*
 * This CPU, once, after gic_init(): its redistributor, CPU interface and the
 * timers (timer_cpu_init). @c->arch.mpidr is valid.
 */
void gic_cpu_init(struct cpu *c);

/*
 * SGI to CPU @id, which is online. Everything written before is visible to it
 * when it looks. Any CPU, any lock.
 */
void gic_kick(unsigned int id);

/* Enables the level-sensitive SPI @intid, taken by CPU @id. Any CPU. */
void gic_enable_spi(unsigned int intid, unsigned int id);

/* Makes the SPI @intid pending once, whatever its line says. Any CPU. */
void gic_set_pending(unsigned int intid);

/*
 * Deactivates the PPI @intid of this CPU, acknowledged or set active before;
 * it can fire again.
 */
void gic_deactivate(unsigned int intid);

/* Makes PPI @intid of this CPU active: it cannot fire until deactivated. */
void gic_set_active(unsigned int intid);

/*
 * INTID of interrupt specifier @index of device tree node @node whose parent
 * is the GIC, or ERR_NOENT / ERR_FORMAT. Boot CPU, from gic_init() on.
 */
int gic_fdt_irq(int node, unsigned int index);

#endif
