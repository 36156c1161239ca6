/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * More interrupts than list registers: which go in, and how the others get
 * their turn. vgic.c calls this, with the vgic lock held, for a vCPU that is
 * loaded on this CPU.
 */
#ifndef ARM64_VGIC_OVER_H
#define ARM64_VGIC_OVER_H

#include "vcpu.h"

/*
 * Chooses at most as many as there are list registers of the interrupts that
 * are pending or active for @v, which are folded. Returns how many, and in
 * @hcr adds what calls us when another choice is due.
 */
unsigned int vgic_over_choose(struct vcpu *v, uint8_t intids[VGIC_MAX_LRS],
			      uint64_t *hcr);

/* Bits of a priority that decide about preemption, by ICH_VMCR_EL2. */
unsigned int vgic_preempt_mask(uint64_t vmcr, bool group1);

/*
 * The guest ended @n active interrupts that were in no list register
 * (ICH_HCR_EL2.EOIcount). Those in list registers are not folded yet.
 */
void vgic_over_ended(struct vcpu *v, uint64_t n);

#endif
