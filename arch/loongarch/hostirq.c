// SPDX-License-Identifier: BSD-2-Clause
/*
 * Host interrupts: PCH-PIC inputs go to the extended interrupt controller
 * (EIOINTC, in IOCSR space), which drives one hardware line of the boot CPU;
 * timer and IPI are lines of each CPU. Set up by the boot CPU, after that only
 * it writes the PCH-PIC, so there is no lock.
 */
#include "hostirq.h"

#include "arch.h"
#include "cpu.h"
#include "csr.h"
#include "host.h"
#include "mmu.h"

#include <libfdt.h>

/* PCH-PIC registers (Loongson 7A1000 manual, chapter 5). */
#define PIC_MASK	0x020
#define PIC_EDGE	0x060
#define PIC_CLEAR	0x080
#define PIC_ROUTE	0x100
#define PIC_VECTOR	0x200
#define PIC_POLARITY	0x3e0
#define PIC_REGS	0x400
#define PIC_LINES	64

#define HOST_INPUTS	256	/* of the EIOINTC */
#define EIO_WORD	64
#define EIO_NODETYPES	16
#define EIO_NODE_CPUS	4
#define BYTES		0x01010101u	/* a byte value to a word of it */

#define MISC_EIO_ENABLE	BIT(48)	/* IOCSR_MISC: the controller is on */

/* The only IPI vector in use: leave the guest or idle. */
#define IPI_KICK	0

#define IPI_SEND_WAIT	BIT(31)
#define IPI_SEND_CPU(n)	((n) << 16)

static volatile char *pic;
static unsigned int eio_base;	/* input of the EIOINTC for PCH-PIC input 0 */
static unsigned int eio_line;	/* ESTAT.IS number of the line it drives */

int fdt_irq(int node, unsigned int index)
{
	const void *fdt = host_fdt();
	int len;
	const fdt32_t *p = fdt_getprop(fdt, node, "interrupts", &len);

	/* Number and kind. */
	if (!p || len < 8 * ((int)index + 1))
		return ERR_NOENT;
	return (int)min_u64(fdt32_ld(p + 2 * index), INT32_MAX);
}

bool fdt_reg(const void *fdt, int node, paddr_t *base, uint64_t *size)
{
	int len;
	const fdt32_t *p = fdt_getprop(fdt, node, "reg", &len);

	if (!p || len < 16)
		return false;
	*base = (uint64_t)fdt32_ld(p) << 32 | fdt32_ld(p + 1);
	*size = (uint64_t)fdt32_ld(p + 2) << 32 | fdt32_ld(p + 3);
	return range_inside(*base, *size, BIT(DMW_VSEG_SHIFT));
}

static uint32_t number(int node, const char *prop, uint32_t missing)
{
	int len;
	const fdt32_t *p = fdt_getprop(host_fdt(), node, prop, &len);

	return p && len == 4 ? fdt32_ld(p) : missing;
}

static int controller(const char *compatible)
{
	int node = fdt_node_offset_by_compatible(host_fdt(), -1, compatible);

	if (node < 0)
		config_error("device tree: no %s node", compatible);
	return node;
}

/*
 * All inputs of the EIOINTC to one line and the boot CPU, disabled. In words,
 * since not every implementation of it takes bytes.
 */
static void eio_init(void)
{
	uint32_t pin = 1u << (eio_line - INT_HWI0);
	uint32_t cpu = 1u << this_cpu()->arch.host.phys_id % EIO_NODE_CPUS;

	iocsr_write64(IOCSR_MISC, iocsr_read64(IOCSR_MISC) | MISC_EIO_ENABLE);
	for (uint32_t i = 0; i < HOST_INPUTS / 8; i += 8) {
		iocsr_write64(IOCSR_EIO_ENABLE + i, 0);
		iocsr_write64(IOCSR_EIO_BOUNCE + i, 0);
		iocsr_write64(IOCSR_EIO_ISR + i, UINT64_MAX);
	}
	for (uint32_t i = 0; i < HOST_INPUTS / 32; i += 4)
		iocsr_write32(IOCSR_EIO_IPMAP + i, pin * BYTES);
	/* 16-bit entries: entry n stands for node n. */
	for (uint32_t i = 0; i < EIO_NODETYPES; i += 2)
		iocsr_write32(IOCSR_EIO_NODETYPE + 2 * i,
			      2u << i << 16 | 1u << i);
	/* CPU within the node, one-hot; entry 0 of the above. */
	for (uint32_t i = 0; i < HOST_INPUTS; i += 4)
		iocsr_write32(IOCSR_EIO_COREMAP + i, cpu * BYTES);
}

static void pic_init(void)
{
	arch_mmio_write64(pic + PIC_MASK, UINT64_MAX);
	arch_mmio_write64(pic + PIC_EDGE, 0);
	arch_mmio_write64(pic + PIC_POLARITY, 0);
	arch_mmio_write64(pic + PIC_CLEAR, UINT64_MAX);
}

void hostirq_init(void)
{
	int eio = controller("loongson,ls2k2000-eiointc");
	int node = controller("loongson,pch-pic-1.0");
	paddr_t base;
	uint64_t size;

	eio_line = number(eio, "interrupts", 0);
	if (eio_line < INT_HWI0 || eio_line >= INT_HWI0 + 4)
		config_error("device tree: EIOINTC: interrupt %u is no line it "
			     "can drive", eio_line);
	eio_base = number(node, "loongson,pic-base-vec", 0);
	if (eio_base > HOST_INPUTS - PIC_LINES)
		config_error("device tree: PCH-PIC: vector %u is too high",
			     eio_base);
	if (!fdt_reg(host_fdt(), node, &base, &size) || size < PIC_REGS)
		config_error("device tree: PCH-PIC: no registers");
	pic = arch_map_device(base, size);
	eio_init();
	pic_init();
}

void hostirq_cpu_init(void)
{
	uint64_t lie = INT_TI | INT_IPI;

	if (this_cpu()->id == 0)
		lie |= BIT(eio_line);
	iocsr_write32(IOCSR_IPI_CLEAR, UINT32_MAX);
	iocsr_write32(IOCSR_IPI_ENABLE, BIT(IPI_KICK));
	csr_write(CSR_ECFG, lie);	/* VS = 0: one entry for everything */
}

static void pic_mask(unsigned int input, bool mask)
{
	uint64_t all = arch_mmio_read64(pic + PIC_MASK);

	all = mask ? all | BIT(input) : all & ~BIT(input);
	arch_mmio_write64(pic + PIC_MASK, all);
}

void hostirq_enable(unsigned int input)
{
	unsigned int n = eio_base + input;
	uint32_t reg = IOCSR_EIO_ENABLE + n / EIO_WORD * 8;

	ASSERT(input < PIC_LINES);
	arch_mmio_write8(pic + PIC_ROUTE + input, 1);
	arch_mmio_write8(pic + PIC_VECTOR + input, (uint8_t)n);
	iocsr_write64(reg, iocsr_read64(reg) | BIT(n % EIO_WORD));
	pic_mask(input, false);
}

void arch_cpu_kick(unsigned int id)
{
	uint32_t phys = cpus[id]->arch.host.phys_id;

	arch_mb();	/* the reason before the interrupt */
	iocsr_write32(IOCSR_IPI_SEND,
		      IPI_SEND_WAIT | IPI_SEND_CPU(phys) | IPI_KICK);
}

void arch_cpu_idle(void)
{
	if (!stack_intact(this_cpu()->arch.stack_top))
		panic("stack overflow on CPU %u", this_cpu()->id);
	/* Stores first; an interrupt wakes although it is masked. */
	__asm__ volatile("dbar 0\n\tidle 0" ::: "memory");
}

/*
 * @input is masked meanwhile: unmasking sends it again when its line is still
 * up, so nothing that comes between the device's handler and the end is lost.
 */
static void device_irq(unsigned int n)
{
	unsigned int input = n - eio_base;
	bool handled;

	if (n < eio_base || input >= PIC_LINES)
		return;
	pic_mask(input, true);
	handled = uart_irq(input);
	if (handled)
		pic_mask(input, false);
	else
		log_warn("host interrupt %u has no handler, it stays masked",
			 input);
}

static void eio_irq(void)
{
	for (unsigned int i = 0; i < HOST_INPUTS / EIO_WORD; i++) {
		uint64_t bits = iocsr_read64(IOCSR_EIO_ISR + i * 8);

		if (!bits)
			continue;
		/* Before the device is looked at: a new event counts anew. */
		iocsr_write64(IOCSR_EIO_ISR + i * 8, bits);
		for (; bits; bits &= bits - 1)
			device_irq(i * EIO_WORD +
				   (unsigned int)__builtin_ctzll(bits));
	}
}

void arch_irq_poll(void)
{
	uint64_t is = csr_read(CSR_ESTAT) & csr_read(CSR_ECFG) & INT_ALL;

	if (is & INT_IPI) {
		iocsr_write32(IOCSR_IPI_CLEAR, iocsr_read32(IOCSR_IPI_STATUS));
		arch_mb();	/* acknowledged before its cause is looked at */
	}
	if (is & INT_TI)
		timer_irq();
	if (is & INT_HWI)
		eio_irq();
}
