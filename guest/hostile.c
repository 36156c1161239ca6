// SPDX-License-Identifier: BSD-2-Clause
/*
 * Does everything to the machine below that a guest can do, at random: random
 * instruction words at EL1 and EL0, random system registers over the whole
 * encoding space, device accesses of every size at random addresses, calls with
 * random ids. Left out is only what ends the VM. All vCPUs take part. It ends
 * with status 0 whatever happened to it; that nothing happened to others is for
 * them to say. The same seed gives the same operations.
 *
 * Arguments: ops=N (default 1000000) for all vCPUs together; seed=S (default
 * 1); only=KINDS, any of i (instructions), u (at EL0), s (system registers), m
 * (MMIO) and c (calls); trace=1 prints each batch before it begins.
 */
#include <stdio.h>
#include <string.h>
#include "arm64/jail.h"
#include "check.h"
#include "code.h"
#include "guest.h"
#include "hcall.h"
#include "io.h"
#include "irq.h"
#include "mmu.h"
#include "random.h"
#include "smp.h"
#include "timer.h"
#include "trap.h"
#include "uart.h"

#define HOLE		0x0c000000ull
#define WATCHDOG_US	1000
#define RUNS		4	/* of each word, with other registers */
#define PROGRESS	100000

struct state {
	uint64_t random;
	uint64_t done;
	uint64_t classes[64];	/* exceptions by class */
	uint64_t passed;
	uint64_t irqs;
};

static struct state states[MAX_VCPUS];
static uint64_t total_ops, done_ops;
static bool trace;

/* Computed once: where EL1 is the highest level, CNTFRQ_EL0 is a victim too. */
static uint64_t watchdog_ticks;

static uint64_t next(struct state *s)
{
	return random_next(&s->random);
}

static unsigned below(struct state *s, unsigned limit)
{
	return random_below(&s->random, limit);
}

static uint64_t odd_value(struct state *s)
{
	return random_odd(&s->random);
}

/* --- keeping alive -------------------------------------------------------- */

static void watchdog([[maybe_unused]] unsigned intid)
{
	timer_at(TIMER_VIRT, now() + watchdog_ticks);
}

/*
 * Interrupt controller, timers, console and debug as at the start, whatever an
 * earlier operation made of them. Then the watchdog, which ends endless loops.
 */
static void make_sane(void)
{
	static struct spinlock lock;

	write_sysreg(0, mdscr_el1);
	write_sysreg(0, icc_igrpen0_el1);
	write_sysreg(0, icc_ap1r0_el1);
	write_sysreg(0, icc_ap0r0_el1);
	timer_ctl(TIMER_PHYS, 0);
	timer_ctl(TIMER_VIRT, 0);
	spin_lock(&lock);
	for (unsigned id = 0; id < 64; id += 32) {
		uint64_t frame = irq_frame(id);

		io_write32(frame + GICD_ICENABLER + id / 8, ~0u);
		io_write32(frame + GICD_ICPENDR + id / 8, ~0u);
		io_write32(frame + GICD_ICACTIVER + id / 8, ~0u);
	}
	irq_init();
	io_write32(uart_base() + UART_IMSC, 0);
	io_write32(uart_base() + UART_LCRH, UART_LCRH_WLEN8);
	io_write32(uart_base() + UART_CR,
		   UART_CR_EN | UART_CR_TXE | UART_CR_RXE);
	spin_unlock(&lock);
	irq_on(machine.vtimer_irq, watchdog);
	watchdog(0);
}

static void count(struct state *s, uint64_t esr)
{
	if (esr)
		s->classes[ESR_EC(esr)]++;
	else
		s->passed++;
}

/* --- instructions --------------------------------------------------------- */

/*
 * What JAIL_EL1 does not allow: MSR of EL1, timer and debug registers. And MRS
 * of the interrupt controller, because an acknowledge would stop the watchdog.
 */
static bool forbidden(uint32_t word)
{
	unsigned op0 = 2 + (word >> 19 & 1), op1 = word >> 16 & 7;
	unsigned crn = word >> 12 & 15;

	if ((word & 0xfff00000) == INSN_MRS(2, 0, 0, 0, 0))
		return crn == 12;
	if ((word & 0xfff00000) != INSN_MSR(2, 0, 0, 0, 0))
		return false;
	return op0 == 2 || op1 == 0 || crn == 14;
}

/* Random, but weighted to groups of which random words find little. */
static uint32_t random_word(struct state *s)
{
	static const uint32_t bases[][2] = {
		/* mask of random bits, fixed bits */
		{ 0xffffffff, 0 },
		{ 0x3fffffff, 0x08000000 }, /* loads and stores */
		{ 0xc3ffffff, 0x38000000 }, /* register forms */
		{ 0x001fffff, 0xd5000000 }, /* system */
		{ 0x00ffffff, 0xd4000000 }, /* exceptions */
		{ 0x01ffffff, 0xd6000000 }, /* branches to registers */
		{ 0xbfffffff, 0x0c000000 }, /* structures */
		{ 0x003fffff, 0x88000000 }, /* exclusives */
		{ 0x3f3fffff, 0x19000000 }, /* tags, copies */
	};
	unsigned kind = below(s, 2) ? 0 : below(s, 9);

	return ((uint32_t)next(s) & bases[kind][0]) | bases[kind][1];
}

static void random_regs(struct state *s, enum jail_mode mode, uint64_t regs[32])
{
	const uint64_t device[] = { machine.gicd.base + GICD_PIDR2,
				    uart_base() + UART_PERIPH_ID,
				    machine.rtc.base, HOLE };

	for (unsigned i = 0; i < 32; i++) {
		unsigned kind = below(s, 16);

		if (kind < 6)
			regs[i] = odd_value(s);
		else if (kind < 12)
			regs[i] = jail_scratch(mode) +
				  below(s, JAIL_SCRATCH_SIZE);
		else if (kind < 13)
			regs[i] = jail_code(mode) + below(s, 512);
		else if (kind < 15 && mode == JAIL_EL1)
			regs[i] = device[below(s, 4)] + below(s, 2) * 4;
		else
			regs[i] = below(s, 256);
	}
	if (below(s, 4))
		regs[31] &= ~15ull;
}

static void instructions(struct state *s, enum jail_mode mode)
{
	uint32_t words[JAIL_SLOTS];
	uint64_t regs[32];

	make_sane();
	for (unsigned i = 0; i < JAIL_SLOTS; i++)
		do
			words[i] = random_word(s);
		while (mode == JAIL_EL1 && forbidden(words[i]));
	jail_fill(words);
	for (unsigned i = 0; i < JAIL_SLOTS * RUNS; i++) {
		const struct jail_result *result;

		random_regs(s, mode, regs);
		result = jail_run(i % JAIL_SLOTS, mode, regs);
		if (result->vector == JAIL_PASSED)
			s->passed++;
		else if (result->vector % 4 == 0)
			s->classes[ESR_EC(result->esr)]++;
		else
			s->irqs++;
		irq_take();
	}
}

static void at_el1(struct state *s)
{
	instructions(s, JAIL_EL1);
}

static void at_el0(struct state *s)
{
	instructions(s, JAIL_EL0);
}

/* --- system registers ----------------------------------------------------- */

/* CRn and CRm under which most registers are. */
// clang-format off
static const unsigned char crowded[][2] = {
	{ 0, 0 },  { 0, 4 },   { 0, 6 },   { 1, 0 },   { 1, 2 },  { 2, 0 },
	{ 2, 1 },  { 2, 2 },   { 4, 0 },   { 4, 1 },   { 4, 2 },  { 4, 3 },
	{ 4, 4 },  { 5, 1 },   { 5, 2 },   { 5, 3 },   { 6, 0 },  { 7, 4 },
	{ 7, 8 },  { 7, 14 },  { 8, 3 },   { 8, 7 },   { 9, 12 }, { 9, 13 },
	{ 9, 14 }, { 10, 2 },  { 10, 3 },  { 12, 0 },  { 12, 1 }, { 12, 8 },
	{ 12, 9 }, { 12, 11 }, { 12, 12 }, { 13, 0 },  { 14, 0 }, { 14, 1 },
	{ 14, 2 }, { 14, 3 },
};
// clang-format on

/* MRS, MSR, SYS or SYSL of any encoding, from or to x0. */
static uint32_t random_sysreg(struct state *s)
{
	static const unsigned char op1s[] = { 0, 0, 0, 3, 3, 4, 5, 6, 1, 2, 7 };
	uint32_t word = 0xd5000000u | ((uint32_t)next(s) & 0x0020ffe0u);
	unsigned op0 = below(s, 8) ? (below(s, 4) ? 3 : 2) : 1;
	unsigned op1 = op1s[below(s, sizeof(op1s))];

	if (below(s, 3)) {
		const unsigned char *c =
			crowded[below(s, sizeof(crowded) / 2)];

		word &= ~0xff00u;
		word |= (uint32_t)c[0] << 12 | (uint32_t)c[1] << 8;
		op1 = below(s, 2) * 3;
	}
	return word | op0 << 19 | op1 << 16;
}

#define MSR_SCTLR	INSN_MSR(3, 0, 1, 0, 0)
#define SCTLR_M		1ull
#define MSR_BPR1	INSN_MSR(3, 0, 12, 12, 3)

static void sysregs(struct state *s)
{
	uint32_t words[JAIL_SLOTS];
	uint64_t regs[32];

	for (unsigned i = 0; i < JAIL_SLOTS; i++)
		words[i] = random_sysreg(s);
	jail_fill(words);
	for (unsigned i = 0; i < JAIL_SLOTS * RUNS; i++) {
		const struct jail_result *result;

		random_regs(s, JAIL_BARE, regs);
		/* The MMU must stay off: tables and code are elsewhere. */
		if (words[i % JAIL_SLOTS] == MSR_SCTLR)
			regs[0] &= ~SCTLR_M;
		/*
		 * QEMU 10 looks for the minimum of ICC_BPR1 before it drops the
		 * upper bits, and then fails an assertion of its own.
		 */
		if (words[i % JAIL_SLOTS] == MSR_BPR1)
			regs[0] &= 7;
		result = jail_run(i % JAIL_SLOTS, JAIL_BARE, regs);
		if (result->vector == JAIL_PASSED)
			s->passed++;
		else
			s->classes[ESR_EC(result->esr)]++;
	}
	/* Masks off, so that what was left pending comes now. */
	write_sysreg(0xf0, icc_pmr_el1);
	write_sysreg(0, icc_igrpen0_el1);
	isb();
	irq_take();
}

/* --- devices -------------------------------------------------------------- */

static uint64_t random_device(struct state *s)
{
	const struct region areas[] = {
		{ machine.gicd.base, 0x10000 },
		/* Its own: another's watchdog is that one's life. */
		{ irq_frame(0) - GICR_SGI, GICR_STRIDE },
		{ machine.uart.base, 0x1000 },
		{ machine.rtc.base, 0x1000 },
		{ 0x0a000000, 0x4000 },
		{ machine.gicd.base, 0x4000000 },
	};
	unsigned n = on_nestling() ? 6 : 5;
	const struct region *area = &areas[below(s, n)];
	uint64_t offset = below(s, (unsigned)area->size);

	if (below(s, 2))
		offset &= 0xfff;
	/* The console stays readable most of the time. */
	if (area->base == machine.uart.base && offset < 4 && below(s, 16))
		offset = UART_FR;
	return area->base + (below(s, 8) ? offset & ~7ull : offset);
}

static void one_access(struct state *s)
{
	uint64_t addr = random_device(s), value = odd_value(s);

	trap_arm();
	switch (below(s, 8)) {
	case 0:
		io_read8(addr);
		break;
	case 1:
		io_read16(addr);
		break;
	case 2:
		io_read32(addr + below(s, 2) * 4);
		break;
	case 3:
		io_read64(addr);
		break;
	case 4:
		io_write8(addr, (uint8_t)value);
		break;
	case 5:
		io_write16(addr, (uint16_t)value);
		break;
	case 6:
		io_write32(addr + below(s, 2) * 4, (uint32_t)value);
		break;
	default:
		io_write64(addr, value);
		break;
	}
	dsb();
	count(s, trap_result().esr);
}

static void devices(struct state *s)
{
	for (unsigned i = 0; i < JAIL_SLOTS * RUNS; i++)
		one_access(s);
	write_sysreg(0, icc_igrpen0_el1);
	isb();
	irq_take();
}

/* --- calls ---------------------------------------------------------------- */

/* Functions that end the VM or this vCPU, or start it somewhere else. */
static bool ends(uint32_t id)
{
	static const unsigned char psci_ends[] = { 1, 2, 8, 9, 0xb, 0xc, 0xe,
						   0x12 };

	if (id == NESTLING_EXIT)
		return true;
	if ((id & ~PSCI_64) >> 8 != PSCI_VERSION >> 8)
		return false;
	for (unsigned i = 0; i < sizeof(psci_ends); i++)
		if ((id & 0xff) == psci_ends[i])
			return true;
	return false;
}

static uint32_t random_id(struct state *s)
{
	static const uint32_t bases[] = { 0x84000000, 0xc4000000, 0x80000000,
					  0xc6000000, 0x8600ff00, 0x86000000 };
	unsigned kind = below(s, 8);

	if (kind < 6)
		return bases[kind] + below(s, 32);
	return (uint32_t)next(s);
}

static void calls(struct state *s)
{
	for (unsigned i = 0; i < JAIL_SLOTS * RUNS; i++) {
		uint32_t insn = below(s, 2) ? 0xd4000002 : 0xd4000003;
		uint32_t id = random_id(s);
		uint64_t x[4];

		while (ends(id))
			id = random_id(s);
		x[0] = id | (below(s, 2) ? next(s) << 32 : 0);
		for (unsigned n = 1; n < 4; n++)
			x[n] = odd_value(s);
		if (below(s, 4) == 0)
			insn |= (uint32_t)below(s, 0x10000) << 5;
		count(s, code_run(insn, x));
	}
}

/* -------------------------------------------------------------------------- */

static const struct kind {
	char letter;
	unsigned weight;
	void (*batch)(struct state *s);
} kinds[] = {
	{ 'i', 40, at_el1 },
	{ 'u', 15, at_el0 },
	{ 's', 25, sysregs },
	{ 'm', 12, devices },
	{ 'c', 8, calls },
};

static const struct kind *choose(struct state *s, const char *only)
{
	unsigned n = below(s, 100), i = 0;

	for (; n >= kinds[i].weight; i++)
		n -= kinds[i].weight;
	while (!strchr(only, kinds[i].letter))
		i = (i + 1) % 5;
	return &kinds[i];
}

static void progress(void)
{
	uint64_t batch = JAIL_SLOTS * RUNS;
	uint64_t now_done = __atomic_add_fetch(&done_ops, batch,
					       __ATOMIC_RELAXED);

	if (now_done / PROGRESS != (now_done - batch) / PROGRESS)
		say("\nhostile: %lu operations", now_done);
}

/* Nobody makes calls while another is off: CPU_ON would start it anywhere. */
static void run(void)
{
	static struct barrier barrier;
	struct state *s = &states[vcpu_id()];
	const char *only = arg_str("only", "iusmc");

	s->random = random_start(arg_u64("seed", 1), vcpu_id());
	barrier_wait(&barrier, machine.nr_vcpus);
	while (__atomic_load_n(&done_ops, __ATOMIC_RELAXED) < total_ops) {
		const struct kind *kind = choose(s, only);

		if (trace)
			say("vcpu %u: %c, state %#lx", vcpu_id(), kind->letter,
			    s->random);
		kind->batch(s);
		progress();
	}
	make_sane();
	timer_ctl(TIMER_VIRT, 0);
	barrier_wait(&barrier, machine.nr_vcpus);
}

static void summary(void)
{
	struct state sum = { 0 };

	for (unsigned id = 0; id < MAX_VCPUS; id++) {
		for (unsigned c = 0; c < 64; c++)
			sum.classes[c] += states[id].classes[c];
		sum.passed += states[id].passed;
		sum.irqs += states[id].irqs;
	}
	say("hostile: %lu went through, %lu ended by an interrupt", sum.passed,
	    sum.irqs);
	for (unsigned c = 0; c < 64; c++)
		if (sum.classes[c])
			say("hostile: %lu exceptions of class %#x",
			    sum.classes[c], c);
}

int main(int, char **)
{
	total_ops = arg_u64("ops", 1000000);
	trace = arg_u64("trace", 0);
	watchdog_ticks = us_to_ticks(WATCHDOG_US);
	if (!jail_init() ||
	    !jail_map_device(machine.gicd.base, 0x10000) ||
	    !jail_map_device(machine.uart.base, 0x1000) ||
	    !jail_map_device(machine.rtc.base & ~0xfffull, 0x1000) ||
	    !jail_map_device(HOLE, 0x10000)) {
		say("hostile: out of page tables");
		return 1;
	}
	if (on_nestling())
		mmu_map(&mmu_kernel, machine.gicd.base, machine.gicd.base,
			0x4000000, MAP_WRITE | MAP_DEVICE);
	smp_boot(run);
	run();
	smp_join();
	say("hostile: done, %lu operations", done_ops);
	summary();
	return 0;
}
