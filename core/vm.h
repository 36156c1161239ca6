/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Virtual machines: configuration, memory, life cycle. Field letters as in
 * vcpu.h.
 *
 * Life: vm_create() -> STOPPED, a mere configuration. vm_start() builds it:
 * STARTING, then RUNNING. vm_end() -> ENDING while vCPUs still leave their
 * pCPUs and others still use them; who drops the last reference tears it down
 * (STOPPED: nothing is left but the record), or, for a reset, loads it anew and
 * lets it run. That work is done on the pCPU where it happens.
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
	struct fp_params fp;
	bool autostart;
	bool hypercalls;			/* may use abi/nestling.h */
};

/* A physically contiguous piece of guest RAM. */
struct vm_slot {
	gpa_t gpa;
	paddr_t pa;
	uint64_t size;		/* a page_alloc block: power of two */
};

enum vm_state { VM_STOPPED, VM_STARTING, VM_RUNNING, VM_ENDING };

/* Why a VM ends; the words of the status record. */
enum vm_reason { VM_OFF, VM_EXIT, VM_FAULT, VM_KILLED, VM_RESET };

#define VM_STATUS_FAULT	120	/* stopped by the hypervisor */

/* [b]: from the end of building to the begin of tearing down, which is while
 * somebody holds a reference, and for the CPU that does these two. */
struct vm {
	struct arch_vm arch;			/* [b] */
	const struct vm_config *cfg;		/* [I] */
	unsigned int id;			/* [I] index in vms[] */
	unsigned int nr_vcpus;			/* [I] */
	struct vcpu *vcpus[MAX_VCPUS];		/* [b] */
	struct vm_slot slots[MAX_SLOTS];	/* [b] ordered by gpa */
	unsigned int nr_slots;			/* [b] */
	struct device devs[MAX_DEVICES];	/* [b]; state [v] */
	unsigned int nr_devs;			/* [b] */
	struct spinlock lock;
	enum vm_state state;			/* [v] */
	enum vm_reason reason;			/* [v] of the last end */
	int status;				/* [v] exit status 0..255 */
	unsigned int refs;			/* [v] vCPUs on, and vm_get() */
	unsigned int starts;			/* [v] lives so far */
	bool paused;				/* [v] no vCPU shall run */
	bool cancelled;				/* [v] killed while STARTING */
	struct console_out out;			/* console lock */
};

extern struct vm *vms[MAX_VMS];
extern unsigned int nr_vms;

/*
 * Enters a VM into vms[], STOPPED; it stays there. ERR_NOMEM. Boot CPU.
 */
int vm_create(const struct vm_config *cfg);

/*
 * Starts a STOPPED VM: memory, stage 2, vCPUs, devices; RAM zeroed, images and
 * device tree loaded; then vCPU 0 runs. Takes the time that zeroing takes, and
 * answers calls of other CPUs meanwhile. On failure everything is given back,
 * one line says why, and the VM is STOPPED: ERR_NOMEM, ERR_FORMAT or ERR_INVAL.
 * ERR_BUSY, without a line: it is not STOPPED. Any CPU, no lock held.
 *
 * At boot in two steps, so that a mistake in one VM is found before any runs:
 * vm_prepare() does all but the last, vm_run() follows. They leave it to the
 * caller to keep the machine (machine.h).
 */
int vm_start(struct vm *vm);
int vm_prepare(struct vm *vm);
void vm_run(struct vm *vm);

/*
 * Asks for the end of a running VM: every vCPU leaves its pCPU, whatever it
 * does, then everything is given back, or the VM runs again for VM_RESET. The
 * first reason wins, but VM_KILLED also ends a VM that is being reset or
 * started. Any CPU, no lock held; the caller may be one of its vCPUs, which
 * then must not enter the guest again (it has VCPU_REQ_OFF).
 */
void vm_end(struct vm *vm, enum vm_reason reason, int status);
const char *vm_reason_word(enum vm_reason r);

/* vm_fault() is in host.h. */

/*
 * Pauses a running VM: none of its vCPUs enters the guest again until it is
 * resumed; those that run stop soon, see vm_settled(). Its counters go on, so
 * the guest sees the time it missed, and timers due meanwhile fire afterwards.
 * ERR_BUSY when it does not run or is (not) paused already. One caller at a
 * time, any CPU, no lock held.
 */
int vm_pause(struct vm *vm);
int vm_resume(struct vm *vm);

/* Has what was asked of the VM happened: is it running, all paused or STOPPED,
 * not on the way to one of them? No lock held. */
bool vm_settled(struct vm *vm);

/*
 * A reference: vCPUs and RAM stay until vm_put(). False: they are not there.
 * The last vm_put() may tear the VM down. Any CPU, no lock held.
 */
bool vm_get(struct vm *vm);
void vm_put(struct vm *vm);

/*
 * @v has become OFF and its state is in memory: the guest sees it off from now
 * on. The last one completes an end under way, on this CPU. No lock held.
 */
void vm_vcpu_gone(struct vcpu *v);

/*
 * The current vCPU @v of this CPU, which has VCPU_REQ_STOP, becomes STOPPED.
 * Afterwards this CPU has no current vCPU. No lock held.
 */
void vm_vcpu_stop(struct vcpu *v);

/* For vm.c: RAM of a VM that is being built and torn down (vmram.c). The
 * reverse undoes what has been done of an ERR_NOMEM too. Scrubbing zeroes it
 * for every observer, also a guest with its caches off. */
int vm_ram_alloc(struct vm *vm);
void vm_ram_scrub(struct vm *vm);
void vm_ram_free(struct vm *vm);

/* vm_ram() is in host.h. */

/* Is @gpa..@gpa+@len all RAM? Right for every input, wrapping sums included. */
bool vm_is_ram(const struct vm *vm, gpa_t gpa, uint64_t len);

/* First address behind the first bank of guest RAM, where images are. */
gpa_t vm_ram_end(const struct vm *vm);

#endif
