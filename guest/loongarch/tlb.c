// SPDX-License-Identifier: BSD-2-Clause
/*
 * Random page tables of several address spaces against a model: pages are
 * mapped, unmapped, given other rights, made parts of a huge page, and every
 * access at level 0 and 3 must do what the tables say, right after the
 * invalidation that the architecture asks for. Then the TLB instructions one by
 * one.
 *
 * Arguments: rounds=N (default 20000), seed=N (default 1).
 */
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "guest.h"
#include "hcall.h"
#include "mmu.h"
#include "trap.h"

const bool trap_keeps_fp = false;

#define ENTRIES		512
#define SPACES		3		/* ASIDs 1.. */
#define POOL		32		/* pages that are mapped */
#define HUGES		2		/* regions of 2 MiB in each space */
#define PRIVATE		32		/* pages of 4 KiB in each space */
#define GLOBAL		8		/* pages of all spaces */
#define HUGE_SIZE	(2ull << 20)

/* Regions by directory: one of 1 GiB each. */
enum { DIR_CODE, DIR_PRIVATE, DIR_GLOBAL, DIR_HUGE, DIRS };
#define VA(dir, off)	(HIGH_VA + ((uint64_t)(dir) << 30) + (off))
#define VA_STACK	VA(DIR_CODE, PAGE)

typedef uint64_t table[ENTRIES] __attribute__((aligned(4096)));

static struct space {
	table root, dir2, dir1[DIRS], leaf[DIRS], huge_leaf[HUGES];
} spaces[SPACES];

static table global_leaf, code_leaf;
extern uint64_t empty_root[ENTRIES];

/* Pages that know who they are: code for both levels, and data. */
static struct known {
	uint32_t kernel[2];	/* addi.w $a0, $zero, id; jr $ra */
	uint32_t user[2];	/* the same; syscall */
	uint64_t data, store;
	uint8_t pad[4096 - 32];
} pool[POOL] __attribute__((aligned(4096)));

static uint32_t code[1024] __attribute__((aligned(4096)));
static uint8_t stack[4096] __attribute__((aligned(4096)));
static struct known *huge_memory;	/* 2 * HUGES regions, each page known */

static unsigned asid;			/* 1 .. SPACES */

#define JR_RA		0x4c000020u
#define SYSCALL		0x002b0000u
#define ADDI_A0(n)	(0x02800004u | (uint32_t)(n) << 10)

enum access { LOAD, STORE, FETCH };
enum { CODE_LOAD = 0, CODE_STORE = 4 };	/* words in the code page */

/* ---- tables -------------------------------------------------------------- */

static void fill(uint64_t *t, uint64_t value)
{
	for (unsigned i = 0; i < ENTRIES; i++)
		t[i] = value;
}

static void link_space(struct space *s)
{
	fill(s->root, (uint64_t)empty_root);
	fill(s->dir2, (uint64_t)empty_root);
	s->root[VA(0, 0) >> 39 & (ENTRIES - 1)] = (uint64_t)s->dir2;
	for (unsigned d = 0; d < DIRS; d++) {
		fill(s->dir1[d], (uint64_t)empty_root);
		s->dir2[d] = (uint64_t)s->dir1[d];
	}
	s->dir1[DIR_CODE][0] = (uint64_t)code_leaf;
	s->dir1[DIR_PRIVATE][0] = (uint64_t)s->leaf[DIR_PRIVATE];
	s->dir1[DIR_GLOBAL][0] = (uint64_t)global_leaf;
	for (unsigned h = 0; h < HUGES; h++)
		s->dir1[DIR_HUGE][h] = (uint64_t)s->huge_leaf[h];
}

static void make_known(struct known *k, unsigned id)
{
	k->kernel[0] = k->user[0] = ADDI_A0(id);
	k->kernel[1] = JR_RA;
	k->user[1] = SYSCALL;
	k->data = id;
}

static void setup(void)
{
	struct region heap = heap_region();

	for (unsigned i = 0; i < POOL; i++)
		make_known(&pool[i], i + 1);
	huge_memory = (struct known *)((heap.base + heap.size / 2 +
					HUGE_SIZE - 1) & ~(HUGE_SIZE - 1));
	for (unsigned i = 0; i < 2 * HUGES * ENTRIES; i++)
		make_known(&huge_memory[i], 1 + i % 2000);
	code[CODE_LOAD] = 0x28c00084;		/* ld.d $a0, $a0, 0 */
	code[CODE_LOAD + 1] = SYSCALL;
	code[CODE_STORE] = 0x29c00085;		/* st.d $a1, $a0, 0 */
	code[CODE_STORE + 1] = SYSCALL;
	code_leaf[0] = (uint64_t)code | MAP_USER | TLBELO_G;
	code_leaf[1] = (uint64_t)stack | MAP_USER | TLBELO_G;
	/* Both pages of a pair are global, or the pair is not. */
	fill(global_leaf, TLBELO_G);
	for (unsigned i = 0; i < SPACES; i++)
		link_space(&spaces[i]);
	isb();
}

static void enter_space(unsigned a)
{
	asid = a;
	csr_write(CSR_PGDH, (uint64_t)spaces[a - 1].root);
	csr_write(CSR_ASID, a);
}

/* ---- one access, and what came of it ------------------------------------- */

static struct outcome {
	unsigned ecode;		/* 0: none */
	uint64_t badv, value;
} out;

static bool from_kernel(struct trap_frame *f)
{
	unsigned ecode = TRAP_ECODE(f->estat);

	out.ecode = ecode;
	out.badv = f->badv;
	f->era = ecode == ECODE_PIF || ecode == ECODE_PNX ||
				 f->era == f->badv
			 ? f->r[1]
			 : f->era + 4;
	return true;
}

static bool from_user(struct trap_frame *f)
{
	if (TRAP_ECODE(f->estat) != ECODE_SYS) {
		out.ecode = TRAP_ECODE(f->estat);
		out.badv = f->badv;
	}
	user_stop(f, f->r[4]);
	return true;
}

static uint64_t load0(uint64_t va)
{
	uint64_t x = va;

	asm volatile("ld.d %0, %0, 0" : "+r"(x)::"memory");
	return x;
}

static void access0(uint64_t va, enum access acc)
{
	uint64_t x = 0;

	if (acc == LOAD)
		x = load0(va + offsetof(struct known, data));
	else if (acc == STORE)
		asm volatile("st.d %0, %1, 0" ::"r"(va),
			     "r"(va + offsetof(struct known, store))
			     : "memory");
	else
		x = ((uint64_t (*)(uint64_t))va)(0);
	out.value = x;
}

static void access3(uint64_t va, enum access acc)
{
	static const uint64_t pc[] = {
		[LOAD] = VA(DIR_CODE, CODE_LOAD * 4),
		[STORE] = VA(DIR_CODE, CODE_STORE * 4),
	};
	uint64_t args[2] = { 0, va };

	if (acc == LOAD)
		args[0] = va + offsetof(struct known, data);
	else if (acc == STORE)
		args[0] = va + offsetof(struct known, store);
	out.value = user_run(acc == FETCH ? va + offsetof(struct known, user) :
					    pc[acc],
			     3, args, VA_STACK + PAGE);
}

/* ---- the model ----------------------------------------------------------- */

/* What the tables of the current space say about a page; 0: not there. */
static uint64_t entry_of(uint64_t va)
{
	struct space *s = &spaces[asid - 1];
	unsigned d = va >> 30 & (ENTRIES - 1), i = va >> 21 & (ENTRIES - 1);
	uint64_t e = s->dir1[d][i];

	if (!(e & PTE_HUGE))
		return ((uint64_t *)e)[va >> 12 & (ENTRIES - 1)];
	return (e & ~(uint64_t)(PTE_HUGE | PTE_HUGE_G)) +
	       (va & (HUGE_SIZE - 1) & ~(PAGE - 1));
}

static unsigned expected(uint64_t e, unsigned level, enum access acc)
{
	static const uint8_t invalid[] = { ECODE_PIL, ECODE_PIS, ECODE_PIF };
	unsigned plv = (e & TLBELO_PLV) >> TLBELO_PLV_SHIFT;

	if (!(e & TLBELO_V))
		return invalid[acc];
	if (acc == FETCH && e & TLBELO_NX)
		return ECODE_PNX;
	if (acc == LOAD && e & TLBELO_NR)
		return ECODE_PNR;
	if (e & TLBELO_RPLV ? level != plv : level > plv)
		return ECODE_PPI;
	return acc == STORE && !(e & TLBELO_D) ? ECODE_PME : 0;
}

static unsigned wrong, outcomes[64];

static void complain(uint64_t va, unsigned level, enum access acc, uint64_t e,
		     const char *what, uint64_t got, uint64_t want)
{
	if (wrong++ < 5)
		say("asid %u va %#lx level %u access %d entry %#lx: %s %#lx, "
		    "not %#lx",
		    asid, va, level, (int)acc, e, what, got, want);
}

static void try_page(uint64_t va)
{
	uint64_t e = entry_of(va);
	struct known *k = (struct known *)(e & TLBELO_PPN);
	unsigned level = rand() & 1 ? 3 : 0, want;
	enum access acc = (enum access)(rand() % 3);

	/* QEMU lets a page be read that it has filled for something else. */
	if (e & TLBELO_NR)
		acc = e & TLBELO_D || rand() & 1 ? LOAD : STORE;
	/* QEMU fetches the word for BADI of a PPI, and faults for ever. */
	want = expected(e, level, acc);
	if (acc == FETCH && want == ECODE_PPI && !on_nestling())
		return;
	memset(&out, 0, sizeof(out));
	if (level)
		access3(va, acc);
	else
		access0(va, acc);
	outcomes[out.ecode]++;
	if (out.ecode != want)
		complain(va, level, acc, e, "exception", out.ecode, want);
	else if (want && (out.badv & ~(PAGE - 1)) != va)
		complain(va, level, acc, e, "badv", out.badv, va);
	else if (!want && acc == STORE && k->store != va)
		complain(va, level, acc, e, "stored", k->store, va);
	else if (!want && acc != STORE && out.value != k->data)
		complain(va, level, acc, e, "value", out.value, k->data);
}

/* ---- changes ------------------------------------------------------------- */

static uint64_t random_rights(void)
{
	uint64_t r = TLBELO_MAT_CC;

	r |= rand() % 8 ? TLBELO_V : 0;
	r |= rand() % 3 ? TLBELO_D : 0;
	r |= rand() % 3 ? TLBELO_PLV : 0;
	r |= rand() % 6 ? 0 : TLBELO_NR;
	r |= rand() % 6 ? 0 : TLBELO_NX;
	/* Level 0 code of ours is in a window, so any page may be refused. */
	r |= rand() % 6 ? 0 : TLBELO_RPLV;
	return r;
}

static uint64_t random_entry(void)
{
	return (uint64_t)&pool[rand() % POOL] | random_rights();
}

static void inv(unsigned op, uint64_t a, uint64_t va)
{
	switch (op) {
	case 0:
		asm volatile("invtlb 0, $zero, $zero" ::: "memory");
		break;
	case 1:
		asm volatile("invtlb 1, $zero, $zero" ::: "memory");
		break;
	case 2:
		asm volatile("invtlb 2, $zero, $zero" ::: "memory");
		break;
	case 3:
		asm volatile("invtlb 3, $zero, $zero" ::: "memory");
		break;
	case 4:
		asm volatile("invtlb 4, %0, $zero" ::"r"(a) : "memory");
		break;
	case 5:
		asm volatile("invtlb 5, %0, %1" ::"r"(a), "r"(va) : "memory");
		break;
	default:
		asm volatile("invtlb 6, %0, %1" ::"r"(a), "r"(va) : "memory");
		break;
	}
}

/* Everything, now and then: too much of it would hide what the others leave. */
static bool invalidate_all(void)
{
	if (rand() % 64)
		return false;
	inv((unsigned)rand() & 1, 0, 0);
	return true;
}

/* By what a page of the current space may be invalidated. */
static void invalidate_private(uint64_t va)
{
	static const uint8_t ops[] = { 4, 5, 6, 5, 6, 5, 6, 5 };

	if (!invalidate_all())
		inv(ops[rand() % 8], asid, va);
}

static void invalidate_global(uint64_t va)
{
	if (!invalidate_all())
		inv(rand() % 16 ? 6 : 2, asid, va);
}

/* A pair has one G bit: both of its pages are changed in step here. */
static void change_global(void)
{
	unsigned i = (unsigned)rand() % GLOBAL;
	uint64_t va = VA(DIR_GLOBAL, i * PAGE);

	global_leaf[i] = random_entry() | TLBELO_G;
	invalidate_global(va);
}

static void change_private(void)
{
	unsigned i = (unsigned)rand() % PRIVATE;

	spaces[asid - 1].leaf[DIR_PRIVATE][i] = random_entry();
	invalidate_private(VA(DIR_PRIVATE, i * PAGE));
}

static void change_huge(void)
{
	unsigned h = (unsigned)rand() % HUGES;
	struct space *s = &spaces[asid - 1];
	uint64_t va = VA(DIR_HUGE, h * HUGE_SIZE), e;

	if (rand() & 1) {
		e = (uint64_t)&huge_memory[rand() % (2 * HUGES) * ENTRIES];
		e |= random_rights() | PTE_HUGE;
		/* QEMU's LDDIR loses them. */
		if (!on_nestling())
			e &= ~(TLBELO_NR | TLBELO_NX | TLBELO_RPLV);
		s->dir1[DIR_HUGE][h] = e;
	} else {
		s->dir1[DIR_HUGE][h] = (uint64_t)s->huge_leaf[h];
		s->huge_leaf[h][rand() % ENTRIES] = random_entry();
	}
	/* Pages of two sizes may be in the TLB for it: all of the ASID. */
	if (!invalidate_all())
		inv(rand() % 8 ? 4 : 3, asid, va);
}

static uint64_t random_va(void)
{
	switch (rand() % 4) {
	case 0:
	case 1:
		return VA(DIR_GLOBAL, (uint64_t)(rand() % GLOBAL) * PAGE);
	case 2:
		return VA(DIR_HUGE, (uint64_t)(rand() % HUGES) * HUGE_SIZE +
					    (uint64_t)(rand() % ENTRIES) *
						    PAGE);
	default:
		return VA(DIR_PRIVATE, (uint64_t)(rand() % PRIVATE) * PAGE);
	}
}

static void torture(uint64_t rounds)
{
	for (uint64_t i = 0; i < rounds; i++) {
		switch (rand() % 16) {
		case 0:
			enter_space(1 + (unsigned)rand() % SPACES);
			break;
		case 1:
			if (rand() % 4 == 0)
				change_huge();
			break;
		case 2:
			change_global();
			break;
		case 3:
		case 4:
		case 5:
			change_private();
			break;
		default:
			try_page(random_va());
			break;
		}
	}
	CHECK_EQ(wrong, 0, "accesses that differ from the tables");
	for (unsigned e = ECODE_PIL; e <= ECODE_PPI; e++)
		CHECK(outcomes[e] > 0, "there were exceptions %u", e);
	CHECK(outcomes[0] > rounds / 10, "and accesses without");
}

/* ---- the instructions ---------------------------------------------------- */

#define VA_A		VA(DIR_PRIVATE, 0x100000)

static void set_entry(uint64_t va, uint64_t lo0, uint64_t lo1, uint64_t ps)
{
	csr_write(CSR_TLBEHI, va);
	csr_write(CSR_TLBELO0, lo0);
	csr_write(CSR_TLBELO1, lo1);
	csr_xchg(CSR_TLBIDX, ps << TLBIDX_PS_SHIFT, TLBIDX_PS | TLBIDX_NE);
}

static bool search(uint64_t va)
{
	csr_write(CSR_TLBEHI, va);
	asm volatile("tlbsrch" ::: "memory");
	return !(csr_read(CSR_TLBIDX) & TLBIDX_NE);
}

static void check_instructions(void)
{
	uint64_t a = (uint64_t)&pool[0] | MAP_USER;
	uint64_t b = (uint64_t)&pool[1] | MAP_USER, index;

	inv(0, 0, 0);
	CHECK(!search(VA_A), "tlbsrch finds nothing");
	set_entry(VA_A, a, b, 12);
	asm volatile("tlbfill" ::: "memory");
	CHECK(search(VA_A), "tlbsrch finds what tlbfill wrote");
	CHECK(!search(VA_A + 2 * PAGE), "and not the next pair");
	search(VA_A);
	index = csr_read(CSR_TLBIDX) & TLBIDX_INDEX;
	CHECK(index < 2048, "4 KiB are in the STLB");
	CHECK_EQ(load0(VA_A + PAGE + offsetof(struct known, data)), 2,
		 "the odd page");
	csr_write(CSR_TLBELO0, 0);
	csr_write(CSR_TLBELO1, 0);
	csr_write(CSR_TLBEHI, 0);
	asm volatile("tlbrd" ::: "memory");
	CHECK_EQ(csr_read(CSR_TLBELO0), a, "tlbrd: TLBELO0");
	CHECK_EQ(csr_read(CSR_TLBELO1), b, "tlbrd: TLBELO1");
	CHECK_EQ(csr_read(CSR_TLBEHI) & TLBEHI_VPPN, VA_A & TLBEHI_VPPN,
		 "tlbrd: TLBEHI");
	CHECK_EQ((csr_read(CSR_TLBIDX) & TLBIDX_PS) >> TLBIDX_PS_SHIFT, 12,
		 "tlbrd: PS");
	inv(5, asid, VA_A);
	CHECK(!search(VA_A), "invtlb 5 takes it");
}

/* An entry is replaced by TLBWR: at once under the hypervisor. */
static void check_replace(void)
{
	uint64_t a = (uint64_t)&pool[0] | MAP_USER;
	uint64_t b = (uint64_t)&pool[1] | MAP_USER;
	unsigned bad = 0;

	if (!on_nestling()) {
		skip("TLBWR", "QEMU keeps what it has cached");
		return;
	}
	inv(0, 0, 0);
	set_entry(VA_A, a, b, 12);
	asm volatile("tlbfill" ::: "memory");
	for (unsigned i = 0; i < 100; i++) {
		uint64_t want = i & 1 ? 2 : 1;

		search(VA_A);
		set_entry(VA_A, i & 1 ? b : a, a, 12);
		asm volatile("tlbwr" ::: "memory");
		bad += load0(VA_A + offsetof(struct known, data)) != want;
	}
	CHECK_EQ(bad, 0, "TLBWR replaces an entry");
	search(VA_A);
	csr_xchg(CSR_TLBIDX, TLBIDX_NE, TLBIDX_NE);
	asm volatile("tlbwr" ::: "memory");
	CHECK(!search(VA_A), "TLBWR with NE = 1 removes it");
}

/* A page of 64 KiB is in the MTLB, and one of no size is not taken. */
static void check_sizes(void)
{
	uint64_t h = (uint64_t)huge_memory | MAP_USER;

	inv(0, 0, 0);
	set_entry(VA_A, h, h + 0x10000, 16);
	asm volatile("tlbfill" ::: "memory");
	CHECK(search(VA_A + 0x1f000), "a pair of 64 KiB");
	CHECK((csr_read(CSR_TLBIDX) & TLBIDX_INDEX) >= 2048, "in the MTLB");
	CHECK_EQ(load0(VA_A + 0x1f000 + offsetof(struct known, data)), 0x20,
		 "its last page");
	set_entry(VA_A + 0x40000, h, h, 11);
	asm volatile("tlbfill" ::: "memory");
	CHECK(!search(VA_A + 0x40000), "2 KiB are not taken");
	inv(0, 0, 0);
}

/* An index that does not exist. */
static void check_index(void)
{
	if (!on_nestling()) {
		skip("index 0xfff", "QEMU does not check it");
		return;
	}
	csr_write(CSR_TLBIDX, 12ull << TLBIDX_PS_SHIFT | 0xfff);
	asm volatile("tlbwr" ::: "memory");
	asm volatile("tlbrd" ::: "memory");
	CHECK(csr_read(CSR_TLBIDX) & TLBIDX_NE, "index 0xfff has no entry");
	CHECK_EQ(csr_read(CSR_ASID) & ASID_ASID, 0, "ASID 0 with it");
	enter_space(1);
}

/* The entry for VA_A in a way of its own: TLBFILL may replace any. */
static void write_way(unsigned way, uint64_t entry)
{
	set_entry(VA_A, entry, entry, 12);
	csr_xchg(CSR_TLBIDX, way * 256 + (VA_A >> 13 & 255), TLBIDX_INDEX);
	asm volatile("tlbwr" ::: "memory");
}

static void check_asid(void)
{
	uint64_t a = (uint64_t)&pool[0] | MAP_USER;
	uint64_t b = (uint64_t)&pool[1] | MAP_USER;

	inv(0, 0, 0);
	enter_space(1);
	write_way(0, a);
	enter_space(2);
	CHECK(!search(VA_A), "another ASID's entry is not found");
	write_way(1, b);
	CHECK_EQ(load0(VA_A + offsetof(struct known, data)), 2, "ASID 2");
	enter_space(1);
	CHECK_EQ(load0(VA_A + offsetof(struct known, data)), 1, "ASID 1");
	inv(4, 2, 0);
	CHECK(search(VA_A), "invtlb 4 of ASID 2 leaves ASID 1");
	enter_space(2);
	CHECK(!search(VA_A), "and takes ASID 2");
	inv(0, 0, 0);
	write_way(2, b | TLBELO_G);
	enter_space(3);
	CHECK_EQ(load0(VA_A + offsetof(struct known, data)), 2, "global");
	inv(3, 0, 0);
	CHECK(search(VA_A), "invtlb 3 leaves it");
	inv(5, 3, VA_A);
	CHECK(search(VA_A), "invtlb 5, too");
	inv(6, 3, VA_A);
	CHECK(!search(VA_A), "invtlb 6 takes it");
	enter_space(1);
}

/*
 * What one CPU's TLB holds of an address space must not come back when the
 * entry is invalidated on another CPU meanwhile, with another ASID current.
 */
static void check_moved(void)
{
	uint64_t a = (uint64_t)&pool[0] | MAP_USER;
	uint64_t b = (uint64_t)&pool[1] | MAP_USER;
	unsigned bad = 0;

	if (nestling(NESTLING_MIGRATE, 1) != NESTLING_OK) {
		skip("moved", "needs Nestling with two CPUs");
		return;
	}
	for (unsigned i = 0; i < 20; i++) {
		nestling(NESTLING_MIGRATE, i % 2);
		enter_space(1);
		set_entry(VA_A, a, a, 12);
		asm volatile("tlbfill" ::: "memory");
		bad += load0(VA_A + offsetof(struct known, data)) != 1;
		enter_space(2);
		nestling(NESTLING_MIGRATE, !(i % 2));
		inv(5, 1, VA_A);
		nestling(NESTLING_MIGRATE, i % 2);
		enter_space(1);
		set_entry(VA_A, b, b, 12);
		asm volatile("tlbfill" ::: "memory");
		bad += load0(VA_A + offsetof(struct known, data)) != 2;
		inv(5, 1, VA_A);
	}
	CHECK_EQ(bad, 0, "entries invalidated on another CPU");
}

int main(int, char **)
{
	srand((unsigned)arg_u64("seed", 1));
	csr_write(CSR_ECFG, 0);
	setup();
	enter_space(1);
	for (unsigned e = ECODE_PIL; e <= ECODE_ADE; e++)
		trap_on(0, e, from_kernel);
	for (unsigned e = 0; e < 64; e++)
		trap_on(3, e, from_user);
	mmu_invalidate_all();
	check_instructions();
	check_replace();
	check_sizes();
	check_index();
	check_asid();
	check_moved();
	inv(0, 0, 0);
	torture(arg_u64("rounds", 20000));
	return report();
}
