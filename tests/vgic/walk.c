// SPDX-License-Identifier: BSD-2-Clause
/*
 * The random walk of walk.h. What it leaves out, because the architecture does
 * not define it or the hardware does not report it: with EOImode 0, interrupts
 * end in reverse order, and while some are active they keep priority and group,
 * the binary points stay, ISACTIVER and ICACTIVER are not used. EOImode 1 is
 * only walked where DIR can trap. A timer's output falls only with an exit that
 * flushes.
 */
#include "walk.h"

#include "iface.h"
#include "ref.h"
#include "vgic.h"
#include "vgic_hw.h"
#include "vgic_mmio.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#define MAX_NEST	128

/* What the guest of one vCPU took, last on top. */
struct nest {
	unsigned int n;
	uint8_t intid[MAX_NEST];
};

static struct {
	const struct walk *w;
	uint64_t rng;
	unsigned int step;
	const char *op;
	struct vm *vm;
	struct ref ref;
	struct nest run[REF_VCPUS];	/* taken, priority not dropped */
	struct nest dropped[REF_VCPUS];	/* EOImode 1: not deactivated */
	bool asleep[REF_VCPUS];		/* in WFI, loaded */
	bool waker[REF_VCPUS];		/* GICR_WAKER.ProcessorSleep */
	uint32_t router[REF_INTIDS];
	unsigned int quiet[REF_VCPUS];	/* told[] when last not signalled */
} s;

static uint32_t rnd(uint32_t n)
{
	s.rng ^= s.rng << 13;
	s.rng ^= s.rng >> 7;
	s.rng ^= s.rng << 17;
	return (uint32_t)(s.rng >> 20) % n;
}

#define AGREE(cond)							\
	do {								\
		if (!(cond)) {						\
			fprintf(stderr, "seed %llu step %u after %s: "	\
					"not %s\n", \
				(unsigned long long)s.w->seed, s.step,	\
				s.op, #cond);				\
			fail();						\
		}							\
	} while (0)

/* ---- who is where -------------------------------------------------------- */

static bool loaded(unsigned int v)
{
	return s.vm->vcpus[v]->arch.vgic.pcpu != VGIC_NO_PCPU;
}

static bool runs(unsigned int v)
{
	return loaded(v) && !s.asleep[v];
}

static unsigned int pcpu(unsigned int v)
{
	return s.vm->vcpus[v]->arch.vgic.pcpu;
}

static void load_any(unsigned int v)
{
	for (unsigned int c = 0, at = rnd(PCPUS); c < PCPUS; c++) {
		unsigned int cpu = (at + c) % PCPUS;

		on_cpu(cpu);
		if (!fake_cpu->arch.gic.vgic) {
			load(s.vm->vcpus[v], cpu);
			return;
		}
	}
}

/* ---- steps: the hypervisor ----------------------------------------------- */

static void op_switch(unsigned int v)
{
	if (loaded(v)) {
		put(s.vm->vcpus[v]);
		s.asleep[v] = false;
	} else {
		load_any(v);
	}
}

static void op_wfi(unsigned int v)
{
	if (s.asleep[v]) {
		s.asleep[v] = false;
	} else if (runs(v)) {
		on_cpu(pcpu(v));
		vgic_sync(s.vm->vcpus[v]);
		s.asleep[v] = true;
	}
}

static void op_timer(unsigned int v)
{
	unsigned int intid = rnd(2) ? 27 : 30;
	uint32_t bit = 1u << intid;
	struct vcpu *vc = s.vm->vcpus[v];

	if (!(timer_levels[v] & bit)) {
		timer_levels[v] |= bit;
		if (!loaded(v))
			vgic_set_ppi(vc, intid, true);
	} else if (runs(v)) {
		timer_levels[v] &= ~bit;
		vc->req |= VCPU_REQ_IRQ;
	}
	ref_line(ref_irq(&s.ref, v, intid), timer_levels[v] & bit);
}

static void op_spi(unsigned int v)
{
	unsigned int intid = 32 + rnd(96);
	bool level = rnd(2);

	(void)v;
	on_cpu(rnd(PCPUS));
	vgic_set_line(s.vm, intid, level);
	ref_line(ref_irq(&s.ref, 0, intid), level);
}

/* ---- steps: the guest's CPU interface ------------------------------------ */

static void op_ack(unsigned int v)
{
	unsigned int intid, best = ref_signal(&s.ref, v);

	if (!runs(v) || s.run[v].n == MAX_NEST)
		return;
	intid = ack(pcpu(v));
	AGREE((intid == SPURIOUS) == (best == NOTHING) ||
	      ref_either(&s.ref, v));
	if (intid == SPURIOUS)
		return;
	AGREE(ref_candidate(&s.ref, v, intid));
	AGREE(ref_irq(&s.ref, v, intid)->prio == best);
	ref_ack(&s.ref, v, intid);
	s.run[v].intid[s.run[v].n++] = (uint8_t)intid;
}

static void op_eoi(unsigned int v)
{
	struct nest *d = &s.dropped[v];
	unsigned int intid;

	if (!runs(v) || !s.run[v].n || d->n == MAX_NEST)
		return;
	intid = s.run[v].intid[--s.run[v].n];
	eoi(pcpu(v), intid);
	ref_eoi(&s.ref, v, intid);
	if (s.w->eoimode1)
		d->intid[d->n++] = (uint8_t)intid;
}

/* In any order, and SPIs also of another vCPU. */
static void op_dir(unsigned int v)
{
	unsigned int from = rnd(4) ? v : rnd(s.w->vcpus), i, intid;
	struct nest *d = &s.dropped[from];

	if (!runs(v) || !d->n)
		return;
	i = rnd(d->n);
	intid = d->intid[i];
	if (from != v && intid < 32)
		return;
	d->intid[i] = d->intid[--d->n];
	on_cpu(pcpu(v));
	if (dir(pcpu(v), intid))
		vgic_dir(s.vm->vcpus[v], intid);
	ref_dir(&s.ref, v, intid);
}

static void op_interface(unsigned int v)
{
	uint64_t vmcr = s.ref.cpu[v].vmcr, least = 7u - s.w->pre_bits;

	if (!runs(v))
		return;
	switch (rnd(!s.w->eoimode1 && ref_active(&s.ref, v) ? 3 : 6)) {
	case 0:
		vmcr ^= rnd(4) ? 0 : ICH_VMCR_GRP0;
		break;
	case 1:
		vmcr ^= rnd(4) ? 0 : ICH_VMCR_GRP1;
		break;
	case 2:
		vmcr = (vmcr & ~BITS(31, 24)) |
		       (uint64_t)(rnd(3) ? 0xf8 : rnd(256)) << 24;
		break;
	case 3:
		vmcr = (vmcr & ~BITS(20, 18)) |
		       (least + 1 + rnd((uint32_t)(7 - least))) << 18;
		break;
	case 4:
		vmcr ^= rnd(4) ? 0 : ICH_VMCR_CBPR;
		break;
	default:
		vmcr = (vmcr & ~BITS(23, 21)) |
		       (least + rnd((uint32_t)(8 - least))) << 21;
		break;
	}
	s.ref.cpu[v].vmcr = vmcr;
	ifaces[pcpu(v)].vmcr = vmcr;
}

static void op_sgi(unsigned int v)
{
	unsigned int intid = rnd(16);
	enum vgic_sgi_reg reg = (enum vgic_sgi_reg)rnd(3);
	uint64_t list = rnd(1 << s.w->vcpus), irm = rnd(8) == 0;
	uint64_t other = rnd(8) ? 0 : BITS(55, 48) | BITS(39, 32);

	if (!runs(v))
		return;
	on_cpu(pcpu(v));
	vgic_sgi(s.vm->vcpus[v], reg,
		 (uint64_t)intid << 24 | irm << 40 | list | other);
	for (unsigned int i = 0; i < s.w->vcpus; i++) {
		struct ref_irq *q = ref_irq(&s.ref, i, intid);
		bool named = irm ? i != v : !other && (list >> i & 1);

		if (named && (!q->group1 || reg == VGIC_SGI1R))
			q->latch = true;
	}
}

/* ---- steps: register accesses -------------------------------------------- */

static uint64_t frame(unsigned int to, unsigned int bank)
{
	if (bank)
		return VGIC_GICD_BASE + 4 * bank;
	return VGIC_GICR_BASE + to * VGIC_GICR_SIZE + 0x10000;
}

static uint32_t some_bits(void)
{
	uint32_t bits = 0;

	for (unsigned int n = rnd(8) ? 1 + rnd(3) : 16; n; n--)
		bits |= 1u << rnd(32);
	return bits;
}

/* Interrupts of the bank that the guest of some vCPU must still end. */
static uint32_t in_hand(unsigned int to, unsigned int bank)
{
	uint32_t bits = 0;

	for (unsigned int i = 0; i < 32; i++)
		if (ref_irq(&s.ref, to, 32 * bank + i)->active)
			bits |= 1u << i;
	return bits;
}

static void set_active(struct ref_irq *q, unsigned int to, unsigned int intid)
{
	if (q->active)
		return;
	q->active = true;
	q->owner = (int)to;
	if (intid >= 32)
		q->owner = q->target == REF_NOBODY ? 0 : q->target;
}

static void ref_bit(unsigned int reg, unsigned int to, unsigned int intid,
		    uint32_t val)
{
	struct ref_irq *q = ref_irq(&s.ref, to, intid);
	bool bit = val >> intid % 32 & 1;

	if (reg == 0x080)
		q->group1 = bit;
	if (!bit)
		return;
	switch (reg) {
	case 0x100:
		q->enabled = true;
		break;
	case 0x180:
		q->enabled = false;
		break;
	case 0x200:
		q->latch = true;
		break;
	case 0x280:
		q->latch = false;
		break;
	case 0x300:
		set_active(q, to, intid);
		break;
	case 0x380:
		q->active = false;
		q->owner = REF_NOBODY;
		break;
	default:
		break;
	}
}

/* IGROUPR to ICACTIVER of a random bank, of the own or another frame. */
static void op_bits(unsigned int v)
{
	static const uint16_t regs[] = { 0x080, 0x100, 0x100, 0x100, 0x100,
					 0x180, 0x200, 0x200, 0x280, 0x300,
					 0x380 };
	unsigned int to = rnd(4) ? v : rnd(s.w->vcpus), bank = rnd(4);
	unsigned int reg = regs[rnd(ARRAY_SIZE(regs))];
	uint32_t val = some_bits();

	if (!runs(v) || (reg >= 0x300 && !s.w->eoimode1))
		return;
	if (reg == 0x080)
		val = ~val | (rnd(2) ? UINT32_MAX : 0);
	if (reg == 0x080 && !s.w->eoimode1 && in_hand(to, bank))
		return;
	gic_write(s.vm->vcpus[v], frame(to, bank) + reg, 4, val);
	for (unsigned int i = 0; i < 32; i++)
		ref_bit(reg, to, 32 * bank + i, val);
}

static void op_read(unsigned int v)
{
	unsigned int to = rnd(2) ? v : rnd(s.w->vcpus), bank = rnd(4);
	bool act = rnd(2);
	uint32_t got, want = 0;

	if (!runs(v))
		return;
	got = (uint32_t)gic_read(s.vm->vcpus[v],
				 frame(to, bank) + (act ? 0x300 : 0x200) +
					 (rnd(2) ? 0x80 : 0), 4);
	for (unsigned int i = 0; i < 32; i++) {
		const struct ref_irq *q = ref_irq(&s.ref, to, 32 * bank + i);

		if (act ? q->active : ref_pending(q))
			want |= 1u << i;
	}
	AGREE(got == want);
}

static void op_prio(unsigned int v)
{
	unsigned int to = rnd(4) ? v : rnd(s.w->vcpus), bank = rnd(4);
	unsigned int i = rnd(32);
	uint8_t prio = (uint8_t)rnd(256);

	if (!runs(v) || (!s.w->eoimode1 && (in_hand(to, bank) >> i & 1)))
		return;
	/* frame() counts words; here are four to the word. */
	gic_write(s.vm->vcpus[v],
		  frame(to, bank) + 0x400 + 28 * bank + i, 1, prio);
	ref_irq(&s.ref, to, 32 * bank + i)->prio =
		prio & (uint8_t)(0xff << (8 - s.w->pri_bits));
}

static void op_config(unsigned int v)
{
	unsigned int word = rnd(8);
	uint32_t val = rnd(2) ? 0 : some_bits();

	if (!runs(v))
		return;
	gic_write(s.vm->vcpus[v], VGIC_GICD_BASE + 0xc00 + 4 * word, 4, val);
	for (unsigned int i = 0; i < 16 && word > 1; i++)
		ref_irq(&s.ref, 0, 16 * word + i)->edge =
			val >> (2 * i + 1) & 1;
}

static void ref_route(unsigned int intid)
{
	uint32_t r = s.router[intid];
	int to = 0;

	if (r & BIT(31)) {
		while (to < (int)s.w->vcpus && s.waker[to])
			to++;
		if (to == (int)s.w->vcpus)
			to = 0;
	} else {
		to = r < s.w->vcpus ? (int)r : REF_NOBODY;
	}
	ref_irq(&s.ref, 0, intid)->target = to;
}

static void op_route(unsigned int v)
{
	unsigned int intid = 32 + rnd(96);
	uint32_t r = rnd(8) ? rnd(s.w->vcpus) : rnd(2) ? 0x80000000 : 0x10000;

	if (!runs(v))
		return;
	gic_write(s.vm->vcpus[v], VGIC_GICD_BASE + 0x6000 + 8 * intid,
		  rnd(2) ? 8 : 4, r);
	s.router[intid] = r;
	ref_route(intid);
}

static void op_waker(unsigned int v)
{
	unsigned int to = rnd(s.w->vcpus);
	bool sleep = rnd(2);

	if (!runs(v))
		return;
	gic_write(s.vm->vcpus[v], VGIC_GICR_BASE + to * VGIC_GICR_SIZE + 0x14,
		  4, sleep ? 2 : 0);
	s.waker[to] = sleep;
	for (unsigned int i = 32; i < REF_INTIDS; i++)
		ref_route(i);
}

static void op_ctlr(unsigned int v)
{
	uint32_t val = rnd(4) ? 3 : rnd(4);

	if (!runs(v))
		return;
	gic_write(s.vm->vcpus[v], VGIC_GICD_BASE, 4, val);
	s.ref.group_on[0] = val & 1;
	s.ref.group_on[1] = val & 2;
}

/* ---- the walk ------------------------------------------------------------ */

static const struct {
	const char *name;
	void (*fn)(unsigned int v);
	unsigned int often;
} ops[] = {
	{ "switch", op_switch, 4 },
	{ "wfi", op_wfi, 4 },
	{ "timer", op_timer, 8 },
	{ "spi", op_spi, 12 },
	{ "ack", op_ack, 16 },
	{ "eoi", op_eoi, 14 },
	{ "dir", op_dir, 12 },
	{ "interface", op_interface, 3 },
	{ "sgi", op_sgi, 8 },
	{ "bits", op_bits, 12 },
	{ "read", op_read, 4 },
	{ "prio", op_prio, 8 },
	{ "config", op_config, 2 },
	{ "route", op_route, 3 },
	{ "waker", op_waker, 1 },
	{ "ctlr", op_ctlr, 1 },
};

static void compare_running(unsigned int v, unsigned int want)
{
	unsigned int prio = NOTHING, intid;

	intid = signalled(pcpu(v), &prio);
	AGREE((intid == SPURIOUS) == (want == NOTHING));
	AGREE(prio == want);
	AGREE(intid == SPURIOUS || ref_candidate(&s.ref, v, intid));
}

/* Nobody looks for a sleeper: it must have been told. */
static void compare_sleeping(unsigned int v)
{
	bool want = ref_wakes(&s.ref, v);

	AGREE(vgic_wakes(s.vm->vcpus[v]) == want);
	if (!want)
		s.quiet[v] = told[v];
	else
		AGREE(told[v] != s.quiet[v]);
}

/* What one of them does may concern another: all first. */
static void settle(void)
{
	for (unsigned int round = 0; round < 2; round++)
		for (unsigned int v = 0; v < s.w->vcpus; v++)
			if (runs(v))
				enter(s.vm->vcpus[v]);
			else if (loaded(v))
				idle(s.vm->vcpus[v]);
}

static void compare(void)
{
	settle();
	for (unsigned int v = 0; v < s.w->vcpus; v++) {
		if (!runs(v)) {
			compare_sleeping(v);
			continue;
		}
		if (!ref_either(&s.ref, v))
			compare_running(v, ref_signal(&s.ref, v));
		/* Before it sleeps it looks for itself. */
		s.quiet[v] = told[v] - 1;
	}
	check_interfaces(s.vm);
}

static void start(const struct walk *w)
{
	uint64_t vmcr = (uint64_t)0xf0 << 24 | ICH_VMCR_GRP0 | ICH_VMCR_GRP1 |
			(uint64_t)(7 - w->pre_bits) << 21 |
			(uint64_t)(8 - w->pre_bits) << 18 |
			(w->eoimode1 ? ICH_VMCR_EOIM : 0);

	memset(&s, 0, sizeof(s));
	s.w = w;
	s.rng = w->seed * 0x9e3779b97f4a7c15 + 1;
	s.vm = machine(w->vcpus, w->lrs, w->pri_bits, w->pre_bits, w->tdir);
	ref_init(&s.ref, w->vcpus, w->pre_bits, vmcr);
	for (unsigned int v = 0; v < w->vcpus; v++) {
		s.waker[v] = true;
		s.vm->vcpus[v]->arch.vgic.vmcr = vmcr;
	}
}

void walk_run(const struct walk *w)
{
	unsigned int total = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(ops); i++)
		total += ops[i].often;
	start(w);
	for (s.step = 0; s.step < w->steps; s.step++) {
		unsigned int pick = rnd(total), i = 0;

		while (pick >= ops[i].often)
			pick -= ops[i++].often;
		s.op = ops[i].name;
		ops[i].fn(rnd(w->vcpus));
		compare();
	}
}
