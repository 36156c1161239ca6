/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Virtual CPUs. Field letters: [I] fixed after creation, [q] the run queue
 * lock of se.cpu, [v] the VM lock, [a] atomic, [c] only the pCPU that runs or
 * has loaded it.
 */
#ifndef CORE_VCPU_H
#define CORE_VCPU_H

#include <arch/types.h>

#include "fp.h"
#include "sched.h"
#include "types.h"

struct vm;

enum vcpu_state {
	VCPU_OFF,		/* powered off; state undefined */
	VCPU_READY,		/* waits for a pCPU */
	VCPU_RUNNING,		/* is some cpu->curr */
	VCPU_BLOCKED,		/* waits for an interrupt */
	VCPU_STOPPED,		/* held by the monitor or a debugger */
	VCPU_STATES
};

/* What a vCPU is asked to do before it enters the guest again. */
enum vcpu_req {
	VCPU_REQ_OFF = 1,	/* its VM is ending or being reset */
	VCPU_REQ_STOP = 2,	/* hold it */
	VCPU_REQ_MOVE = 4,	/* leave this pCPU */
	VCPU_REQ_IRQ = 8,	/* interrupt state changed (arch consumes it) */
};

#define VCPU_NOT_LOADED	UINT32_MAX

struct vcpu_stats {
	uint64_t exits;		/* entries into the hypervisor */
	uint64_t switches;	/* times loaded onto a pCPU */
	uint64_t mmio;		/* exits to device models */
	uint64_t idles;		/* WFI or idle exits */
};

struct vcpu {
	struct arch_vcpu arch;		/* [c] first: reached from assembly */
	uint32_t req;			/* [a] enum vcpu_req bits */
	uint32_t loaded_on;		/* [a] pCPU that has its state */
	struct vm *vm;			/* [I] */
	unsigned int id;		/* [I] 0 .. vm->nr_vcpus - 1 */
	enum vcpu_state state;		/* [q] only by vcpu_set_state */
	bool on;			/* [v] as the guest sees it */
	struct sched_entity se;		/* [q] */
	struct fp_state fp;		/* [c] only by fp.c */
	struct vcpu_stats stats;	/* [c] */
};

/* The state that [q] protects; panics on an edge that must not happen. */
void vcpu_set_state(struct vcpu *v, enum vcpu_state to);
const char *vcpu_state_name(enum vcpu_state s);

/*
 * Sets request bits and makes a running vCPU see them; a blocked one is woken
 * for VCPU_REQ_IRQ only. Any CPU, no run queue lock held.
 */
void vcpu_request(struct vcpu *v, uint32_t bits);

/*
 * Is there a reason for a blocked vCPU to run: an interrupt it would wake for,
 * or a request? The predicate of every kind of sleep. Any CPU.
 */
bool vcpu_has_work(struct vcpu *v);

/* Takes @v, loaded here or not, off this CPU; FP as the policy says. */
void vcpu_put_here(struct vcpu *v);

/*
 * Brings @v's state, FP registers too, off whatever pCPU has it, by a
 * cross-CPU call if need be. @v is not RUNNING, except on this CPU. No lock.
 */
void vcpu_unload(struct vcpu *v);

/* The same for a vCPU that is about to be loaded here, where its FP registers
 * may stay. */
void vcpu_bring(struct vcpu *v);

#endif
