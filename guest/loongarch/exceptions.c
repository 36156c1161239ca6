// SPDX-License-Identifier: BSD-2-Clause
/*
 * Every exception that a guest can raise, from level 0 and from level 3, with
 * interrupts enabled and not, and with vectors of several sizes: the entry, and
 * every CSR field that the Reference Manual says it sets; TLB refill; interrupt
 * vectors and priorities; the state after ERTN.
 */
#include <string.h>
#include "check.h"
#include "guest.h"
#include "hcall.h"
#include "irq.h"
#include "mmu.h"
#include "trap.h"

const bool trap_keeps_fp = false;

/* ---- pages, all in the high half ----------------------------------------- */

#define VA(n)		(HIGH_VA + 0x10000 + (n) * 2 * PAGE)
#define VA_CODE		VA(0)	/* the slot, for level 3 */
#define VA_STACK	VA(1)
#define VA_GOOD		VA(2)
#define VA_INVALID	VA(3)	/* V = 0 */
#define VA_CLEAN	VA(4)	/* D = 0 */
#define VA_NR		VA(5)
#define VA_NX		VA(6)
#define VA_KERNEL	VA(7)	/* PLV 0 */
#define VA_ONLY3	VA(8)	/* PLV 3, RPLV */
#define VA_PHYS		0x9000000000000000ull	/* no window for it */
#define VA_HOLE		0x0000900000000000ull	/* not sign extended */

static uint64_t page[512] __attribute__((aligned(4096)));
static uint64_t stack[512] __attribute__((aligned(4096)));
/* Instruction, then the way back of level 0 and of level 3. */
static uint32_t slot[1024] __attribute__((aligned(4096)));

#define JR_RA		0x4c000020u
#define SYSCALL_BACK	0x002b0077u

/* ---- what a handler sees ------------------------------------------------- */

static struct record {
	unsigned count;
	uint64_t estat, era, badv, badi, prmd, crmd, tlbehi, vector;
} seen;

/* SAVE4: number of the vector, from the stub it came by. */
static bool record(struct trap_frame *f)
{
	if (seen.count++ == 0)
		seen = (struct record){
			.count = 1, .estat = f->estat, .era = f->era,
			.badv = f->badv, .badi = f->badi, .prmd = f->prmd,
			.crmd = csr_read(CSR_CRMD),
			.tlbehi = csr_read(CSR_TLBEHI),
			.vector = csr_read(CSR_SAVE(4)),
		};
	return true;
}

static bool is_fetch(const struct trap_frame *f)
{
	unsigned ecode = TRAP_ECODE(f->estat);

	return ecode == ECODE_PIF || ecode == ECODE_PNX ||
	       (ecode == ECODE_ADE && TRAP_ESUB(f->estat) == ESUB_ADEF);
}

static bool from_kernel(struct trap_frame *f)
{
	record(f);
	f->era = is_fetch(f) ? f->r[1] : f->era + 4;
	return true;
}

static bool from_user(struct trap_frame *f)
{
	if (f->badi != SYSCALL_BACK || TRAP_ECODE(f->estat) != ECODE_SYS)
		record(f);
	user_stop(f, 0);
	return true;
}

/* ---- vectors ------------------------------------------------------------- */

/* Entries for VS = 7, each of which leads to a stub that knows its number. */
#define VECTORS		78
static uint32_t vectors[VECTORS * 128] __attribute__((aligned(4096)));
static uint32_t stubs[VECTORS][4];

void trap_vector(void);

/* csrwr $t0, SAVE5; li.w $t0, n; csrwr $t0, SAVE4 with t0 back after it. */
asm("	.text\n"
    "stub_end:\n"
    "	csrwr	$t0, 0x34\n"
    "	csrrd	$t0, 0x35\n"
    "	b	trap_vector\n");
void stub_end(void);

static uint32_t branch(const uint32_t *from, uint64_t to)
{
	uint64_t off = (to - (uint64_t)from) >> 2;

	return 0x50000000u | (uint32_t)(off & 0xffff) << 10 |
	       (uint32_t)(off >> 16 & 0x3ff);
}

static void set_vectors(unsigned vs)
{
	unsigned step = vs ? 1u << vs : 0;

	for (unsigned i = 0; i < VECTORS; i++) {
		uint32_t *entry = &vectors[step * i];

		stubs[i][0] = 0x04000000u | 0x35 << 10 | 1 << 5 | 12;
		stubs[i][1] = 0x02800000u | i << 10 | 12;	/* addi.w */
		stubs[i][2] = branch(&stubs[i][2], (uint64_t)stub_end);
		*entry = branch(entry, (uint64_t)stubs[i]);
		if (!vs)
			break;
	}
	isb();
	csr_write(CSR_EENTRY, (uint64_t)vectors);
	csr_xchg(CSR_ECFG, (uint64_t)vs << ECFG_VS_SHIFT, ECFG_VS);
}

/* ---- the cases ----------------------------------------------------------- */

enum { AT0 = 1, AT3 = 2, BOTH = 3 };
/* NOT_QEMU: it fetches the word for BADI, which faults again, for ever. */
enum { NO_BADV = 1, NO_BADI = 2, FETCH = 4, PAGE_FAULT = 8, NOT_QEMU = 16 };

#define LD_D		0x28c00084u	/* ld.d $a0, $a0, 0 */
#define ST_D		0x29c00084u	/* st.d $a0, $a0, 0 */

static const struct exception {
	const char *name;
	uint8_t levels;
	uint8_t flags;
	uint8_t ecode, esub;
	uint32_t insn;
	uint64_t addr;		/* a0, or where to fetch from */
} cases[] = {
	{ "SYS", BOTH, NO_BADV, ECODE_SYS, 0, 0x002b0123, 0 },
	{ "BRK", BOTH, NO_BADV, ECODE_BRK, 0, 0x002a0123, 0 },
	{ "INE", BOTH, NO_BADV, ECODE_INE, 0, 0x00000000, 0 },
	{ "INE of gcsrrd", BOTH, NO_BADV, ECODE_INE, 0, 0x05000004, 0 },
	{ "INE of invtlb 31", AT0, NO_BADV, ECODE_INE, 0, 0x0649801f, 0 },
	{ "IPE of csrrd", AT3, NO_BADV, ECODE_IPE, 0, 0x0400c004, 0 },
	{ "IPE of csrwr", AT3, NO_BADV, ECODE_IPE, 0, 0x0400c024, 0 },
	{ "IPE of iocsrrd", AT3, NO_BADV, ECODE_IPE, 0, 0x06480884, 0 },
	{ "IPE of tlbfill", AT3, NO_BADV, ECODE_IPE, 0, 0x06483400, 0 },
	{ "IPE of invtlb", AT3, NO_BADV, ECODE_IPE, 0, 0x06498000, 0 },
	{ "IPE of cacop", AT3, NO_BADV, ECODE_IPE, 0, 0x06000080, VA_GOOD },
	{ "IPE of lddir", AT3, NO_BADV, ECODE_IPE, 0, 0x06400484, 0 },
	{ "IPE of idle", AT3, NO_BADV, ECODE_IPE, 0, 0x06488000, 0 },
	{ "IPE of ertn", AT3, NO_BADV, ECODE_IPE, 0, 0x06483800, 0 },
	{ "FPD of fld.d", BOTH, NO_BADV, ECODE_FPD, 0, 0x2b800080, VA_GOOD },
	{ "SXD of vld", BOTH, NO_BADV, ECODE_SXD, 0, 0x2c000080, VA_GOOD },
	{ "ASXD of xvld", BOTH, NO_BADV, ECODE_ASXD, 0, 0x2c800080, VA_GOOD },
	{ "BCE of asrtgt.d", BOTH, NO_BADV, ECODE_BCE, 0, 0x00018000, 0 },
	{ "PIL", BOTH, PAGE_FAULT, ECODE_PIL, 0, LD_D, VA_INVALID },
	{ "PIL in the odd page", BOTH, PAGE_FAULT, ECODE_PIL, 0, LD_D,
	  VA_GOOD + PAGE + 8 },
	{ "PIS", BOTH, PAGE_FAULT, ECODE_PIS, 0, ST_D, VA_INVALID + 16 },
	{ "PIF", BOTH, PAGE_FAULT | FETCH | NO_BADI, ECODE_PIF, 0, 0,
	  VA_INVALID },
	{ "PME", BOTH, PAGE_FAULT, ECODE_PME, 0, ST_D, VA_CLEAN + 8 },
	{ "PNR", BOTH, PAGE_FAULT, ECODE_PNR, 0, LD_D, VA_NR },
	{ "PNX", BOTH, PAGE_FAULT | FETCH | NO_BADI, ECODE_PNX, 0, 0, VA_NX },
	{ "PPI of a level 0 page, load", AT3, PAGE_FAULT, ECODE_PPI, 0, LD_D,
	  VA_KERNEL },
	{ "PPI of a level 0 page, store", AT3, PAGE_FAULT, ECODE_PPI, 0, ST_D,
	  VA_KERNEL },
	{ "PPI of a level 0 page, fetch", AT3, PAGE_FAULT | FETCH | NOT_QEMU,
	  ECODE_PPI, 0, 0, VA_KERNEL },
	{ "PPI of a page of level 3 alone", AT0, PAGE_FAULT, ECODE_PPI, 0,
	  LD_D, VA_ONLY3 },
	{ "ADEM without window", BOTH, 0, ECODE_ADE, ESUB_ADEM, LD_D,
	  VA_PHYS },
	{ "ADEM, not sign extended", AT3, 0, ECODE_ADE, ESUB_ADEM, ST_D,
	  VA_HOLE },
	{ "ADEF", BOTH, FETCH | NO_BADI, ECODE_ADE, ESUB_ADEF, 0, VA_PHYS },
};

static uint64_t run_at(const struct exception *x, unsigned level, uint64_t ie)
{
	uint64_t fetch = x->flags & FETCH;
	void (*fn)(uint64_t, uint64_t) =
		(void (*)(uint64_t, uint64_t))(fetch ? x->addr :
						       (uint64_t)slot);
	uint64_t args[2] = { x->addr, 0 };

	slot[0] = x->insn;
	slot[1] = level ? SYSCALL_BACK : JR_RA;
	isb();
	memset(&seen, 0, sizeof(seen));
	if (level) {
		user_run(fetch ? x->addr : VA_CODE, 3 | (ie ? PRMD_PIE : 0),
			 args, VA_STACK + PAGE);
		return fetch ? x->addr : VA_CODE;
	}
	csr_xchg(CSR_CRMD, ie, CRMD_IE);
	fn(args[0], args[1]);
	csr_xchg(CSR_CRMD, 0, CRMD_IE);
	return fetch ? x->addr : (uint64_t)slot;
}

/* Compares all fields; false and a line for the first that is wrong. */
static bool right(const struct exception *x, unsigned level, uint64_t ie,
		  unsigned vs, uint64_t pc)
{
	uint64_t vector = vs ? x->ecode : 0;
	const struct {
		const char *field;
		uint64_t got, want;
		bool check;
	} fields[] = {
		{ "count", seen.count, 1, true },
		{ "Ecode", TRAP_ECODE(seen.estat), x->ecode, true },
		{ "EsubCode", TRAP_ESUB(seen.estat), x->esub, true },
		{ "ERA", seen.era, pc, true },
		{ "PRMD", seen.prmd, level | (ie ? PRMD_PIE : 0), true },
		{ "CRMD", seen.crmd & 0x1f, CRMD_PG, true },
		{ "vector", seen.vector, vector, true },
		{ "BADI", seen.badi, x->insn,
		  !(x->flags & (NO_BADI | FETCH)) },
		{ "BADV", seen.badv, x->addr, !(x->flags & NO_BADV) },
		{ "TLBEHI", seen.tlbehi & TLBEHI_VPPN, x->addr & TLBEHI_VPPN,
		  x->flags & PAGE_FAULT },
	};

	for (unsigned i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (fields[i].check && fields[i].got != fields[i].want)
			return CHECK_EQ(fields[i].got, fields[i].want,
					"%s at level %u, IE %u, VS %u: %s",
					x->name, level, ie != 0, vs,
					fields[i].field);
	return true;
}

static void check_case(const struct exception *x)
{
	static const uint8_t sizes[] = { 0, 1, 3, 7 };
	bool good = true;

	if (x->flags & NOT_QEMU && !on_nestling()) {
		skip(x->name, "QEMU hangs");
		return;
	}
	for (unsigned i = 0; i < sizeof(sizes); i++) {
		set_vectors(sizes[i]);
		for (unsigned m = 0; m < 4; m++) {
			unsigned level = m & 1 ? 3 : 0;
			uint64_t ie = m & 2 ? CRMD_IE : 0, pc;

			if (!(x->levels & (level ? AT3 : AT0)))
				continue;
			pc = run_at(x, level, ie);
			good &= right(x, level, ie, sizes[i], pc);
		}
	}
	if (good)
		CHECK(good, "%s", x->name);
}

/* ---- refill -------------------------------------------------------------- */

/* What the handler below saw: by its own registers, before anything else. */
static struct {
	uint64_t badv, era, ehi, prmd, crmd, estat, count;
} refill;

/*
 * A handler that is no walk: it notes the registers and leaves an entry without
 * the valid bit, for an ordinary exception to follow.
 */
asm("	.text\n"
    "	.balign	4096\n"
    "refill_note:\n"
    "	csrwr	$t0, 0x8b\n"
    "	csrwr	$t1, 0x36\n"
    "	la.pcrel $t0, refill\n"
    "	csrrd	$t1, 0x89\n	st.d $t1, $t0, 0\n"
    "	csrrd	$t1, 0x8a\n	st.d $t1, $t0, 8\n"
    "	csrrd	$t1, 0x8e\n	st.d $t1, $t0, 16\n"
    "	csrrd	$t1, 0x8f\n	st.d $t1, $t0, 24\n"
    "	csrrd	$t1, 0x0\n	st.d $t1, $t0, 32\n"
    "	csrrd	$t1, 0x5\n	st.d $t1, $t0, 40\n"
    "	ld.d	$t1, $t0, 48\n"
    "	addi.d	$t1, $t1, 1\n	st.d $t1, $t0, 48\n"
    "	csrwr	$zero, 0x8c\n"
    "	csrwr	$zero, 0x8d\n"
    "	li.w	$t0, 12\n"
    "	li.w	$t1, 63\n"
    "	csrxchg	$t0, $t1, 0x8e\n"
    "	tlbfill\n"
    "	csrrd	$t1, 0x36\n"
    "	csrrd	$t0, 0x8b\n"
    "	ertn\n");
void refill_note(void);

static void check_refill(unsigned level, uint64_t ie)
{
	static const struct exception load = { "", BOTH, 0, ECODE_PIL, 0, LD_D,
					       VA(20) + 0x128 };
	uint64_t old = csr_write(CSR_TLBRENTRY, (uint64_t)refill_note);
	uint64_t estat = csr_read(CSR_ESTAT), pc;

	mmu_invalidate_all();
	if (level) {
		/* Code and stack by the tables first. */
		csr_write(CSR_TLBRENTRY, old);
		run_at(&cases[0], level, 0);
		estat = csr_read(CSR_ESTAT);
		csr_write(CSR_TLBRENTRY, (uint64_t)refill_note);
	}
	memset(&refill, 0, sizeof(refill));
	pc = run_at(&load, level, ie);
	csr_write(CSR_TLBRENTRY, old);
	mmu_invalidate_all();
	CHECK_EQ(refill.count, 1, "level %u: one refill", level);
	CHECK_EQ(refill.badv, load.addr, "level %u: TLBRBADV", level);
	CHECK_EQ(refill.era, pc | TLBRERA_ISTLBR, "level %u: TLBRERA", level);
	CHECK_EQ(refill.ehi & TLBEHI_VPPN, load.addr & TLBEHI_VPPN,
		 "level %u: TLBREHI", level);
	CHECK_EQ(refill.prmd & 7, level | (ie ? PRMD_PIE : 0),
		 "level %u: TLBRPRMD", level);
	CHECK_EQ(refill.crmd & 0x1f, CRMD_DA, "level %u: CRMD", level);
	CHECK_EQ(refill.estat, estat, "level %u: ESTAT is left alone", level);
	CHECK_EQ(csr_read(CSR_TLBRERA) & TLBRERA_ISTLBR, 0,
		 "level %u: ERTN ends it", level);
	CHECK(right(&load, level, ie, 0, pc), "level %u: then PIL", level);
}

/* ---- interrupts ---------------------------------------------------------- */

static uint64_t taken[4], vector_of[4];
static unsigned nr_taken;

static bool on_int(struct trap_frame *f)
{
	if (nr_taken < 4) {
		taken[nr_taken] = f->estat;
		vector_of[nr_taken] = csr_read(CSR_SAVE(4));
	}
	nr_taken++;
	/* The highest one that is enabled was taken: turn it off. */
	for (unsigned n = 13; n--;) {
		if (!(f->estat & csr_read(CSR_ECFG) & 1u << n))
			continue;
		csr_xchg(CSR_ECFG, 0, 1u << n);
		break;
	}
	return true;
}

static void timer_pending(void)
{
	csr_write(CSR_TCFG, 0x100 | TCFG_EN);
	while (!(csr_read(CSR_ESTAT) & ESTAT_TI))
		;
}

static void check_interrupts(unsigned vs)
{
	uint64_t swi = on_nestling() ? ESTAT_SWI : 0;

	set_vectors(vs);
	nr_taken = 0;
	timer_pending();
	csr_write(CSR_ESTAT, swi);
	csr_xchg(CSR_ECFG, ESTAT_TI | swi, ECFG_LIE);
	CHECK_EQ(nr_taken, 0, "VS %u: nothing is taken with IE = 0", vs);
	irq_enable();
	irq_disable();
	CHECK_EQ(nr_taken, swi ? 3 : 1, "VS %u: all that is pending", vs);
	CHECK_EQ(vector_of[0], vs ? 64 + 11 : 0, "VS %u: timer first", vs);
	CHECK_EQ(taken[0] & (ESTAT_IS | 0x7fff0000), ESTAT_TI | swi,
		 "VS %u: IS, Ecode 0", vs);
	if (swi) {
		CHECK_EQ(vector_of[1], vs ? 64 + 1 : 0, "VS %u: then SWI1", vs);
		CHECK_EQ(vector_of[2], vs ? 64 : 0, "VS %u: then SWI0", vs);
	} else {
		skip("software interrupts", "QEMU does not deliver them");
	}
	csr_write(CSR_ESTAT, 0);
	csr_write(CSR_TICLR, TICLR_CLR);
	CHECK_EQ(csr_read(CSR_ESTAT) & ESTAT_IS, 0, "VS %u: none left", vs);
}

/* ---- */

static void map_pages(void)
{
	uint64_t pa = (uint64_t)page;

	mmu_init_vcpu();
	mmu_map(VA_CODE, (uint64_t)slot | MAP_USER);
	mmu_map(VA_STACK, (uint64_t)stack | MAP_USER);
	mmu_map(VA_GOOD, pa | MAP_USER);
	mmu_map(VA_INVALID, pa | (MAP_USER & ~TLBELO_V));
	mmu_map(VA_CLEAN, pa | (MAP_USER & ~TLBELO_D));
	mmu_map(VA_NR, pa | MAP_USER | TLBELO_NR);
	mmu_map(VA_NX, pa | MAP_USER | TLBELO_NX);
	mmu_map(VA_KERNEL, pa | MAP_KERNEL);
	mmu_map(VA_ONLY3, pa | MAP_USER | TLBELO_RPLV);
	mmu_map(VA(20), 0);
}

int main(int, char **)
{
	csr_write(CSR_EUEN, 0);
	csr_write(CSR_ECFG, 0);
	map_pages();
	for (unsigned e = 0; e < 64; e++) {
		trap_on(0, e, from_kernel);
		trap_on(3, e, from_user);
	}
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_case(&cases[i]);
	set_vectors(0);
	check_refill(0, 0);
	check_refill(0, CRMD_IE);
	check_refill(3, CRMD_IE);
	trap_on(0, ECODE_INT, on_int);
	check_interrupts(0);
	check_interrupts(1);
	check_interrupts(4);
	csr_write(CSR_ECFG, 0);
	csr_write(CSR_EENTRY, (uint64_t)trap_vector);
	return report();
}
