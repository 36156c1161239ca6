// SPDX-License-Identifier: BSD-2-Clause
/*
 * GICv3 driver of the guest: one security state, affinity routing, group 1,
 * EOImode 0. Handler tables: INTIDs below 32 per vCPU, the others shared.
 */
#include <stdio.h>
#include "../runtime.h"
#include "hcall.h"
#include "io.h"
#include "irq.h"
#include "smp.h"

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

uint64_t gicr_frame(uint64_t mpidr)
{
	uint64_t want = (mpidr & 0xffffff) | (mpidr >> 8 & 0xff000000);
	uint64_t frame = machine.gicr.base;
	uint64_t end = frame + machine.gicr.size;

	for (; frame + GICR_STRIDE <= end; frame += GICR_STRIDE) {
		uint64_t typer = io_read64(frame + GICR_TYPER);

		if (typer >> 32 == want)
			return frame;
		if (typer & 0x10)
			break;
	}
	return 0;
}

uint64_t irq_frame(unsigned intid)
{
	static uint64_t frames[MAX_VCPUS];
	unsigned id = vcpu_id();

	if (intid >= IRQ_SPI)
		return machine.gicd.base;
	if (!frames[id])
		frames[id] = gicr_frame(read_sysreg(mpidr_el1)) + GICR_SGI;
	return frames[id];
}

bool irq_bit(unsigned offset, unsigned intid)
{
	uint64_t word = irq_frame(intid) + offset + intid / 32 * 4;

	return io_read32(word) >> intid % 32 & 1;
}

void irq_write_bit(unsigned offset, unsigned intid)
{
	io_write32(irq_frame(intid) + offset + intid / 32 * 4,
		   1u << intid % 32);
}

/* A disable is complete only when RWP is 0. */
static void wait_rwp(unsigned intid)
{
	uint64_t ctlr = intid < IRQ_SPI ? irq_frame(intid) - GICR_SGI
					: machine.gicd.base;
	uint32_t busy = intid < IRQ_SPI ? 1u << 3 : 1u << 31;

	while (io_read32(ctlr) & busy)
		;
}

void irq_enable_id(unsigned intid)
{
	irq_write_bit(GICD_ISENABLER, intid);
}

void irq_disable_id(unsigned intid)
{
	irq_write_bit(GICD_ICENABLER, intid);
	wait_rwp(intid);
}

void irq_priority(unsigned intid, unsigned priority)
{
	io_write8(irq_frame(intid) + GICD_IPRIORITYR + intid,
		  (uint8_t)priority);
}

void irq_edge(unsigned intid, bool edge)
{
	uint64_t reg = irq_frame(intid) + GICD_ICFGR + intid / 16 * 4;
	uint32_t bit = 2u << intid % 16 * 2;
	uint32_t value = io_read32(reg);

	io_write32(reg, edge ? value | bit : value & ~bit);
}

void irq_handler(unsigned intid, irq_fn fn)
{
	*slot(intid) = fn;
}

void irq_on(unsigned intid, irq_fn fn)
{
	if (!fn)
		irq_disable_id(intid);
	*slot(intid) = fn;
	dsb();
	if (fn)
		irq_enable_id(intid);
}

void irq_hook(void (*fn)(void))
{
	hooks[vcpu_id()] = fn;
}

unsigned irq_spurious(void)
{
	return spurious;
}

void irq_entry(void)
{
	unsigned intid;

	if (hooks[vcpu_id()]) {
		hooks[vcpu_id()]();
		return;
	}
	intid = (unsigned)read_sysreg(icc_iar1_el1) & 0xffffff;
	dsb();
	if (intid >= IRQ_LIMIT)
		return;
	if (*slot(intid)) {
		(*slot(intid))(intid);
	} else {
		irq_disable_id(intid);
		__atomic_add_fetch(&spurious, 1, __ATOMIC_RELAXED);
	}
	write_sysreg(intid, icc_eoir1_el1);
	isb();
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

static void sgi_write(uint64_t value)
{
	dsb();
	write_sysreg(value, icc_sgi1r_el1);
	isb();
}

void sgi_to(uint64_t mpidr, unsigned intid)
{
	uint64_t aff0 = mpidr & 0xff;

	sgi_write((mpidr >> 32 & 0xff) << 48 | (mpidr >> 16 & 0xff) << 32 |
		  (mpidr >> 8 & 0xff) << 16 | (aff0 >> 4) << 44 |
		  (uint64_t)intid << 24 | 1ull << (aff0 & 0xf));
}

void sgi_others(unsigned intid)
{
	sgi_write(1ull << 40 | (uint64_t)intid << 24);
}

void irq_init_vcpu(void)
{
	uint64_t rd = gicr_frame(read_sysreg(mpidr_el1));
	uint64_t sgi = rd + GICR_SGI;

	if (!rd) {
		printf("guest: no redistributor for vCPU %u\n", vcpu_id());
		guest_exit(2);
	}
	io_write32(rd + GICR_WAKER, 0);
	while (io_read32(rd + GICR_WAKER) & 4)
		;
	io_write32(sgi + GICD_ICENABLER, ~0u);
	wait_rwp(0);
	io_write32(sgi + GICD_IGROUPR, ~0u);
	io_write32(sgi + GICD_ICPENDR, ~0u);
	for (unsigned i = 0; i < IRQ_SPI; i += 4)
		io_write32(sgi + GICD_IPRIORITYR + i, IRQ_PRIO * 0x01010101u);

	write_sysreg(read_sysreg(icc_sre_el1) | 1, icc_sre_el1);
	isb();
	write_sysreg(0xf0, icc_pmr_el1);
	write_sysreg(0, icc_bpr1_el1);
	write_sysreg(0, icc_ctlr_el1);
	write_sysreg(1, icc_igrpen1_el1);
	isb();
}

void irq_init(void)
{
	uint64_t gicd = machine.gicd.base;
	unsigned lines = ((io_read32(gicd + GICD_TYPER) & 0x1f) + 1) * 32;

	io_write32(gicd + GICD_CTLR, 0);
	wait_rwp(IRQ_SPI);
	for (unsigned i = 32; i < lines; i += 32) {
		io_write32(gicd + GICD_ICENABLER + i / 8, ~0u);
		io_write32(gicd + GICD_IGROUPR + i / 8, ~0u);
	}
	for (unsigned i = 32; i < lines; i += 4)
		io_write32(gicd + GICD_IPRIORITYR + i, IRQ_PRIO * 0x01010101u);
	io_write32(gicd + GICD_CTLR, GICD_CTLR_ARE);
	wait_rwp(IRQ_SPI);
	io_write32(gicd + GICD_CTLR, GICD_CTLR_ARE | GICD_CTLR_GRP1);
	wait_rwp(IRQ_SPI);
	irq_init_vcpu();
}
