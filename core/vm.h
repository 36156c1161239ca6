/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Virtual machines: configuration, memory, life cycle. Field letters as in
 * vcpu.h.
 *
 * Life: vm_create() -> STOPPED; vm_start() -> RUNNING; vm_end() -> ENDING while
 * vCPUs still leave their pCPUs, then the last one out makes it STOPPED (off,
 * killed) or builds it anew and starts it (reset). Work that the end of a VM
 * needs runs on the pCPU where the last vCPU left.
 */
#ifndef CORE_VM_H
#define CORE_VM_H

#include <arch/types.h>

#include "console.h"
#include "dev.h"
#include "host.h"
#include "image.h"
#include "limits.h"
#include "lock.h"
#include "sched.h"
#include "types.h"
#include "vcpu.h"

/* One node below /vms of the manifest, checked. Strings and files point into
 * the bundle, which stays in memory. */
struct vm_config {
	const char *name;
	struct blob kernel, ramdisk, dtb;	/* size 0: not given */
	enum image_format format;
	uint64_t load_offset;			/* IMAGE_FLAT */
	const char *bootargs;			/* or NULL */
	unsigned int nr_vcpus;
	uint64_t memory;			/* bytes, multiple of 2 MiB */
	struct sched_params sched;
	bool autostart;
	bool hypercalls;			/* may use abi/nestling.h */
};

/* A physically contiguous piece of guest RAM. */
struct vm_slot {
	gpa_t gpa;
	paddr_t pa;
	uint64_t size;		/* a page_alloc block: power of two */
};

enum vm_state { VM_STOPPED, VM_RUNNING, VM_ENDING };

/* Why a VM ends; the words of the status record. */
enum vm_reason { VM_OFF, VM_EXIT, VM_FAULT, VM_KILLED, VM_RESET };

#define VM_STATUS_FAULT	120	/* stopped by the hypervisor */

struct vm {
	struct arch_vm arch;
	const struct vm_config *cfg;		/* [I] */
	unsigned int id;			/* [I] index in vms[] */
	unsigned int nr_vcpus;			/* [I] */
	struct vcpu *vcpus[MAX_VCPUS];		/* [I] */
	struct vm_slot slots[MAX_SLOTS];	/* [I] ordered by gpa */
	unsigned int nr_slots;			/* [I] */
	struct device devs[MAX_DEVICES];	/* [I]; state [v] */
	unsigned int nr_devs;			/* [I] */
	struct spinlock lock;
	enum vm_state state;			/* [v] */
	enum vm_reason reason;			/* [v] of the end under way */
	int status;				/* [v] exit status 0..255 */
	unsigned int live;			/* [v] vCPUs not OFF */
	struct console_out out;			/* console lock */
};

extern struct vm *vms[MAX_VMS];
extern unsigned int nr_vms;

/*
 * Builds a VM from @cfg: memory, stage 2, devices, vCPUs. Prints its own
 * message. ERR_NOMEM and ERR_INVAL undo everything. Boot CPU or any, no lock.
 */
int vm_create(const struct vm_config *cfg);

/*
 * Loads the images into (zeroed) guest RAM, resets every vCPU and device and
 * starts vCPU 0. The VM is STOPPED. ERR_FORMAT, ERR_INVAL or ERR_NOMEM for
 * images that do not fit, with a message. No lock held.
 */
int vm_start(struct vm *vm);

/*
 * Asks for the end of a running VM: every vCPU leaves its pCPU, then it is
 * STOPPED, or started again for VM_RESET. The first reason wins. Any CPU, no
 * lock held; the caller may be one of its vCPUs, which then must not enter the
 * guest again (it has VCPU_REQ_OFF).
 */
void vm_end(struct vm *vm, enum vm_reason reason, int status);

/* vm_fault() is in host.h. */

/*
 * @v has become OFF and its state is in memory: the guest sees it off from now
 * on. The last one completes an end under way, on this CPU. No lock held.
 */
void vm_vcpu_gone(struct vcpu *v);

/* vm_ram() is in host.h. */

/* Copies to and from guest RAM across slots; false: not all RAM. */
bool vm_write(const struct vm *vm, gpa_t gpa, const void *buf, uint64_t len);
bool vm_read(const struct vm *vm, gpa_t gpa, void *buf, uint64_t len);
bool vm_zero(const struct vm *vm, gpa_t gpa, uint64_t len);

/* First address behind guest RAM. */
gpa_t vm_ram_end(const struct vm *vm);

#endif
