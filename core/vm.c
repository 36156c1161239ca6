// SPDX-License-Identifier: BSD-2-Clause
/*
 * Life of a VM, from its configuration to its status record. See vm.h for the
 * states. The VM lock covers state, reason and the count of live vCPUs; what
 * needs other CPUs happens after it is released.
 */
#include "vm.h"

#include "arch.h"
#include "cpu.h"
#include "gfdt.h"
#include "machine.h"
#include "page.h"
#include "print.h"

#include <string.h>

struct vm *vms[MAX_VMS];
unsigned int nr_vms;

static const char *const reason_words[] = {
	[VM_OFF] = "off", [VM_EXIT] = "exit", [VM_FAULT] = "fault",
	[VM_KILLED] = "killed", [VM_RESET] = "reset",
};

/* RAM in the largest blocks that fit, so that stage 2 can use big entries. */
static int alloc_ram(struct vm *vm)
{
	uint64_t left = vm->cfg->memory;
	gpa_t gpa = arch_ram_base;
	unsigned int order = PAGE_MAX_ORDER;

	while (left) {
		struct vm_slot *s = &vm->slots[vm->nr_slots];

		while ((PAGE_SIZE << order) > left)
			order--;
		if (vm->nr_slots == MAX_SLOTS)
			return ERR_NOMEM;
		s->pa = page_alloc_dirty(order);
		if (!s->pa) {
			/* Fragmented: smaller blocks may do. */
			if (!order--)
				return ERR_NOMEM;
			continue;
		}
		s->gpa = gpa;
		s->size = PAGE_SIZE << order;
		vm->nr_slots++;
		if (arch_vm_map(vm, s->gpa, s->pa, s->size))
			return ERR_NOMEM;
		gpa += s->size;
		left -= s->size;
	}
	return 0;
}

/* Scrubs the RAM: nothing of an earlier owner or life is left in it. */
static void scrub(struct vm *vm)
{
	for (unsigned int i = 0; i < vm->nr_slots; i++) {
		void *p = (void *)vm->slots[i].pa;

		arch_zero_ram(p, vm->slots[i].size);
		arch_sync_ram(p, vm->slots[i].size);
	}
}

static void free_ram(struct vm *vm)
{
	for (unsigned int i = 0; i < vm->nr_slots; i++)
		page_free(vm->slots[i].pa, page_order(vm->slots[i].size));
	vm->nr_slots = 0;
}

static void free_vcpus(struct vm *vm)
{
	for (unsigned int i = 0; i < vm->nr_vcpus; i++) {
		struct vcpu *v = vm->vcpus[i];

		if (!v)
			continue;
		sched_vcpu_fini(v);
		arch_vcpu_fini(v);
		page_zfree(v, sizeof(*v));
		vm->vcpus[i] = NULL;
	}
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
	v->fp.cpu = FP_IN_MEMORY;
	fp_reset(v, arch_fp_max());
	err = sched_vcpu_init(v, &vm->cfg->sched);
	if (!err)
		err = arch_vcpu_init(v);
	if (err) {
		page_zfree(v, sizeof(*v));
		return err;
	}
	vm->vcpus[id] = v;
	return 0;
}

static int build(struct vm *vm)
{
	int err;

	vm->nr_vcpus = vm->cfg->nr_vcpus;
	err = arch_vm_init(vm);
	if (err)
		return err;
	for (unsigned int i = 0; i < vm->nr_vcpus; i++) {
		err = create_vcpu(vm, i);
		if (err)
			break;
	}
	if (!err)
		err = alloc_ram(vm);
	if (!err) {
		dev_init(vm);
		return 0;
	}
	free_vcpus(vm);
	free_ram(vm);
	arch_vm_fini(vm);
	return err;
}

int vm_create(const struct vm_config *cfg)
{
	struct vm *vm = page_zalloc(sizeof(*vm));
	int err;

	if (!vm || nr_vms == MAX_VMS)
		return ERR_NOMEM;
	vm->cfg = cfg;
	vm->id = nr_vms;
	err = build(vm);
	if (err) {
		page_zfree(vm, sizeof(*vm));
		return err;
	}
	vms[nr_vms++] = vm;
	return 0;
}

/* Fresh RAM, images and device tree; the entry of vCPU 0. */
static int load_images(struct vm *vm, struct image_layout *l)
{
	int err;

	scrub(vm);
	err = image_load(vm, l);
	if (err)
		return err;
	return gfdt_build(vm, l);
}

int vm_start(struct vm *vm)
{
	struct vcpu *v0 = vm->vcpus[0];
	struct image_layout l;
	int err = load_images(vm, &l);

	if (err)
		return err;
	arch_vm_reset(vm);
	dev_reset(vm);
	for (unsigned int i = 0; i < vm->nr_vcpus; i++) {
		struct vcpu *v = vm->vcpus[i];

		__atomic_store_n(&v->req, 0, __ATOMIC_RELAXED);
		fp_reset(v, v->fp.max);
		arch_vcpu_reset(v, l.entry, l.dtb);
	}
	spin_lock(&vm->lock);
	vm->state = VM_RUNNING;
	vm->live = 1;
	__atomic_store_n(&v0->on, true, __ATOMIC_RELEASE);
	spin_unlock(&vm->lock);
	log_debug("VM %s starts at %llx, device tree %llx", vm->cfg->name,
		  (unsigned long long)l.entry, (unsigned long long)l.dtb);
	sched_start(v0);
	return 0;
}

/* The last vCPU has left: what the end was for. */
static void finish(struct vm *vm)
{
	char text[64];

	console_guest_flush(vm);
	if (vm->reason == VM_RESET && !vm_start(vm))
		return;
	if (vm->reason == VM_RESET) {
		vm->reason = VM_FAULT;
		vm->status = VM_STATUS_FAULT;
	}
	ksnprintf(text, sizeof(text), "nestling vm %s status %d reason %s",
		  vm->cfg->name, vm->status, reason_words[vm->reason]);
	console_status(text);
	/* Only now: a VM between two lives must not end the machine. */
	__atomic_store_n(&vm->state, VM_STOPPED, __ATOMIC_SEQ_CST);
	machine_vm_ended();
}

void vm_vcpu_gone(struct vcpu *v)
{
	struct vm *vm = v->vm;
	bool last;

	spin_lock(&vm->lock);
	ASSERT(v->on && vm->live > 0);
	__atomic_store_n(&v->on, false, __ATOMIC_RELEASE);
	last = --vm->live == 0;
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

/* True for the call that ends the VM; later ones change nothing. */
static bool begin_end(struct vm *vm, enum vm_reason reason, int status)
{
	bool first;

	spin_lock(&vm->lock);
	first = vm->state == VM_RUNNING;
	if (first) {
		vm->state = VM_ENDING;
		vm->reason = reason;
		vm->status = status;
	}
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

void *vm_ram(const struct vm *vm, gpa_t gpa, uint64_t len)
{
	for (unsigned int i = 0; i < vm->nr_slots; i++) {
		const struct vm_slot *s = &vm->slots[i];

		if (range_inside(gpa - s->gpa, len, s->size))
			return (char *)s->pa + (gpa - s->gpa);
	}
	return NULL;
}

gpa_t vm_ram_end(const struct vm *vm)
{
	return arch_ram_base + vm->cfg->memory;
}

/*
 * Walks [gpa, gpa+len) slot by slot. What to do with a piece: copy in, copy
 * out, or zero it, by which of @src and @dst is given.
 */
static bool walk(const struct vm *vm, gpa_t gpa, uint64_t len,
		 const char *src, char *dst)
{
	if (gpa < arch_ram_base ||
	    !range_inside(gpa - arch_ram_base, len, vm->cfg->memory))
		return false;
	for (unsigned int i = 0; len && i < vm->nr_slots; i++) {
		const struct vm_slot *s = &vm->slots[i];
		uint64_t off = gpa - s->gpa, n;
		char *p = (char *)s->pa + off;

		if (gpa < s->gpa || off >= s->size)
			continue;
		n = min_u64(len, s->size - off);
		if (src)
			memcpy(p, src, n);
		else if (dst)
			memcpy(dst, p, n);
		else
			memset(p, 0, n);
		src = src ? src + n : NULL;
		dst = dst ? dst + n : NULL;
		gpa += n;
		len -= n;
	}
	return true;
}

bool vm_write(const struct vm *vm, gpa_t gpa, const void *buf, uint64_t len)
{
	return walk(vm, gpa, len, buf, NULL);
}

bool vm_read(const struct vm *vm, gpa_t gpa, void *buf, uint64_t len)
{
	return walk(vm, gpa, len, NULL, buf);
}

bool vm_zero(const struct vm *vm, gpa_t gpa, uint64_t len)
{
	return walk(vm, gpa, len, NULL, NULL);
}
