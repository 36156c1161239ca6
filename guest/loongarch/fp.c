// SPDX-License-Identifier: BSD-2-Clause
/*
 * The FP and vector registers of a vCPU belong to it alone, in each of three
 * widths. They are filled with patterns that no other (VM, vCPU, register,
 * round) has, something happens that makes the hypervisor run, and they must
 * still be there, with FCSR0 and the condition flags. A failure prints the mask
 * of lost registers: bit n is register n, bit 32 FCSR0, bit 33 the flags. And
 * a unit that is off raises its own exception, whatever the others are.
 *
 * Arguments: vm=K goes into the patterns (default 0); rounds=N per vCPU
 * (default 1500); busy=N turns of the busy loop (default 20000); switches=N
 * goes on until the hypervisor has switched to each vCPU so often, for
 * seconds=N at most (default 120); pcpus=N: also moves between pCPUs 0..N-1;
 * units=1 or 2: a VM that has only scalar FP, or no LASX;
 * yields=1: nothing but switches.
 */
#include "fp.h"
#include <stdio.h>
#include "check.h"
#include "hcall.h"
#include "io.h"
#include "irq.h"
#include "smp.h"
#include "timer.h"
#include "trap.h"

const bool trap_keeps_fp = FP_KEPT;

/* What happens between the load and the store. */
enum event { BUSY, HCALL, MMIO, IDLE, MOVE, WIDER, YIELD, EVENTS };

static const char *const event_names[EVENTS] = {
	"busy", "hcall", "mmio", "idle", "move", "wider", "yield"
};

static uint64_t vm, rounds, busy, switches, seconds, pcpus, units, yields;
static uint64_t lost[MAX_VCPUS][EVENTS];
static uint64_t done[MAX_VCPUS][EVENTS];

/* One HVCL here, so that nothing else runs; elsewhere an access. */
static void call(uint64_t id, uint64_t arg)
{
	bool here = on_nestling();	/* a call: before a0 is taken */
	register uint64_t a0 asm("a0") = id;
	register uint64_t a1 asm("a1") = arg;

	if (here)
		asm volatile(".word 0x002b8000"
			     : "+r"(a0)
			     : "r"(a1)
			     : "memory");
	else
		csr_read(CSR_CPUID);
}

/*
 * After a switch the narrowest use, which may make only so much live, and then
 * the widest. Neither changes anything that was loaded.
 */
static void use_wider(void)
{
	uint64_t old = csr_read(CSR_EUEN);

	call(NESTLING_YIELD, 0);
	asm volatile("movfr2gr.d $t0, $f31" ::: "$t0");
	csr_write(CSR_EUEN, (1u << units) - 1);
	if (units > 1)
		asm volatile("vpickve2gr.d $t0, $vr0, 0" ::: "$t0");
	if (units > 2)
		asm volatile("xvpickve2gr.d $t0, $xr0, 0" ::: "$t0");
	csr_write(CSR_EUEN, old);
}

static void happen(enum event event, uint64_t round)
{
	switch (event) {
	case BUSY:
		for (uint64_t i = 0; i < busy; i++)
			asm volatile("");
		break;
	case HCALL:
		call(NESTLING_VERSION, 0);
		break;
	case MMIO:
		io_read8(machine.uart.base + 7);
		break;
	case IDLE:
		wfi();
		break;
	case MOVE:
		if (pcpus > 1)
			call(NESTLING_MIGRATE, round / EVENTS % pcpus);
		break;
	case WIDER:
		use_wider();
		break;
	case YIELD:
		call(NESTLING_YIELD, 0);
		break;
	case EVENTS:
		break;
	}
}

/* The first loss on each vCPU in words. */
static void explain(enum event event, uint64_t mask,
		    const struct fp_state *want, const struct fp_state *got)
{
	unsigned n = (unsigned)__builtin_ctzll(mask);

	say("fp: vcpu %u level %lu event %s lost %#lx", vcpu_id(), want->level,
	    event_names[event], mask);
	for (unsigned w = 0; n < 32 && w < 1u << want->level; w++)
		say("fp: word %u of %u is %016lx, was %016lx", w, n,
		    got->x[n][w], want->x[n][w]);
	say("fp: fcsr is %#lx, was %#lx", got->fcsr, want->fcsr);
}

static void on_timer([[maybe_unused]] unsigned intid)
{
	timer_off(TIMER_VIRT);
}

static bool enough(uint64_t round, uint64_t end)
{
	if (round < rounds)
		return false;
	if (!switches || round % 64)
		return switches == 0;
	return nestling_stat(NESTLING_STAT_SWITCHES) >= (int64_t)switches ||
	       now() > end;
}

static void fp_loop(void)
{
	unsigned id = vcpu_id();
	uint64_t end = now() + seconds * timer_freq();
	struct fp_state want, got;
	bool told = false;

	irq_on(machine.vtimer_irq, on_timer);
	for (uint64_t round = 0; !enough(round, end); round++) {
		enum event event = yields ? YIELD : round % EVENTS;
		uint64_t mask;

		fp_pattern(&want, (unsigned)vm, round);
		if (want.level >= units)
			want.level = units - 1;
		if (event == IDLE)
			timer_at(TIMER_VIRT, now() + us_to_ticks(50));
		fp_load(&want);
		happen(event, round);
		fp_store(&got);
		irq_enable();	/* the timer of the sleep */
		irq_disable();
		mask = fp_compare(&want, &got);
		if (mask && !told)
			explain(event, mask, &want, &got);
		told |= mask != 0;
		lost[id][event] |= mask;
		done[id][event]++;
	}
}

/* Initial state as far as it is defined: FCSR0. Its exceptions are off. */
static void check_entry(unsigned id)
{
	uint64_t fcsr;

	asm volatile("movfcsr2gr %0, $fcsr0" : "=r"(fcsr));
	CHECK_EQ(fcsr, 0, "vcpu%u-entry-fcsr", id);
}

/* Each unit has its own switch and its own exception. */
static void check_disabled(unsigned id)
{
	static const struct {
		const char *name;
		unsigned euen, ecode;
	} rows[] = {
		{ "fp", EUEN_SXE | EUEN_ASXE, ECODE_FPD },
		{ "lsx", EUEN_FPE | EUEN_ASXE, ECODE_SXD },
		{ "lasx", EUEN_FPE | EUEN_SXE, ECODE_ASXD },
		{ "none", EUEN_FPE | EUEN_SXE | EUEN_ASXE, 0 },
	};
	unsigned codes[4][3];
	uint64_t old = csr_read(CSR_EUEN);

	for (unsigned i = 0; i < 4; i++) {
		csr_write(CSR_EUEN, rows[i].euen);
		codes[i][0] = TRAP_OF(asm volatile("fmov.d $f0, $f0"));
		codes[i][1] = TRAP_OF(asm volatile("vxor.v $vr0, $vr0, $vr0"));
		codes[i][2] = TRAP_OF(
			asm volatile("xvxor.v $xr0, $xr0, $xr0"));
	}
	csr_write(CSR_EUEN, old);
	for (unsigned i = 0; i < 4; i++)
		for (unsigned unit = 0; unit < 3; unit++)
			CHECK_EQ(codes[i][unit],
				 unit >= units ? ECODE_INE :
				 unit == i     ? rows[i].ecode :
						 0,
				 "vcpu%u-off-%s-unit-%u", id, rows[i].name,
				 unit);
}

static void check_switches(unsigned id)
{
	int64_t count = nestling_stat(NESTLING_STAT_SWITCHES);

	if (count < 0) {
		skip("switches", "the hypervisor counts none");
		return;
	}
	say("fp: vcpu %u switched in %ld times, %ld saves, %ld loads", id,
	    (long)count, (long)nestling_stat(NESTLING_STAT_FP_SAVES),
	    (long)nestling_stat(NESTLING_STAT_FP_LOADS));
	if (switches)
		CHECK_IN(count, switches, ~0ull, "vcpu%u-switches", id);
}

static void one_vcpu(void)
{
	unsigned id = vcpu_id();

	check_entry(id);
	check_disabled(id);
	fp_loop();
	for (unsigned event = yields ? YIELD : 0; event < EVENTS; event++) {
		CHECK_EQ(lost[id][event], 0, "vcpu%u-fp-%s", id,
			 event_names[event]);
		CHECK(done[id][event] > 0, "vcpu%u-fp-%s-ran", id,
		      event_names[event]);
	}
	check_switches(id);
}

int main(int, char **)
{
	vm = arg_u64("vm", 0);
	rounds = arg_u64("rounds", 1500);
	busy = arg_u64("busy", 20000);
	switches = arg_u64("switches", 0);
	seconds = arg_u64("seconds", 120);
	pcpus = arg_u64("pcpus", 1);
	units = arg_u64("units", 3);
	yields = arg_u64("yields", 0);
	if (!on_nestling())
		switches = 0;
	CHECK_EQ(smp_boot(one_vcpu), machine.nr_vcpus - 1, "vcpus-started");
	one_vcpu();
	smp_join();
	return report();
}
