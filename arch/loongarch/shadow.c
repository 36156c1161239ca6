// SPDX-License-Identifier: BSD-2-Clause
/*
 * Shadow contexts. A table has four levels of 512 entries for 48 bits of
 * address; what is absent points to shared tables of absent entries, so that
 * the refill handler needs no test. Leaves are for PLV3 alone (RPLV): a stray
 * access of the hypervisor to a guest's address faults.
 *
 * Real ASIDs belong to a pCPU, since TLBs do. They are given out in order and
 * all taken back at once when they run out, by a new generation and a flush; a
 * context that moves to another pCPU, or must lose many entries, takes a new
 * one. So an ASID is never used for two things in one generation.
 */
#include "shadow.h"

#include "cpu.h"
#include "host.h"
#include "page.h"
#include "print.h"
#include "vtlb.h"

#include <string.h>

#define CONTEXTS	32
#define ENTRIES		512
#define TABLES_MAX	1024	/* pages of tables of one vCPU */
/* An instruction touches up to three pages: its own and two of data. */
#define TABLES_MIN	(1 + 3 * 3 + CONTEXTS)
#define ASID_LAST	1023
#define INV_PAIRS_MAX	8	/* more: a new ASID is cheaper */

/* What a context is for. DA has no ASID. */
enum kind { KIND_DA, KIND_PLV0, KIND_PLV1, KIND_PLV2, KIND_PLV3, KINDS };

#define KEY(kind, asid)	((uint32_t)(kind) << 10 | (uint32_t)(asid))
#define KEY_KIND(key)	((key) >> 10)
#define KEY_ASID(key)	((key) & 0x3ff)
#define KEY_NONE	UINT32_MAX

struct context {
	uint64_t root;		/* table, 0: none */
	uint32_t key;
	uint32_t cpu;		/* pCPU where @asid counts */
	uint64_t generation;	/* of that pCPU's ASIDs, 0: no ASID */
	uint64_t asid;		/* real */
	uint64_t stamp;		/* of the last use */
};

struct shadow {
	struct context ctx[CONTEXTS];
	struct context *cur;
	struct context *recent[KINDS];	/* last used of each kind */
	uint64_t clock;
	uint32_t used;		/* contexts with a key, one bit each */
	uint64_t free;		/* list of tables */
	unsigned int nr_tables;	/* free or in use */
};

static_assert(sizeof(struct shadow) <= PAGE_SIZE);

/* Absent entries of every level: leaves and two kinds of directories. */
#define PAGE_OF(what) { [0 ... ENTRIES - 1] = (what) }
alignas(PAGE_SIZE) static const uint64_t absent0[ENTRIES] = {};
alignas(PAGE_SIZE) static const uint64_t absent1[ENTRIES] =
	PAGE_OF((uintptr_t)absent0);
alignas(PAGE_SIZE) static const uint64_t absent2[ENTRIES] =
	PAGE_OF((uintptr_t)absent1);

/* Content of an absent entry in a table of level 0..3; 0 has the leaves. */
static const uint64_t absent[] = {
	0, (uintptr_t)absent0, (uintptr_t)absent1, (uintptr_t)absent2,
};

#define ROOT_LEVEL	3

static unsigned int index_of(gva_t va, unsigned int level)
{
	return va >> (12 + 9 * level) & (ENTRIES - 1);
}

static uint64_t *table(uint64_t pa)
{
	return (uint64_t *)pa;
}

/* ---- tables -------------------------------------------------------------- */

static bool table_grow(struct shadow *s)
{
	uint64_t t = s->nr_tables < TABLES_MAX ? page_alloc_dirty(0) : 0;

	if (!t)
		return false;
	table(t)[0] = s->free;
	s->free = t;
	s->nr_tables++;
	return true;
}

/* An empty table of @level; 0: none left. */
static uint64_t table_new(struct shadow *s, unsigned int level)
{
	uint64_t t;

	if (!s->free && !table_grow(s))
		return 0;
	t = s->free;
	s->free = table(t)[0];
	for (unsigned int i = 0; i < ENTRIES; i++)
		table(t)[i] = absent[level];
	return t;
}

static void table_free(struct shadow *s, uint64_t t, unsigned int level)
{
	for (unsigned int i = 0; level && i < ENTRIES; i++)
		if (table(t)[i] != absent[level])
			table_free(s, table(t)[i], level - 1);
	table(t)[0] = s->free;
	s->free = t;
}

/* Everything below the root goes. */
static void table_empty(struct shadow *s, uint64_t root)
{
	for (unsigned int i = 0; i < ENTRIES; i++) {
		if (table(root)[i] == absent[ROOT_LEVEL])
			continue;
		table_free(s, table(root)[i], ROOT_LEVEL - 1);
		table(root)[i] = absent[ROOT_LEVEL];
	}
}

/* Leaves of [va, last] become absent; were there any? */
static bool table_clear(uint64_t t, unsigned int level, gva_t va, gva_t last)
{
	uint64_t inside = BIT(12 + 9 * level) - 1;	/* one entry spans */
	bool any = false;

	for (;; va = (va | inside) + 1) {
		uint64_t *e = &table(t)[index_of(va, level)];
		gva_t end = min_u64(last, va | inside);

		if (*e != absent[level]) {
			any |= !level || table_clear(*e, level - 1, va, end);
			if (!level)
				*e = absent[0];
		}
		if (end == last)
			return any;
	}
}

/* The same for the usual case, one pair of the smallest pages. */
static bool pair_clear(uint64_t root, gva_t va)
{
	uint64_t t = root, *e;
	bool any;

#pragma GCC unroll 3
	for (unsigned int level = ROOT_LEVEL; level; level--) {
		t = table(t)[index_of(va, level)];
		if (t == absent[level])
			return false;
	}
	e = &table(t)[index_of(va, 0)];
	any = e[0] || e[1];
	e[0] = e[1] = absent[0];
	return any;
}

/* Leaves of [va, va + size) become absent; were there any? */
static bool clear(uint64_t root, gva_t va, uint64_t size)
{
	if (size == 2 * PAGE_SIZE)
		return pair_clear(root, va);
	return table_clear(root, ROOT_LEVEL, va, va + size - 1);
}

/* ---- real ASIDs ---------------------------------------------------------- */

static bool asid_valid(const struct context *c)
{
	return c->generation && c->cpu == this_cpu()->id &&
	       c->generation == this_cpu()->arch.asid.generation;
}

static void asid_renew(struct context *c)
{
	struct asid_cpu *a = &this_cpu()->arch.asid;

	if (!a->generation || a->next > ASID_LAST) {
		a->generation++;
		a->next = 1;		/* 0 is the hypervisor's */
		invtlb_all();
	}
	c->asid = a->next++;
	c->cpu = this_cpu()->id;
	c->generation = a->generation;
}

/* Hardware translates by @c from now on. */
static void activate(struct context *c)
{
	if (!asid_valid(c))
		asid_renew(c);
	csr_write(CSR_PGDL, c->root);
	csr_write(CSR_PGDH, c->root);
	csr_write(CSR_ASID, c->asid);
}

/* The real TLB keeps nothing of @c. */
static void forget_tlb(struct vcpu *v, struct context *c)
{
	c->generation = 0;
	if (c == v->arch.mem.shadow->cur && this_cpu()->loaded == v)
		activate(c);
}

/* ---- contexts ------------------------------------------------------------ */

static uint32_t key_of(const struct vcpu *v)
{
	if (!la_paging(v))
		return KEY(KIND_DA, 0);
	return KEY(KIND_PLV0 + la_plv(v), v->arch.csr.asid);
}

/* Nothing of @c is left; it keeps its root and key. */
static void empty(struct vcpu *v, struct context *c)
{
	table_empty(v->arch.mem.shadow, c->root);
	forget_tlb(v, c);
}

/* The longest unused one, but not the current. */
static struct context *oldest(struct shadow *s)
{
	struct context *best = NULL;

	for (unsigned int i = 0; i < CONTEXTS; i++) {
		struct context *c = &s->ctx[i];

		if (c != s->cur && (!best || c->stamp < best->stamp))
			best = c;
	}
	return best;
}

static struct context *find(struct shadow *s, uint32_t key)
{
	for (unsigned int i = 0; i < CONTEXTS; i++)
		if (s->ctx[i].key == key)
			return &s->ctx[i];
	return NULL;
}

static struct context *make(struct vcpu *v, uint32_t key)
{
	struct shadow *s = v->arch.mem.shadow;
	struct context *c = oldest(s);

	if (c->key != KEY_NONE)
		empty(v, c);
	c->key = key;
	c->generation = 0;
	s->used |= UINT32_C(1) << (c - s->ctx);
	return c;
}

void shadow_select(struct vcpu *v)
{
	struct shadow *s = v->arch.mem.shadow;
	uint32_t key = key_of(v);
	struct context *c = s->recent[KEY_KIND(key)];

	if (s->cur->key == key)
		return;
	if (c->key != key) {
		c = find(s, key);
		if (!c)
			c = make(v, key);
		s->recent[KEY_KIND(key)] = c;
	}
	c->stamp = ++s->clock;
	s->cur = c;
	activate(c);
}

void shadow_load(struct vcpu *v)
{
	struct shadow *s = v->arch.mem.shadow;
	uint32_t key = key_of(v);

	/* After a reset, or when boot code set the mode. */
	if (s->cur->key != key)
		shadow_select(v);
	else
		activate(s->cur);
}

/* ---- life ---------------------------------------------------------------- */

void shadow_reset(struct vcpu *v)
{
	struct shadow *s = v->arch.mem.shadow;

	for (unsigned int i = 0; i < CONTEXTS; i++) {
		struct context *c = &s->ctx[i];

		table_empty(s, c->root);
		c->key = KEY_NONE;
		c->generation = 0;
		c->stamp = 0;
	}
	s->clock = 0;
	s->used = 1;
	s->cur = &s->ctx[0];
	s->cur->key = KEY(KIND_DA, 0);
	for (unsigned int k = 0; k < KINDS; k++)
		s->recent[k] = s->cur;
}

int shadow_init(struct vcpu *v)
{
	struct shadow *s = page_zalloc(sizeof(*s));

	v->arch.mem.shadow = s;
	if (!s)
		return ERR_NOMEM;
	while (s->nr_tables < TABLES_MIN)
		if (!table_grow(s))
			return ERR_NOMEM;
	for (unsigned int i = 0; i < CONTEXTS; i++)
		s->ctx[i].root = table_new(s, ROOT_LEVEL);
	shadow_reset(v);
	return 0;
}

void shadow_fini(struct vcpu *v)
{
	struct shadow *s = v->arch.mem.shadow;

	if (!s)
		return;
	for (unsigned int i = 0; i < CONTEXTS; i++)
		if (s->ctx[i].root)
			table_free(s, s->ctx[i].root, ROOT_LEVEL);
	while (s->free) {
		uint64_t t = s->free;

		s->free = table(t)[0];
		page_free(t, 0);
	}
	page_zfree(s, sizeof(*s));
	v->arch.mem.shadow = NULL;
}

/* ---- leaves -------------------------------------------------------------- */

/* The table of leaves for @va, made as needed; NULL: out of tables. */
static uint64_t *leaves(struct shadow *s, gva_t va)
{
	uint64_t t = s->cur->root;

#pragma GCC unroll 3
	for (unsigned int level = ROOT_LEVEL; level; level--) {
		uint64_t *e = &table(t)[index_of(va, level)];

		if (*e == absent[level]) {
			uint64_t n = table_new(s, level - 1);

			if (!n)
				return NULL;
			*e = n;
		}
		t = *e;
	}
	return table(t);
}

/* All tables back, so that TABLES_MIN are free. */
static void make_room(struct vcpu *v)
{
	struct shadow *s = v->arch.mem.shadow;

	for (unsigned int i = 0; i < CONTEXTS; i++)
		if (s->ctx[i].key != KEY_NONE)
			empty(v, &s->ctx[i]);
}

/*
 * The refill handler has left an entry for the pair, with this page absent: it
 * becomes right in place, which needs no invalidation.
 */
static void update_tlb(gva_t va, const uint64_t *leaf)
{
	csr_write(CSR_TLBEHI, align_down(va, 2 * PAGE_SIZE));
	__asm__ volatile("tlbsrch" ::: "memory");
	if (csr_read(CSR_TLBIDX) & TLBIDX_NE)
		return;
	csr_xchg(CSR_TLBIDX, (uint64_t)PAGE_SHIFT << TLBIDX_PS_SHIFT,
		 TLBIDX_PS);
	csr_write(CSR_TLBELO0, leaf[0]);
	csr_write(CSR_TLBELO1, leaf[1]);
	__asm__ volatile("tlbwr" ::: "memory");
}

void shadow_fill(struct vcpu *v, gva_t va, paddr_t pa, uint64_t rights)
{
	uint64_t *t = leaves(v->arch.mem.shadow, va);
	unsigned int i = index_of(va, 0);

	if (!t) {
		make_room(v);
		t = leaves(v->arch.mem.shadow, va);
		ASSERT(t);
	}
	t[i] = pa | (rights & (PTE_D | PTE_NR | PTE_NX)) | PTE_V | PTE_PLV |
	       PTE_RPLV | MAT_CC << PTE_MAT_SHIFT;
	update_tlb(va, &t[i & ~1u]);
}

static void invalidate(const struct context *c, gva_t va, uint64_t size)
{
	/* The address as the TLB compares it: sign extended. */
	for (; size; va += 2 * PAGE_SIZE, size -= 2 * PAGE_SIZE)
		__asm__ volatile("invtlb 5, %0, %1"
				 :
				 : "r"(c->asid), "r"(la_vppn(va))
				 : "memory");
}

void shadow_clear(struct vcpu *v, uint64_t asid, bool global, gva_t va,
		  uint64_t size)
{
	struct shadow *s = v->arch.mem.shadow;

	for (uint32_t used = s->used; used; used &= used - 1) {
		struct context *c = &s->ctx[__builtin_ctz(used)];

		if (KEY_KIND(c->key) == KIND_DA ||
		    (!global && KEY_ASID(c->key) != asid))
			continue;
		if (!clear(c->root, va, size))
			continue;
		/* An ASID of another pCPU would count again there. */
		if (size > INV_PAIRS_MAX * 2 * PAGE_SIZE || !asid_valid(c))
			forget_tlb(v, c);
		else
			invalidate(c, va, size);
	}
}

void shadow_drop(struct vcpu *v, bool by_asid, uint64_t asid)
{
	struct shadow *s = v->arch.mem.shadow;

	for (unsigned int i = 0; i < CONTEXTS; i++) {
		struct context *c = &s->ctx[i];

		if (c->key == KEY_NONE || KEY_KIND(c->key) == KIND_DA ||
		    (by_asid && KEY_ASID(c->key) != asid))
			continue;
		empty(v, c);
	}
}
