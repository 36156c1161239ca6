// SPDX-License-Identifier: BSD-2-Clause
/*
 * Life of a VM, from its configuration to its status record. See vm.h for the
 * states. The VM lock covers state, reason and the count of references; what
 * needs other CPUs happens after it is released. Invariant: while vm->refs is
 * not 0 its vCPUs and RAM exist; who takes it to 0 completes the end.
 */
#include "vm.h"

#include "arch.h"
#include "cpu.h"
#include "gfdt.h"
#include "machine.h"
#include "page.h"
#include "print.h"

struct vm *vms[MAX_VMS];
unsigned int nr_vms;

static const char *const reason_words[] = {
	[VM_OFF] = "off", [VM_EXIT] = "exit", [VM_FAULT] = "fault",
	[VM_KILLED] = "killed", [VM_RESET] = "reset",
};

const char *vm_reason_word(enum vm_reason r)
{
	return reason_words[r];
}

int vm_create(const struct vm_config *cfg)
{
	struct vm *vm = page_zalloc(sizeof(*vm));

	if (!vm || nr_vms == MAX_VMS)
		return ERR_NOMEM;
	vm->cfg = cfg;
	vm->id = nr_vms;
	vm->nr_vcpus = cfg->nr_vcpus;
	vms[nr_vms++] = vm;
	return 0;
}

/* ---- building and tearing down ----------------------------------------- */

static void free_vcpus(struct vm *vm)
{
	for (unsigned int i = 0; i < vm->nr_vcpus; i++) {
		struct vcpu *v = vm->vcpus[i];

		if (!v)
			continue;
		ASSERT(v->loaded_on == VCPU_NOT_LOADED);
		ASSERT(v->fp.cpu == FP_IN_MEMORY);
		arch_vcpu_fini(v);
		sched_vcpu_fini(v);
		vm->vcpus[i] = NULL;
		page_zfree(v, sizeof(*v));
	}
}

/* Gives everything back; what is not there is no matter. RAM comes last, when
 * nothing translates to it any more. */
static void demolish(struct vm *vm)
{
	free_vcpus(vm);
	arch_vm_fini(vm);
	vm_ram_free(vm);
}

static int create_vcpu(struct vm *vm, unsigned int id)
{
	struct vcpu *v = page_zalloc(sizeof(*v));
	int err;

	if (!v)
		return ERR_NOMEM;
	v->vm = vm;
	v->id = id;
	v->loaded_on = VCPU_NOT_LOADED;
	fp_init(v, &vm->cfg->fp);
	err = sched_vcpu_init(v, &vm->cfg->sched);
	if (!err) {
		err = arch_vcpu_init(v);
		if (err)
			sched_vcpu_fini(v);
	}
	if (err) {
		page_zfree(v, sizeof(*v));
		return err;
	}
	vm->vcpus[id] = v;
	return 0;
}

static int build(struct vm *vm)
{
	int err = arch_vm_init(vm);

	if (err)
		return err;
	for (unsigned int i = 0; !err && i < vm->nr_vcpus; i++)
		err = create_vcpu(vm, i);
	if (!err)
		err = vm_ram_alloc(vm);
	if (err)
		demolish(vm);
	else
		dev_init(vm);
	return err;
}

static unsigned long long mib(uint64_t bytes)
{
	return bytes / MiB;
}

/* build() with one line that says why it failed. */
static int build_or_say(struct vm *vm)
{
	const struct vm_config *cfg = vm->cfg;
	int err;

	if (cfg->memory > page_free_bytes()) {
		log_error("VM %s: %llu MiB of memory wanted, the machine has "
			  "%llu MiB free", cfg->name, mib(cfg->memory),
			  mib(page_free_bytes()));
		return ERR_NOMEM;
	}
	err = build(vm);
	if (err == ERR_NOMEM)
		log_error("VM %s: not enough memory", cfg->name);
	else if (err == ERR_BUSY)
		log_error("VM %s: rt-budget: no pCPU of its affinity has so "
			  "much time left to reserve", cfg->name);
	else if (err)
		log_error("VM %s: cannot be built with these parameters",
			  cfg->name);
	/* ERR_BUSY is for a VM that is not STOPPED. */
	return err == ERR_BUSY ? ERR_NOMEM : err;
}

/* Fresh RAM with images and device tree; devices and vCPUs reset. */
static int load(struct vm *vm)
{
	struct image_layout l;
	int err;

	vm_ram_scrub(vm);
	err = image_load(vm, &l);
	if (!err)
		err = gfdt_build(vm, &l);
	if (err)
		return err;
	arch_vm_reset(vm);
	dev_reset(vm);
	for (unsigned int i = 0; i < vm->nr_vcpus; i++) {
		struct vcpu *v = vm->vcpus[i];

		__atomic_store_n(&v->req, 0, __ATOMIC_RELAXED);
		fp_reset(v);
		arch_vcpu_reset(v, l.entry, l.dtb);
	}
	err = arch_vm_boot(vm, &l);
	if (err)
		return err;
	log_debug("VM %s: entry %llx, device tree %llx", vm->cfg->name,
		  (unsigned long long)l.entry, (unsigned long long)l.dtb);
	return 0;
}

/* ---- start and end ----------------------------------------------------- */

static void set_state(struct vm *vm, enum vm_state to)
{
	spin_lock(&vm->lock);
	vm->state = to;
	spin_unlock(&vm->lock);
}

/* STOPPED, or between two lives, to STARTING; false: it is neither. */
static bool begin_start(struct vm *vm)
{
	bool ok;

	spin_lock(&vm->lock);
	ok = vm->state == VM_STOPPED ||
	     (vm->state == VM_ENDING && vm->reason == VM_RESET);
	if (ok) {
		vm->state = VM_STARTING;
		vm->cancelled = false;
	}
	spin_unlock(&vm->lock);
	return ok;
}

int vm_prepare(struct vm *vm)
{
	int err;

	if (!begin_start(vm))
		return ERR_BUSY;
	err = build_or_say(vm);
	if (!err) {
		err = load(vm);
		if (err)
			demolish(vm);
	}
	if (err)
		set_state(vm, VM_STOPPED);
	return err;
}

static void conclude(struct vm *vm);

/* The vCPUs that run from the beginning. VM lock held. */
static void start_vcpus(struct vm *vm)
{
	unsigned int n = arch_start_all ? vm->nr_vcpus : 1;

	vm->refs = n;
	for (unsigned int i = 0; i < n; i++) {
		__atomic_store_n(&vm->vcpus[i]->on, true, __ATOMIC_RELEASE);
		sched_start(vm->vcpus[i]);
	}
}

void vm_run(struct vm *vm)
{
	bool go;

	spin_lock(&vm->lock);
	ASSERT(vm->state == VM_STARTING && !vm->refs);
	go = !vm->cancelled;
	vm->status = 0;
	vm->paused = false;
	if (go) {
		vm->state = VM_RUNNING;
		vm->starts++;
		start_vcpus(vm);
	} else {
		vm->state = VM_ENDING;
		vm->reason = VM_KILLED;
	}
	spin_unlock(&vm->lock);
	if (!go)
		conclude(vm);
}

int vm_start(struct vm *vm)
{
	int err;

	machine_keep();
	err = vm_prepare(vm);
	if (err)
		machine_drop();
	else
		vm_run(vm);
	return err;
}

/* The VM has ended for good: gives everything back, then says so. */
static void conclude(struct vm *vm)
{
	int status = vm->status;
	char text[64];

	ksnprintf(text, sizeof(text), "nestling vm %s status %d reason %s",
		  vm->cfg->name, status, reason_words[vm->reason]);
	console_guest_flush(vm);
	demolish(vm);
	console_input_drop(vm);
	if (vm->reason == VM_KILLED)
		log_info("VM %s is gone", vm->cfg->name);
	/* It can be started again by whoever reads the record. */
	set_state(vm, VM_STOPPED);
	console_status(text);
	machine_drop();
}

/* Another life after a reset, in the same memory. False: it failed. */
static bool restart(struct vm *vm)
{
	console_guest_flush(vm);
	if (!load(vm)) {
		vm_run(vm);
		return true;
	}
	spin_lock(&vm->lock);
	vm->state = VM_ENDING;
	vm->reason = VM_FAULT;
	vm->status = VM_STATUS_FAULT;
	spin_unlock(&vm->lock);
	return false;
}

/* Nobody refers to the VM any more: what the end was for. */
static void finish(struct vm *vm)
{
	if (!begin_start(vm) || !restart(vm))
		conclude(vm);
}

/* One reference less; with @off, the one of a vCPU that has become OFF. */
static void put(struct vm *vm, struct vcpu *off)
{
	bool last;

	spin_lock(&vm->lock);
	ASSERT(vm->refs > 0);
	if (off) {
		ASSERT(off->on);
		__atomic_store_n(&off->on, false, __ATOMIC_RELEASE);
	}
	last = --vm->refs == 0;
	if (last && vm->state == VM_RUNNING) {
		/* Every CPU turned itself off: nothing can wake it again. */
		vm->state = VM_ENDING;
		vm->reason = VM_OFF;
		vm->status = 0;
	}
	spin_unlock(&vm->lock);
	if (last)
		finish(vm);
}

bool vm_get(struct vm *vm)
{
	bool ok;

	spin_lock(&vm->lock);
	ok = vm->refs > 0;
	if (ok)
		vm->refs++;
	spin_unlock(&vm->lock);
	return ok;
}

void vm_put(struct vm *vm)
{
	put(vm, NULL);
}

void vm_vcpu_gone(struct vcpu *v)
{
	put(v->vm, v);
}

/*
 * True, with a reference, for the call that ends the VM. A later one changes
 * nothing, but that a kill also prevents the next life.
 */
static bool begin_end(struct vm *vm, enum vm_reason reason, int status)
{
	bool first;

	spin_lock(&vm->lock);
	first = vm->state == VM_RUNNING;
	if (first) {
		vm->state = VM_ENDING;
		vm->paused = false;
		vm->refs++;
	}
	if (first || (reason == VM_KILLED && vm->state == VM_ENDING &&
		      vm->reason == VM_RESET)) {
		vm->reason = reason;
		vm->status = status;
	}
	if (reason == VM_KILLED && vm->state == VM_STARTING)
		vm->cancelled = true;
	spin_unlock(&vm->lock);
	return first;
}

void vm_end(struct vm *vm, enum vm_reason reason, int status)
{
	if (!begin_end(vm, reason, status))
		return;
	for (unsigned int i = 0; i < vm->nr_vcpus; i++)
		vcpu_request(vm->vcpus[i], VCPU_REQ_OFF);
	for (unsigned int i = 0; i < vm->nr_vcpus; i++) {
		struct vcpu *v = vm->vcpus[i];

		/* One that runs or turns off leaves by itself. */
		if (!sched_remove(v, VCPU_OFF))
			continue;
		vcpu_unload(v);
		vm_vcpu_gone(v);
	}
	vm_put(vm);
}

void vm_fault(struct vcpu *v, const char *fmt, ...)
{
	char text[128];
	va_list ap;

	va_start(ap, fmt);
	kvsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	log_error("VM %s vCPU %u stopped: %s", v->vm->cfg->name, v->id, text);
	arch_vcpu_dump(v);
	vm_end(v->vm, VM_FAULT, VM_STATUS_FAULT);
}

/* ---- pause and resume -------------------------------------------------- */

/* With a reference when it changed. */
static bool set_paused(struct vm *vm, bool on)
{
	bool changed;

	spin_lock(&vm->lock);
	changed = vm->state == VM_RUNNING && vm->paused != on;
	if (changed) {
		vm->paused = on;
		vm->refs++;
	}
	spin_unlock(&vm->lock);
	return changed;
}

int vm_pause(struct vm *vm)
{
	if (!set_paused(vm, true))
		return ERR_BUSY;
	for (unsigned int i = 0; i < vm->nr_vcpus; i++) {
		struct vcpu *v = vm->vcpus[i];

		vcpu_request(v, VCPU_REQ_STOP);
		/* One that runs comes to vm_vcpu_stop() by itself. */
		if (sched_remove(v, VCPU_STOPPED))
			vcpu_unload(v);
	}
	vm_put(vm);
	return 0;
}

int vm_resume(struct vm *vm)
{
	if (!set_paused(vm, false))
		return ERR_BUSY;
	for (unsigned int i = 0; i < vm->nr_vcpus; i++) {
		struct vcpu *v = vm->vcpus[i];

		/* Cleared first: see vm_vcpu_stop(). */
		__atomic_fetch_and(&v->req, ~(uint32_t)VCPU_REQ_STOP,
				   __ATOMIC_SEQ_CST);
		sched_resume(v);
	}
	vm_put(vm);
	return 0;
}

void vm_vcpu_stop(struct vcpu *v)
{
	struct vm *vm = v->vm;
	uint32_t req;

	/* Once it is STOPPED another CPU may end it and free it. */
	vm_get(vm);
	vcpu_unload(v);
	sched_off(v, VCPU_STOPPED);
	/* STOPPED is visible before the last look; who resumes or ends it
	 * changes the request first and then looks at the state. */
	arch_mb();
	req = __atomic_load_n(&v->req, __ATOMIC_SEQ_CST);
	if (!(req & VCPU_REQ_STOP) || (req & VCPU_REQ_OFF))
		sched_resume(v);
	vm_put(vm);
}

bool vm_settled(struct vm *vm)
{
	bool stopped = true, paused;
	enum vm_state s;

	spin_lock(&vm->lock);
	s = vm->state;
	paused = vm->paused;
	spin_unlock(&vm->lock);
	if (s == VM_STARTING || s == VM_ENDING)
		return false;
	if (s == VM_STOPPED || !paused || !vm_get(vm))
		return true;
	for (unsigned int i = 0; i < vm->nr_vcpus; i++) {
		enum vcpu_state vs = __atomic_load_n(&vm->vcpus[i]->state,
						     __ATOMIC_RELAXED);

		stopped &= vs == VCPU_OFF || vs == VCPU_STOPPED;
	}
	vm_put(vm);
	return stopped;
}
