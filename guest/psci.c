// SPDX-License-Identifier: BSD-2-Clause
/*
 * PSCI 1.1 and the SMC Calling Convention as a guest sees them: ids, junk where
 * a caller may leave it, every kind of wrong argument, what a call leaves
 * alone, and with more than one vCPU the life of a second one.
 *
 * Arguments: cycles=N rounds of CPU_ON and CPU_OFF (default 1000).
 */
#include <stdio.h>
#include "arm64/record.h"
#include "check.h"
#include "hcall.h"
#include "irq.h"
#include "smp.h"
#include "timer.h"
#include "trap.h"

#define JUNK		0xdeadbeef00000000ull
#define AFFINITY_ON	0
#define AFFINITY_OFF	1

typedef void (*conduit_fn)(struct smccc *regs);

/* Functions that a call is not allowed to be unknown for. */
static const struct {
	const char *name;
	uint32_t id;
	bool only_here;	/* QEMU's own PSCI does not have it */
} features[] = {
	{ "version", PSCI_VERSION, false },
	{ "features", PSCI_FEATURES, false },
	{ "cpu-suspend", PSCI_CPU_SUSPEND, false },
	{ "cpu-suspend-64", PSCI_CPU_SUSPEND | PSCI_64, false },
	{ "cpu-off", PSCI_CPU_OFF, false },
	{ "cpu-on", PSCI_CPU_ON, false },
	{ "cpu-on-64", PSCI_CPU_ON | PSCI_64, false },
	{ "affinity-info", PSCI_AFFINITY_INFO, false },
	{ "affinity-info-64", PSCI_AFFINITY_INFO | PSCI_64, false },
	{ "migrate-info-type", PSCI_MIGRATE_INFO_TYPE, false },
	{ "system-off", PSCI_SYSTEM_OFF, false },
	{ "system-reset", PSCI_SYSTEM_RESET, false },
	{ "system-reset2", PSCI_SYSTEM_RESET2, true },
	{ "system-reset2-64", PSCI_SYSTEM_RESET2 | PSCI_64, true },
	{ "smccc-version", SMCCC_VERSION, true },
};

static int32_t psci32(uint64_t id, uint64_t a1, uint64_t a2, uint64_t a3)
{
	return (int32_t)psci(id, a1, a2, a3);
}

static uint64_t self(void)
{
	return read_sysreg(mpidr_el1) & MPIDR_AFF;
}

static void test_versions(void)
{
	int32_t version = psci32(PSCI_VERSION, 0, 0, 0);

	CHECK_EQ(version, 0x10001, "version-is-1.1");
	for (unsigned i = 0; i < sizeof(features) / sizeof(features[0]); i++) {
		if (features[i].only_here && !on_nestling())
			continue;
		CHECK(psci32(PSCI_FEATURES, features[i].id, 0, 0) >= 0,
		      "features-%s", features[i].name);
	}
	CHECK_EQ(psci32(PSCI_FEATURES, 0x8400ffff, 0, 0), -1,
		 "features-unknown");
	CHECK_EQ(psci32(PSCI_FEATURES, 0, 0, 0), -1, "features-zero");
	CHECK_EQ(psci32(PSCI_FEATURES, PSCI_MIGRATE, 0, 0), -1,
		 "features-migrate");
	CHECK_EQ(psci32(PSCI_MIGRATE_INFO_TYPE, 0, 0, 0), 2,
		 "migrate-info-type-none");
	CHECK_EQ(psci32(PSCI_MIGRATE, self(), 0, 0), -1, "migrate");
	CHECK_EQ(psci32(PSCI_MIGRATE_INFO_UP_CPU, 0, 0, 0), -1,
		 "migrate-info-up-cpu");
}

static void test_smccc(void)
{
	if (!on_nestling()) {
		skip("smccc-version", "QEMU's PSCI has none");
		return;
	}
	CHECK(psci32(SMCCC_VERSION, 0, 0, 0) >= 0x10001, "smccc-version");
	CHECK_EQ(psci32(SMCCC_ARCH_FEATURES, SMCCC_VERSION, 0, 0), 0,
		 "arch-features-version");
	CHECK_EQ(psci32(SMCCC_ARCH_FEATURES, SMCCC_ARCH_FEATURES, 0, 0), 0,
		 "arch-features-self");
	CHECK_EQ(psci32(SMCCC_ARCH_FEATURES, 0x8000ffff, 0, 0), -1,
		 "arch-features-unknown");
	CHECK_EQ(psci32(JUNK | PSCI_VERSION, 0, 0, 0), 0x10001,
		 "junk-above-the-function-id");
	CHECK_EQ(psci32(JUNK | (PSCI_AFFINITY_INFO | PSCI_64), self(), 0, 0),
		 AFFINITY_ON, "junk-above-a-64-bit-id");
}

/* Ids nobody has, in each owner's range, fast and yielding, 32 and 64 bits. */
static void test_unknown_ids(conduit_fn conduit, const char *name)
{
	static const uint32_t kinds[] = { 0x00000000, 0x40000000, 0x80000000,
					  0xc0000000 };
	unsigned wrong = 0, taken = 0;
	uint32_t worst = 0;

	for (unsigned kind = 0; kind < 4; kind++)
		for (uint32_t owner = 0; owner < 64; owner++) {
			uint32_t id = kinds[kind] | owner << 24 | 0xfff0;
			struct smccc regs = { .x = { id, 1, 2, 3 } };

			trap_arm();
			conduit(&regs);
			taken += trap_result().count;
			if ((int32_t)regs.x[0] != -1) {
				wrong++;
				worst = id;
			}
		}
	if (taken) {
		skip(name, "this conduit is UNDEFINED here");
		return;
	}
	if (wrong)
		say("psci: id %#x answered", worst);
	CHECK_EQ(wrong, 0, "%s", name);
}

/* Upper halves of 32-bit arguments do not count. */
static void test_junk(void)
{
	if (!on_nestling()) {
		skip("junk", "QEMU compares all of x1");
		return;
	}
	CHECK_EQ(psci32(PSCI_AFFINITY_INFO, JUNK | self(), JUNK, 0),
		 AFFINITY_ON, "junk-affinity-info");
	CHECK_EQ(psci32(PSCI_CPU_ON, JUNK | self(), JUNK | 0x40200000,
			JUNK | 5),
		 PSCI_ALREADY_ON, "junk-cpu-on");
	CHECK_EQ(psci32(PSCI_FEATURES, JUNK | PSCI_CPU_OFF, 0, 0), 0,
		 "junk-features");
}

static void test_targets(void)
{
	static const uint64_t absent[] = { 1ull << 24, 0x00ffff, 0xff0000,
					   0xff00000000, 0xff00ffffff, 0x1f };
	uint64_t entry = (uint64_t)image_start;

	CHECK_EQ(psci32(PSCI_CPU_ON | PSCI_64, self(), entry, 0),
		 PSCI_ALREADY_ON, "cpu-on-self");
	for (unsigned i = 0; i < sizeof(absent) / sizeof(absent[0]); i++) {
		CHECK_EQ(psci32(PSCI_CPU_ON | PSCI_64, absent[i], entry, 0),
			 PSCI_INVALID_PARAMETERS, "cpu-on-%#lx", absent[i]);
		CHECK_EQ(psci32(PSCI_AFFINITY_INFO | PSCI_64, absent[i], 0, 0),
			 PSCI_INVALID_PARAMETERS, "affinity-info-%#lx",
			 absent[i]);
	}
	CHECK_EQ(psci32(PSCI_AFFINITY_INFO | PSCI_64, self(), 0, 0),
		 AFFINITY_ON, "affinity-info-self");
	if (on_nestling())
		CHECK_EQ(psci32(PSCI_AFFINITY_INFO | PSCI_64, self(), 4, 0),
			 PSCI_INVALID_PARAMETERS, "affinity-info-level-4");
}

/* A call must step the PC once, whatever follows it. */
static void test_pc(void)
{
	uint64_t count = 0;
	uint64_t where;

	for (int i = 0; i < 100; i++) {
		register uint64_t x0 asm("x0") = PSCI_VERSION;

		asm volatile("hvc #0\n\tadd %1, %1, #1"
			     : "+r"(x0), "+r"(count)::"x1", "x2", "x3",
			       "memory");
	}
	CHECK_EQ(count, 100, "hvc-steps-once");

	trap_arm();
	{
		register uint64_t x0 asm("x0") = PSCI_VERSION;

		asm volatile("adr %1, 1f\n\thvc #0\n1:\tudf #0"
			     : "+r"(x0), "=&r"(where)::"x1", "x2", "x3",
			       "memory");
	}
	CHECK_EQ(trap_result().elr, where, "undefined-after-hvc");
}

static void test_smc(void)
{
	struct smccc regs = { .x = { PSCI_VERSION } };
	uint64_t count = 0;

	trap_arm();
	smccc_smc(&regs);
	if (trap_result().count) {
		skip("smc", "UNDEFINED without EL2 and EL3");
		return;
	}
	CHECK_EQ((int32_t)regs.x[0], 0x10001, "smc-version");
	for (int i = 0; i < 100; i++) {
		register uint64_t x0 asm("x0") = PSCI_VERSION;

		asm volatile("smc #0\n\tadd %1, %1, #1"
			     : "+r"(x0), "+r"(count)::"x1", "x2", "x3",
			       "memory");
	}
	CHECK_EQ(count, 100, "smc-steps-once");
	test_unknown_ids(smccc_smc, "smc-unknown-ids");
}

/* SMCCC 1.1: a call returns x4..x17 as they were. */
static void test_preserved(void)
{
	struct smccc regs = { .x = { PSCI_VERSION } };
	unsigned changed = 0;

	for (unsigned i = 1; i < 18; i++)
		regs.x[i] = 0x1111111111111111ull * (i & 15) + i;
	smccc_hvc(&regs);
	for (unsigned i = 4; i < 18; i++)
		if (regs.x[i] != 0x1111111111111111ull * (i & 15) + i)
			changed |= 1u << i;
	CHECK_EQ(changed, 0, "x4-to-x17-kept");
}

static void on_sgi([[maybe_unused]] unsigned intid)
{
}

static void on_timer([[maybe_unused]] unsigned intid)
{
	timer_ctl(TIMER_VIRT, 0);
}

static void test_suspend(void)
{
	uint64_t start;

	irq_on(5, on_sgi);
	irq_on(machine.vtimer_irq, on_timer);
	sgi_to(self(), 5);
	start = now();
	timer_at(TIMER_VIRT, start + us_to_ticks(20000000));
	CHECK_EQ(psci32(PSCI_CPU_SUSPEND | PSCI_64, 0, 0, 0), 0,
		 "suspend-with-pending-sgi");
	CHECK_IN(ticks_to_us(now() - start), 0, 15000000,
		 "suspend-with-pending-sgi-returns-at-once");
	irq_take();
	start = now();
	timer_at(TIMER_VIRT, start + us_to_ticks(10000));
	CHECK_EQ(psci32(PSCI_CPU_SUSPEND | PSCI_64, 0, 0, 0), 0,
		 "suspend-until-timer");
	CHECK_IN(ticks_to_us(now() - start), 10000, 10000000,
		 "suspend-until-timer-duration");
	irq_take();
	timer_ctl(TIMER_VIRT, 0);
}

/* --- a second vCPU -------------------------------------------------------- */

static unsigned runs;

static void second(void)
{
	__atomic_add_fetch(&runs, 1, __ATOMIC_RELEASE);
}

static bool wait_affinity(uint64_t mpidr, int32_t state)
{
	uint64_t end = now() + timer_freq() / 2;

	while (psci32(PSCI_AFFINITY_INFO | PSCI_64, mpidr, 0, 0) != state)
		if (now() > end)
			return false;
	return true;
}

static void test_bad_entry(uint64_t mpidr)
{
	static const uint64_t entries[] = { 0, 0x1000, 0x08000000, 1ull << 50,
					    ~3ull };

	if (!on_nestling()) {
		skip("cpu-on-bad-entry", "QEMU does not check the address");
		return;
	}
	for (unsigned i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		CHECK_EQ(psci32(PSCI_CPU_ON | PSCI_64, mpidr, entries[i], 0),
			 PSCI_INVALID_ADDRESS, "cpu-on-entry-%#lx", entries[i]);
}

/*
 * CPU_ON in a loop while the target goes off: it succeeds exactly once for each
 * run of the target, and says why when it does not.
 */
static void test_cycles(unsigned id, uint64_t cycles)
{
	uint64_t end = now() + 60 * timer_freq();
	unsigned odd = 0;

	for (uint64_t i = 0; i < cycles && now() < end; i++) {
		int32_t result;

		while ((result = (int32_t)vcpu_start(id, second)) != 0) {
			if (result != PSCI_ALREADY_ON &&
			    result != PSCI_ON_PENDING)
				odd++;
			if (now() > end)
				break;
		}
		/* QEMU says success again until the target has started. */
		while (!on_nestling() && now() < end &&
		       __atomic_load_n(&runs, __ATOMIC_ACQUIRE) <= i)
			;
	}
	CHECK(wait_affinity(id, AFFINITY_OFF), "cycles-end-off");
	CHECK_EQ(odd, 0, "cycles-results");
	CHECK_EQ(__atomic_load_n(&runs, __ATOMIC_ACQUIRE), cycles,
		 "cycles-runs");
}

static volatile bool go_off;

static void stay(void)
{
	while (!go_off)
		;
}

static void test_second(uint64_t cycles)
{
	uint64_t mpidr = machine.mpidr[1];
	unsigned id = vcpu_of(mpidr);
	const struct entry_record *record = &entry_records[id];

	CHECK(wait_affinity(mpidr, AFFINITY_OFF), "second-off-at-first");
	test_bad_entry(mpidr);
	CHECK_EQ(vcpu_start(id, stay), 0, "second-on");
	CHECK(wait_affinity(mpidr, AFFINITY_ON), "second-is-on");
	CHECK_EQ(psci32(PSCI_CPU_ON | PSCI_64, mpidr, (uint64_t)image_start, 0),
		 PSCI_ALREADY_ON, "second-on-again");
	CHECK_EQ(psci32(PSCI_CPU_ON | PSCI_64, mpidr | 1ull << 24,
			(uint64_t)image_start, 0),
		 PSCI_INVALID_PARAMETERS, "second-with-reserved-bit");
	delay_us(20000);
	go_off = true;
	CHECK(wait_affinity(mpidr, AFFINITY_OFF), "second-off-again");
	CHECK_EQ(record->x[0], id, "second-context-id");
	CHECK_EQ(record->sysreg[0], 4, "second-at-el1");
	CHECK_EQ(record->sysreg[1], 0x3c0, "second-masked");
	CHECK_EQ(record->sysreg[4] & 0x2001005, 0, "second-mmu-off");
	test_cycles(id, cycles);
}

int main(int, char **)
{
	test_versions();
	test_smccc();
	test_unknown_ids(smccc_hvc, "hvc-unknown-ids");
	test_junk();
	test_targets();
	test_pc();
	test_smc();
	test_preserved();
	test_suspend();
	if (machine.nr_vcpus > 1)
		test_second(arg_u64("cycles", 1000));
	else
		skip("second", "the VM has one vCPU");
	return report();
}
