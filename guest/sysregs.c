// SPDX-License-Identifier: BSD-2-Clause
/*
 * The system registers of a vCPU belong to it alone. First those that the entry
 * code stored must have their reset values, with nothing of an earlier VM; then
 * every register that a guest may write at EL1 gets a value that no other (VM,
 * vCPU, register, round) has, the vCPU gives its CPU away, and all must be
 * unchanged. All vCPUs of the VM do so at once.
 *
 * Arguments: vm=K goes into the values (default 0); rounds=N (default 1000).
 */
#include <stdio.h>
#include "arm64/record.h"
#include "check.h"
#include "guest.h"
#include "hcall.h"
#include "smp.h"
#include "timer.h"
#include "trap.h"

/*
 * Registers and the bits that may take any value without disturbing the code
 * that runs meanwhile, with IRQs masked. What of them a CPU implements is found
 * by writing.
 */
#define ANY	(~0ull)
#define REGS(X)                                                                \
	X(tpidr_el0, ANY)                                                      \
	X(tpidrro_el0, ANY)                                                    \
	X(tpidr_el1, ANY)                                                      \
	X(contextidr_el1, 0xffffffff)                                          \
	X(sp_el0, ANY)                                                         \
	X(ttbr1_el1, 0x0000fffffffff000)                                       \
	X(mair_el1, 0xffffffff00000000)                                        \
	X(amair_el1, ANY)                                                      \
	X(vbar_el1, 0x0000fffffffff800)                                        \
	X(esr_el1, 0xffffffff)                                                 \
	X(far_el1, ANY)                                                        \
	X(afsr0_el1, ANY)                                                      \
	X(afsr1_el1, ANY)                                                      \
	X(elr_el1, ANY)                                                        \
	X(spsr_el1, 0xf00003df)                                                \
	X(par_el1, 0x0000fffffffff000)                                         \
	X(cntkctl_el1, 0x3ff)                                                  \
	X(csselr_el1, 0x2)                                                     \
	X(sctlr_el1, 0x0404c000)                                               \
	X(mdscr_el1, 0x1000)                                                   \
	X(mdccint_el1, 0x60000000)                                             \
	X(cntv_cval_el0, ANY)                                                  \
	X(cntp_cval_el0, ANY)                                                  \
	X(cntv_ctl_el0, 0x2)                                                   \
	X(cntp_ctl_el0, 0x2)                                                   \
	X(icc_pmr_el1, 0xf0)                                                   \
	X(icc_bpr1_el1, 0x7)                                                   \
	X(icc_ctlr_el1, 0x2)                                                   \
	X(icc_igrpen1_el1, 0x1)

/* FEAT_PAuth, when ISAR1 or ISAR2 shows it: five keys of two halves. */
#define PAUTH_REGS(X)                                                          \
	X(S3_0_C2_C1_0, ANY)                                                   \
	X(S3_0_C2_C1_1, ANY)                                                   \
	X(S3_0_C2_C1_2, ANY)                                                   \
	X(S3_0_C2_C1_3, ANY)                                                   \
	X(S3_0_C2_C2_0, ANY)                                                   \
	X(S3_0_C2_C2_1, ANY)                                                   \
	X(S3_0_C2_C2_2, ANY)                                                   \
	X(S3_0_C2_C2_3, ANY)                                                   \
	X(S3_0_C2_C3_0, ANY)                                                   \
	X(S3_0_C2_C3_1, ANY)

/* Value and control of a breakpoint and a watchpoint, never enabled. */
#define DEBUG_REGS(X, n)                                                       \
	X(S2_0_C0_C##n##_4, 0x0000fffffffffffc)                                \
	X(S2_0_C0_C##n##_5, 0xf0006)                                           \
	X(S2_0_C0_C##n##_6, 0x0000fffffffffff8)                                \
	X(S2_0_C0_C##n##_7, 0x1ffe)

#define ALL_DEBUG(X)                                                           \
	DEBUG_REGS(X, 0)                                                       \
	DEBUG_REGS(X, 1)                                                       \
	DEBUG_REGS(X, 2)                                                       \
	DEBUG_REGS(X, 3)                                                       \
	DEBUG_REGS(X, 4)                                                       \
	DEBUG_REGS(X, 5)                                                       \
	DEBUG_REGS(X, 6)                                                       \
	DEBUG_REGS(X, 7)                                                       \
	DEBUG_REGS(X, 8)                                                       \
	DEBUG_REGS(X, 9)                                                       \
	DEBUG_REGS(X, 10)                                                      \
	DEBUG_REGS(X, 11)                                                      \
	DEBUG_REGS(X, 12)                                                      \
	DEBUG_REGS(X, 13)                                                      \
	DEBUG_REGS(X, 14)                                                      \
	DEBUG_REGS(X, 15)

#define X(reg, bits)                                                           \
	static uint64_t get_##reg(void)                                        \
	{                                                                      \
		return read_sysreg(reg);                                       \
	}                                                                      \
	static void set_##reg(uint64_t value)                                  \
	{                                                                      \
		write_sysreg(value, reg);                                      \
	}
REGS(X)
PAUTH_REGS(X)
ALL_DEBUG(X)
#undef X

struct reg {
	const char *name;
	uint64_t bits;
	uint64_t (*get)(void);
	void (*set)(uint64_t value);
};

static const struct reg regs[] = {
#define X(reg, bits) { #reg, bits, get_##reg, set_##reg },
	REGS(X)
#undef X
};

static const struct reg pauth_regs[] = {
#define X(reg, bits) { #reg, bits, get_##reg, set_##reg },
	PAUTH_REGS(X)
#undef X
};

static const struct reg debug_regs[] = {
#define X(reg, bits) { #reg, bits, get_##reg, set_##reg },
	ALL_DEBUG(X)
#undef X
};

/* The CLAIM tags, one state behind two registers. */
static uint64_t get_claim(void)
{
	return read_sysreg(dbgclaimclr_el1);
}

static void set_claim(uint64_t value)
{
	write_sysreg(0xff, dbgclaimclr_el1);
	isb();
	write_sysreg(value, dbgclaimset_el1);
}

/* DISR_EL1, of FEAT_RAS: no trap can hide it where a CPU has it. */
static uint64_t get_disr(void)
{
	return read_sysreg(S3_0_C12_C1_1);
}

static void set_disr(uint64_t value)
{
	write_sysreg(value, S3_0_C12_C1_1);
}

static const struct reg others[] = {
	{ "claim", 0xff, get_claim, set_claim },
	{ "disr_el1", 0x1ffffff, get_disr, set_disr },
};

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))
#define MAX_REGS	(COUNT(regs) + COUNT(pauth_regs) + COUNT(debug_regs) + \
		  COUNT(others))

/* Those that this machine has, the same on every vCPU. */
static const struct reg *list[MAX_REGS];
static unsigned nr_list;
static uint64_t vm, rounds;

/* What a vCPU found: 1 for each register it lost. */
static unsigned char lost[MAX_VCPUS][MAX_REGS];
static uint64_t lost_got[MAX_VCPUS][MAX_REGS], lost_want[MAX_VCPUS][MAX_REGS];

static void make_list(void)
{
	uint64_t isar1 = read_sysreg(id_aa64isar1_el1);
	uint64_t isar2 = read_sysreg(S3_0_C0_C6_2);
	uint64_t dfr0 = read_sysreg(id_aa64dfr0_el1);
	unsigned breaks = (dfr0 >> 12 & 15) + 1;
	unsigned watches = (dfr0 >> 20 & 15) + 1;

	for (unsigned i = 0; i < COUNT(regs); i++)
		list[nr_list++] = &regs[i];
	if ((isar1 & 0xff0) || (isar2 & 0xf000))
		for (unsigned i = 0; i < COUNT(pauth_regs); i++)
			list[nr_list++] = &pauth_regs[i];
	for (unsigned i = 0; i < COUNT(debug_regs); i++)
		if (i / 4 < (i % 4 < 2 ? breaks : watches))
			list[nr_list++] = &debug_regs[i];
	for (unsigned i = 0; i < COUNT(others); i++)
		if (!TRAP_OF(others[i].get()))
			list[nr_list++] = &others[i];
}

static uint64_t value_of(unsigned reg, uint64_t round, uint64_t bits)
{
	uint64_t value = (vm << 56 | (uint64_t)vcpu_id() << 48 |
			  (uint64_t)reg << 40 | round) +
			 1;

	value *= 0xbf58476d1ce4e5b9;
	value ^= value >> 29;
	value *= 0x94d049bb133111eb;
	return (value ^ value >> 32) & bits;
}

/* The bits of each register that keep what is written to them. */
static void probe(uint64_t *bits, uint64_t *saved)
{
	for (unsigned i = 0; i < nr_list; i++) {
		uint64_t ones, zeros;

		saved[i] = list[i]->get();
		list[i]->set(saved[i] | list[i]->bits);
		isb();
		ones = list[i]->get();
		list[i]->set(saved[i] & ~list[i]->bits);
		isb();
		zeros = list[i]->get();
		list[i]->set(saved[i]);
		isb();
		bits[i] = list[i]->bits & ones & ~zeros;
	}
}

/* One round; nothing here may fault, print or let an interrupt in. */
static void one_round(uint64_t round, const uint64_t *bits,
		      const uint64_t *saved)
{
	unsigned id = vcpu_id();
	uint64_t got[MAX_REGS];

	for (unsigned i = 0; i < nr_list; i++)
		list[i]->set((saved[i] & ~bits[i]) |
			     value_of(i, round, bits[i]));
	isb();
	if (on_nestling())
		nestling(NESTLING_YIELD, 0);
	else
		delay_us(20);
	for (unsigned i = nr_list; i-- > 0;)
		got[i] = list[i]->get();
	for (unsigned i = 0; i < nr_list; i++)
		list[i]->set(saved[i]);
	isb();
	for (unsigned i = 0; i < nr_list; i++) {
		uint64_t want = value_of(i, round, bits[i]);

		if ((got[i] & bits[i]) == want)
			continue;
		lost[id][i] = 1;
		lost_got[id][i] = got[i] & bits[i];
		lost_want[id][i] = want;
	}
}

static void one_vcpu(void)
{
	unsigned id = vcpu_id(), kept = 0;
	uint64_t bits[MAX_REGS], saved[MAX_REGS];

	irq_disable();
	if (id)	/* Debug registers are behind the OS lock. */
		write_sysreg(0, oslar_el1);
	probe(bits, saved);
	for (unsigned i = 0; i < nr_list; i++)
		kept += bits[i] != 0;
	for (uint64_t round = 0; round < rounds; round++)
		one_round(round, bits, saved);
	for (unsigned i = 0; i < nr_list; i++)
		if (lost[id][i])
			CHECK_EQ(lost_got[id][i], lost_want[id][i],
				 "vcpu%u-%s", id, list[i]->name);
	CHECK(kept >= 20, "vcpu%u-%u-registers-of-%u-hold-values", id, kept,
	      nr_list);
}

/* The lock of one vCPU is not the lock of another. */
static volatile unsigned lock_turn;

static void lock_other(void)
{
	write_sysreg(0, oslar_el1);
	isb();
	CHECK_EQ(read_sysreg(oslsr_el1) & 2, 0, "os-lock-opens");
	lock_turn = 1;
	while (lock_turn != 2)
		;
}

static void test_os_lock(void)
{
	write_sysreg(1, oslar_el1);
	isb();
	CHECK_EQ(read_sysreg(oslsr_el1) & 2, 2, "os-lock-closes");
	if (machine.nr_vcpus > 1 &&
	    vcpu_start(vcpu_of(machine.mpidr[1]), lock_other) == 0) {
		while (lock_turn != 1)
			;
		CHECK_EQ(read_sysreg(oslsr_el1) & 2, 2, "os-lock-is-own");
		lock_turn = 2;
		smp_join();
	}
	write_sysreg(0, oslar_el1);
	isb();
	CHECK_EQ(read_sysreg(oslsr_el1) & 2, 0, "os-lock-opens-again");
}

/* --- entry ---------------------------------------------------------------- */

/* Reset values other than 0, and the bits that count. */
static const struct {
	unsigned index;
	uint64_t value, mask;
} resets[] = {
	{ 0, 4, ANY },		/* CurrentEL: EL1 */
	{ 1, 0x3c0, ANY },	/* DAIF */
	{ 2, 1, ANY },		/* SPSel */
	{ 4, 0, 0x02081005 },	/* SCTLR: M, C, I, WXN, EE */
	{ 33, 8, 8 },		/* OSLSR: OS lock implemented */
	{ 34, 0, 0 },		/* CNTVCT */
	{ 21, 0, 0 },		/* TPIDR_EL1, the entry code's */
	{ 26, 0, 3 },		/* CNTV_CTL without ISTATUS */
	{ 28, 0, 3 },		/* CNTP_CTL */
};

static void check_reset(const struct entry_record *record, unsigned i)
{
	uint64_t value = 0, mask = ANY;

	for (unsigned r = 0; r < COUNT(resets); r++)
		if (resets[r].index == i) {
			value = resets[r].value;
			mask = resets[r].mask;
		}
	CHECK_EQ(record->sysreg[i] & mask, value, "entry-%s",
		 entry_sysreg_names[i]);
}

static void test_entry(void)
{
	const struct entry_record *record = &entry_records[0];
	uint64_t dirty = 0;

	for (unsigned i = 0; i < 35; i++)
		if (i != 3 || on_nestling()) /* QEMU begins with NZCV.Z set */
			check_reset(record, i);
	for (unsigned i = 1; i < 31; i++)
		if (record->x[i])
			dirty |= 1ull << i;
	CHECK_EQ(dirty, 0, "entry-x1-to-x30");
	CHECK_EQ(record->sp, 0, "entry-sp");
	CHECK(record->sysreg[34] < 10 * timer_freq(), "entry-counter-small");
	dirty = 0;
	for (unsigned i = 0; i < nr_list; i++)
		if (list[i] < regs || list[i] >= regs + COUNT(regs))
			dirty |= list[i]->get();
	CHECK_EQ(dirty, 0, "entry-debug-registers-and-keys");
}

int main(int, char **)
{
	vm = arg_u64("vm", 0);
	rounds = arg_u64("rounds", 1000);
	make_list();
	test_entry();
	test_os_lock();
	CHECK_EQ(smp_boot(one_vcpu), machine.nr_vcpus - 1, "vcpus-started");
	one_vcpu();
	smp_join();
	return report();
}
