/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Structures of the interrupt controllers and timers that are embedded by
 * value in arch/types.h. The virtual GIC's state is kept as bit maps of 32
 * interrupts (banks): what is pending, active or deliverable is computed from
 * them each time, never cached. Letters: [g] the vgic lock of the VM, [p] only
 * the pCPU that has the vCPU loaded, [I] fixed after creation.
 */
#ifndef ARCH_VGIC_TYPES_H
#define ARCH_VGIC_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "limits.h"
#include "lock.h"
#include "timer.h"

struct vcpu;

/* INTIDs of a guest: SGIs 0..15, PPIs 16..31, SPIs 32..127. */
#define VGIC_LOCAL	32
#define VGIC_SPIS	96
#define VGIC_INTIDS	(VGIC_LOCAL + VGIC_SPIS)
#define VGIC_BANKS	(VGIC_INTIDS / 32)
#define VGIC_MAX_LRS	16
#define VGIC_APRS	4	/* active priority registers per group */

/* 32 interrupts, bit n is INTID 32 * bank + n. */
struct vgic_bank {
	uint32_t enabled;	/* [g] */
	uint32_t latch;		/* [g] pending by an edge or a write */
	uint32_t line;		/* [g] level of the input */
	uint32_t active;	/* [g] */
	uint32_t group1;	/* [g] else group 0 */
	uint32_t edge;		/* [g] edge triggered, else level sensitive */
	uint8_t prio[32];	/* [g] implemented bits only */
};

/* Per VM: the distributor. */
struct vgic {
	struct spinlock lock;
	uint32_t ctlr;			/* [g] group enables */
	uint32_t busy;			/* [g] SPI banks that may have a latch,
					 * a line or an active one */
	struct vgic_bank spi[VGIC_BANKS - 1];
	uint32_t router[VGIC_SPIS];	/* [g] GICD_IROUTER, low word */
	uint8_t target[VGIC_SPIS];	/* [g] vCPU, VGIC_NOBODY */
	uint8_t owner[VGIC_SPIS];	/* [g] vCPU that has it in a list
					 * register or active */
	uint64_t cntvoff;		/* CNTVOFF_EL2 of the VM */
};

#define VGIC_NOBODY	0xff

/* Per vCPU: redistributor and CPU interface. */
struct vgic_cpu {
	struct vgic_bank local;		/* SGIs and PPIs */
	uint32_t route[VGIC_BANKS];	/* [g] interrupts that come here */
	uint32_t act[VGIC_BANKS];	/* [g] active ones taken here, SPIs */
	uint32_t in_lr[VGIC_BANKS];	/* [g] in a list register */
	uint32_t lr_latch[VGIC_BANKS];	/* [g] latches moved there */
	uint32_t pcpu;			/* [g] whose hardware has it */
	bool live;			/* [g] list registers are the truth */
	bool saved;			/* [p] @vmcr, @apr are up to date */
	bool over;			/* [g] more than fit into them */
	bool asleep;			/* [g] GICR_WAKER.ProcessorSleep */
	uint16_t listed;		/* [g] registers @lr_intid is for */
	uint16_t dirty;			/* [p] those that must be cleared */
	uint8_t lr_intid[VGIC_MAX_LRS];	/* [g] what is where */
	uint64_t hcr;			/* [p] ICH_HCR_EL2 as written */
	uint64_t vmcr;			/* [p] while not loaded or idle */
	uint64_t apr[2][VGIC_APRS];	/* [p] likewise, by group */
};

#define VGIC_NO_PCPU	UINT32_MAX

/* The timers a guest has. */
enum vtimer_id { VTIMER_VIRT, VTIMER_PHYS, VTIMERS };

/* Per vCPU: EL1 timers while not loaded. */
struct vtimer {
	uint64_t ctl[VTIMERS], cval[VTIMERS];
	struct timer timer;		/* stands in for both */
	uint32_t armed_on;		/* pCPU whose queue may have @timer */
};

/* Per pCPU: what the timer hardware is known to be set to. */
struct vtimer_cpu {
	uint32_t active;		/* physical PPI active, bit: INTID
					 * the guest knows it by */
	uint64_t cntvoff;
	uint64_t host_deadline;		/* own timer, UINT64_MAX: off */
};

/* Per pCPU: host interrupt controller. */
struct gic_cpu {
	volatile void *rd;		/* own redistributor */
	struct vcpu *vgic;		/* vCPU loaded by vgic_load */
};

#endif
