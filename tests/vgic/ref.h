/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reference model of a GICv3 with one security state, as simple as it gets and
 * without list registers: state per interrupt (Arm IHI 0069, chapter 4), one
 * CPU interface per vCPU. Interrupts of the timers are inputs like any other.
 */
#ifndef TESTS_VGIC_REF_H
#define TESTS_VGIC_REF_H

#include <stdbool.h>
#include <stdint.h>

#define REF_VCPUS	4
#define REF_INTIDS	128
#define REF_NOBODY	(-1)

struct ref_irq {
	bool enabled, latch, line, active, group1, edge;
	uint8_t prio;
	int owner;		/* who took it, while active */
	int target;		/* SPIs */
};

struct ref_cpu {
	uint64_t vmcr;		/* laid out like ICH_VMCR_EL2 */
	bool level[2][128];	/* active priorities */
};

struct ref {
	unsigned int vcpus;
	bool group_on[2];
	unsigned int pre_bits;
	struct ref_irq local[REF_VCPUS][32];
	struct ref_irq spi[REF_INTIDS];		/* by INTID, from 32 on */
	struct ref_cpu cpu[REF_VCPUS];
};

void ref_init(struct ref *r, unsigned int vcpus, unsigned int pre_bits,
	      uint64_t vmcr);

struct ref_irq *ref_irq(struct ref *r, unsigned int v, unsigned int intid);

bool ref_pending(const struct ref_irq *q);

/* Would vCPU @v be signalled @intid if it were alone? */
bool ref_candidate(struct ref *r, unsigned int v, unsigned int intid);

/*
 * Priority of what @v is signalled, 0x100: nothing. The choice is made by
 * priority first; only what is chosen may preempt. Where both groups have one
 * of that priority but only one of them may preempt, the choice is the
 * implementation's: then ref_either().
 */
unsigned int ref_signal(struct ref *r, unsigned int v);
bool ref_either(struct ref *r, unsigned int v);

/* Is there any that may preempt, be it hidden by another of higher priority
 * that may not? A sleeper must not sleep then. */
bool ref_wakes(struct ref *r, unsigned int v);

void ref_line(struct ref_irq *q, bool level);
void ref_ack(struct ref *r, unsigned int v, unsigned int intid);
void ref_eoi(struct ref *r, unsigned int v, unsigned int intid);
void ref_dir(struct ref *r, unsigned int v, unsigned int intid);

/* Active interrupts that @v took. */
unsigned int ref_active(struct ref *r, unsigned int v);

#endif
