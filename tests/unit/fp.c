// SPDX-License-Identifier: BSD-2-Clause
// objs: core/fp.c core/fpwords.c
/*
 * FP ownership on two pCPUs: vCPUs of every policy and width are loaded, use
 * registers, are put, moved, looked at and reset in random order; what they
 * find is always what they left. Then the exact counts that each policy and
 * width promises, and the bounds of the adaptive rule.
 *
 * A register file is two numbers: one that every width has, one above it, which
 * only FP_SVE reaches and a narrow load leaves in memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "arch.h"
#include "cpu.h"
#include "fake.h"
#include "fp.h"
#include "vcpu.h"

enum { VCPUS = 6, CPUS = 2, NARROW = 0, WIDE = 1 };

static struct {
	uint64_t part[2];
	enum fp_level open;	/* what the guest may use */
} hw[CPUS];

static struct vcpu vcpu[VCPUS];
static uint64_t left[VCPUS][2];		/* what its guest left */
static uint64_t state = 88172645463325252u;
static bool stays = true;

static uint64_t rnd(uint64_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % n;
}

/* ---- the mechanism ------------------------------------------------------- */

void arch_fp_init(struct arch_fp *fp, uint32_t length)
{
	(void)length;
	memset(fp, 0, sizeof(*fp));
}

uint32_t arch_fp_bytes(const struct arch_fp *fp, enum fp_level level)
{
	(void)fp;
	return level == FP_SIMD ? 512 : level == FP_SVE ? 8192 : 0;
}

static void move(uint64_t *to, const uint64_t *from, enum fp_level level)
{
	to[NARROW] = from[NARROW];
	if (level == FP_SVE)
		to[WIDE] = from[WIDE];
}

void arch_fp_save(struct arch_fp *fp, enum fp_level level, bool probe)
{
	(void)probe;
	assert_true(level == FP_SIMD || level == FP_SVE);
	hw[this_cpu()->id].open = level;
	move(fp->v, hw[this_cpu()->id].part, level);
}

void arch_fp_load(struct arch_fp *fp, enum fp_level level)
{
	assert_true(level == FP_SIMD || level == FP_SVE);
	hw[this_cpu()->id].open = level;
	move(hw[this_cpu()->id].part, fp->v, level);
}

void arch_fp_widen(struct arch_fp *fp, enum fp_level from, enum fp_level to)
{
	assert_true(from == FP_SIMD && to == FP_SVE);
	fp->v[NARROW] = hw[this_cpu()->id].part[NARROW];
	arch_fp_load(fp, to);
}

bool arch_fp_stays(const struct arch_fp *fp, enum fp_level level)
{
	(void)fp;
	return stays || level == FP_SIMD;
}

void arch_fp_access(struct vcpu *v, enum fp_level level)
{
	assert_ptr_equal(v, this_cpu()->loaded);
	hw[this_cpu()->id].open = level;
}

/* ---- what the rest of the hypervisor does ------------------------------- */

static void on_cpu(unsigned int id)
{
	fake_cpu = cpus[id];
}

static void start(enum fp_policy policy, enum fp_width width)
{
	fake_cpus_init(CPUS);
	memset(hw, 0, sizeof(hw));
	memset(vcpu, 0, sizeof(vcpu));
	memset(left, 0, sizeof(left));
	for (unsigned int i = 0; i < VCPUS; i++) {
		struct fp_params par = {
			.max = FP_SVE,
			.length = 2048,
			.policy = policy,
			.width = width,
		};

		fp_init(&vcpu[i], &par);
		vcpu[i].loaded_on = VCPU_NOT_LOADED;
	}
}

static void put(void)
{
	struct vcpu *v = this_cpu()->loaded;

	if (!v)
		return;
	fp_put(v);
	this_cpu()->loaded = NULL;
	v->loaded_on = VCPU_NOT_LOADED;
}

/* Off every pCPU, FP registers too, but for those on @keep. */
static void bring(struct vcpu *v, uint32_t keep)
{
	unsigned int here = this_cpu()->id;

	if (v->loaded_on != VCPU_NOT_LOADED) {
		on_cpu(v->loaded_on);
		put();
	}
	if (v->fp.cpu != FP_IN_MEMORY && v->fp.cpu != keep) {
		on_cpu(v->fp.cpu);
		fp_flush(v);
	}
	on_cpu(here);
}

static void enter(struct vcpu *v)
{
	if (this_cpu()->loaded == v)
		return;
	put();
	bring(v, this_cpu()->id);
	this_cpu()->loaded = v;
	v->loaded_on = this_cpu()->id;
	fp_load(v);
}

/* The loaded vCPU uses a width: finds what it left, and leaves more. */
static void use(enum fp_level level)
{
	unsigned int cpu = this_cpu()->id, i;
	struct vcpu *v = this_cpu()->loaded;

	i = (unsigned int)(v - vcpu);
	if (hw[cpu].open < level)
		fp_trap(v, level);
	assert_true(hw[cpu].open >= level);
	assert_true(hw[cpu].open == fp_access(v));
	assert_int_equal(hw[cpu].part[NARROW], left[i][NARROW]);
	hw[cpu].part[NARROW] = left[i][NARROW] = rnd(UINT64_MAX);
	if (level != FP_SVE)
		return;
	assert_int_equal(hw[cpu].part[WIDE], left[i][WIDE]);
	hw[cpu].part[WIDE] = left[i][WIDE] = rnd(UINT64_MAX);
}

/* A debugger looks; sometimes the vCPU is reset after that. */
static void look(struct vcpu *v)
{
	unsigned int i = (unsigned int)(v - vcpu);

	bring(v, FP_IN_MEMORY);
	assert_int_equal(v->fp.cpu, FP_IN_MEMORY);
	assert_int_equal(v->fp.regs.v[NARROW], left[i][NARROW]);
	assert_int_equal(v->fp.regs.v[WIDE], left[i][WIDE]);
	if (rnd(2))
		return;
	fp_reset(v);
	memset(left[i], 0, sizeof(left[i]));
}

static void check_record(void)
{
	for (unsigned int c = 0; c < CPUS; c++) {
		struct vcpu *o = cpus[c]->fp_owner;

		if (o)
			assert_int_equal(o->fp.cpu, c);
		if (hw[c].open != FP_NONE && cpus[c]->loaded)
			assert_ptr_equal(o, cpus[c]->loaded);
	}
	for (unsigned int i = 0; i < VCPUS; i++)
		if (vcpu[i].fp.cpu != FP_IN_MEMORY)
			assert_ptr_equal(cpus[vcpu[i].fp.cpu]->fp_owner,
					 &vcpu[i]);
}

static void random_life(void **)
{
	for (unsigned int run = 0; run < 20; run++) {
		start(FP_OWNER, FP_MAX);
		stays = run % 2;
		for (unsigned int i = 0; i < VCPUS; i++) {
			vcpu[i].fp.par.policy = i % FP_POLICIES;
			vcpu[i].fp.par.width = (i + run) % FP_WIDTHS;
		}
		for (unsigned int step = 0; step < 5000; step++) {
			struct vcpu *v = &vcpu[rnd(VCPUS)];

			on_cpu((unsigned int)rnd(CPUS));
			if (!rnd(10)) {
				look(v);
			} else if (!rnd(50)) {
				v->fp.par.policy = rnd(FP_POLICIES);
				v->fp.par.width = rnd(FP_WIDTHS);
			} else {
				enter(v);
				for (uint64_t n = rnd(4); n; n--)
					use(rnd(3) ? FP_SIMD : FP_SVE);
			}
			check_record();
		}
	}
	stays = true;
}

/* ---- counts -------------------------------------------------------------- */

static uint64_t traps(unsigned int i)
{
	return fp_count(vcpu[i].fp.stats.traps);
}

/* Turns of two vCPUs; the first uses @list in each of its own, the second
 * only if @both. */
static void turns(unsigned int n, const enum fp_level *list, bool both)
{
	on_cpu(0);
	while (n--) {
		enter(&vcpu[0]);
		for (unsigned int i = 0; list[i]; i++)
			use(list[i]);
		enter(&vcpu[1]);
		if (both)
			use(FP_SIMD);
	}
}

static const enum fp_level narrow[] = { FP_SIMD, FP_NONE };
static const enum fp_level wide[] = { FP_SVE, FP_NONE };
static const enum fp_level climb[] = { FP_SIMD, FP_SVE, FP_NONE };

static void counts(enum fp_policy policy, enum fp_width width, bool both,
		   unsigned int want_traps, unsigned int saves,
		   unsigned int widens)
{
	start(policy, width);
	turns(100, climb, both);
	assert_int_equal(traps(0), want_traps);
	assert_int_equal(fp_count(vcpu[0].fp.stats.saves), saves);
	assert_int_equal(vcpu[0].fp.stats.widens, widens);
	assert_true(fp_count(vcpu[0].fp.stats.loads) - saves <= 1);
}

static void policies(void **)
{
	counts(FP_EAGER, FP_MAX, false, 0, 100, 0);
	counts(FP_LAZY, FP_MAX, false, 100, 100, 0);
	counts(FP_LAZY, FP_STEP, false, 200, 100, 100);
	counts(FP_OWNER, FP_MAX, true, 100, 100, 0);
	counts(FP_OWNER, FP_STEP, true, 200, 100, 100);
	/* Nobody else wants them: moved once, at most. */
	counts(FP_OWNER, FP_MAX, false, 1, 0, 0);
	counts(FP_OWNER, FP_STEP, false, 2, 0, 1);
	stays = false;
	counts(FP_OWNER, FP_MAX, false, 100, 100, 0);
	stays = true;
}

static void eager_remembers_width(void **)
{
	start(FP_EAGER, FP_STEP);
	turns(50, narrow, false);
	assert_int_equal(traps(0), 1);
	assert_int_equal(vcpu[0].fp.stats.loads[FP_SVE], 0);
	turns(50, climb, false);
	assert_int_equal(traps(0), 2);
	assert_int_equal(vcpu[0].fp.stats.loads[FP_SVE], 49);
}

static uint64_t loads(enum fp_level l)
{
	return vcpu[0].fp.stats.loads[l];
}

static void adaptive(void **)
{
	uint64_t before;

	start(FP_LAZY, FP_ADAPTIVE);
	turns(1000, narrow, false);
	assert_int_equal(loads(FP_SIMD), 1000);
	assert_int_equal(traps(0), 1000);
	/* From narrow to wide: one more trap, then one in 257 loads. */
	turns(1, climb, false);
	assert_int_equal(traps(0), 1002);
	turns(2570, climb, false);
	assert_int_equal(traps(0), 1002 + 2570 + 10);
	/* From wide to narrow: at most 256 more wide loads. */
	before = loads(FP_SVE);
	turns(1000, narrow, false);
	assert_int_equal(loads(FP_SVE) - before, 256);
	before = loads(FP_SVE);
	turns(1000, narrow, false);
	assert_int_equal(loads(FP_SVE), before);
}

static void adaptive_wide_only(void **)
{
	start(FP_LAZY, FP_ADAPTIVE);
	turns(1000, wide, false);
	assert_int_equal(traps(0), 1000);
	assert_int_equal(loads(FP_SVE), 1000);
	assert_int_equal(vcpu[0].fp.stats.widens, 0);
}

/* The worst one can do to it: narrow whenever it has just learnt of wide. */
static void adaptive_adversary(void **)
{
	uint64_t n = 0;

	start(FP_LAZY, FP_ADAPTIVE);
	for (unsigned int i = 0; i < 20; i++) {
		turns(1, climb, false);
		turns(257, narrow, false);
		n += 258;
	}
	assert_in_range(traps(0), n, n + 20);
	assert_int_equal(loads(FP_SVE), 20 * 256);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_life),
		cmocka_unit_test(policies),
		cmocka_unit_test(eager_remembers_width),
		cmocka_unit_test(adaptive),
		cmocka_unit_test(adaptive_wide_only),
		cmocka_unit_test(adaptive_adversary),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
