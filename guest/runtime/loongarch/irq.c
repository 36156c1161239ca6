// SPDX-License-Identifier: BSD-2-Clause
/*
 * Interrupts: lines of the CPU, inter-processor interrupts, and devices through
 * PCH-PIC and EIOINTC, all of which go to the boot vCPU on one line. Handlers
 * of numbers below 32 are per vCPU, the others shared.
 */
#include "irq.h"
#include "../runtime.h"
#include "io.h"
#include "smp.h"

#define PIC_BASE	0x10000000
#define PIC_MASK	0x20
#define PIC_ROUTE	0x100
#define PIC_VECTOR	0x200

#define EIO_PIN		1	/* HWI1, as the device tree says */
#define LINE_EIO	(2 + EIO_PIN)
#define LINE_TIMER	11
#define LINE_IPI	12

static irq_fn private_fns[MAX_VCPUS][IRQ_SPI];
static irq_fn shared_fns[IRQ_LIMIT - IRQ_SPI];
static void (*hooks[MAX_VCPUS])(void);
static unsigned spurious;

static irq_fn *slot(unsigned intid)
{
	if (intid < IRQ_SPI)
		return &private_fns[vcpu_id()][intid];
	return &shared_fns[intid - IRQ_SPI];
}

static void set_line(unsigned line, bool on)
{
	csr_xchg(CSR_ECFG, on ? 1ull << line : 0, 1ull << line);
}

static void set_ipi(unsigned vector, bool on)
{
	uint32_t bits = iocsr_read32(IOCSR_IPI_EN), bit = 1u << vector;

	bits = on ? bits | bit : bits & ~bit;
	iocsr_write32(IOCSR_IPI_EN, bits);
	set_line(LINE_IPI, bits);
}

/* EIOINTC input n serves PCH-PIC input n. */
static void set_device(unsigned input, bool on)
{
	uint64_t enable = IOCSR_EXTIOI_ENABLE + input / 32 * 4;
	uint64_t mask = io_read64(PIC_BASE + PIC_MASK), bit = 1ull << input;

	if (!on) {
		io_write64(PIC_BASE + PIC_MASK, mask | bit);
		return;
	}
	iocsr_write32(enable, iocsr_read32(enable) | 1u << input % 32);
	io_write8(PIC_BASE + PIC_ROUTE + input, 1);
	io_write8(PIC_BASE + PIC_VECTOR + input, (uint8_t)input);
	io_write64(PIC_BASE + PIC_MASK, mask & ~bit);
	set_line(LINE_EIO, true);
}

static void set(unsigned intid, bool on)
{
	if (intid < IRQ_LINE)
		set_ipi(intid, on);
	else if (intid < IRQ_SPI)
		set_line(intid - IRQ_LINE, on);
	else
		set_device(intid - IRQ_SPI, on);
}

void irq_on(unsigned intid, irq_fn fn)
{
	if (!fn)
		set(intid, false);
	*slot(intid) = fn;
	dsb();
	if (fn)
		set(intid, true);
}

void irq_hook(void (*fn)(void))
{
	hooks[vcpu_id()] = fn;
}

unsigned irq_spurious(void)
{
	return spurious;
}

static void handle(unsigned intid)
{
	irq_fn fn = *slot(intid);

	if (fn) {
		fn(intid);
		return;
	}
	set(intid, false);
	__atomic_add_fetch(&spurious, 1, __ATOMIC_RELAXED);
}

static void handle_ipi(void)
{
	uint32_t vectors = iocsr_read32(IOCSR_IPI_STATUS);

	iocsr_write32(IOCSR_IPI_CLEAR, vectors);
	dsb();
	for (; vectors; vectors &= vectors - 1)
		handle((unsigned)__builtin_ctz(vectors) % IRQ_LINE);
}

/*
 * An input is masked while its handler runs; unmasking sends it again when the
 * device still asks.
 */
static void handle_devices(void)
{
	for (unsigned word = 0; word < 2; word++) {
		uint64_t isr = IOCSR_EXTIOI_ISR + word * 4;
		uint32_t bits = iocsr_read32(isr);

		iocsr_write32(isr, bits);
		for (; bits; bits &= bits - 1) {
			unsigned input = word * 32 +
					 (unsigned)__builtin_ctz(bits);
			bool known = shared_fns[input];

			io_write64(PIC_BASE + PIC_MASK,
				   io_read64(PIC_BASE + PIC_MASK) |
					   1ull << input);
			handle(IRQ_SPI + input);
			if (known && shared_fns[input])
				set_device(input, true);
		}
	}
}

void irq_entry(void)
{
	uint64_t lines = csr_read(CSR_ESTAT) & csr_read(CSR_ECFG) & ESTAT_IS;

	if (hooks[vcpu_id()]) {
		hooks[vcpu_id()]();
		return;
	}
	for (; lines; lines &= lines - 1) {
		unsigned line = (unsigned)__builtin_ctzll(lines);

		if (line == LINE_IPI) {
			handle_ipi();
		} else if (line == LINE_EIO) {
			handle_devices();
		} else {
			if (line == LINE_TIMER)
				csr_write(CSR_TICLR, TICLR_CLR);
			handle(IRQ_LINE + line);
		}
	}
}

void irq_take(void)
{
	irq_enable();
	isb();
	irq_disable();
}

void irq_wait(void)
{
	wfi();
	irq_take();
}

void sgi_to(uint64_t cpu, unsigned vector)
{
	dsb();
	iocsr_write32(IOCSR_IPI_SEND,
		      IPI_SEND_BLOCKING |
			      (uint32_t)cpu << IPI_SEND_CPU_SHIFT | vector);
}

void sgi_others(unsigned vector)
{
	for (unsigned i = 0; i < machine.nr_vcpus; i++)
		if (vcpu_of(machine.mpidr[i]) != vcpu_id())
			sgi_to(machine.mpidr[i], vector);
}

void irq_init_vcpu(void)
{
	iocsr_write32(IOCSR_IPI_EN, 0);
	iocsr_write32(IOCSR_IPI_CLEAR, ~0u);
	csr_write(CSR_ECFG, 0);
	csr_write(CSR_TCFG, 0);
	csr_write(CSR_TICLR, TICLR_CLR);
}

void irq_init(void)
{
	io_write64(PIC_BASE + PIC_MASK, ~0ull);
	for (unsigned i = 0; i < 32; i += 4)
		iocsr_write32(IOCSR_EXTIOI_ENABLE + i, 0);
	for (unsigned i = 0; i < 8; i += 4)
		iocsr_write32(IOCSR_EXTIOI_IPMAP + i,
			      0x01010101u << EIO_PIN);
	for (unsigned i = 0; i < 256; i += 4)
		iocsr_write32(IOCSR_EXTIOI_COREMAP + i, 0x01010101u);
	irq_init_vcpu();
}
