// SPDX-License-Identifier: BSD-2-Clause
/*
 * The registers of a GICv3 for one vCPU: what they say of themselves, what they
 * remember, every offset at every width without an abort, and values and ids
 * that nobody should use. It ends by showing that interrupts still work.
 *
 * Arguments: none.
 */
#include <stdio.h>
#include "check.h"
#include "io.h"
#include "irq.h"
#include "smp.h"
#include "timer.h"
#include "trap.h"

#define SGI	3
#define PPI	22	/* no device drives it */
#define SPI	48	/* nor these, up to SPI + 16 */

/* --- registers ------------------------------------------------------------ */

static void test_identity(void)
{
	uint64_t gicd = machine.gicd.base;
	uint64_t rd = irq_frame(0) - GICR_SGI;
	uint64_t typer = io_read64(rd + GICR_TYPER);
	uint64_t mpidr = read_sysreg(mpidr_el1);

	CHECK_EQ(io_read32(gicd + GICD_PIDR2) >> 4 & 15, 3, "gicd-is-v3");
	CHECK_EQ(io_read32(rd + GICD_PIDR2) >> 4 & 15, 3, "gicr-is-v3");
	CHECK((io_read32(gicd + GICD_TYPER) & 0x1f) >= 1, "gicd-has-spis");
	CHECK_EQ(io_read32(gicd + GICD_CTLR) & 0x52, 0x52,
		 "gicd-one-security-state-and-routing");
	CHECK_EQ(typer >> 32, (mpidr & 0xffffff) | (mpidr >> 8 & 0xff000000),
		 "gicr-typer-affinity");
	CHECK_EQ(io_read32(rd + GICR_TYPER + 4), typer >> 32,
		 "gicr-typer-upper-half");
	CHECK_EQ(typer >> 4 & 1, machine.nr_vcpus == 1, "gicr-typer-last");
	CHECK_EQ(io_read32(rd + GICR_WAKER), 0, "gicr-awake");
}

/* Bits that are set by one array of registers and cleared by another. */
static void test_set_clear(unsigned set, unsigned clear, const char *name)
{
	unsigned limit = SPI + 16, wrong = 0;

	for (unsigned id = 0; id < limit; id++) {
		if (id >= 16 && id < 32 && id != PPI)
			continue;	/* devices may hold those */
		irq_write_bit(clear, id);
		wrong += irq_bit(set, id) || irq_bit(clear, id);
		irq_write_bit(set, id);
		wrong += !irq_bit(set, id) || !irq_bit(clear, id);
		irq_write_bit(clear, id);
		wrong += irq_bit(set, id) || irq_bit(clear, id);
	}
	CHECK_EQ(wrong, 0, "%s", name);
}

static void test_priorities(void)
{
	unsigned wrong = 0;
	uint32_t mask;

	irq_priority(SGI, 0xff);
	mask = io_read8(irq_frame(SGI) + GICD_IPRIORITYR + SGI);
	CHECK((mask & 0xf0) == 0xf0, "priority-bits");
	for (unsigned id = 0; id < SPI + 16; id++) {
		uint64_t byte = irq_frame(id) + GICD_IPRIORITYR + id;

		for (unsigned value = 0; value < 256; value += 17) {
			io_write8(byte, (uint8_t)value);
			wrong += io_read8(byte) != (value & mask);
			wrong += (io_read32(byte & ~3ull) >> id % 4 * 8 &
				  0xff) != (value & mask);
		}
		irq_priority(id, IRQ_PRIO);
	}
	CHECK_EQ(wrong, 0, "priority-read-back");
	io_write32(irq_frame(SPI) + GICD_IPRIORITYR + SPI, 0x10305070);
	CHECK_EQ(io_read8(irq_frame(SPI) + GICD_IPRIORITYR + SPI + 1), 0x50,
		 "priority-bytes-of-a-word");
	for (unsigned i = 0; i < 4; i++)
		irq_priority(SPI + i, IRQ_PRIO);
}

static void test_config(void)
{
	uint64_t spis = machine.gicd.base + GICD_ICFGR + SPI / 16 * 4;
	uint64_t sgis = irq_frame(0) + GICD_ICFGR;

	io_write32(sgis, 0);
	CHECK_EQ(io_read32(sgis), 0xaaaaaaaa, "sgis-are-edge");
	io_write32(spis, ~0u);
	CHECK_EQ(io_read32(spis), 0xaaaaaaaa, "icfgr-edge");
	io_write32(spis, 0);
	CHECK_EQ(io_read32(spis), 0, "icfgr-level");
	io_write32(spis, 0x88228822);
	CHECK_EQ(io_read32(spis), 0x88228822, "icfgr-mixed");
	io_write32(spis, 0xaaaaaaaa);
}

static void test_groups_and_routes(void)
{
	uint64_t group = machine.gicd.base + GICD_IGROUPR + SPI / 32 * 4;
	uint64_t route = machine.gicd.base + GICD_IROUTER + SPI * 8;
	uint64_t self = read_sysreg(mpidr_el1) & MPIDR_AFF;

	io_write32(group, 0x5a5a5a5a);
	CHECK_EQ(io_read32(group), 0x5a5a5a5a, "igroupr-spi");
	io_write32(group, ~0u);
	io_write32(irq_frame(0) + GICD_IGROUPR, 0xa5a5a5a5);
	CHECK_EQ(io_read32(irq_frame(0) + GICD_IGROUPR), 0xa5a5a5a5,
		 "igroupr-private");
	io_write32(irq_frame(0) + GICD_IGROUPR, ~0u);

	io_write64(route, 1ull << 31 | self);
	CHECK_EQ(io_read64(route) & ~self, 1ull << 31, "irouter-irm");
	CHECK_EQ(io_read32(route + 4), 0, "irouter-upper");
	io_write32(route, (uint32_t)self);
	CHECK_EQ(io_read64(route), self, "irouter-lower");
	io_write64(route, 0x00000000ull | self);
	CHECK_EQ(io_read64(machine.gicd.base + GICD_IROUTER + 31 * 8), 0,
		 "irouter-of-a-private-id");
}

/* --- sweep ---------------------------------------------------------------- */

static void read_width(uint64_t addr, unsigned width)
{
	if (width == 1)
		io_read8(addr);
	else if (width == 2)
		io_read16(addr);
	else if (width == 4)
		io_read32(addr);
	else
		io_read64(addr);
}

static void write_width(uint64_t addr, unsigned width, uint64_t value)
{
	if (width == 1)
		io_write8(addr, (uint8_t)value);
	else if (width == 2)
		io_write16(addr, (uint16_t)value);
	else if (width == 4)
		io_write32(addr, (uint32_t)value);
	else
		io_write64(addr, value);
}

/* Everything back to what the runtime made of it, and nothing left over. */
static void restore(void)
{
	for (unsigned id = 0; id < SPI + 16; id += 32) {
		uint64_t frame = irq_frame(id);

		io_write32(frame + GICD_ICENABLER + id / 8, ~0u);
		io_write32(frame + GICD_ICPENDR + id / 8, ~0u);
		io_write32(frame + GICD_ICACTIVER + id / 8, ~0u);
	}
	irq_init();
}

/*
 * Reads, or writes `value`, at every aligned offset of a frame. Any abort at
 * all counts. IRQs are masked, so nothing that a write starts gets through.
 */
static void sweep(const char *name, uint64_t base, uint64_t size, bool write,
		  uint64_t value)
{
	struct trap_note note;

	trap_arm();
	for (unsigned width = 1; width <= 8; width *= 2)
		for (uint64_t offset = 0; offset < size; offset += width)
			if (write)
				write_width(base + offset, width, value);
			else
				read_width(base + offset, width);
	note = trap_result();
	if (note.count)
		say("gicregs: first abort at %#lx, esr %#lx", note.far,
		    note.esr);
	CHECK_EQ(note.count, 0, "%s", name);
	if (write)
		restore();
}

static void test_sweep(void)
{
	uint64_t gicd = machine.gicd.base, rd = irq_frame(0) - GICR_SGI;

	sweep("gicd-read-everything", gicd, 0x10000, false, 0);
	sweep("gicr-read-everything", rd, 0x20000, false, 0);
	sweep("gicd-write-zeros", gicd, 0x10000, true, 0);
	sweep("gicr-write-zeros", rd, 0x20000, true, 0);
	sweep("gicd-write-ones", gicd, 0x10000, true, ~0ull);
	sweep("gicr-write-ones", rd, 0x20000, true, ~0ull);
}

/* --- nobody should -------------------------------------------------------- */

static void test_reserved_ids(void)
{
	static const uint32_t ids[] = { 1020, 1023, 1024,
					8192, 0xffff, 0xffffff };

	CHECK_EQ(read_sysreg(icc_iar1_el1), 1023, "nothing-to-acknowledge");
	CHECK_EQ(read_sysreg(icc_hppir1_el1), 1023, "nothing-pending");
	trap_arm();
	for (unsigned i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		write_sysreg(ids[i], icc_eoir1_el1);
		write_sysreg(ids[i], icc_dir_el1);
	}
	isb();
	CHECK_EQ(trap_result().count, 0, "eoi-and-dir-of-reserved-ids");
	CHECK_EQ(read_sysreg(icc_rpr_el1), 0xff, "running-priority-is-idle");
}

/* Every field of SGI1R with the values it should not have. */
static void test_sgi_fields(void)
{
	static const uint64_t values[] = {
		0,			   /* empty list */
		0xffull << 32 | 0xffff,    /* Aff2 */
		0xffull << 48 | 1,	   /* Aff3 */
		0xffull << 16 | 1,	   /* Aff1 */
		1ull << 40 | 0xffff,	   /* others, and a list */
		0xfull << 28,		   /* RES0 beside the id */
		15ull << 44 | 0xffff,	   /* range: RES0 without RSS */
	};
	bool ranges = read_sysreg(icc_ctlr_el1) >> 18 & 1;
	unsigned nr = sizeof(values) / sizeof(values[0]) - !ranges;
	unsigned hit = 0;

	for (unsigned i = 0; i < nr; i++)
		for (uint64_t id = 0; id < 16; id++) {
			write_sysreg(values[i] | id << 24, icc_sgi1r_el1);
			isb();
		}
	for (unsigned id = 0; id < 16; id++)
		hit += irq_bit(GICD_ISPENDR, id);
	CHECK_EQ(hit, 0, "sgi-to-nobody");
	restore();
}

static volatile unsigned came;

static void count([[maybe_unused]] unsigned intid)
{
	came++;
}

static void test_still_works(void)
{
	irq_on(SGI, count);
	irq_on(SPI, count);
	irq_edge(SPI, true);
	io_write64(machine.gicd.base + GICD_IROUTER + SPI * 8,
		   read_sysreg(mpidr_el1) & MPIDR_AFF);
	sgi_to(read_sysreg(mpidr_el1), SGI);
	irq_write_bit(GICD_ISPENDR, SPI);
	irq_enable();
	delay_us(1000);
	irq_disable();
	CHECK_EQ(came, 2, "interrupts-still-work");
	CHECK_EQ(irq_spurious(), 0, "no-stray-interrupt");
}

int main(int, char **)
{
	test_identity();
	test_set_clear(GICD_ISENABLER, GICD_ICENABLER, "enable-bits");
	test_set_clear(GICD_ISPENDR, GICD_ICPENDR, "pending-bits");
	test_set_clear(GICD_ISACTIVER, GICD_ICACTIVER, "active-bits");
	test_priorities();
	test_config();
	test_groups_and_routes();
	restore();
	test_sweep();
	test_reserved_ids();
	test_sgi_fields();
	test_still_works();
	return report();
}
