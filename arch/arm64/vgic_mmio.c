// SPDX-License-Identifier: BSD-2-Clause
/*
 * Virtual GIC: the registers of the distributor and redistributor frames (Arm
 * IHI 0069, chapter 12). Below 0x1000 both frames have the same layout, so one
 * const table, one entry per 128 bytes, serves both; the distributor's bank 0
 * is RAZ/WI because routing is always by affinity.
 *
 * Accesses are made of aligned 32-bit words: 64-bit ones are two, reads of
 * bytes and halfwords give part of one, writes of bytes and halfwords work for
 * priorities and are ignored elsewhere. Unaligned is RAZ/WI, as is everything
 * reserved. Owns no state; the lock is taken for each register.
 */
#include "dev.h"
#include "vgic.h"
#include "vgic_hw.h"
#include "vgic_mmio.h"
#include "vgic_state.h"
#include "vtimer.h"

enum kind {
	RAZ,
	MISC,		/* the first 128 bytes */
	GROUP,
	SET_ENABLE,
	CLEAR_ENABLE,
	SET_PENDING,
	CLEAR_PENDING,
	SET_ACTIVE,
	CLEAR_ACTIVE,
	PRIORITY,
	CONFIG,
};

/* By offset / 128. What is not named is RAZ/WI: among others GICD_ITARGETSR
 * and GICD_SGIR (only without affinity routing), GICD_IGRPMODR and GICD_NSACR
 * (only with two security states), GICD_SETSPI (no message-based SPIs). */
static const uint8_t kinds[32] = {
	[0x000 >> 7] = MISC,
	[0x080 >> 7] = GROUP,
	[0x100 >> 7] = SET_ENABLE,
	[0x180 >> 7] = CLEAR_ENABLE,
	[0x200 >> 7] = SET_PENDING,
	[0x280 >> 7] = CLEAR_PENDING,
	[0x300 >> 7] = SET_ACTIVE,
	[0x380 >> 7] = CLEAR_ACTIVE,
	[0x400 >> 7] = PRIORITY,
	[0x480 >> 7] = PRIORITY,
	[0x500 >> 7] = PRIORITY,
	[0x580 >> 7] = PRIORITY,
	[0x600 >> 7] = PRIORITY,
	[0x680 >> 7] = PRIORITY,
	[0x700 >> 7] = PRIORITY,
	[0x780 >> 7] = PRIORITY,
	[0xc00 >> 7] = CONFIG,
	[0xc80 >> 7] = CONFIG,
};

#define GICD_CTLR	0x0000
#define GICD_TYPER	0x0004
#define GICD_IIDR	0x0008
#define GICD_IROUTER	0x6000
#define GICD_IROUTER_END 0x8000
#define GICR_IIDR	0x0004
#define GICR_TYPER	0x0008
#define GICR_TYPER_HI	0x000c
#define GICR_WAKER	0x0014
#define GICR_SGI	0x10000
#define GIC_ID		0xffd0		/* PIDR4 */
#define GIC_ID_END	0x10000

#define CTLR_ARE	BIT(4)		/* affinity routing, always */
#define CTLR_DS		BIT(6)		/* one security state, always */
#define IIDR		0x4e000000	/* product 'N', no implementer code */
#define ROUTER_MASK	(BIT(31) | BITS(23, 0))	/* IRM, Aff2..Aff0 */
#define TYPER_ID_BITS	9		/* INTIDs of 10 bits */
#define GICR_TYPER_LAST	BIT(4)
#define WAKER_SLEEP	BIT(1)
#define WAKER_ASLEEP	BIT(2)

/* Identification registers from 0xffd0: PIDR4..7, PIDR0..3, CIDR0..3. */
static const uint8_t ids[12] = {
	0x44, 0, 0, 0, 0x92, 0xb4, 0x3b, 0, 0x0d, 0xf0, 0x05, 0xb1,
};

/*
 * One word of a frame. @v is whose redistributor it is, or any vCPU of the VM
 * for the distributor.
 */
struct word {
	struct vcpu *v;
	uint32_t off;
	bool redist;
};

static inline struct vgic *vgic_of(const struct vcpu *v)
{
	return &v->vm->arch.vgic;
}

/*
 * Bank @b as this frame shows it: 0 in a redistributor's second frame, SPIs in
 * the distributor.
 */
static bool has_bank(const struct word *w, unsigned int b)
{
	return w->redist ? b == 0 : b > 0 && b < VGIC_BANKS;
}

/* ---- registers of one bit per interrupt ---------------------------------- */

static uint32_t do_op(const struct word *w, enum vgic_op_kind kind,
		      uint32_t bits, uint32_t val)
{
	struct vgic_op op = {
		.kind = kind,
		.v = w->v,
		.bank = (w->off & 0x7f) / 4,
		.todo = bits,
		.val = val,
	};

	if (!bits)
		return 0;
	vgic_do(&op);
	return op.result;
}

static uint32_t bit_read(const struct word *w, enum kind kind)
{
	unsigned int b = (w->off & 0x7f) / 4;

	if (!has_bank(w, b))
		return 0;
	const struct vgic_bank *k = vgic_bank(w->v, b);

	if (kind == GROUP)
		return k->group1;
	if (kind == SET_ENABLE || kind == CLEAR_ENABLE)
		return k->enabled;
	if (kind == SET_PENDING || kind == CLEAR_PENDING)
		return do_op(w, VGIC_READ_PENDING, UINT32_MAX, 0);
	return do_op(w, VGIC_READ_ACTIVE, UINT32_MAX, 0);
}

static void bit_write(const struct word *w, enum kind kind, uint32_t val)
{
	static const uint8_t ops[] = {
		[SET_ENABLE] = VGIC_SET_ENABLE,
		[CLEAR_ENABLE] = VGIC_CLEAR_ENABLE,
		[SET_PENDING] = VGIC_SET_PENDING,
		[CLEAR_PENDING] = VGIC_CLEAR_PENDING,
		[SET_ACTIVE] = VGIC_SET_ACTIVE,
		[CLEAR_ACTIVE] = VGIC_CLEAR_ACTIVE,
	};

	if (!has_bank(w, (w->off & 0x7f) / 4))
		return;
	if (kind == GROUP)
		do_op(w, VGIC_GROUP, UINT32_MAX, val);
	else
		do_op(w, (enum vgic_op_kind)ops[kind], val, 0);
}

/* ---- priorities, configuration, routes ----------------------------------- */

/* Four priorities of @w, or NULL. */
static uint8_t *prio_at(const struct word *w)
{
	unsigned int intid = (w->off & 0xfff) - 0x400;

	if (!has_bank(w, intid / 32))
		return NULL;
	return &vgic_bank(w->v, intid / 32)->prio[intid % 32];
}

static uint32_t prio_read(const struct word *w)
{
	const uint8_t *p = prio_at(w);

	if (!p)
		return 0;
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	       (uint32_t)p[3] << 24;
}

/* Sets @n of the four priorities from number @first on. */
static void prio_write(const struct word *w, unsigned int first, unsigned int n,
		       uint64_t val)
{
	uint8_t mask = (uint8_t)(0xff << (8 - vgic_hw.pri_bits));
	unsigned int intid = (w->off & 0xfff) - 0x400 + first;
	uint8_t *p = prio_at(w);
	struct vgic *g = vgic_of(w->v);

	if (!p)
		return;
	spin_lock(&g->lock);
	for (unsigned int i = 0; i < n; i++)
		p[first + i] = (uint8_t)(val >> 8 * i) & mask;
	vgic_notify(w->v, intid / 32, ((1u << n) - 1) << intid % 32);
	spin_unlock(&g->lock);
}

/* Bit 2n+1 of ICFGR is interrupt n's, edge or not; spreads 16 bits. */
static uint32_t spread(uint32_t bits)
{
	uint32_t v = 0;

	for (unsigned int i = 0; i < 16; i++)
		v |= (bits >> i & 1) << (2 * i + 1);
	return v;
}

static uint32_t gather_odd(uint32_t v)
{
	uint32_t bits = 0;

	for (unsigned int i = 0; i < 16; i++)
		bits |= (v >> (2 * i + 1) & 1) << i;
	return bits;
}

static uint32_t config_read(const struct word *w)
{
	unsigned int n = (w->off & 0xff) / 4;

	if (!has_bank(w, n / 2))
		return 0;
	return spread(vgic_bank(w->v, n / 2)->edge >> 16 * (n % 2) & 0xffff);
}

/* SGIs are edges and PPIs levels for good, as the architecture allows. */
static void config_write(const struct word *w, uint32_t val)
{
	unsigned int n = (w->off & 0xff) / 4, shift = 16 * (n % 2);
	struct vgic_op op = {
		.kind = VGIC_CONFIG,
		.v = w->v,
		.bank = n / 2,
		.todo = 0xffffu << shift,
		.val = gather_odd(val) << shift,
	};

	if (!w->redist && has_bank(w, n / 2))
		vgic_do(&op);
}

/* SPI number of an IROUTER word, or VGIC_SPIS. */
static unsigned int router_spi(const struct word *w)
{
	unsigned int intid = (w->off - GICD_IROUTER) / 8;

	if (intid < VGIC_LOCAL || intid >= VGIC_INTIDS)
		return VGIC_SPIS;
	return intid - VGIC_LOCAL;
}

static uint32_t router_read(const struct word *w)
{
	unsigned int spi = router_spi(w);

	/* The high word has Aff3 only, which no vCPU has. */
	if (spi == VGIC_SPIS || w->off & 4)
		return 0;
	return vgic_of(w->v)->router[spi];
}

static void set_route(struct vcpu *v, unsigned int spi, uint32_t val)
{
	struct vgic_op op = {
		.kind = VGIC_ROUTE,
		.v = v,
		.bank = spi / 32 + 1,
		.todo = 1u << spi % 32,
		.val = val,
	};

	vgic_do(&op);
}

static void router_write(const struct word *w, uint32_t val)
{
	unsigned int spi = router_spi(w);

	if (spi != VGIC_SPIS && !(w->off & 4))
		set_route(w->v, spi, val & (uint32_t)ROUTER_MASK);
}

/* ---- the rest ------------------------------------------------------------ */

static uint32_t dist_misc_read(const struct word *w)
{
	switch (w->off) {
	case GICD_CTLR:
		return (uint32_t)(CTLR_ARE | CTLR_DS) | vgic_of(w->v)->ctlr;
	case GICD_TYPER:
		return (VGIC_BANKS - 1) | TYPER_ID_BITS << 19;
	case GICD_IIDR:
		return IIDR;
	default:
		return 0;
	}
}

static void dist_misc_write(const struct word *w, uint32_t val)
{
	if (w->off == GICD_CTLR)
		vgic_set_ctlr(w->v->vm,
			      val & (VGIC_CTLR_GRP0 | VGIC_CTLR_GRP1));
}

static uint32_t redist_misc_read(const struct word *w)
{
	const struct vcpu *v = w->v;
	uint32_t last = v->id + 1 == v->vm->nr_vcpus ? GICR_TYPER_LAST : 0;

	switch (w->off) {
	case GICR_IIDR:
		return IIDR;
	case GICR_TYPER:
		return last | v->id << 8;
	case GICR_TYPER_HI:
		return (uint32_t)field(v->arch.mpidr, 23, 0);
	case GICR_WAKER:
		return v->arch.vgic.asleep ? WAKER_SLEEP | WAKER_ASLEEP : 0;
	default:
		return 0;
	}
}

/*
 * ProcessorSleep takes this vCPU out of the choice for SPIs that go to any
 * one. Others are delivered all the same, as a wake-up request would do.
 */
static void waker_write(struct vcpu *v, uint32_t val)
{
	struct vgic *g = vgic_of(v);

	spin_lock(&g->lock);
	v->arch.vgic.asleep = val & WAKER_SLEEP;
	spin_unlock(&g->lock);
	for (unsigned int spi = 0; spi < VGIC_SPIS; spi++) {
		uint32_t r = __atomic_load_n(&g->router[spi], __ATOMIC_RELAXED);

		if (r & BIT(31))
			set_route(v, spi, r);
	}
}

static uint32_t id_read(const struct word *w)
{
	uint32_t n = (w->off - GIC_ID) / 4;

	/* Part number: 0x492 distributor, 0x493 redistributor. */
	return ids[n] + (w->redist && n == 4);
}

/* ---- words --------------------------------------------------------------- */

static uint32_t bank_word_read(const struct word *w)
{
	enum kind kind = (enum kind)kinds[(w->off & 0xfff) >> 7];

	if (kind == PRIORITY)
		return prio_read(w);
	if (kind == CONFIG)
		return config_read(w);
	if (kind == RAZ || kind == MISC)
		return 0;
	return bit_read(w, kind);
}

static void bank_word_write(const struct word *w, uint32_t val)
{
	enum kind kind = (enum kind)kinds[(w->off & 0xfff) >> 7];

	if (kind == PRIORITY)
		prio_write(w, 0, 4, val);
	else if (kind == CONFIG)
		config_write(w, val);
	else if (kind != RAZ && kind != MISC)
		bit_write(w, kind, val);
}

static uint32_t word_read(const struct word *w)
{
	if (w->off < 0x80)
		return w->redist ? redist_misc_read(w) : dist_misc_read(w);
	if (w->off >= GIC_ID && w->off < GIC_ID_END)
		return id_read(w);
	if (w->redist)
		return w->off >= GICR_SGI && w->off < GICR_SGI + 0x1000 ?
			       bank_word_read(w) : 0;
	if (w->off < 0x1000)
		return bank_word_read(w);
	if (w->off >= GICD_IROUTER && w->off < GICD_IROUTER_END)
		return router_read(w);
	return 0;
}

static void word_write(const struct word *w, uint32_t val)
{
	if (w->redist) {
		if (w->off == GICR_WAKER)
			waker_write(w->v, val);
		else if (w->off >= GICR_SGI && w->off < GICR_SGI + 0x1000)
			bank_word_write(w, val);
		return;
	}
	if (w->off < 0x80)
		dist_misc_write(w, val);
	else if (w->off < 0x1000)
		bank_word_write(w, val);
	else if (w->off >= GICD_IROUTER && w->off < GICD_IROUTER_END)
		router_write(w, val);
}

/* ---- accesses ------------------------------------------------------------ */

static void frame_read(struct word *w, struct mmio *m)
{
	unsigned int shift = 8 * (w->off & 3);

	m->value = 0;
	if (w->off & (m->size - 1u))
		return;
	w->off &= ~3u;
	m->value = word_read(w) >> shift;
	if (m->size == 8) {
		w->off += 4;
		m->value |= (uint64_t)word_read(w) << 32;
	} else if (m->size < 4) {
		m->value &= (1u << 8 * m->size) - 1;
	}
}

/* Part of a word: only priorities, in either frame. */
static void part_write(struct word *w, unsigned int size, uint64_t val)
{
	uint32_t first = w->off & 3;
	uint32_t off = w->redist ? w->off - GICR_SGI : w->off;

	w->off &= ~3u;
	if (off < 0x1000 && kinds[off >> 7] == PRIORITY)
		prio_write(w, first, size, val);
}

static void frame_write(struct word *w, const struct mmio *m)
{
	if (w->off & (m->size - 1u))
		return;
	if (m->size < 4) {
		part_write(w, m->size, m->value);
		return;
	}
	word_write(w, (uint32_t)m->value);
	if (m->size == 8) {
		w->off += 4;
		word_write(w, (uint32_t)(m->value >> 32));
	}
}

bool vgic_mmio(struct vcpu *v, struct mmio *m)
{
	struct word w = { .v = v };
	uint64_t off = m->gpa - VGIC_GICD_BASE;

	if (off >= VGIC_GICD_SIZE) {
		off = m->gpa - VGIC_GICR_BASE;
		if (off >= VGIC_GICR_SIZE * v->vm->nr_vcpus)
			return false;
		w.v = v->vm->vcpus[off / VGIC_GICR_SIZE];
		w.redist = true;
		off %= VGIC_GICR_SIZE;
	}
	w.off = (uint32_t)off;
	if (m->write)
		frame_write(&w, m);
	else
		frame_read(&w, m);
	return true;
}
