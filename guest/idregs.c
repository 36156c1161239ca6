// SPDX-License-Identifier: BSD-2-Clause
/*
 * The ID registers tell the truth: the reserved part of their space reads as
 * zero, they cannot be written, what they do not show is UNDEFINED (never
 * something that ends the VM), and what they show runs. Only registers and
 * instructions that a hypervisor is able to trap count as hidden.
 *
 * Arguments: dump=0 leaves out the values.
 */
#include <stdio.h>
#include "check.h"
#include "code.h"
#include "guest.h"
#include "hcall.h"
#include "trap.h"

/* Encoding of an ID register by CRm and op2; op0 3, op1 0, CRn 0. */
#define ID(crm, op2)	((crm) << 3 | (op2))
#define PFR0	ID(4, 0)
#define PFR1	ID(4, 1)
#define ZFR0	ID(4, 4)
#define SMFR0	ID(4, 5)
#define DFR0	ID(5, 0)
#define ISAR0	ID(6, 0)
#define ISAR1	ID(6, 1)
#define ISAR2	ID(6, 2)
#define MMFR0	ID(7, 0)
#define MMFR1	ID(7, 1)
#define MMFR2	ID(7, 2)
#define MMFR3	ID(7, 3)

static const char *const names[64] = {
	[PFR0] = "ID_AA64PFR0",	  [PFR1] = "ID_AA64PFR1",
	[ID(4, 2)] = "ID_AA64PFR2", [ZFR0] = "ID_AA64ZFR0",
	[SMFR0] = "ID_AA64SMFR0", [DFR0] = "ID_AA64DFR0",
	[ID(5, 1)] = "ID_AA64DFR1", [ISAR0] = "ID_AA64ISAR0",
	[ISAR1] = "ID_AA64ISAR1", [ISAR2] = "ID_AA64ISAR2",
	[MMFR0] = "ID_AA64MMFR0", [MMFR1] = "ID_AA64MMFR1",
	[MMFR2] = "ID_AA64MMFR2", [MMFR3] = "ID_AA64MMFR3",
	[ID(7, 4)] = "ID_AA64MMFR4",
};

static uint64_t values[64];
static char scratch[256] __attribute__((aligned(128)));

static unsigned field(unsigned reg, unsigned shift)
{
	return values[reg] >> shift & 15;
}

static void test_space(void)
{
	unsigned trapped = 0, reserved = 0;

	for (unsigned crm = 1; crm < 8; crm++)
		for (unsigned op2 = 0; op2 < 8; op2++) {
			unsigned id = ID(crm, op2);

			if (code_mrs(INSN_MRS(3, 0, 0, crm, op2), &values[id]))
				trapped++;
		}
	CHECK_EQ(trapped, 0, "id-space-readable");
	for (unsigned id = 0; id < 64; id++) {
		if (values[id] && arg_u64("dump", 1))
			say("id %s (%u, %u) %#018lx",
			    names[id] ? names[id] : "?", id >> 3, id & 7,
			    values[id]);
		if (id >= ID(4, 0) && !names[id] && values[id])
			reserved++;
	}
	CHECK_EQ(reserved, 0, "reserved-ids-are-zero");
}

/* A write is UNDEFINED. */
static void test_writes(void)
{
	unsigned wrong = 0;

	for (unsigned crm = 0; crm < 8; crm++)
		for (unsigned op2 = 0; op2 < 8; op2++) {
			uint64_t x[4] = { 0 };
			uint64_t esr = code_run(
				INSN_MSR(3, 0, 0, crm, op2), x);

			wrong += esr == 0 || ESR_EC(esr) != EC_UNKNOWN;
		}
	CHECK_EQ(wrong, 0, "ids-are-read-only");
}

/* --- hidden --------------------------------------------------------------- */

#define MRS(...)	INSN_MRS(__VA_ARGS__)
#define MSR(...)	INSN_MSR(__VA_ARGS__)

// clang-format off
static const struct {
	const char *name;
	unsigned reg, shift;
	uint32_t words[8];
} hidden[] = {
	{ "sve", PFR0, 32,
	  { 0x04bf5020 /* rdvl x0, #1 */, 0x2518e3e0 /* ptrue p0.b */,
	    MRS(3, 0, 1, 2, 0), MSR(3, 0, 1, 2, 0) } },
	{ "sme", PFR1, 24,
	  { 0x04bf5820 /* rdsvl x0, #1 */, 0xd503477f /* smstart */,
	    MRS(3, 0, 1, 2, 6), MRS(3, 3, 4, 2, 2), MRS(3, 3, 13, 0, 5),
	    MRS(3, 0, 1, 2, 4), MRS(3, 1, 0, 0, 6) } },
	{ "mte", PFR1, 8,
	  { MRS(3, 0, 1, 0, 6), MRS(3, 0, 1, 0, 5), MRS(3, 0, 5, 6, 0),
	    MRS(3, 0, 5, 6, 1), MRS(3, 1, 0, 0, 4), MSR(3, 0, 1, 0, 6) } },
	{ "pmu", DFR0, 8,
	  { MRS(3, 3, 9, 12, 0), MRS(3, 3, 9, 13, 0), MRS(3, 3, 9, 12, 1),
	    MRS(3, 3, 9, 14, 0), MRS(3, 0, 9, 14, 1), MRS(3, 3, 14, 8, 0),
	    MSR(3, 3, 9, 12, 0), MSR(3, 3, 14, 15, 7) } },
	{ "amu", PFR0, 44,
	  { MRS(3, 3, 13, 2, 0), MRS(3, 3, 13, 2, 5), MRS(3, 3, 13, 4, 0),
	    MSR(3, 3, 13, 2, 3) } },
	{ "spe", DFR0, 32,
	  { MRS(3, 0, 9, 9, 0), MRS(3, 0, 9, 10, 0), MSR(3, 0, 9, 10, 3) } },
	{ "trace", DFR0, 4,
	  { MRS(2, 1, 0, 1, 0), MRS(2, 1, 0, 8, 7), MSR(2, 1, 0, 1, 0) } },
	{ "trace-filter", DFR0, 40, { MRS(3, 0, 1, 2, 1) } },
	{ "trace-buffer", DFR0, 44, { MRS(3, 0, 9, 11, 0) } },
	{ "branch-records", DFR0, 52, { MRS(2, 1, 9, 0, 0) } },
	{ "nmi", PFR1, 36,
	  { MSR(3, 0, 4, 3, 0), 0xd501411f /* msr allint, #1 */ } },
	{ "ras", PFR0, 28,
	  { MRS(3, 0, 5, 3, 0), MRS(3, 0, 5, 3, 1), MSR(3, 0, 5, 3, 1),
	    MRS(3, 0, 5, 4, 0) } },
	{ "mpam", PFR0, 40, { MRS(3, 0, 10, 5, 0), MRS(3, 0, 10, 4, 4) } },
	{ "mpam-fraction", PFR1, 16, { MRS(3, 0, 10, 5, 1) } },
	{ "el2", PFR0, 8,
	  { MRS(3, 4, 1, 1, 0), MSR(3, 4, 1, 1, 0), MRS(3, 4, 2, 1, 0),
	    MRS(3, 5, 1, 0, 0), MRS(3, 4, 14, 1, 0), MSR(3, 4, 12, 11, 0),
	    0xd50c871f /* tlbi alle2 */, MRS(3, 4, 4, 2, 2) } },
	{ "el3", PFR0, 12, { MRS(3, 6, 1, 1, 0), MRS(3, 6, 12, 0, 0) } },
	{ "nv", MMFR2, 24, { MRS(3, 4, 2, 2, 0) } },
	{ "ls64", ISAR1, 60,
	  { 0xf83fd040 /* ld64b x0, [x2] */, MRS(3, 0, 13, 0, 5) } },
	{ "lor", MMFR1, 16,
	  { MRS(3, 0, 10, 4, 3), MRS(3, 0, 10, 4, 7), MSR(3, 0, 10, 4, 0) } },
	{ "mops", ISAR2, 16, { 0x19c20420 /* setp [x0]!, x1!, x2 */ } },
	{ "tme", ISAR0, 24, { 0xd5233060 /* tstart x0 */ } },
	{ "tcr2", MMFR3, 0, { MRS(3, 0, 2, 0, 3) } },
	{ "sctlr2", MMFR3, 4, { MRS(3, 0, 1, 0, 3) } },
	{ "permission-indirection", MMFR3, 8, { MRS(3, 0, 10, 2, 3) } },
	{ "gcs", PFR1, 44, { MRS(3, 0, 2, 5, 0), MRS(3, 3, 2, 5, 1) } },
	{ "the", PFR1, 48, { MRS(3, 0, 13, 0, 3) } },
};
// clang-format on

#define N_HIDDEN	(sizeof(hidden) / sizeof(hidden[0]))

/*
 * Class 0, or for the ID space with FEAT_IDST the class of a trapped system
 * register (op0 3, op1 not 0, CRn 0).
 */
static bool is_undefined(uint64_t esr)
{
	uint32_t iss = ESR_ISS(esr);
	bool id_space = (iss >> 10 & 15) == 0 && (iss >> 14 & 7) != 0;

	if (esr && ESR_EC(esr) == EC_UNKNOWN)
		return true;
	return ESR_EC(esr) == EC_SYSREG && id_space && field(MMFR2, 36);
}

/* How many words of a row are not UNDEFINED; says which. */
static unsigned not_undefined(const uint32_t *words, unsigned count)
{
	unsigned wrong = 0;

	for (unsigned i = 0; i < count && words[i]; i++) {
		uint64_t x[4] = { (uint64_t)scratch, (uint64_t)scratch,
				  (uint64_t)scratch, 0 };
		uint64_t esr = code_run(words[i], x);

		if (is_undefined(esr))
			continue;
		say("idregs: instruction %#x: esr %#lx", words[i], esr);
		wrong++;
	}
	return wrong;
}

static void test_hidden(void)
{
	uint64_t cpacr = read_sysreg(cpacr_el1);

	/* ZEN, FPEN, SMEN: this level's own traps would come first. */
	write_sysreg(cpacr | 3 << 16 | 3 << 20 | 3 << 24, cpacr_el1);
	isb();
	/* The first one may be shown. */
	for (uint64_t i = arg_u64("sve", 0); i < N_HIDDEN; i++) {
		const char *name = hidden[i].name;
		unsigned shown = field(hidden[i].reg, hidden[i].shift);

		/* For the PMU all ones say "not this one" as well. */
		if (hidden[i].reg == DFR0 && shown == 15)
			shown = 0;
		if (shown && !on_nestling()) {
			skip(name, "QEMU itself shows it");
			continue;
		}
		if (!CHECK_EQ(shown, 0, "%s-not-shown", name))
			continue;
		CHECK_EQ(not_undefined(hidden[i].words, 8), 0,
			 "%s-undefined", name);
	}
	write_sysreg(cpacr, cpacr_el1);
	isb();
}

static void test_aarch32(void)
{
	uint64_t any = 0;

	if (!on_nestling()) {
		skip("aarch32", "QEMU itself shows it");
		return;
	}
	CHECK_EQ(field(PFR0, 0), 1, "el0-is-aarch64-only");
	CHECK_EQ(field(PFR0, 4), 1, "el1-is-aarch64-only");
	for (unsigned id = ID(1, 0); id < ID(4, 0); id++)
		any |= values[id];
	CHECK_EQ(any, 0, "aarch32-ids-are-zero");
}

/* --- shown ---------------------------------------------------------------- */

/* The words are assembled here; `shown` tells when each must run. */
#define CLAIMS(X)                                                              \
	X(PFR0, 16, 0, "fadd s0, s1, s2")                                      \
	X(PFR0, 16, 1, "fadd h0, h1, h2")                                      \
	X(PFR0, 20, 0, "add v0.4s, v1.4s, v2.4s")                              \
	X(PFR0, 20, 1, "fadd v0.8h, v1.8h, v2.8h")                             \
	X(PFR0, 24, 1, "mrs x0, icc_rpr_el1")                                  \
	X(PFR0, 32, 1, "rdvl x0, #1")                                          \
	X(PFR0, 32, 1, "mrs x0, s3_0_c1_c2_0")                                 \
	X(ZFR0, 0, 1, "sqrdmlah z0.b, z1.b, z2.b")                             \
	X(ZFR0, 4, 1, "aese z0.b, z0.b, z1.b")                                 \
	X(ZFR0, 4, 2, "pmullb z0.q, z1.d, z2.d")                               \
	X(ZFR0, 16, 1, "bdep z0.b, z1.b, z2.b")                                \
	X(ZFR0, 20, 1, "bfdot z0.s, z1.h, z2.h")                               \
	X(ZFR0, 32, 1, "rax1 z0.d, z1.d, z2.d")                                \
	X(ZFR0, 40, 1, "sm4e z0.s, z0.s, z1.s")                                \
	X(ZFR0, 44, 1, "smmla z0.s, z1.b, z2.b")                               \
	X(ZFR0, 52, 1, "fmmla z0.s, z1.s, z2.s")                               \
	X(ZFR0, 56, 1, "fmmla z0.d, z1.d, z2.d")                               \
	X(PFR0, 48, 1, "mrs x0, dit")                                          \
	X(PFR1, 4, 2, "mrs x0, ssbs")                                          \
	X(ISAR0, 4, 1, "aese v0.16b, v1.16b")                                  \
	X(ISAR0, 4, 2, "pmull v0.1q, v1.1d, v2.1d")                            \
	X(ISAR0, 8, 1, "sha1h s0, s1")                                         \
	X(ISAR0, 12, 1, "sha256h q0, q1, v2.4s")                               \
	X(ISAR0, 12, 2, "sha512h q0, q1, v2.2d")                               \
	X(ISAR0, 16, 1, "crc32b w0, w1, w2")                                   \
	X(ISAR0, 20, 2, "ldadd x0, x1, [x2]")                                  \
	X(ISAR0, 28, 1, "sqrdmlah v0.4s, v1.4s, v2.4s")                        \
	X(ISAR0, 32, 1, "eor3 v0.16b, v1.16b, v2.16b, v3.16b")                 \
	X(ISAR0, 36, 1, "sm3partw1 v0.4s, v1.4s, v2.4s")                       \
	X(ISAR0, 40, 1, "sm4e v0.4s, v1.4s")                                   \
	X(ISAR0, 44, 1, "udot v0.4s, v1.16b, v2.16b")                          \
	X(ISAR0, 48, 1, "fmlal v0.4s, v1.4h, v2.4h")                           \
	X(ISAR0, 52, 1, "cfinv")                                               \
	X(ISAR0, 52, 2, "axflag")                                              \
	X(ISAR0, 56, 1, "tlbi vmalle1os")                                      \
	X(ISAR0, 56, 2, "tlbi rvae1is, x3")                                    \
	X(ISAR0, 60, 1, "mrs x0, rndr")                                        \
	X(ISAR1, 0, 1, "dc cvap, x2")                                          \
	X(ISAR1, 0, 2, "dc cvadp, x2")                                         \
	X(ISAR1, 4, 1, "pacia x0, x1")                                         \
	X(ISAR1, 8, 1, "pacia x0, x1")                                         \
	X(ISAR1, 12, 1, "fjcvtzs w0, d1")                                      \
	X(ISAR1, 16, 1, "fcadd v0.4s, v1.4s, v2.4s, #90")                      \
	X(ISAR1, 20, 1, "ldapr x0, [x2]")                                      \
	X(ISAR1, 20, 2, "ldapur x0, [x2, #8]")                                 \
	X(ISAR1, 24, 1, "pacga x0, x1, x2")                                    \
	X(ISAR1, 28, 1, "pacga x0, x1, x2")                                    \
	X(ISAR1, 32, 1, "frint32z s0, s1")                                     \
	X(ISAR1, 36, 1, "sb")                                                  \
	X(ISAR1, 44, 1, "bfdot v0.4s, v1.8h, v2.8h")                           \
	X(ISAR1, 52, 1, "smmla v0.4s, v1.16b, v2.16b")                         \
	X(ISAR2, 8, 1, "pacga x0, x1, x2")                                     \
	X(ISAR2, 12, 1, "pacia x0, x1")                                        \
	X(MMFR1, 20, 1, "mrs x0, pan")                                         \
	X(MMFR1, 20, 2, "at s1e1rp, x2")                                       \
	X(MMFR2, 4, 1, "mrs x0, uao")

extern const uint32_t claim_words[];

#define X(reg, shift, from, text) text "\n\t"
asm(".pushsection .rodata.claims, \"a\"\n\t.balign 4\n"
    "\t.arch armv8.6-a+crypto+sha3+sm4+rng+fp16+fp16fml+memtag+ssbs+flagm"
    "+sve2+sve2-aes+sve2-bitperm+sve2-sha3+sve2-sm4+f32mm+f64mm\n"
    "claim_words:\n\t" CLAIMS(X) "\n\t.arch armv8.4-a\n\t.popsection\n");
#undef X

static const struct {
	unsigned reg, shift, from;
	const char *text;
} claims[] = {
#define X(reg, shift, from, text) { reg, shift, from, text },
	CLAIMS(X)
#undef X
};

static void test_shown(void)
{
	unsigned ran = 0, sve = field(PFR0, 32);

	CHECK_EQ(sve, arg_u64("sve", 0), "sve-as-configured");
	CHECK_EQ(sve || !values[ZFR0], 1, "no-sve-features-without-sve");
	if (sve)
		write_sysreg(read_sysreg(cpacr_el1) | 3 << 16, cpacr_el1);
	isb();
	for (unsigned i = 0; i < sizeof(claims) / sizeof(claims[0]); i++) {
		uint64_t x[4] = { 0, 0, (uint64_t)scratch, 0 };
		unsigned shown = field(claims[i].reg, claims[i].shift);
		bool absent = shown == 15 && claims[i].reg == PFR0;

		if (absent || shown < claims[i].from)
			continue;
		CHECK_EQ(code_run(claim_words[i], x), 0, "runs: %s",
			 claims[i].text);
		ran++;
	}
	CHECK(ran >= 10, "enough-is-shown");
}

/* As many debug registers as the ID register counts, and no more. */
static void test_debug_registers(void)
{
	unsigned breaks = field(DFR0, 12) + 1, watches = field(DFR0, 20) + 1;
	unsigned wrong = 0;

	for (unsigned n = 0; n < 16; n++) {
		uint64_t value;
		bool bvr = !code_mrs(INSN_MRS(2, 0, 0, n, 4), &value);
		bool bcr = !code_mrs(INSN_MRS(2, 0, 0, n, 5), &value);
		bool wvr = !code_mrs(INSN_MRS(2, 0, 0, n, 6), &value);
		bool wcr = !code_mrs(INSN_MRS(2, 0, 0, n, 7), &value);

		wrong += bvr != (n < breaks) || bcr != (n < breaks);
		wrong += wvr != (n < watches) || wcr != (n < watches);
	}
	CHECK_EQ(wrong, 0, "debug-registers-as-counted");
}

/* Registers of other groups that always exist. */
static void test_others(void)
{
	static const uint32_t words[] = {
		MRS(3, 0, 0, 0, 0), /* MIDR */
		MRS(3, 0, 0, 0, 5), /* MPIDR */
		MRS(3, 0, 0, 0, 6), /* REVIDR */
		MRS(3, 1, 0, 0, 0), /* CCSIDR */
		MRS(3, 1, 0, 0, 1), /* CLIDR */
		MRS(3, 1, 0, 0, 7), /* AIDR */
		MRS(3, 2, 0, 0, 0), /* CSSELR */
		MRS(3, 3, 0, 0, 1), /* CTR */
		MRS(3, 3, 0, 0, 7), /* DCZID */
		MRS(3, 0, 12, 1, 0), /* ISR */
		MRS(3, 3, 14, 0, 0), /* CNTFRQ */
	};
	uint64_t value;

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		CHECK_EQ(code_mrs(words[i], &value), 0, "readable-%#x",
			 words[i]);
	code_mrs(words[1], &value);
	CHECK_EQ(value >> 24 & 0xff, 0x80, "mpidr-upper-bits");
	CHECK_EQ(value & 0xffffff, machine.mpidr[0], "mpidr-is-the-tree's");
}

int main(int, char **)
{
	test_space();
	test_writes();
	test_hidden();
	test_aarch32();
	test_shown();
	test_debug_registers();
	test_others();
	return report();
}
