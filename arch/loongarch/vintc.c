// SPDX-License-Identifier: BSD-2-Clause
/*
 * IOCSR space of a guest: inter-processor interrupts with their mailboxes, the
 * extended interrupt controller (EIOINTC, 256 inputs), and what names the CPU.
 * As on QEMU's machine, inputs can be routed to vCPUs 0..3 only. The VM's vintc
 * lock covers everything; the result, the interrupt lines of a vCPU, is one
 * atomic word that its owner reads without a lock.
 */
#include "vintc.h"

#include "arch.h"
#include "host.h"
#include "la.h"
#include "vm.h"

#include <libfdt.h>
#include <string.h>

#define VERSION		0x11
#define FEATURES	(BIT(3) | BIT(4))	/* EIOINTC, IPI in IOCSR */
#define VENDOR		UINT64_C(0x6e6f73676e6f6f4c)	/* "Loongson" */
#define CPUNAME		UINT64_C(0x303030354133)	/* "3A5000" */
#define MISC_EIO_ON	BIT(48)

/* IPI_SEND, MAIL_SEND, ANY_SEND: receiver, and the last two data above. */
#define SEND_CPU(val)	field(val, 25, 16)
#define SEND_VECTOR(val) ((val) & 0x1f)
#define SEND_KEEP(val)	field(val, 30, 27)	/* bytes left as they are */
#define SEND_DATA(val)	((uint32_t)((val) >> 32))
#define MAIL_HALF(val)	((uint32_t)(val) & 0x1c)
#define ANY_ADDR(val)	((uint32_t)(val) & 0xfffc)

#define EIO_LINES	4	/* that one-hot values can name */
#define EIO_CPUS	4

/* What a write to an area does beyond storing. */
enum effect { E_NONE, E_READ_ONLY, E_LINES, E_ENABLE, E_CLEAR, E_ROUTE };

/* A row of registers: where it is, and where its bytes are kept. */
struct area {
	uint16_t base, size;
	uint16_t offset;	/* in struct vintc, or vintc_cpu */
	bool per_cpu;
	enum effect effect;
};

#define CPU_AREA(base, field, effect)					\
	{ base, sizeof_field(struct vintc_cpu, field),			\
	  offsetof(struct vintc_cpu, field), true, effect }
#define VM_AREA(base, field, effect)					\
	{ base, sizeof_field(struct vintc, field),			\
	  offsetof(struct vintc, field), false, effect }
#define sizeof_field(type, field) sizeof(((type *)NULL)->field)

static const struct area areas[] = {
	CPU_AREA(IOCSR_IPI_STATUS, ipi_status, E_READ_ONLY),
	CPU_AREA(IOCSR_IPI_ENABLE, ipi_enable, E_LINES),
	CPU_AREA(IOCSR_MAILBOX0, mailbox, E_NONE),
	CPU_AREA(IOCSR_EIO_ISR, isr, E_CLEAR),
	VM_AREA(IOCSR_EIO_ENABLE, enable, E_ENABLE),
	VM_AREA(IOCSR_EIO_COREMAP, coremap, E_ROUTE),
	VM_AREA(IOCSR_EIO_IPMAP, ipmap, E_LINES),
	VM_AREA(IOCSR_EIO_NODETYPE, nodetype, E_NONE),
	VM_AREA(IOCSR_EIO_BOUNCE, bounce, E_NONE),
};

static struct vintc *vintc(const struct vcpu *v)
{
	return &v->vm->arch.vintc;
}

/* The lowest bit of a one-hot byte below @limit, else 0. */
static unsigned int one_hot(uint8_t byte, unsigned int limit)
{
	unsigned int n = byte ? (unsigned int)__builtin_ctz(byte) : 0;

	return n < limit ? n : 0;
}

/* ---- lines of a vCPU ----------------------------------------------------- */

uint64_t vintc_lines(const struct vcpu *v)
{
	return __atomic_load_n(&v->arch.vintc.lines, __ATOMIC_ACQUIRE);
}

static void update_lines(struct vcpu *v)
{
	struct vintc_cpu *c = &v->arch.vintc;
	uint32_t lines = c->ipi_status & c->ipi_enable ? (uint32_t)INT_IPI : 0;
	uint32_t old;

	for (unsigned int w = 0; w < EIO_WORDS; w++)
		if (c->isr[w])
			lines |= 1u << (INT_HWI0 + one_hot(vintc(v)->ipmap[w],
							   EIO_LINES));
	old = __atomic_exchange_n(&c->lines, lines, __ATOMIC_SEQ_CST);
	if (lines & ~old)
		host_vcpu_irq(v);
}

/* ---- EIOINTC ------------------------------------------------------------- */

static struct vcpu *receiver(struct vm *vm, unsigned int n)
{
	unsigned int id = one_hot(vm->arch.vintc.coremap[n], EIO_CPUS);

	return vm->vcpus[id < vm->nr_vcpus ? id : 0];
}

/* Input @n, which is up, does (not) wait for its receiver any more. */
static void forward(struct vm *vm, unsigned int n, bool on)
{
	struct vcpu *v = receiver(vm, n);
	uint32_t *isr = &v->arch.vintc.isr[n / 32], bit = 1u << n % 32;

	*isr = on ? *isr | bit : *isr & ~bit;
	update_lines(v);
}

static bool enabled(const struct vintc *c, unsigned int n)
{
	return c->enable[n / 32] & 1u << n % 32;
}

void vintc_input(struct vm *vm, unsigned int n, bool level)
{
	struct vintc *c = &vm->arch.vintc;
	uint32_t *word = &c->level[n / 32], bit = 1u << n % 32;

	*word = level ? *word | bit : *word & ~bit;
	if (!level || enabled(c, n))
		forward(vm, n, level);
}

/* Inputs that are up follow a change of the enable bits of word @w. */
static void enable_changed(struct vm *vm, unsigned int w, uint32_t old)
{
	struct vintc *c = &vm->arch.vintc;
	uint32_t bits = (c->enable[w] ^ old) & c->level[w];

	for (; bits; bits &= bits - 1) {
		unsigned int n = w * 32 + (unsigned int)__builtin_ctz(bits);

		forward(vm, n, enabled(c, n));
	}
}

/* Input @n has another receiver than @old said. */
static void route_changed(struct vm *vm, unsigned int n, uint8_t old)
{
	struct vintc *c = &vm->arch.vintc;
	uint8_t new = c->coremap[n];

	if (new == old || !enabled(c, n) || !(c->level[n / 32] & 1u << n % 32))
		return;
	c->coremap[n] = old;
	forward(vm, n, false);
	c->coremap[n] = new;
	forward(vm, n, true);
}

/* ---- registers of the table ---------------------------------------------- */

static const struct area *find(uint32_t addr, unsigned int size)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(areas); i++)
		if (range_inside(addr - areas[i].base, size, areas[i].size))
			return &areas[i];
	return NULL;
}

static char *bytes(struct vcpu *v, const struct area *a, uint32_t addr)
{
	char *p = a->per_cpu ? (char *)&v->arch.vintc : (char *)vintc(v);

	return p + a->offset + (addr - a->base);
}

/* At most 4 aligned bytes. */
static uint64_t load(struct vcpu *v, uint32_t addr, unsigned int size)
{
	const struct area *a = find(addr, size);
	const void *p;

	if (!a)
		return 0;
	p = bytes(v, a, addr);
	if (size == 4)
		return *(const volatile uint32_t *)p;
	return size == 2 ? *(const volatile uint16_t *)p :
			   *(const volatile uint8_t *)p;
}

static void update_all(struct vm *vm)
{
	for (unsigned int i = 0; i < vm->nr_vcpus; i++)
		update_lines(vm->vcpus[i]);
}

/* At most 4 aligned bytes: they are in one word of every kind. */
static void store(struct vcpu *v, uint32_t addr, unsigned int size,
		  uint32_t val)
{
	const struct area *a = find(addr, size);
	uint32_t first = a ? addr - a->base : 0, word = first / 4;
	uint32_t old = 0;
	char *p;

	if (!a || a->effect == E_READ_ONLY)
		return;
	p = bytes(v, a, addr);
	if (a->effect == E_CLEAR) {
		v->arch.vintc.isr[word] &= ~(val << first % 4 * 8);
		update_lines(v);
		return;
	}
	if (a->effect == E_ENABLE)
		old = vintc(v)->enable[word];
	else if (a->effect == E_ROUTE)
		memcpy(&old, p, size);
	memcpy(p, &val, size);
	if (a->effect == E_LINES)
		update_all(v->vm);
	else if (a->effect == E_ENABLE)
		enable_changed(v->vm, word, old);
	else if (a->effect == E_ROUTE)
		for (unsigned int i = 0; i < size; i++)
			route_changed(v->vm, first + i,
				      (uint8_t)(old >> i * 8));
}

/* ---- registers with a meaning of their own ------------------------------- */

static void set_status(struct vcpu *v, uint32_t set, uint32_t clear)
{
	struct vintc_cpu *c = &v->arch.vintc;

	c->ipi_status = (c->ipi_status | set) & ~clear;
	update_lines(v);
}

static struct vcpu *addressee(struct vcpu *v, uint64_t val)
{
	uint64_t id = SEND_CPU(val);

	return id < v->vm->nr_vcpus ? v->vm->vcpus[id] : NULL;
}

static uint32_t merge(uint32_t old, uint64_t val)
{
	uint32_t keep = 0;

	for (unsigned int i = 0; i < 4; i++)
		if (SEND_KEEP(val) & 1u << i)
			keep |= 0xffu << i * 8;
	return (old & keep) | (SEND_DATA(val) & ~keep);
}

/* 32 bits of a command go to register @addr of another vCPU. */
static void send(struct vcpu *to, uint32_t addr, uint64_t val)
{
	if (!to)
		return;
	if (addr == IOCSR_IPI_SET)
		set_status(to, merge(0, val), 0);
	else if (addr == IOCSR_IPI_CLEAR)
		set_status(to, 0, merge(0, val));
	else
		store(to, addr, 4, merge((uint32_t)load(to, addr, 4), val));
}

static void write32(struct vcpu *v, uint32_t addr, uint32_t val)
{
	struct vcpu *to;

	switch (addr) {
	case IOCSR_IPI_SET:
		set_status(v, val, 0);
		break;
	case IOCSR_IPI_CLEAR:
		set_status(v, 0, val);
		break;
	case IOCSR_IPI_SEND:
		to = addressee(v, val);
		if (to)
			set_status(to, 1u << SEND_VECTOR(val), 0);
		break;
	default:
		store(v, addr, 4, val);
		break;
	}
}

static void write64(struct vcpu *v, uint32_t addr, uint64_t val)
{
	switch (addr) {
	case IOCSR_MAIL_SEND:
		send(addressee(v, val), IOCSR_MAILBOX0 + MAIL_HALF(val), val);
		break;
	case IOCSR_ANY_SEND:
		send(addressee(v, val), ANY_ADDR(val), val);
		break;
	default:
		write32(v, addr, (uint32_t)val);
		write32(v, addr + 4, (uint32_t)(val >> 32));
		break;
	}
}

/* What names the CPU: constants without a lock. */
static bool constant(uint32_t addr, unsigned int size, uint64_t *val)
{
	static const struct {
		uint32_t addr;
		uint64_t val;
	} words[] = {
		{ IOCSR_VERSION, VERSION },
		{ IOCSR_FEATURES, FEATURES },
		{ IOCSR_VENDOR, VENDOR },
		{ IOCSR_CPUNAME, CPUNAME },
		{ IOCSR_MISC, MISC_EIO_ON },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(words); i++) {
		uint32_t off = addr - words[i].addr;

		if (!range_inside(off, size, 8))
			continue;
		*val = words[i].val >> off * 8 & BITS(size * 8 - 1, 0);
		return true;
	}
	return false;
}

uint64_t vintc_iocsr_read(struct vcpu *v, uint32_t addr, unsigned int size)
{
	uint64_t val = 0;

	if (!is_aligned(addr, size))
		return 0;
	if (addr < IOCSR_IPI_STATUS) {
		constant(addr, size, &val);
		return val;
	}
	/* Without the lock: each word is whole. */
	if (size == 8)
		return load(v, addr, 4) | load(v, addr + 4, 4) << 32;
	return load(v, addr, size);
}

void vintc_iocsr_write(struct vcpu *v, uint32_t addr, unsigned int size,
		       uint64_t val)
{
	if (!is_aligned(addr, size))
		return;
	spin_lock(&vintc(v)->lock);
	if (size == 8)
		write64(v, addr, val);
	else if (size == 4)
		write32(v, addr, (uint32_t)val);
	else
		store(v, addr, size, (uint32_t)(val & BITS(size * 8 - 1, 0)));
	spin_unlock(&vintc(v)->lock);
}

/* ---- the VM -------------------------------------------------------------- */

void vintc_vm_reset(struct vm *vm)
{
	struct vintc *c = &vm->arch.vintc;

	spin_lock(&c->lock);
	memset(c->nodetype, 0, sizeof(c->nodetype));
	memset(c->ipmap, 0, sizeof(c->ipmap));
	memset(c->enable, 0, sizeof(c->enable));
	memset(c->bounce, 0, sizeof(c->bounce));
	memset(c->level, 0, sizeof(c->level));
	memset(c->coremap, 0, sizeof(c->coremap));
	vpic_reset(vm);
	for (unsigned int i = 0; i < vm->nr_vcpus; i++)
		memset(&vm->vcpus[i]->arch.vintc, 0,
		       sizeof(vm->vcpus[i]->arch.vintc));
	spin_unlock(&c->lock);
}

void arch_vm_irq(struct vm *vm, unsigned int irq, bool level)
{
	spin_lock(&vm->arch.vintc.lock);
	vpic_input(vm, irq, level);
	spin_unlock(&vm->arch.vintc.lock);
}

#define TRY(call)							\
	do {								\
		int err_ = (call);					\
									\
		if (err_)						\
			return err_;					\
	} while (0)

/* An interrupt controller with @cells cells per interrupt. */
static int controller(void *fdt, const char *name, const char *compatible,
		      uint32_t cells, uint32_t phandle)
{
	TRY(fdt_begin_node(fdt, name));
	TRY(fdt_property(fdt, "compatible", compatible,
			 (int)strlen(compatible) + 1));
	TRY(fdt_property(fdt, "interrupt-controller", NULL, 0));
	TRY(fdt_property_u32(fdt, "#interrupt-cells", cells));
	return fdt_property_u32(fdt, "phandle", phandle);
}

static int reg(void *fdt, uint64_t base, uint64_t size)
{
	fdt64_t r[2] = { cpu_to_fdt64(base), cpu_to_fdt64(size) };

	return fdt_property(fdt, "reg", r, sizeof(r));
}

int vintc_fdt(void *fdt)
{
	TRY(controller(fdt, "cpuic", "loongson,cpu-interrupt-controller", 1,
		       FDT_CPUIC));
	TRY(fdt_end_node(fdt));
	TRY(controller(fdt, "eiointc@1400", "loongson,ls2k2000-eiointc", 1,
		       FDT_EIOINTC));
	TRY(reg(fdt, 0x1400, 0x800));
	TRY(fdt_property_u32(fdt, "interrupt-parent", FDT_CPUIC));
	TRY(fdt_property_u32(fdt, "interrupts", INT_HWI0 + 1));
	TRY(fdt_end_node(fdt));
	TRY(controller(fdt, "platic@10000000", "loongson,pch-pic-1.0", 2,
		       FDT_PCH_PIC));
	TRY(reg(fdt, PIC_BASE, PIC_SIZE));
	TRY(fdt_property_u32(fdt, "interrupt-parent", FDT_EIOINTC));
	TRY(fdt_property_u32(fdt, "loongson,pic-base-vec", 0));
	return fdt_end_node(fdt);
}
