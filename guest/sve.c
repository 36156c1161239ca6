// SPDX-License-Identifier: BSD-2-Clause
/*
 * The SVE registers of a vCPU belong to it alone: Z at the full length of the
 * VM's vectors and at shorter ones (ZCR_EL1), P, FFR, FPCR and FPSR are filled
 * with patterns that no other (VM, vCPU, register, round) has, something
 * happens that makes the hypervisor run, and they must still be there. In turns
 * the vCPU uses FPSIMD only, so that it may be loaded narrow: then V must stay,
 * the rest of Z must be zero, and P and FFR must still be those of the last
 * wide round. And sometimes with SVE closed by the guest itself, whose own trap
 * it must get.
 *
 * Arguments: vm=K goes into the patterns (default 0); rounds=N per vCPU
 * (default 1000); wide=N and narrow=N rounds in turn (default 5 and 5);
 * pcpus=N: also moves between pCPUs 0..N-1; yields=1: nothing but switches;
 * bits=N: the length that the VM has (default 2048).
 */
#include <stdio.h>
#include <string.h>
#include "arm64/sysreg.h"
#include "check.h"
#include "hcall.h"
#include "irq.h"
#include "smp.h"
#include "timer.h"
#include "trap.h"

#define MAX_BYTES	256	/* of a vector */
#define ZEN		(3ul << 16)
#define EC_SVE		0x19
#define FPCR_BITS	0x07c00000u
#define FPSR_BITS	0x0800009fu

struct sve {
	alignas(16) uint8_t z[32 * MAX_BYTES];
	alignas(16) uint8_t p[17 * MAX_BYTES / 8];
	uint64_t fpcr, fpsr;
};

/* All registers at the current length: sve_load(z, p, control). simd_load: V,
 * each 16 bytes. Clobber x3, x4. */
void sve_load(const void *z, const void *p, const uint64_t *control);
void sve_store(void *z, void *p, uint64_t *control);
void simd_load(const void *v);
void simd_store(void *v);
uint64_t sve_bytes(void);

// clang-format off
#define EACH(...)							\
	".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,"	\
	"21,22,23,24,25,26,27,28,29,30,31\n" __VA_ARGS__ ".endr\n"
#define EACH_P(...)							\
	".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n" __VA_ARGS__ ".endr\n"

asm(".pushsection .text.sve, \"ax\"\n"
    ".arch_extension sve\n"
    ".globl sve_load, sve_store, simd_load, simd_store, sve_bytes\n"
    "sve_load:\n"
    "	ldr	p0, [x1, #16, mul vl]\n"
    "	wrffr	p0.b\n"
    EACH("	ldr	z\\n, [x0, #\\n, mul vl]\n")
    EACH_P("	ldr	p\\n, [x1, #\\n, mul vl]\n")
    "	ldp	x3, x4, [x2]\n"
    "	msr	fpcr, x3\n"
    "	msr	fpsr, x4\n"
    "	ret\n"
    "sve_store:\n"
    EACH("	str	z\\n, [x0, #\\n, mul vl]\n")
    EACH_P("	str	p\\n, [x1, #\\n, mul vl]\n")
    "	rdffr	p0.b\n"
    "	str	p0, [x1, #16, mul vl]\n"
    "	ldr	p0, [x1]\n"
    "	mrs	x3, fpcr\n"
    "	mrs	x4, fpsr\n"
    "	stp	x3, x4, [x2]\n"
    "	ret\n"
    "simd_load:\n"
    EACH("	ldr	q\\n, [x0, #16 * \\n]\n")
    "	ret\n"
    "simd_store:\n"
    EACH("	str	q\\n, [x0, #16 * \\n]\n")
    "	ret\n"
    "sve_bytes:\n"
    "	rdvl	x0, #1\n"
    "	ret\n"
    ".popsection\n");
// clang-format on

enum event { BUSY, HVC, MMIO, WFI, YIELD, MOVE, EVENTS };

static uint64_t vm, rounds, wide, narrow, pcpus, yields, longest;

/* What went wrong, by vCPU. */
static struct {
	alignas(64) uint64_t z, v, upper, p, control, zcr, length, own_trap;
	uint64_t rounds;
} bad[MAX_VCPUS];

static struct {
	alignas(64) struct sve want, got;
	bool expected;		/* the trap of a use of SVE */
	bool closed;		/* SVE was, since P was stored */
	uint64_t taken;
} mine[MAX_VCPUS];

static uint64_t mix(uint64_t value)
{
	value ^= value >> 30;
	value *= 0xbf58476d1ce4e5b9;
	value ^= value >> 27;
	value *= 0x94d049bb133111eb;
	return value ^ value >> 31;
}

static void fill(void *out, size_t bytes, uint64_t seed)
{
	uint64_t *word = out;

	for (size_t i = 0; i < bytes / 8; i++)
		word[i] = mix(seed + i);
}

static uint64_t seed_of(unsigned id, uint64_t round)
{
	return vm << 56 | (uint64_t)id << 48 | round << 16;
}

/* FFR is a prefix of ones: only such values are architected. */
static void fill_ffr(uint8_t *ffr, uint64_t bytes, uint64_t round)
{
	uint64_t ones = round % (bytes * 8 + 1);

	for (uint64_t i = 0; i < bytes; i++, ones -= ones < 8 ? ones : 8)
		ffr[i] = (uint8_t)(ones >= 8 ? 0xff : (1 << ones) - 1);
}

/* Here, since functions of the runtime may use V registers. */
static void call(uint64_t id, uint64_t arg)
{
	register uint64_t x0 asm("x0") = id;
	register uint64_t x1 asm("x1") = arg;

	asm volatile("hvc #0" : "+r"(x0), "+r"(x1)::"x2", "x3", "memory");
}

static void happen(uint64_t round)
{
	switch (yields ? YIELD : (enum event)(round % EVENTS)) {
	case BUSY:
		for (uint64_t i = 0; i < 3000; i++)
			asm volatile("");
		break;
	case HVC:
		call(NESTLING_VERSION, 0);
		break;
	case MMIO:
		asm volatile("ldr w3, [%0]" ::"r"(machine.gicd.base +
						  GICD_TYPER)
			     : "x3", "memory");
		break;
	case WFI:
		timer_at(TIMER_VIRT, now() + us_to_ticks(50));
		asm volatile("wfi" ::: "memory");
		timer_ctl(TIMER_VIRT, 0);
		break;
	case YIELD:
		call(NESTLING_YIELD, 0);
		break;
	case MOVE:
		if (pcpus > 1)
			call(NESTLING_MIGRATE, round / EVENTS % pcpus);
		break;
	case EVENTS:
		break;
	}
}

static uint64_t differing(const void *a, const void *b, unsigned n,
			  uint64_t bytes)
{
	uint64_t mask = 0;

	for (unsigned i = 0; i < n; i++)
		if (memcmp((const char *)a + i * bytes,
			   (const char *)b + i * bytes, bytes))
			mask |= 1ull << i;
	return mask;
}

/* Everything at the length of this round, which ZCR_EL1 says. */
static void wide_round(unsigned id, uint64_t round)
{
	struct sve *want = &mine[id].want, *got = &mine[id].got;
	uint64_t len = round % 3 ? longest / 16 - 1 : round % 16, bytes;

	write_sysreg(len, s3_0_c1_c2_0);
	isb();
	bytes = sve_bytes();
	fill(want->z, 32 * bytes, seed_of(id, round));
	fill(want->p, 16 * bytes / 8, ~seed_of(id, round));
	fill_ffr(want->p + 16 * bytes / 8, bytes / 8, round);
	want->fpcr = mix(round) & FPCR_BITS;
	want->fpsr = mix(~round) & FPSR_BITS;
	sve_load(want->z, want->p, &want->fpcr);
	happen(round);
	bad[id].length += sve_bytes() != bytes;
	sve_store(got->z, got->p, &got->fpcr);
	bad[id].z |= differing(want->z, got->z, 32, bytes);
	bad[id].p |= differing(want->p, got->p, 17, bytes / 8);
	bad[id].control += want->fpcr != got->fpcr || want->fpsr != got->fpsr;
	mine[id].closed = false;
	bad[id].zcr += (read_sysreg(s3_0_c1_c2_0) & 15) != len;
}

/* With SVE closed its vectors count as 128 bits long, and what predicates have
 * beyond may be lost: then what they have is what they must keep. */
static void check_predicates(unsigned id, uint64_t bytes)
{
	struct sve *want = &mine[id].want, *got = &mine[id].got;

	for (unsigned n = 0; n < 17; n++)
		if (memcmp(want->p + n * bytes, got->p + n * bytes,
			   mine[id].closed ? 2 : bytes))
			bad[id].p |= 1ull << n;
	memcpy(want->p, got->p, 17 * bytes);
}

/* What a narrow round left, looked at with SVE: the rest of Z is zero, P, FFR
 * and the control registers are those of the last wide round. */
static void look_wide(unsigned id)
{
	struct sve *want = &mine[id].want, *got = &mine[id].got;
	uint64_t bytes = sve_bytes();
	static const uint8_t zero[MAX_BYTES];

	sve_store(got->z, got->p, &got->fpcr);
	for (unsigned n = 0; n < 32; n++) {
		const uint8_t *z = got->z + n * bytes;

		if (memcmp(z, want->z + n * 16, 16))
			bad[id].v |= 1ull << n;
		/* With SVE closed both outcomes are architected. */
		if (!mine[id].closed && memcmp(z + 16, zero, bytes - 16))
			bad[id].upper |= 1ull << n;
	}
	check_predicates(id, bytes / 8);
	mine[id].closed = false;
	bad[id].control += want->fpcr != got->fpcr || want->fpsr != got->fpsr;
}

static void close_sve(unsigned id)
{
	write_sysreg(read_sysreg(cpacr_el1) & ~ZEN, cpacr_el1);
	isb();
	mine[id].closed = true;
}

static void open_sve(void)
{
	write_sysreg(read_sysreg(cpacr_el1) | ZEN, cpacr_el1);
	isb();
}

/* V only, so that narrow registers are enough; with SVE only in some rounds. */
static void narrow_round(unsigned id, uint64_t round)
{
	struct sve *want = &mine[id].want, *got = &mine[id].got;

	fill(want->z, 32 * 16, seed_of(id, round));
	if (round % 3 == 1)
		close_sve(id);
	simd_load(want->z);
	happen(round);
	open_sve();
	if (round % 4 == 3) {
		look_wide(id);
		return;
	}
	simd_store(got->z);
	bad[id].v |= differing(want->z, got->z, 32, 16);
}

/* A use while the guest has closed SVE: its own exception, whoever owns. */
static bool on_sve(struct trap_frame *frame)
{
	unsigned id = vcpu_id();

	if (!mine[id].expected)
		return false;
	mine[id].taken++;
	frame->elr += 4;
	return true;
}

static void closed_round(unsigned id)
{
	uint64_t before = mine[id].taken;

	mine[id].expected = true;
	close_sve(id);
	asm volatile(".inst 0x2518e3e0" ::: "memory"); /* ptrue p0.b */
	open_sve();
	mine[id].expected = false;
	bad[id].own_trap += mine[id].taken != before + 1;
}

/* The sleeps wake with interrupts masked. */
static void on_timer([[maybe_unused]] unsigned intid)
{
	timer_ctl(TIMER_VIRT, 0);
}

static void loop(void)
{
	unsigned id = vcpu_id();
	uint64_t round;

	trap_on(TRAP_EL1H, EC_SVE, on_sve);
	irq_on(machine.vtimer_irq, on_timer);
	open_sve();
	for (round = 0; round < rounds; round++) {
		uint64_t turn = round % (wide + narrow);

		if (turn < wide)
			wide_round(id, round);
		else
			narrow_round(id, round);
		if (round % 16 == 15)
			closed_round(id);
	}
	bad[id].rounds = round;
}

static void one_vcpu(void)
{
	unsigned id = vcpu_id();

	loop();
	CHECK_EQ(bad[id].z, 0, "vcpu%u-z", id);
	CHECK_EQ(bad[id].v, 0, "vcpu%u-v", id);
	CHECK_EQ(bad[id].upper, 0, "vcpu%u-upper-z-zero", id);
	CHECK_EQ(bad[id].p, 0, "vcpu%u-p-ffr", id);
	CHECK_EQ(bad[id].control, 0, "vcpu%u-fpcr-fpsr", id);
	CHECK_EQ(bad[id].zcr, 0, "vcpu%u-zcr", id);
	CHECK_EQ(bad[id].length, 0, "vcpu%u-length", id);
	CHECK_EQ(bad[id].own_trap, 0, "vcpu%u-own-trap", id);
	CHECK_EQ(bad[id].rounds, rounds, "vcpu%u-rounds", id);
	say("sve: vcpu %u rounds %lu traps %ld saves %ld loads %ld widens %ld",
	    id, bad[id].rounds, (long)nestling_stat(NESTLING_STAT_FP_TRAPS),
	    (long)nestling_stat(NESTLING_STAT_FP_SAVES),
	    (long)nestling_stat(NESTLING_STAT_FP_LOADS),
	    (long)nestling_stat(NESTLING_STAT_FP_WIDENS));
}

int main(int, char **)
{
	vm = arg_u64("vm", 0);
	rounds = arg_u64("rounds", 1000);
	wide = arg_u64("wide", 5);
	narrow = arg_u64("narrow", 5);
	pcpus = arg_u64("pcpus", 1);
	yields = arg_u64("yields", 0);
	open_sve();
	write_sysreg(15, s3_0_c1_c2_0);
	isb();
	longest = sve_bytes();
	CHECK_EQ(longest * 8, arg_u64("bits", 2048), "length-of-the-vm");
	CHECK_EQ(smp_boot(one_vcpu), machine.nr_vcpus - 1, "vcpus-started");
	one_vcpu();
	smp_join();
	return report();
}
