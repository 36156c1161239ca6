// SPDX-License-Identifier: BSD-2-Clause
/*
 * Faults of guest memory accesses: the guest's own translation decides what
 * they are (Reference Manual 5.2 to 5.4). Right by the guest's rules and RAM:
 * the shadow gets the page. A device, or an address that hardware cannot
 * translate at PLV3: the load or store is carried out here. Else the guest gets
 * the exception it is due.
 */
#include "memfault.h"

#include "host.h"
#include "page.h"
#include "shadow.h"
#include "vtlb.h"

typedef unsigned long long ull;

#define PHYS	BITS(LA_PALEN - 1, 0)

/* ---- life ---------------------------------------------------------------- */

int mem_vcpu_init(struct vcpu *v)
{
	v->arch.mem.vtlb = page_zalloc(sizeof(struct vtlb));
	if (!v->arch.mem.vtlb || shadow_init(v)) {
		mem_vcpu_fini(v);
		return ERR_NOMEM;
	}
	return 0;
}

void mem_vcpu_fini(struct vcpu *v)
{
	shadow_fini(v);
	if (v->arch.mem.vtlb)
		page_zfree(v->arch.mem.vtlb, sizeof(struct vtlb));
	v->arch.mem.vtlb = NULL;
}

void mem_vcpu_reset(struct vcpu *v)
{
	vtlb_reset(v->arch.mem.vtlb);
	shadow_reset(v);
}

void mem_load(struct vcpu *v)
{
	shadow_load(v);
}

void mem_mode(struct vcpu *v)
{
	shadow_select(v);
}

void mem_forget(struct vcpu *v)
{
	/* Leaves do not say whether they came from a window. */
	shadow_drop(v, false, 0);
}

/* ---- translation --------------------------------------------------------- */

static bool fail(struct la_map *m, unsigned int ecode, unsigned int esub)
{
	m->kind = MAP_FAULT;
	m->ecode = ecode;
	m->esub = esub;
	return false;
}

static void map_direct(struct la_map *m, gva_t va, uint64_t mat)
{
	m->kind = MAP_OK;
	m->gpa = va & PHYS;
	m->rights = PTE_D;
	m->cached = mat == MAT_CC;
}

static bool map_window(const struct vcpu *v, gva_t va, struct la_map *m)
{
	for (unsigned int n = 0; n < LA_DMWS; n++) {
		uint64_t w = v->arch.csr.dmw[n];

		if (!(w & DMW_PLV(la_plv(v))) || (w ^ va) & DMW_VSEG)
			continue;
		map_direct(m, va, (w & DMW_MAT) >> DMW_MAT_SHIFT);
		return true;
	}
	return false;
}

/* The checks of a matching entry, in the manual's order. */
static bool check(const struct vcpu *v, uint64_t lo, enum la_access acc,
		  struct la_map *m)
{
	static const unsigned int invalid[] = {
		[ACC_READ] = ECODE_PIL,
		[ACC_WRITE] = ECODE_PIS,
		[ACC_EXEC] = ECODE_PIF,
	};
	unsigned int plv = la_plv(v);
	unsigned int page_plv = (unsigned int)(lo & PTE_PLV) >> PTE_PLV_SHIFT;

	if (!(lo & PTE_V))
		return fail(m, invalid[acc], 0);
	if (acc == ACC_EXEC && lo & PTE_NX)
		return fail(m, ECODE_PNX, 0);
	if (acc == ACC_READ && lo & PTE_NR)
		return fail(m, ECODE_PNR, 0);
	if (lo & PTE_RPLV ? plv != page_plv : plv > page_plv)
		return fail(m, ECODE_PPI, 0);
	if (acc == ACC_WRITE && !(lo & PTE_D))
		return fail(m, ECODE_PME, 0);
	return true;
}

/* By the guest's TLB. */
static void map_tlb(const struct vcpu *v, gva_t va, enum la_access acc,
		    struct la_map *m)
{
	const struct vtlb_entry *e = vtlb_find(v, va);
	uint64_t lo, in_page;

	if (!e) {
		m->kind = MAP_REFILL;
		return;
	}
	in_page = BIT(vtlb_ps(e)) - 1;
	lo = e->lo[va >> vtlb_ps(e) & 1];
	if (!check(v, lo, acc, m))
		return;
	m->kind = MAP_OK;
	m->gpa = (lo & PTE_PPN & ~in_page) | (va & in_page);
	m->rights = lo & (PTE_D | PTE_NR | PTE_NX);
	m->cached = (lo & PTE_MAT) >> PTE_MAT_SHIFT == MAT_CC;
}

void la_translate(const struct vcpu *v, gva_t va, enum la_access acc,
		  struct la_map *m)
{
	if (!la_paging(v)) {
		map_direct(m, va, v->arch.csr.crmd & CRMD_DATM ? MAT_CC :
								 MAT_SUC);
		return;
	}
	if (map_window(v, va, m))
		return;
	if (!la_canonical(va)) {
		fail(m, ECODE_ADE, acc == ACC_EXEC ? ESUB_ADEF : ESUB_ADEM);
		return;
	}
	map_tlb(v, va, acc, m);
}

static void raise_map(struct vcpu *v, const struct la_map *m, gva_t va,
		      uint64_t badi)
{
	if (m->kind == MAP_REFILL)
		inject_refill(v, va, badi);
	else
		inject_badv(v, m->ecode, m->esub, va, badi);
}

bool mem_translate(struct vcpu *v, gva_t gva, enum la_access acc, gpa_t *out)
{
	struct la_map m;

	la_translate(v, gva, acc, &m);
	if (m.kind != MAP_OK)
		return false;
	*out = m.gpa;
	return true;
}

bool mem_access(struct vcpu *v, gva_t gva, enum la_access acc, gpa_t *out)
{
	struct la_map m;

	la_translate(v, gva, acc, &m);
	if (m.kind != MAP_OK) {
		raise_map(v, &m, gva, csr_read(CSR_BADI));
		return false;
	}
	*out = m.gpa;
	return true;
}

/* ---- faults -------------------------------------------------------------- */

/* What was wanted, as far as the exception says. PPI cannot come: leaves are
 * for PLV3. At ADE a load and a store have the same rights. */
static enum la_access access_of(unsigned int ecode, unsigned int esub)
{
	switch (ecode) {
	case ECODE_PIF:
	case ECODE_PNX:
		return ACC_EXEC;
	case ECODE_PIS:
	case ECODE_PME:
		return ACC_WRITE;
	case ECODE_ADE:
		return esub == ESUB_ADEF ? ACC_EXEC : ACC_READ;
	default:
		return ACC_READ;
	}
}

/*
 * Only TLB translation exists at PLV3, so an address of a window is an address
 * error for hardware. Devices are reached by emulation, but running code or
 * working on cached memory there is out of the question.
 */
static enum exit_action refuse(struct vcpu *v, gva_t va, enum la_access acc)
{
	vm_fault(v, "%s 0x%llx, outside of 48-bit addresses: a guest linked "
		    "for a direct mapped window there needs the LVZ extension",
		 acc == ACC_EXEC ? "fetch at" : "cached access to", (ull)va);
	v->arch.exit->kind = EXIT_WORK;
	return ACT_LEAVE;
}

static enum exit_action mapped(struct vcpu *v, gva_t va, enum la_access acc,
			       const struct la_map *m)
{
	bool writable = false;
	void *page = machine_page(v->vm, align_down(m->gpa, PAGE_SIZE),
				  &writable);
	uint64_t rights = writable ? m->rights : m->rights & ~PTE_D;

	if (!la_canonical(va)) {
		if (acc == ACC_EXEC || (m->cached && page))
			return refuse(v, va, acc);
		return ldst_emulate(v, va, m->gpa);
	}
	if (page && (acc != ACC_WRITE || writable)) {
		shadow_fill(v, va, (uintptr_t)page, rights);
		return ACT_RESUME;
	}
	if (acc != ACC_EXEC)
		return ldst_emulate(v, va, m->gpa);
	inject_badv(v, ECODE_ADE, ESUB_ADEF, va, INJECT_NO_BADI);
	return ACT_RESUME;
}

enum exit_action mem_fault(struct vcpu *v, unsigned int ecode,
			   unsigned int esub)
{
	gva_t va = csr_read(CSR_BADV);
	enum la_access acc = access_of(ecode, esub);
	uint64_t badi = acc == ACC_EXEC ? INJECT_NO_BADI : csr_read(CSR_BADI);
	struct la_map m;

	la_translate(v, va, acc, &m);
	if (m.kind == MAP_REFILL && host_walks_tables() &&
	    refill_walk(v, va, badi))
		map_tlb(v, va, acc, &m);
	if (m.kind == MAP_OK)
		return mapped(v, va, acc, &m);
	raise_map(v, &m, va, badi);
	return ACT_RESUME;
}
