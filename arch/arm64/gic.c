// SPDX-License-Identifier: BSD-2-Clause
/*
 * Host GICv3 driver (Arm IHI 0069). Owns the distributor after boot; writes to
 * it come from one CPU at boot or are single stores to set-registers, so there
 * is no lock. Each CPU touches only its own redistributor.
 */
#include "gic.h"

#include "arch.h"
#include "arm64.h"
#include "cpu.h"
#include "host.h"
#include "sysreg.h"
#include "vgic.h"
#include "vtimer.h"

#include <libfdt.h>

/* Distributor and, from GICR_SGI on, the redistributor's second frame. */
#define GICD_CTLR	0x0000
#define GICD_TYPER	0x0004
#define GIC_IGROUPR	0x0080
#define GIC_ISENABLER	0x0100
#define GIC_ICENABLER	0x0180
#define GICD_ISPENDR	0x0200
#define GIC_ICPENDR	0x0280
#define GIC_ISACTIVER	0x0300
#define GIC_ICACTIVER	0x0380
#define GIC_IPRIORITYR	0x0400
#define GIC_ICFGR	0x0c00
#define GICD_IROUTER	0x6000
#define GIC_PIDR2	0xffe8
#define GICR_CTLR	0x0000
#define GICR_TYPER	0x0008
#define GICR_WAKER	0x0014
#define GICR_SGI	0x10000

#define CTLR_RWP		BIT(31)
#define CTLR_ARE		BIT(4)
#define CTLR_GRP1		BIT(1)
#define GICR_CTLR_RWP		BIT(3)
#define WAKER_SLEEP		BIT(1)
#define WAKER_CHILDREN_ASLEEP	BIT(2)
#define TYPER_LAST		BIT(4)
#define TYPER_VLPIS		BIT(1)

#define GICD_SIZE	0x10000
#define GICR_SIZE	0x20000		/* two frames, four with VLPIs */
#define MAX_REGIONS	16

#define PRIO_WORD	0xa0a0a0a0u
#define INTID_SPI	32
#define INTID_SPECIAL	1020

/* ICC_CTLR_EL1 and ICC_SRE_EL2. */
#define CTLR_EOIMODE	BIT(1)
#define SRE_SRE		BIT(0)
#define SRE_DFB		BIT(1)
#define SRE_DIB		BIT(2)
#define ICC_AP1R0_EL1	S3_0_C12_C9_0

/* How often a register is polled before we call it broken. */
#define POLL_MAX	10000000

struct region {
	volatile void *base;
	uint64_t size;
};

static volatile void *dist;
static struct region regions[MAX_REGIONS];
static unsigned int nr_regions;
static uint64_t stride;			/* 0: by GICR_TYPER */
static unsigned int nr_spis;
static int gic_node;
static unsigned int irq_cells;
static unsigned int maintenance;

/* Affinity fields of the CPUs that are set up, by CPU number. */
static uint64_t mpidrs[MAX_PCPUS];

static uint32_t rd32(volatile void *base, uint64_t off)
{
	return arch_mmio_read32((volatile char *)base + off);
}

static void wr32(volatile void *base, uint64_t off, uint32_t v)
{
	arch_mmio_write32((volatile char *)base + off, v);
}

static uint64_t rd64(volatile void *base, uint64_t off)
{
	return arch_mmio_read64((volatile char *)base + off);
}

static void wr64(volatile void *base, uint64_t off, uint64_t v)
{
	arch_mmio_write64((volatile char *)base + off, v);
}

static void wait_clear(volatile void *base, uint64_t off, uint64_t bits)
{
	for (unsigned int i = 0; rd32(base, off) & bits; i++)
		if (i == POLL_MAX)
			panic("GIC register %llx stays %x",
			      (unsigned long long)off, rd32(base, off));
}

/* ---- discovery ----------------------------------------------------------- */

static uint64_t cells_at(const fdt32_t *p, int n)
{
	uint64_t v = 0;

	for (int i = 0; i < n; i++)
		v = v << 32 | fdt32_ld(p + i);
	return v;
}

static bool reg_at(int node, unsigned int index, uint64_t *base, uint64_t *size)
{
	const void *fdt = host_fdt();
	int parent = fdt_parent_offset(fdt, node);
	int ac = fdt_address_cells(fdt, parent);
	int sc = fdt_size_cells(fdt, parent), len;
	const fdt32_t *p = fdt_getprop(fdt, node, "reg", &len);

	if (!p || ac < 1 || ac > 2 || sc < 1 || sc > 2)
		return false;
	int entry = (ac + sc) * 4;

	if (index >= (unsigned int)len / (unsigned int)entry)
		return false;
	p += (unsigned int)(ac + sc) * index;
	*base = cells_at(p, ac);
	*size = cells_at(p + ac, sc);
	return true;
}

static uint64_t prop_num(int node, const char *name, uint64_t missing)
{
	int len;
	const fdt32_t *p = fdt_getprop(host_fdt(), node, name, &len);

	if (!p || (len != 4 && len != 8))
		return missing;
	return cells_at(p, len / 4);
}

int gic_fdt_irq(int node, unsigned int index)
{
	int len;
	const fdt32_t *p = fdt_getprop(host_fdt(), node, "interrupts", &len);

	if (!p || index >= (unsigned int)len / (4 * irq_cells))
		return ERR_NOENT;
	p += index * irq_cells;
	uint32_t type = fdt32_ld(p), n = fdt32_ld(p + 1);

	if (type == 0 && n < INTID_SPECIAL - INTID_SPI)
		return (int)(INTID_SPI + n);
	if (type == 1 && n < 16)
		return (int)(16 + n);
	return ERR_FORMAT;
}

static int find_gic(void)
{
	static const char *const old[] = { "arm,cortex-a15-gic", "arm,gic-400",
					   "arm,cortex-a9-gic" };
	const void *fdt = host_fdt();
	int node = fdt_node_offset_by_compatible(fdt, -1, "arm,gic-v3");

	if (node >= 0)
		return node;
	for (unsigned int i = 0; i < ARRAY_SIZE(old); i++)
		if (fdt_node_offset_by_compatible(fdt, -1, old[i]) >= 0)
			config_error("GICv2 machine: a GICv3 is required");
	config_error("device tree: no arm,gic-v3 node: a GICv3 is required");
}

static void map_regions(void)
{
	uint64_t n = prop_num(gic_node, "#redistributor-regions", 1);
	uint64_t base, size;

	if (n < 1 || n > MAX_REGIONS)
		config_error("device tree: GIC: %llu redistributor regions, "
			     "1 to %d are supported",
			     (unsigned long long)n, MAX_REGIONS);
	for (unsigned int i = 0; i < n; i++) {
		if (!reg_at(gic_node, 1 + i, &base, &size) || size < GICR_SIZE)
			config_error("device tree: GIC: reg: no redistributor "
				     "region %u", i);
		regions[i].base = arch_map_device(base, size);
		regions[i].size = size;
	}
	nr_regions = (unsigned int)n;
	stride = prop_num(gic_node, "redistributor-stride", 0);
	if (!is_aligned(stride, GICR_SIZE))
		config_error("device tree: GIC: redistributor-stride is not a "
			     "multiple of 128 KiB");
}

static void discover(void)
{
	uint64_t base, size;

	gic_node = find_gic();
	irq_cells = (unsigned int)prop_num(gic_node, "#interrupt-cells", 0);
	if (irq_cells < 3 || irq_cells > 4)
		config_error("device tree: GIC: #interrupt-cells is neither 3 "
			     "nor 4");
	if (!reg_at(gic_node, 0, &base, &size) || size < GICD_SIZE)
		config_error("device tree: GIC: reg: no distributor");
	dist = arch_map_device(base, size);
	unsigned int rev = rd32(dist, GIC_PIDR2) >> 4 & 0xf;

	if (rev != 3 && rev != 4)
		config_error("the GIC is of version %u: a GICv3 is required",
			     rev);
	map_regions();
	int mi = gic_fdt_irq(gic_node, 0);

	if (mi < 16 || mi > 31)
		config_error("device tree: GIC: no maintenance interrupt");
	maintenance = (unsigned int)mi;
}

/* ---- distributor --------------------------------------------------------- */

void gic_init(void)
{
	discover();
	timer_discover();
	wr32(dist, GICD_CTLR, 0);
	wait_clear(dist, GICD_CTLR, CTLR_RWP);
	wr32(dist, GICD_CTLR, CTLR_ARE);
	wait_clear(dist, GICD_CTLR, CTLR_RWP);
	nr_spis = 32 * (rd32(dist, GICD_TYPER) & 0x1f);
	if (nr_spis > INTID_SPECIAL - INTID_SPI)
		nr_spis = INTID_SPECIAL - INTID_SPI;
	for (unsigned int i = INTID_SPI; i < INTID_SPI + nr_spis; i += 32) {
		wr32(dist, GIC_ICENABLER + i / 8, UINT32_MAX);
		wr32(dist, GIC_ICPENDR + i / 8, UINT32_MAX);
		wr32(dist, GIC_ICACTIVER + i / 8, UINT32_MAX);
		wr32(dist, GIC_IGROUPR + i / 8, UINT32_MAX);
	}
	for (unsigned int i = INTID_SPI; i < INTID_SPI + nr_spis; i += 4)
		wr32(dist, GIC_IPRIORITYR + i, PRIO_WORD);
	wait_clear(dist, GICD_CTLR, CTLR_RWP);
	wr32(dist, GICD_CTLR, CTLR_ARE | CTLR_GRP1);
	wait_clear(dist, GICD_CTLR, CTLR_RWP);
}

/* MPIDR affinity as GICR_TYPER, GICD_IROUTER and SGIs want it. */
static uint32_t affinity(uint64_t mpidr)
{
	return (uint32_t)(field(mpidr, 39, 32) << 24 | field(mpidr, 23, 0));
}

void gic_enable_spi(unsigned int intid, unsigned int id)
{
	uint32_t shift = (intid % 16) * 2;
	uint32_t cfg;

	ASSERT(intid >= INTID_SPI && intid - INTID_SPI < nr_spis);
	cfg = rd32(dist, GIC_ICFGR + intid / 16 * 4);
	wr32(dist, GIC_ICFGR + intid / 16 * 4, cfg & ~(2u << shift));
	wr64(dist, GICD_IROUTER + 8 * (uint64_t)intid,
	     mpidrs[id] & (BITS(39, 32) | BITS(23, 0)));
	wr32(dist, GIC_ISENABLER + intid / 32 * 4, 1u << intid % 32);
}

void gic_set_pending(unsigned int intid)
{
	ASSERT(intid >= INTID_SPI && intid - INTID_SPI < nr_spis);
	wr32(dist, GICD_ISPENDR + intid / 32 * 4, 1u << intid % 32);
}

/* ---- this CPU ------------------------------------------------------------ */

static uint64_t rd_step(uint64_t typer)
{
	if (stride)
		return stride;
	return typer & TYPER_VLPIS ? 2 * GICR_SIZE : GICR_SIZE;
}

static volatile void *find_rd(uint32_t aff)
{
	for (unsigned int i = 0; i < nr_regions; i++) {
		const struct region *r = &regions[i];
		uint64_t off = 0, typer;

		do {
			volatile void *rd = (volatile char *)r->base + off;

			typer = rd64(rd, GICR_TYPER);
			if (typer >> 32 == aff)
				return rd;
			off += rd_step(typer);
		} while (!(typer & TYPER_LAST) &&
			 range_inside(off, GICR_SIZE, r->size));
	}
	return NULL;
}

static void rd_init(volatile void *rd)
{
	volatile void *sgi = (volatile char *)rd + GICR_SGI;
	uint32_t on = 1u << GIC_SGI_KICK | 1u << maintenance |
		      1u << timer_ppis.hyp | 1u << timer_ppis.virt |
		      1u << timer_ppis.phys;

	wr32(rd, GICR_WAKER, rd32(rd, GICR_WAKER) & (uint32_t)~WAKER_SLEEP);
	wait_clear(rd, GICR_WAKER, WAKER_CHILDREN_ASLEEP);
	wr32(sgi, GIC_ICENABLER, UINT32_MAX);
	wait_clear(rd, GICR_CTLR, GICR_CTLR_RWP);
	wr32(sgi, GIC_IGROUPR, UINT32_MAX);
	wr32(sgi, GIC_ICPENDR, UINT32_MAX);
	wr32(sgi, GIC_ICACTIVER, UINT32_MAX);
	for (unsigned int i = 0; i < INTID_SPI; i += 4)
		wr32(sgi, GIC_IPRIORITYR + i, PRIO_WORD);
	wr32(sgi, GIC_ISENABLER, on);
	dsb_sy();
}

/*
 * Where the CPU interface also has the memory-mapped form of GICv2, EL1 has
 * system registers only after ICC_SRE_EL1.SRE is set, which resets to 0.
 * ICC_SRE_EL2.Enable stays 0: a guest's access to ICC_SRE_EL1 then traps, so it
 * cannot turn them off.
 */
static void cpu_interface_init(void)
{
	sysreg_write(ICC_SRE_EL2, SRE_SRE | SRE_DFB | SRE_DIB);
	isb();
	if (!(sysreg_read(ICC_SRE_EL2) & SRE_SRE))
		config_error("the GIC's system registers are not available");
	sysreg_write(ICC_SRE_EL1, SRE_SRE | SRE_DFB | SRE_DIB);
	isb();
	sysreg_write(ICC_PMR_EL1, 0xff);
	sysreg_write(ICC_BPR1_EL1, 0);
	sysreg_write(ICC_CTLR_EL1, CTLR_EOIMODE);
	sysreg_write(ICC_AP1R0_EL1, 0);
	sysreg_write(ICC_IGRPEN1_EL1, 1);
	isb();
}

void gic_cpu_init(struct cpu *c)
{
	struct gic_cpu *g = &c->arch.gic;

	mpidrs[c->id] = c->arch.mpidr;
	g->rd = find_rd(affinity(c->arch.mpidr));
	if (!g->rd)
		config_error("CPU %u has no GIC redistributor", c->id);
	rd_init(g->rd);
	cpu_interface_init();
	timer_cpu_init();
	vgic_cpu_init();
}

/* Arm IHI 0069, ICC_SGI1R_EL1. */
void gic_kick(unsigned int id)
{
	uint64_t m = mpidrs[id];
	uint64_t aff0 = field(m, 7, 0);

	dsb_ishst();
	sysreg_write(ICC_SGI1R_EL1,
		     field(m, 39, 32) << 48 | (aff0 >> 4) << 44 |
			     field(m, 23, 16) << 32 |
			     UINT64_C(GIC_SGI_KICK) << 24 |
			     field(m, 15, 8) << 16 | BIT(aff0 & 15));
	isb();
}

void gic_deactivate(unsigned int intid)
{
	sysreg_write(ICC_DIR_EL1, intid);
	isb();
}

void gic_set_active(unsigned int intid)
{
	volatile void *sgi =
		(volatile char *)this_cpu()->arch.gic.rd + GICR_SGI;

	wr32(sgi, GIC_ISACTIVER, 1u << intid);
	rd32(sgi, GIC_ISACTIVER);	/* it has arrived, */
	dsb_sy();			/* before a timer is turned on */
}

/* ---- taking interrupts --------------------------------------------------- */

static void unexpected(unsigned int intid)
{
	static bool said;

	if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
		log_warn("unexpected interrupt %u on CPU %u, more will not be "
			 "reported", intid, arch_cpu_id());
}

/* Priority is dropped. True: deactivate it now. */
static bool dispatch(unsigned int intid)
{
	if (intid == timer_ppis.virt || intid == timer_ppis.phys) {
		vtimer_irq(intid);
		return false;
	}
	if (intid == timer_ppis.hyp) {
		timer_expired();
		host_timer();
	} else if (intid == maintenance) {
		vgic_maintenance();
	} else if (intid >= INTID_SPI) {
		board_irq(intid);
	} else if (intid != GIC_SGI_KICK) {
		unexpected(intid);
	}
	return true;
}

void arch_irq_poll(void)
{
	for (;;) {
		unsigned int intid =
			(unsigned int)sysreg_read(ICC_IAR1_EL1) & 0xffffff;

		dsb_sy();	/* acknowledged before its cause is looked at */
		if (intid >= INTID_SPECIAL)
			return;
		sysreg_write(ICC_EOIR1_EL1, intid);
		isb();
		if (dispatch(intid))
			gic_deactivate(intid);
	}
}
