// SPDX-License-Identifier: BSD-2-Clause
/*
 * The vector registers of a vCPU belong to it alone. First they must all be in
 * their initial state at entry; then q0..q31, FPCR and FPSR are filled with
 * patterns that no other (VM, vCPU, register, round) has, something happens
 * that makes the hypervisor run, and they must still be there. A failure prints
 * the mask of lost registers: bit n is qn, bit 32 FPCR, bit 33 FPSR.
 *
 * Arguments: vm=K goes into the patterns (default 0); rounds=N per vCPU
 * (default 2000); busy=N turns of the busy loop (default 20000); switches=N
 * goes on until the hypervisor has switched to each vCPU so often, for
 * seconds=N at most (default 120).
 */
#include <stdio.h>
#include "arm64/fp.h"
#include "arm64/record.h"
#include "check.h"
#include "hcall.h"
#include "irq.h"
#include "smp.h"
#include "timer.h"

/* What happens between the load and the store. Numbers known to the asm. */
enum event { BUSY, HVC, MMIO, WFI, YIELD, EVENTS };

static const char *const event_names[EVENTS] = { "busy", "hvc", "mmio", "wfi",
						 "yield" };

/*
 * Loads `in`, does the event with its argument (turns, function id or address)
 * and stores `out`. No FP instruction in between, and C has none around it.
 */
void fp_round(const struct fp_state *in, struct fp_state *out, uint64_t event,
	      uint64_t arg);

asm(".pushsection .text.fp_round, \"ax\"\n"
    ".globl fp_round\n"
    "fp_round:\n"
    "	stp	x29, x30, [sp, #-32]!\n"
    "	str	x19, [sp, #16]\n"
    "	mov	x19, x1\n"
    "	bl	fp_load\n"
    "	cmp	x2, #1\n"
    "	b.lo	0f\n"
    "	b.eq	1f\n"
    "	cmp	x2, #3\n"
    "	b.lo	2f\n"
    "	b.eq	3f\n"
    "1:	mov	x0, x3\n"
    "	hvc	#0\n"
    "	b	9f\n"
    "0:	subs	x3, x3, #1\n"
    "	b.ne	0b\n"
    "	b	9f\n"
    "2:	ldr	w4, [x3]\n"
    "	b	9f\n"
    "3:	wfi\n"
    "9:	mov	x0, x19\n"
    "	bl	fp_store\n"
    "	ldr	x19, [sp, #16]\n"
    "	ldp	x29, x30, [sp], #32\n"
    "	ret\n"
    ".popsection\n");

static uint64_t vm, rounds, busy, switches, seconds;
static uint64_t lost[MAX_VCPUS][EVENTS];
static uint64_t done[MAX_VCPUS][EVENTS];

/* The first loss on each vCPU in words. */
static void explain(enum event event, uint64_t round, uint64_t mask,
		    const struct fp_state *want, const struct fp_state *got)
{
	unsigned n = (unsigned)__builtin_ctzll(mask);

	say("fp: vcpu %u round %lu event %s lost %#lx", vcpu_id(), round,
	    event_names[event], mask);
	if (n < 32)
		say("fp: q%u is %016lx%016lx, was %016lx%016lx", n,
		    got->q[n][1], got->q[n][0], want->q[n][1], want->q[n][0]);
	else
		say("fp: fpcr is %#lx, was %#lx, fpsr is %#lx, was %#lx",
		    got->fpcr, want->fpcr, got->fpsr, want->fpsr);
}

static void on_timer([[maybe_unused]] unsigned intid)
{
	timer_ctl(TIMER_VIRT, 0);
}

static uint64_t event_arg(enum event event)
{
	switch (event) {
	case BUSY:
		return busy;
	case HVC:
		return on_nestling() ? NESTLING_VERSION : PSCI_VERSION;
	case MMIO:
		return machine.gicd.base + GICD_TYPER;
	case WFI:
		timer_at(TIMER_VIRT, now() + us_to_ticks(50));
		return 0;
	case YIELD:
		return on_nestling() ? NESTLING_YIELD : PSCI_VERSION;
	case EVENTS:
		break;
	}
	return 0;
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
		enum event event = round % EVENTS;
		uint64_t arg = event_arg(event), mask;

		fp_pattern(&want, (unsigned)vm, round);
		fp_round(&want, &got, event, arg);
		irq_enable();	/* the timer of the sleep */
		isb();
		irq_disable();
		mask = fp_compare(&want, &got);
		if (mask && !told)
			explain(event, round, mask, &want, &got);
		told |= mask != 0;
		lost[id][event] |= mask;
		done[id][event]++;
	}
}

static void check_entry(unsigned id)
{
	const struct entry_record *record = &entry_records[id];
	uint64_t dirty = 0;

	for (unsigned n = 0; n < 32; n++)
		if (record->q[n][0] | record->q[n][1])
			dirty |= 1ull << n;
	CHECK_EQ(dirty, 0, "vcpu%u-entry-q-zero", id);
	CHECK_EQ(record->fpcr, 0, "vcpu%u-entry-fpcr", id);
	CHECK_EQ(record->fpsr, 0, "vcpu%u-entry-fpsr", id);
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
	fp_loop();
	for (unsigned event = 0; event < EVENTS; event++) {
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
	rounds = arg_u64("rounds", 2000);
	busy = arg_u64("busy", 20000);
	switches = arg_u64("switches", 0);
	seconds = arg_u64("seconds", 120);
	if (!on_nestling())
		switches = 0;
	CHECK_EQ(smp_boot(one_vcpu), machine.nr_vcpus - 1, "vcpus-started");
	one_vcpu();
	smp_join();
	return report();
}
