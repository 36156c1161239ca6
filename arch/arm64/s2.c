// SPDX-License-Identifier: BSD-2-Clause
/*
 * Stage-2 tables (Arm ARM D8, VMSAv8-64 stage 2). One lock covers VMID
 * allocation; a table is changed by one CPU at a time, the owner of its VM.
 *
 * Memory type: with FEAT_S2FWB every access is write-back whatever the guest's
 * stage 1 says, so hypervisor and guest always agree. Without it a guest with
 * caches off bypasses them, and arch_sync_ram() must have cleaned its RAM.
 */
#include "s2.h"

#include "arm64.h"
#include "cpu.h"
#include "host.h"
#include "tlb.h"

#include <string.h>

#define PTE_VALID	BIT(0)
#define PTE_TABLE	BIT(1)
#define PTE_S2AP_R	BIT(6)
#define PTE_S2AP_W	BIT(7)
#define PTE_SH_INNER	(UINT64_C(3) << 8)
#define PTE_AF		BIT(10)
#define PTE_XN		BIT(54)		/* XN[1]: no execution at EL1, EL0 */
#define PTE_ADDR	BITS(47, 12)
#define MEMATTR_WB	(UINT64_C(0xf) << 2)
#define MEMATTR_FWB_WB	(UINT64_C(0x6) << 2)

/* VTCR_EL2. */
#define VTCR_T0SZ(bits)	(UINT64_C(64) - (bits))
#define VTCR_SL0_1	(UINT64_C(1) << 6)
#define VTCR_IRGN0_WB	(UINT64_C(1) << 8)
#define VTCR_ORGN0_WB	(UINT64_C(1) << 10)
#define VTCR_SH0_INNER	(UINT64_C(3) << 12)
#define VTCR_PS_SHIFT	16
#define VTCR_RES1	BIT(31)

#define ROOT_LEVEL	1
#define IPA_BITS_MAX	40
#define NR_VMIDS	256	/* what every implementation has */

static unsigned int ipa_bits;
static uint64_t vtcr, leaf_attr;
static uint64_t vmid_used[NR_VMIDS / 64] = { 1 };	/* 0 is the host's */
static struct spinlock vmid_lock;

static unsigned int level_shift(unsigned int level)
{
	return 39 - 9 * level;
}

static unsigned int root_order(void)
{
	return ipa_bits > 39 ? ipa_bits - 39 : 0;
}

void s2_boot(void)
{
	static const uint8_t pa_bits[] = { 32, 36, 40, 42, 44, 48, 48 };
	uint64_t range = cpu_pa_range();
	unsigned int i = range < ARRAY_SIZE(pa_bits) ? (unsigned int)range : 6;

	ipa_bits = pa_bits[i] < IPA_BITS_MAX ? pa_bits[i] : IPA_BITS_MAX;
	vtcr = VTCR_RES1 | VTCR_T0SZ(ipa_bits) | VTCR_SL0_1 | VTCR_IRGN0_WB |
	       VTCR_ORGN0_WB | VTCR_SH0_INNER |
	       min_u64(range, 5) << VTCR_PS_SHIFT;
	leaf_attr = cpu_has_fwb() ? MEMATTR_FWB_WB : MEMATTR_WB;
}

uint64_t s2_vtcr(void)
{
	return vtcr;
}

unsigned int s2_ipa_bits(void)
{
	return ipa_bits;
}

static int vmid_alloc(void)
{
	int vmid = ERR_NOMEM;

	spin_lock(&vmid_lock);
	for (unsigned int i = 0; i < ARRAY_SIZE(vmid_used); i++) {
		if (!~vmid_used[i])
			continue;
		int b = __builtin_ctzll(~vmid_used[i]);

		vmid_used[i] |= BIT(b);
		vmid = (int)i * 64 + b;
		break;
	}
	spin_unlock(&vmid_lock);
	return vmid;
}

int s2_init(struct s2 *s)
{
	int vmid = vmid_alloc();

	if (vmid < 0)
		return vmid;
	memset(s, 0, sizeof(*s));
	s->vmid = (uint32_t)vmid;
	s->root = page_alloc(root_order());
	if (!s->root) {
		s2_fini(s);
		return ERR_NOMEM;
	}
	s->vttbr = s->root | (uint64_t)vmid << 48;
	/* Entries of an earlier owner of this VMID. */
	tlb_flush_vmid(s->vttbr);
	return 0;
}

static void free_table(uint64_t *t, unsigned int level)
{
	for (unsigned int i = 0; level < 3 && i < 512; i++) {
		uint64_t e = t[i];

		if ((e & PTE_VALID) && (e & PTE_TABLE))
			free_table((uint64_t *)(e & PTE_ADDR), level + 1);
	}
	page_free((uintptr_t)t, 0);
}

void s2_fini(struct s2 *s)
{
	uint64_t *root = (uint64_t *)s->root;

	if (root) {
		unsigned int n = 512u << root_order();

		tlb_flush_vmid(s->vttbr);
		for (unsigned int i = 0; i < n; i++)
			if ((root[i] & PTE_VALID) && (root[i] & PTE_TABLE))
				free_table((uint64_t *)(root[i] & PTE_ADDR),
					   ROOT_LEVEL + 1);
		page_free(s->root, root_order());
	}
	spin_lock(&vmid_lock);
	vmid_used[s->vmid / 64] &= ~BIT(s->vmid % 64);
	spin_unlock(&vmid_lock);
	memset(s, 0, sizeof(*s));
}

static uint64_t leaf(paddr_t pa, unsigned int level, unsigned int prot)
{
	return pa | PTE_VALID | (level == 3 ? PTE_TABLE : 0) | leaf_attr |
	       PTE_SH_INNER | PTE_AF | (prot & S2_READ ? PTE_S2AP_R : 0) |
	       (prot & S2_WRITE ? PTE_S2AP_W : 0) |
	       (prot & S2_EXEC ? 0 : PTE_XN);
}

/* Entry of @gpa in the table @t of @level; the root is one long table. */
static uint64_t *entry(uint64_t *t, unsigned int level, gpa_t gpa)
{
	uint64_t i = gpa >> level_shift(level);

	return &t[level == ROOT_LEVEL ? i : i & 511];
}

/* Makes room for a leaf of @level at @gpa; NULL without memory. */
static uint64_t *make_entry(struct s2 *s, gpa_t gpa, unsigned int level)
{
	uint64_t *t = (uint64_t *)s->root;
	unsigned int l;

	for (l = ROOT_LEVEL; l < level; l++) {
		uint64_t *e = entry(t, l, gpa);

		if (!*e) {
			paddr_t pa = page_alloc(0);

			if (!pa)
				return NULL;
			tlb_publish();	/* zeros before the pointer */
			*e = pa | PTE_VALID | PTE_TABLE;
		}
		ASSERT(*e & PTE_TABLE);
		t = (uint64_t *)(*e & PTE_ADDR);
	}
	return entry(t, level, gpa);
}

static unsigned int best_level(gpa_t gpa, paddr_t pa, uint64_t size)
{
	unsigned int l = ROOT_LEVEL;

	while (l < 3 && (!is_aligned(gpa | pa, BIT(level_shift(l))) ||
			 size < BIT(level_shift(l))))
		l++;
	return l;
}

int s2_map(struct s2 *s, gpa_t gpa, paddr_t pa, uint64_t size,
	   unsigned int prot)
{
	if (!range_inside(gpa, size, BIT(ipa_bits)))
		return ERR_INVAL;
	while (size) {
		unsigned int l = best_level(gpa, pa, size);
		uint64_t *e = make_entry(s, gpa, l);

		/* Where a table is already, even an empty one, go into it. */
		while (e && l < 3 && (*e & PTE_TABLE))
			e = make_entry(s, gpa, ++l);
		if (!e)
			return ERR_NOMEM;
		ASSERT(!*e);
		*e = leaf(pa, l, prot);
		gpa += BIT(level_shift(l));
		pa += BIT(level_shift(l));
		size -= BIT(level_shift(l));
	}
	/* No TLB holds an invalid entry; just make it visible to walkers. */
	tlb_publish();
	return 0;
}

/* The lowest existing entry on the way to @gpa and its level. */
static uint64_t *find_entry(const struct s2 *s, gpa_t gpa, unsigned int *level)
{
	uint64_t *t = (uint64_t *)s->root;
	unsigned int l = ROOT_LEVEL;

	for (;; l++) {
		uint64_t *e = entry(t, l, gpa);

		if (l == 3 || (*e & (PTE_VALID | PTE_TABLE)) !=
				      (PTE_VALID | PTE_TABLE)) {
			*level = l;
			return e;
		}
		t = (uint64_t *)(*e & PTE_ADDR);
	}
}

uint64_t s2_lookup(const struct s2 *s, gpa_t gpa, unsigned int *level)
{
	uint64_t *e;

	*level = 0;
	if (gpa >= BIT(ipa_bits))
		return 0;
	e = find_entry(s, gpa, level);
	return *e & PTE_VALID ? *e : 0;
}

/* Replaces a block by a table of the next level that maps the same. */
static int split(struct s2 *s, uint64_t *e, unsigned int level, gpa_t gpa)
{
	paddr_t table = page_alloc(0);
	uint64_t *t = (uint64_t *)table;
	uint64_t old = *e, pa = old & PTE_ADDR;
	uint64_t attr = old & ~(PTE_ADDR | PTE_TABLE);

	if (!table)
		return ERR_NOMEM;
	for (unsigned int i = 0; i < 512; i++)
		t[i] = (pa + i * BIT(level_shift(level + 1))) | attr |
		       (level + 1 == 3 ? PTE_TABLE : 0);
	tlb_publish();
	*e = 0;
	tlb_flush_ipa(s->vttbr, align_down(gpa, BIT(level_shift(level))));
	*e = table | PTE_VALID | PTE_TABLE;
	tlb_publish();
	return 0;
}

int s2_protect(struct s2 *s, gpa_t gpa, uint64_t size, unsigned int prot)
{
	if (!range_inside(gpa, size, BIT(ipa_bits)))
		return ERR_INVAL;
	while (size) {
		unsigned int l;
		uint64_t *e = find_entry(s, gpa, &l);
		uint64_t span = BIT(level_shift(l));
		uint64_t in = gpa & (span - 1);
		uint64_t step = min_u64(span - in, size);

		if ((*e & PTE_VALID) && step < span) {
			int err = split(s, e, l, gpa);

			if (err)
				return err;
			continue;
		}
		if (*e & PTE_VALID) {
			paddr_t pa = *e & PTE_ADDR;

			*e = 0;
			tlb_flush_ipa(s->vttbr, gpa);
			if (prot)
				*e = leaf(pa, l, prot);
		}
		gpa += step;
		size -= step;
	}
	tlb_publish();
	return 0;
}

void s2_load(struct s2 *s, const struct vcpu *v)
{
	uint32_t cpu = this_cpu()->id;

	tlb_switch(s->vttbr);
	if (s->last[cpu] == v)
		return;
	s->last[cpu] = v;
	/* Local only: what other CPUs cached is right for them. */
	tlb_flush_local();
}
