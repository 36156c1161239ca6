// SPDX-License-Identifier: BSD-2-Clause
/*
 * Every CSR number against a model of the Reference Manual: reads, writes and
 * exchanges under several masks give and leave what they should; reserved and
 * read-only bits stay; numbers that do not exist read 0 and ignore writes. On
 * QEMU itself only what it implements as the manual has it: it lets reserved
 * bits be written, and raises INE for writes to read-only registers.
 *
 * Argument: rounds=N random patterns for each register (default 20).
 */
#include <stdlib.h>
#include "check.h"
#include "guest.h"
#include "hcall.h"
#include "smp.h"

const bool trap_keeps_fp = false;

/* Instruction words; rd = a0, rj = a1. */
#define CSRRD(n)	(0x04000000u | (uint32_t)(n) << 10 | 4)
#define CSRWR(n)	(CSRRD(n) | 1 << 5)
#define CSRXCHG(n)	(CSRRD(n) | 5 << 5)
#define JR_RA		0x4c000020u

enum {
	SEXT = 1,	/* bit 47 is repeated in the bits above */
	RO = 2,		/* QEMU raises INE for a write */
	OURS = 4,	/* QEMU does not do as the manual says */
	PAST = 16,	/* other bits tell of the last exception */
	VARIES = 8,	/* the value changes by itself: only readable */
};

/*
 * Bits that a write changes, and the value of the others. `keep`: bits that
 * this program depends on, which it writes back as they are.
 */
struct model {
	const char *name;
	uint16_t num;
	uint16_t flags;
	uint64_t write;
	uint64_t fixed;
	uint64_t keep;
};

#define ALL		(~0ull)
#define PAGE_ADDR	0xfffffffffffff000
#define PHYS_PAGE	0x0000fffffffff000
#define PTE		0xe000fffffffff07f
#define DMW		0xf00000000000003f

static const struct model models[] = {
	{ "CRMD", CSR_CRMD, 0, 0x3ff, 0, 0x1f },
	{ "PRMD", CSR_PRMD, 0, 0xf, 0, 0 },
	{ "EUEN", CSR_EUEN, 0, 0x7, 0, 0 },
	{ "MISC", CSR_MISC, RO, 0, 0, 0 },
	{ "ECFG", CSR_ECFG, 0, 0x71fff, 0, 0 },
	{ "ESTAT", CSR_ESTAT, PAST, 0x3, 0, 0 },
	{ "ERA", CSR_ERA, 0, ALL, 0, 0 },
	{ "BADV", CSR_BADV, 0, ALL, 0, 0 },
	{ "BADI", CSR_BADI, RO | VARIES, 0, 0, 0 },
	{ "EENTRY", CSR_EENTRY, 0, PAGE_ADDR, 0, 0 },
	{ "TLBIDX", CSR_TLBIDX, 0, 0xbf000fff, 0, 0 },
	{ "TLBEHI", CSR_TLBEHI, SEXT, 0x0000ffffffffe000, 0, 0 },
	{ "TLBELO0", CSR_TLBELO0, 0, PTE, 0, 0 },
	{ "TLBELO1", CSR_TLBELO1, 0, PTE, 0, 0 },
	{ "ASID", CSR_ASID, 0, 0x3ff, 10 << 16, 0 },
	{ "PGDL", CSR_PGDL, 0, PAGE_ADDR, 0, 0 },
	{ "PGDH", CSR_PGDH, 0, PAGE_ADDR, 0, 0 },
	{ "PGD", CSR_PGD, RO | VARIES, 0, 0, 0 },
	{ "PWCL", CSR_PWCL, 0, 0x3fffffff, 0, 0 },
	{ "PWCH", CSR_PWCH, 0, 0xffffff, 0, 0 },
	/* By itself below: it takes page sizes only. */
	{ "STLBPS", CSR_STLBPS, OURS | VARIES, 0, 0, 0x3f },
	{ "RVACFG", CSR_RVACFG, OURS, 0, 0, 0 },
	{ "CPUID", CSR_CPUID, RO, 0, 0, 0 },
	{ "PRCFG1", CSR_PRCFG1, RO, 0, 0x72f8, 0 },
	{ "PRCFG2", CSR_PRCFG2, RO, 0, 0x3ffff000, 0 },
	{ "PRCFG3", CSR_PRCFG3, RO, 0, 0x8073f2, 0 },
	{ "SAVE0", CSR_SAVE(0), 0, ALL, 0, 0 },
	{ "SAVE1", CSR_SAVE(1), 0, ALL, 0, 0 },
	{ "SAVE2", CSR_SAVE(2), 0, ALL, 0, 0 },
	{ "SAVE3", CSR_SAVE(3), 0, ALL, 0, 0 },
	{ "SAVE4", CSR_SAVE(4), 0, ALL, 0, 0 },
	{ "SAVE5", CSR_SAVE(5), 0, ALL, 0, 0 },
	{ "SAVE6", CSR_SAVE(6), 0, ALL, 0, 0 },
	{ "SAVE7", CSR_SAVE(7), 0, ALL, 0, 0 },
	{ "TID", CSR_TID, 0, 0xffffffff, 0, 0 },
	{ "TCFG", CSR_TCFG, 0, 0x0000ffffffffffff, 0, TCFG_EN },
	{ "TVAL", CSR_TVAL, RO | VARIES, 0, 0, 0 },
	{ "CNTC", CSR_CNTC, 0, ALL, 0, 0 },
	{ "TICLR", CSR_TICLR, OURS, 0, 0, 0 },
	{ "LLBCTL", CSR_LLBCTL, 0, LLBCTL_KLO, 0, 0 },
	{ "TLBRENTRY", CSR_TLBRENTRY, 0, PHYS_PAGE, 0, 0 },
	{ "TLBRBADV", CSR_TLBRBADV, 0, ALL, 0, 0 },
	{ "TLBRERA", CSR_TLBRERA, 0, ~2ull, 0, TLBRERA_ISTLBR },
	{ "TLBRSAVE", CSR_TLBRSAVE, 0, ALL, 0, 0 },
	{ "TLBRELO0", CSR_TLBRELO0, 0, PTE, 0, 0 },
	{ "TLBRELO1", CSR_TLBRELO1, 0, PTE, 0, 0 },
	{ "TLBREHI", CSR_TLBREHI, SEXT, 0x0000ffffffffe03f, 0, 0 },
	{ "TLBRPRMD", CSR_TLBRPRMD, 0, 0x17, 0, 0 },
	{ "MERRCTL", CSR_MERRCTL, 0, 0x1fdc, 0, 0 },
	{ "MERRENTRY", CSR_MERRENTRY, 0, PHYS_PAGE, 0, 0 },
	{ "MERRERA", CSR_MERRERA, 0, ALL, 0, 0 },
	{ "MERRSAVE", CSR_MERRSAVE, 0, ALL, 0, 0 },
	{ "CTAG", CSR_CTAG, 0, ALL, 0, 0 },
	{ "DMW0", CSR_DMW0, 0, DMW, 0, 0xf000000000000031 },
	{ "DMW1", CSR_DMW1, 0, DMW, 0, 0xf000000000000001 },
	{ "DMW2", CSR_DMW2, 0, DMW, 0, 1 },
	{ "DMW3", CSR_DMW3, 0, DMW, 0, 1 },
	{ "DBG", CSR_DBG, OURS, 0, 0, 0 },
	{ "DERA", CSR_DERA, 0, ALL, 0, 0 },
	{ "DSAVE", CSR_DSAVE, 0, ALL, 0, 0 },
	/* What QEMU has although the manual does not, or not in this CPU. */
	{ "IMPCTL1", CSR_IMPCTL1, OURS, 0, 0, 0 },
	{ "IMPCTL2", CSR_IMPCTL2, OURS, 0, 0, 0 },
	{ "MERRINFO1", CSR_MERRINFO1, OURS, 0, 0, 0 },
	{ "MERRINFO2", CSR_MERRINFO2, OURS, 0, 0, 0 },
	{ "SAVE8", CSR_SAVE(8), OURS, 0, 0, 0 },
	{ "SAVE9", CSR_SAVE(9), OURS, 0, 0, 0 },
	{ "SAVE10", CSR_SAVE(10), OURS, 0, 0, 0 },
	{ "SAVE11", CSR_SAVE(11), OURS, 0, 0, 0 },
	{ "SAVE12", CSR_SAVE(12), OURS, 0, 0, 0 },
	{ "SAVE13", CSR_SAVE(13), OURS, 0, 0, 0 },
	{ "SAVE14", CSR_SAVE(14), OURS, 0, 0, 0 },
	{ "SAVE15", CSR_SAVE(15), OURS, 0, 0, 0 },
};

#define NR_MODELS	(sizeof(models) / sizeof(models[0]))

static bool ours;		/* the hypervisor below is Nestling */

/* One CSR instruction and the way back. */
static uint64_t run(uint32_t insn, uint64_t a0, uint64_t a1)
{
	static uint32_t code[2] __attribute__((aligned(8)));
	uint64_t (*fn)(uint64_t, uint64_t) =
		(uint64_t (*)(uint64_t, uint64_t))(uintptr_t)code;

	if (code[0] != insn) {
		code[0] = insn;
		code[1] = JR_RA;
		isb();
	}
	return fn(a0, a1);
}

static uint64_t rd(unsigned num)
{
	return run(CSRRD(num), 0x5a5a, 0);
}

static uint64_t random64(void)
{
	uint64_t x = 0;

	for (int i = 0; i < 5; i++)
		x = x << 15 ^ (uint64_t)rand();
	return x;
}

static uint64_t sext(uint64_t x)
{
	return (uint64_t)((int64_t)(x << 16) >> 16);
}

/* What the register is after writing `value` to the bits of `mask`. */
static uint64_t after(const struct model *m, uint64_t old, uint64_t value,
		      uint64_t mask)
{
	uint64_t bits = m->write & mask, x = (old & ~bits) | (value & bits);

	return m->flags & SEXT ? sext(x) : x;
}

/* A value that keeps what must be kept, and on QEMU writes nothing else than
 * what the register has. */
static uint64_t operand(const struct model *m, uint64_t old, uint64_t x)
{
	x = (x & ~m->keep) | (old & m->keep);
	if (!ours)
		x = (x & m->write) | (old & ~m->write);
	return !ours && m->flags & SEXT ? sext(x) : x;
}

struct failure {
	const char *what;
	uint64_t got, want, operand;
};

static bool expect(struct failure *f, const char *what, uint64_t got,
		   uint64_t want, uint64_t operand)
{
	if (got != want && !f->what)
		*f = (struct failure){ what, got, want, operand };
	return got == want;
}

static void try_write(const struct model *m, uint64_t x, struct failure *f)
{
	uint64_t old = rd(m->num), want;

	x = operand(m, old, x);
	want = after(m, old, x, ALL);
	expect(f, "csrwr gives", run(CSRWR(m->num), x, 0), old, x);
	expect(f, "after csrwr", rd(m->num), want, x);
}

static void try_exchange(const struct model *m, uint64_t x, uint64_t mask,
			 struct failure *f)
{
	uint64_t old = rd(m->num), want;

	mask &= ~m->keep;
	if (!ours)
		mask &= m->write;
	/* Half of an extension cannot be consistent on QEMU. */
	if (!ours && m->flags & SEXT)
		mask &= m->write >> 1;
	want = after(m, old, x, mask);
	expect(f, "csrxchg gives", run(CSRXCHG(m->num), x, mask), old, mask);
	expect(f, "after csrxchg", rd(m->num), want, mask);
}

/* All of it for one register, which is back as it was at the end. */
static void sweep(const struct model *m, unsigned rounds, struct failure *f)
{
	static const uint64_t fixed[] = {
		0, ALL, 0x5555555555555555, 0xaaaaaaaaaaaaaaaa,
	};
	uint64_t old = rd(m->num);

	for (unsigned i = 0; i < rounds + 4; i++) {
		uint64_t x = i < 4 ? fixed[i] : random64();

		try_write(m, x, f);
		try_exchange(m, ~x, 0, f);
		try_exchange(m, ~x, ALL, f);
		try_exchange(m, x, 0xffffffff, f);
		try_exchange(m, x, random64(), f);
	}
	run(CSRWR(m->num), old, 0);
}

/* Writes to a register with a value of its own; TVAL counts down meanwhile. */
static void check_ignored(const struct model *m)
{
	uint64_t old = rd(m->num);
	uint64_t given = run(CSRWR(m->num), ~old, 0);

	if (m->num == CSR_TVAL && csr_read(CSR_TCFG) & TCFG_EN)
		return;
	CHECK(given == old && rd(m->num) == old, "%s ignores writes", m->name);
}

static void check_register(const struct model *m, unsigned rounds)
{
	struct failure f = {};
	uint64_t fixed = m->num == CSR_CPUID ? vcpu_id() : m->fixed;

	if (!ours && m->flags & OURS)
		return;
	if (m->flags & VARIES) {
		if (ours && m->flags & RO)
			check_ignored(m);
		return;
	}
	if (!(m->flags & PAST))
		expect(&f, "fixed bits", rd(m->num) & ~m->write &
		       (m->flags & SEXT ? 0x0000ffffffffffff : ALL), fixed, 0);
	if (ours || !(m->flags & RO))
		sweep(m, rounds, &f);
	if (f.what)
		CHECK(false, "%s: %s %#lx, not %#lx, for %#lx", m->name, f.what,
		      f.got, f.want, f.operand);
	else
		CHECK(true, "%s", m->name);
}

static const struct model *find(unsigned num)
{
	for (unsigned i = 0; i < NR_MODELS; i++)
		if (models[i].num == num)
			return &models[i];
	return nullptr;
}

static void check_others(void)
{
	unsigned bad = 0, first = 0, count = 0;
	struct failure f = {};

	for (unsigned num = 0; num < CSR_COUNT; num++) {
		struct model none = { "", (uint16_t)num, 0, 0, 0, 0 };

		if (find(num))
			continue;
		f.what = nullptr;
		expect(&f, "read", rd(num), 0, 0);
		expect(&f, "csrwr gives", run(CSRWR(num), ALL, 0), 0, 0);
		expect(&f, "csrxchg gives", run(CSRXCHG(num), ALL, ALL), 0, 0);
		expect(&f, "after", rd(num), 0, 0);
		if (f.what && bad++ == 0)
			first = num;
		count += none.num == num;
	}
	CHECK(bad == 0, "%u other numbers read 0, %u do not, first %#x", count,
	      bad, first);
}

/* Only page sizes of PRCFG2 are taken. */
static void check_stlbps(void)
{
	uint64_t old = csr_read(CSR_STLBPS);
	unsigned bad = 0;

	if (!ours) {
		skip("STLBPS", "QEMU has one page size");
		return;
	}
	for (uint64_t ps = 0; ps < 64; ps++) {
		uint64_t before = csr_read(CSR_STLBPS);
		uint64_t want = ps >= 12 && ps <= 29 ? ps : before;

		csr_write(CSR_STLBPS, ps);
		if (csr_read(CSR_STLBPS) != want)
			bad++;
	}
	csr_write(CSR_STLBPS, old);
	CHECK_EQ(bad, 0, "STLBPS takes the page sizes of PRCFG2");
}

/* PGD is PGDL or PGDH by the address of the fault. */
static void check_pgd(void)
{
	uint64_t l = csr_read(CSR_PGDL), h = csr_read(CSR_PGDH);
	uint64_t era = csr_read(CSR_TLBRERA);

	csr_write(CSR_PGDL, 0x1000);
	csr_write(CSR_PGDH, 0x2000);
	csr_write(CSR_BADV, 0x10000);
	csr_write(CSR_TLBRBADV, 0xffff000000000000);
	CHECK_EQ(csr_read(CSR_PGD), 0x1000, "PGD by BADV, low");
	csr_write(CSR_BADV, 0xffff000000000000);
	CHECK_EQ(csr_read(CSR_PGD), 0x2000, "PGD by BADV, high");
	csr_write(CSR_TLBRBADV, 0x10000);
	csr_write(CSR_TLBRERA, era | TLBRERA_ISTLBR);
	CHECK_EQ(csr_read(CSR_PGD), 0x1000, "PGD in a refill");
	csr_write(CSR_TLBRERA, era & ~TLBRERA_ISTLBR);
	csr_write(CSR_PGDL, l);
	csr_write(CSR_PGDH, h);
}

int main(int, char **)
{
	unsigned rounds = (unsigned)arg_u64("rounds", 20);

	ours = on_nestling();
	for (unsigned i = 0; i < NR_MODELS; i++)
		check_register(&models[i], rounds);
	check_stlbps();
	check_pgd();
	check_others();
	return report();
}
