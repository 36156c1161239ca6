/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A machine for tests of the virtual GIC: per pCPU the virtual interface with
 * its list registers, written from the architecture (Arm IHI 0069, chapters 4
 * and 12), and the physical PPIs of the guest timers; VMs of which only the
 * GIC's part exists. A test plays hypervisor and guest by turns; the pCPU that
 * executes is fake_cpu.
 */
#ifndef TESTS_VGIC_IFACE_H
#define TESTS_VGIC_IFACE_H

#include "cpu.h"
#include "vcpu.h"
#include "vm.h"

#define PCPUS		3
#define SPURIOUS	1023
#define NOTHING		0x100	/* lower than any priority */

struct iface {
	uint64_t lr[16], hcr, vmcr;
	uint32_t apr[2][4];
	uint32_t phys_active;	/* PPIs by guest INTID */
	bool on;		/* a guest can run: for the maintenance line */
};

extern struct iface ifaces[PCPUS];

/* Per vCPU: outputs of the timers by INTID, and calls to host_vcpu_irq(). */
extern uint32_t timer_levels[MAX_VCPUS];
extern unsigned int told[MAX_VCPUS];

/* Everything anew: interface of @lrs list registers and @pre preemption bits of
 * @pri priority bits; one VM of @vcpus, reset, none loaded. */
struct vm *machine(unsigned int vcpus, unsigned int lrs, unsigned int pri,
		   unsigned int pre, bool tdir);

void on_cpu(unsigned int id);

/* What core and vtimer.c do. The vCPU may not be loaded elsewhere. */
void load(struct vcpu *v, unsigned int cpu);
void put(struct vcpu *v);

/*
 * All that happens before @v, loaded, runs on: timers that are due interrupt,
 * requests and maintenance interrupts are served.
 */
void enter(struct vcpu *v);

/* The same for an idle CPU whose loaded vCPU sleeps: host interrupts only. */
void idle(struct vcpu *v);

/* Highest priority interrupt that CPU @c signals, SPURIOUS; its priority. */
unsigned int signalled(unsigned int c, unsigned int *prio);

/* Register accesses of the guest on CPU @c; true: DIR traps. */
unsigned int ack(unsigned int c);
void eoi(unsigned int c, unsigned int intid);
bool dir(unsigned int c, unsigned int intid);

/* MMIO by @v, which is loaded. */
uint64_t gic_read(struct vcpu *v, uint64_t addr, unsigned int size);
void gic_write(struct vcpu *v, uint64_t addr, unsigned int size, uint64_t val);

/* Architecture rules that hold at any time; fails the test. */
void check_interfaces(const struct vm *vm);

/* Priority bits that decide about preemption, by group. */
unsigned int preempt_mask(uint64_t vmcr, unsigned int group);

#endif
