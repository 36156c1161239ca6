// SPDX-License-Identifier: BSD-2-Clause
/*
 * The virtual interface of iface.h. Owns all state of the machine; one thread,
 * so a cross-CPU call is a call with fake_cpu switched.
 */
#include "iface.h"

#include "dev.h"
#include "gic.h"
#include "host.h"
#include "vgic.h"
#include "vgic_hw.h"
#include "vtimer.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#define EOICOUNT_ONE	BIT(27)

struct vgic_hw vgic_hw;
struct iface ifaces[PCPUS];
uint32_t timer_levels[MAX_VCPUS];
unsigned int told[MAX_VCPUS];

static struct cpu pcpus[PCPUS];
static struct vm the_vm;
static struct vcpu the_vcpus[MAX_VCPUS];

static struct iface *here(void)
{
	return &ifaces[fake_cpu->id];
}

/* ---- vgic_hw.h, as the hypervisor sees it -------------------------------- */

void vgic_hw_init(void)
{
}

uint64_t vgic_hw_lr(unsigned int i)
{
	assert_in_range(i, 0, vgic_hw.nr_lrs - 1);
	return here()->lr[i];
}

void vgic_hw_set_lr(unsigned int i, uint64_t v)
{
	assert_in_range(i, 0, vgic_hw.nr_lrs - 1);
	here()->lr[i] = v;
}

void vgic_hw_aprs(uint64_t apr[2][VGIC_APRS])
{
	for (unsigned int i = 0; i < 2 * vgic_nr_aprs(); i++)
		apr[i % 2][i / 2] = here()->apr[i % 2][i / 2];
}

void vgic_hw_set_aprs(const uint64_t apr[2][VGIC_APRS])
{
	for (unsigned int i = 0; i < 2 * vgic_nr_aprs(); i++)
		here()->apr[i % 2][i / 2] = (uint32_t)apr[i % 2][i / 2];
}

uint64_t vgic_hw_hcr(void)
{
	return here()->hcr;
}

void vgic_hw_set_hcr(uint64_t v)
{
	here()->hcr = v;
}

uint64_t vgic_hw_vmcr(void)
{
	return here()->vmcr;
}

void vgic_hw_set_vmcr(uint64_t v)
{
	here()->vmcr = v;
}

void vgic_hw_sync(void)
{
}

/* ---- the host around it -------------------------------------------------- */

void gic_deactivate(unsigned int intid)
{
	here()->phys_active &= ~(1u << (intid - 1));
}

bool vtimer_level(const struct vcpu *v, unsigned int intid)
{
	return timer_levels[v->id] >> intid & 1;
}

/* Not the guest's number, so that a mix-up is seen. */
unsigned int vtimer_pintid(unsigned int intid)
{
	return intid + 1;
}

void host_vcpu_irq(struct vcpu *v)
{
	v->req |= VCPU_REQ_IRQ;
	told[v->id]++;
}

void cpu_call(unsigned int id, void (*fn)(void *arg), void *arg)
{
	struct cpu *self = fake_cpu;

	assert_in_range(id, 0, PCPUS - 1);
	assert_false(spin_held(&the_vm.arch.vgic.lock));
	on_cpu(id);
	fn(arg);
	fake_cpu = self;
}

void on_cpu(unsigned int id)
{
	fake_cpu = &pcpus[id];
}

/* ---- machine ------------------------------------------------------------- */

struct vm *machine(unsigned int vcpus, unsigned int lrs, unsigned int pri,
		   unsigned int pre, bool tdir)
{
	memset(ifaces, 0, sizeof(ifaces));
	memset(pcpus, 0, sizeof(pcpus));
	memset(&the_vm, 0, sizeof(the_vm));
	memset(the_vcpus, 0, sizeof(the_vcpus));
	memset(timer_levels, 0, sizeof(timer_levels));
	memset(told, 0, sizeof(told));
	vgic_hw = (struct vgic_hw){ (uint8_t)lrs, (uint8_t)pri, (uint8_t)pre,
				    tdir };
	for (unsigned int i = 0; i < PCPUS; i++) {
		pcpus[i].id = i;
		pcpus[i].arch.id = i;
		on_cpu(i);
		vgic_cpu_init();
	}
	the_vm.nr_vcpus = vcpus;
	assert_int_equal(vgic_vm_init(&the_vm), 0);
	for (unsigned int i = 0; i < vcpus; i++) {
		struct vcpu *v = &the_vcpus[i];

		v->vm = &the_vm;
		v->id = i;
		v->arch.mpidr = BIT(31) | i / 16 << 8 | i % 16;
		the_vm.vcpus[i] = v;
		vgic_vcpu_init(v);
	}
	vgic_vm_reset(&the_vm);
	for (unsigned int i = 0; i < vcpus; i++)
		vgic_vcpu_reset(&the_vcpus[i]);
	on_cpu(0);
	return &the_vm;
}

void load(struct vcpu *v, unsigned int cpu)
{
	struct vtimer_cpu *vt = &pcpus[cpu].arch.vtimer;

	on_cpu(cpu);
	assert_null(fake_cpu->arch.gic.vgic);
	assert_int_equal(vt->active, here()->phys_active);
	vt->active = vgic_link(v, cpu, timer_levels[v->id]);
	here()->phys_active = vt->active;
	vgic_load(v);
	here()->on = true;
}

void put(struct vcpu *v)
{
	on_cpu(v->arch.vgic.pcpu);
	vgic_put(v);
	vgic_link(v, VGIC_NO_PCPU, timer_levels[v->id]);
	here()->on = false;
	assert_int_equal(here()->hcr, 0);
	for (unsigned int i = 0; i < vgic_hw.nr_lrs; i++)
		assert_false(here()->lr[i] & (LR_PENDING | LR_ACTIVE));
}

static bool timers_fire(struct vcpu *v)
{
	uint32_t due = timer_levels[v->id] & ~here()->phys_active;

	for (uint32_t bits = due; bits; bits &= bits - 1) {
		unsigned int intid = (unsigned int)__builtin_ctz(bits);

		here()->phys_active |= 1u << intid;
		vgic_link_fired(v, intid);
	}
	return due;
}

static bool maintenance(const struct iface *f)
{
	unsigned int pending = 0;
	bool eoi_due = false;

	if (!(f->hcr & ICH_HCR_EN))
		return false;
	for (unsigned int i = 0; i < vgic_hw.nr_lrs; i++) {
		uint64_t lr = f->lr[i];

		if ((lr & LR_PENDING) && !(lr & LR_ACTIVE))
			pending++;
		if (!(lr & (LR_PENDING | LR_ACTIVE | LR_HW)) && (lr & LR_EOI))
			eoi_due = true;
	}
	return eoi_due || ((f->hcr & ICH_HCR_NPIE) && !pending) ||
	       ((f->hcr & ICH_HCR_LRENPIE) && (f->hcr & ICH_HCR_EOICOUNT)) ||
	       ((f->hcr & ICH_HCR_GRP0EIE) && (f->vmcr & ICH_VMCR_GRP0)) ||
	       ((f->hcr & ICH_HCR_GRP0DIE) && !(f->vmcr & ICH_VMCR_GRP0)) ||
	       ((f->hcr & ICH_HCR_GRP1EIE) && (f->vmcr & ICH_VMCR_GRP1)) ||
	       ((f->hcr & ICH_HCR_GRP1DIE) && !(f->vmcr & ICH_VMCR_GRP1));
}

/* Host interrupts, taken one after the other. */
static bool interrupts(struct vcpu *v)
{
	bool any = timers_fire(v);

	if (maintenance(here())) {
		vgic_maintenance();
		assert_false(maintenance(here()));
		any = true;
	}
	return any;
}

void enter(struct vcpu *v)
{
	unsigned int rounds = 0;
	bool again = true;

	on_cpu(v->arch.vgic.pcpu);
	while (again) {
		again = interrupts(v);
		if (v->req & VCPU_REQ_IRQ) {
			v->req &= ~(uint32_t)VCPU_REQ_IRQ;
			vgic_flush(v);
			again = true;
		}
		/* One for the reason, one or two for its consequences. */
		assert_true(++rounds < 5);
	}
}

void idle(struct vcpu *v)
{
	on_cpu(v->arch.vgic.pcpu);
	if (interrupts(v))
		assert_false(interrupts(v));
}

/* ---- the guest's side: ICV_* registers ----------------------------------- */

unsigned int preempt_mask(uint64_t vmcr, unsigned int group)
{
	unsigned int bpr = (unsigned int)field(vmcr, 23, 21);

	if (group && !(vmcr & ICH_VMCR_CBPR))
		bpr = (unsigned int)field(vmcr, 20, 18) - 1;
	return 0xffu & (0xffu << (bpr + 1));
}

static unsigned int running(const struct iface *f)
{
	for (unsigned int level = 0; level < 128; level++)
		if ((f->apr[0][level / 32] | f->apr[1][level / 32]) >>
			    level % 32 & 1)
			return level << (8 - vgic_hw.pre_bits);
	return NOTHING;
}

static unsigned int lr_prio(uint64_t lr)
{
	return (unsigned int)field(lr, 55, 48);
}

/* Index of the list register that is signalled, or nr_lrs. */
static unsigned int best_lr(const struct iface *f)
{
	unsigned int best = vgic_hw.nr_lrs, group;

	if (!(f->hcr & ICH_HCR_EN))
		return best;
	for (unsigned int i = 0; i < vgic_hw.nr_lrs; i++) {
		uint64_t lr = f->lr[i];

		if (!(lr & LR_PENDING) || (lr & LR_ACTIVE) ||
		    !(f->vmcr & (lr & LR_GROUP1 ? ICH_VMCR_GRP1 :
						  ICH_VMCR_GRP0)))
			continue;
		if (best == vgic_hw.nr_lrs ||
		    lr_prio(lr) < lr_prio(f->lr[best]))
			best = i;
	}
	if (best == vgic_hw.nr_lrs)
		return best;
	group = f->lr[best] & LR_GROUP1 ? 1 : 0;
	if (lr_prio(f->lr[best]) >= field(f->vmcr, 31, 24) ||
	    (lr_prio(f->lr[best]) & preempt_mask(f->vmcr, group)) >= running(f))
		return vgic_hw.nr_lrs;
	return best;
}

unsigned int signalled(unsigned int c, unsigned int *prio)
{
	const struct iface *f = &ifaces[c];
	unsigned int i = best_lr(f);

	if (i == vgic_hw.nr_lrs)
		return SPURIOUS;
	*prio = lr_prio(f->lr[i]);
	return (unsigned int)(f->lr[i] & LR_INTID);
}

unsigned int ack(unsigned int c)
{
	struct iface *f = &ifaces[c];
	unsigned int i = best_lr(f), group, level;

	if (i == vgic_hw.nr_lrs)
		return SPURIOUS;
	group = f->lr[i] & LR_GROUP1 ? 1 : 0;
	level = (lr_prio(f->lr[i]) & preempt_mask(f->vmcr, group)) >>
		(8 - vgic_hw.pre_bits);
	f->apr[group][level / 32] |= 1u << level % 32;
	f->lr[i] = (f->lr[i] & ~LR_PENDING) | LR_ACTIVE;
	return (unsigned int)(f->lr[i] & LR_INTID);
}

static void deactivate(struct iface *f, unsigned int intid)
{
	for (unsigned int i = 0; i < vgic_hw.nr_lrs; i++) {
		uint64_t *lr = &f->lr[i];

		if (!(*lr & LR_ACTIVE) || (*lr & LR_INTID) != intid)
			continue;
		*lr &= ~LR_ACTIVE;
		if (*lr & LR_HW)
			f->phys_active &= ~(1u << (field(*lr, 44, 32) - 1));
		return;
	}
	if ((f->hcr & ICH_HCR_EOICOUNT) != ICH_HCR_EOICOUNT)
		f->hcr += EOICOUNT_ONE;
}

void eoi(unsigned int c, unsigned int intid)
{
	struct iface *f = &ifaces[c];
	unsigned int run = running(f), level = run >> (8 - vgic_hw.pre_bits);
	uint32_t bit = 1u << level % 32;

	if (run == NOTHING)
		return;
	if (f->apr[0][level / 32] & bit)
		f->apr[0][level / 32] &= ~bit;
	else
		f->apr[1][level / 32] &= ~bit;
	if (!(f->vmcr & ICH_VMCR_EOIM))
		deactivate(f, intid);
}

bool dir(unsigned int c, unsigned int intid)
{
	struct iface *f = &ifaces[c];

	if (f->hcr & ICH_HCR_TDIR)
		return true;
	if (f->vmcr & ICH_VMCR_EOIM)
		deactivate(f, intid);
	return false;
}

/* ---- accesses and checks ------------------------------------------------- */

uint64_t gic_read(struct vcpu *v, uint64_t addr, unsigned int size)
{
	struct mmio m = { .gpa = addr, .size = (uint8_t)size };

	on_cpu(v->arch.vgic.pcpu);
	assert_true(vgic_mmio(v, &m));
	assert_true(size == 8 || !(m.value >> 8 * size));
	assert_false(spin_held(&v->vm->arch.vgic.lock));
	return m.value;
}

void gic_write(struct vcpu *v, uint64_t addr, unsigned int size, uint64_t val)
{
	struct mmio m = { .gpa = addr, .size = (uint8_t)size };

	m.value = val;
	m.write = true;

	on_cpu(v->arch.vgic.pcpu);
	assert_true(vgic_mmio(v, &m));
	assert_false(spin_held(&v->vm->arch.vgic.lock));
}

void check_interfaces(const struct vm *vm)
{
	uint8_t where[VGIC_INTIDS] = { 0 };

	for (unsigned int c = 0; c < PCPUS; c++) {
		const struct vcpu *v = pcpus[c].arch.gic.vgic;

		for (unsigned int i = 0; i < vgic_hw.nr_lrs; i++) {
			uint64_t lr = ifaces[c].lr[i];
			uint64_t both = LR_PENDING | LR_ACTIVE;
			unsigned int intid = (unsigned int)(lr & LR_INTID);

			if (!(lr & both))
				continue;
			assert_non_null(v);
			assert_ptr_equal(v->vm, vm);
			assert_in_range(intid, 0, VGIC_INTIDS - 1);
			/* Each in one place; private ones once per vCPU. */
			assert_false(where[intid] & 1 << c);
			if (intid >= VGIC_LOCAL)
				assert_false(where[intid]);
			where[intid] |= (uint8_t)(1 << c);
			if (!(lr & LR_HW))
				continue;
			assert_true((lr & both) != both);
			assert_int_equal(field(lr, 44, 32), intid + 1);
			assert_true(ifaces[c].phys_active >> intid & 1);
		}
	}
}
