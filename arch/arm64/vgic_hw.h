/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The virtual interface control registers (Arm IHI 0069, chapter 12): the only
 * way the virtual GIC touches hardware, so that a host test can replace it.
 * All functions act on this CPU. Writes take effect at the next exception
 * return at the latest. None of these registers traps under FEAT_NV2 except
 * ICH_VTR_EL2, which is read once.
 */
#ifndef ARM64_VGIC_HW_H
#define ARM64_VGIC_HW_H

#include <arch/vgic_types.h>

#include "types.h"

/* ICH_LR<n>_EL2. */
#define LR_INTID	BITS(31, 0)
#define LR_PINTID_SHIFT	32
#define LR_EOI		BIT(41)		/* HW=0: maintenance at the end */
#define LR_PRIO_SHIFT	48
#define LR_GROUP1	BIT(60)
#define LR_HW		BIT(61)
#define LR_PENDING	BIT(62)
#define LR_ACTIVE	BIT(63)

/* ICH_HCR_EL2. */
#define ICH_HCR_EN	BIT(0)
#define ICH_HCR_LRENPIE	BIT(2)
#define ICH_HCR_NPIE	BIT(3)
#define ICH_HCR_GRP0EIE	BIT(4)
#define ICH_HCR_GRP0DIE	BIT(5)
#define ICH_HCR_GRP1EIE	BIT(6)
#define ICH_HCR_GRP1DIE	BIT(7)
#define ICH_HCR_TDIR	BIT(14)
#define ICH_HCR_EOICOUNT_SHIFT	27
#define ICH_HCR_EOICOUNT	BITS(31, 27)

/* ICH_VMCR_EL2. */
#define ICH_VMCR_GRP0	BIT(0)
#define ICH_VMCR_GRP1	BIT(1)
#define ICH_VMCR_CBPR	BIT(4)
#define ICH_VMCR_EOIM	BIT(9)
#define ICH_VMCR_BPR1_SHIFT	18
#define ICH_VMCR_BPR0_SHIFT	21
#define ICH_VMCR_PMR_SHIFT	24

struct vgic_hw {
	uint8_t nr_lrs;		/* 1..16 */
	uint8_t pri_bits;	/* implemented bits of a priority, 5..8 */
	uint8_t pre_bits;	/* of them preemption bits, 5..7 */
	bool tdir;		/* ICH_HCR_EL2.TDIR works */
};

/* The same on every CPU; valid after vgic_hw_init() on the boot CPU. */
extern struct vgic_hw vgic_hw;

void vgic_hw_init(void);

/* Active priority registers of each group. */
static inline unsigned int vgic_nr_aprs(void)
{
	return 1u << (vgic_hw.pre_bits - 5);
}

uint64_t vgic_hw_lr(unsigned int i);
void vgic_hw_set_lr(unsigned int i, uint64_t v);
/* All of them, by group. */
void vgic_hw_aprs(uint64_t apr[2][VGIC_APRS]);
void vgic_hw_set_aprs(const uint64_t apr[2][VGIC_APRS]);
uint64_t vgic_hw_hcr(void);
void vgic_hw_set_hcr(uint64_t v);
uint64_t vgic_hw_vmcr(void);
void vgic_hw_set_vmcr(uint64_t v);

/* Orders what was written before against what the GIC does after. */
void vgic_hw_sync(void);

#endif
