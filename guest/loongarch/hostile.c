// SPDX-License-Identifier: BSD-2-Clause
/*
 * Does everything to the machine below that a guest can do, at random:
 * instruction words at level 3; at level 0 every CSR by number, TLB
 * instructions with random contents, IOCSR, cache and idle instructions,
 * device accesses of every kind, calls with random ids. Left out is only what
 * ends the VM or the image itself. All vCPUs take part. It ends with status 0
 * whatever happened to it; that nothing happened to others is for them to say.
 * The same seed gives the same operations.
 *
 * Arguments: ops=N (default 1000000) for all vCPUs together; seed=S (default
 * 1); only=KINDS, any of u (level 3), s (CSRs), t (TLB), p (other privileged
 * instructions), m (MMIO) and c (calls); trace=1 prints each batch before it
 * begins.
 */
#include <stdio.h>
#include <string.h>
#include "check.h"
#include "guest.h"
#include "hcall.h"
#include "io.h"
#include "irq.h"
#include "mmu.h"
#include "random.h"
#include "smp.h"
#include "timer.h"
#include "trap.h"
#include "try.h"
#include "uart.h"

/* What an exception interrupts may have switched FP off. */
const bool trap_keeps_fp = false;

#define BATCH		64
#define WATCHDOG_US	1000
#define PROGRESS	100000
#define CODES		64

#define RETURN		0x4c000020u	/* jirl $zero, $ra, 0 */
#define SYSCALL		0x002b0000u
#define HVCL		0x002b8000u
#define LOAD(n)		(0x28c00080u | (n) << 10 | (n)) /* ld.d $n, $a0, 8n */
#define WORD_AT		40		/* in the code page of level 3 */

struct state {
	uint64_t random;
	uint64_t codes[CODES];	/* exceptions */
	uint64_t passed;
	uint64_t root;		/* page tables */
	bool trying;		/* an operation at level 0 */
	bool stopped;		/* it raised an exception */
};

static struct state states[MAX_VCPUS];
static uint64_t total_ops, done_ops;
static bool trace;

/* Code of level 0; pages of level 3: code and data. */
static uint32_t slots[MAX_VCPUS][16] __attribute__((aligned(64)));
static uint32_t user_code[MAX_VCPUS][1024] __attribute__((aligned(4096)));
static uint64_t user_data[MAX_VCPUS][512] __attribute__((aligned(4096)));

static uint64_t next(struct state *s)
{
	return random_next(&s->random);
}

static unsigned below(struct state *s, unsigned limit)
{
	return random_below(&s->random, limit);
}

static uint64_t user_va(unsigned page)
{
	return HIGH_VA + 0x100000 + vcpu_id() * 0x10000ull + page * 2 * PAGE;
}

/* --- keeping alive -------------------------------------------------------- */

/* Ends a loop of level 3 wherever it is: its way leads over this word. */
static void watchdog([[maybe_unused]] unsigned intid)
{
	user_code[vcpu_id()][WORD_AT] = SYSCALL;
	isb();
	timer_at(TIMER_VIRT, now() + us_to_ticks(WATCHDOG_US));
}

/* What refill_vector needs, which may come with any exception. */
static void walk_sane(const struct state *s)
{
	csr_write(CSR_STLBPS, 12);
	csr_write(CSR_ASID, 0);
	csr_write(CSR_PWCL, 12 | 9 << 5 | 21 << 10 | 9 << 15 | 30 << 20 |
				    9 << 25);
	csr_write(CSR_PWCH, 39 | 9 << 6);
	csr_write(CSR_PGDL, s->root);
	csr_write(CSR_PGDH, s->root);
}

/* All that operations change and the image needs. */
static void make_sane(const struct state *s)
{
	static struct spinlock lock;

	walk_sane(s);
	csr_write(CSR_ESTAT, 0);
	mmu_invalidate_all();
	irq_init_vcpu();
	spin_lock(&lock);
	io_write8(machine.uart.base + UART_LCR, 3);
	io_write8(machine.uart.base + UART_IER, 0);
	io_write8(machine.uart.base + UART_MCR, 0);
	spin_unlock(&lock);
	irq_on(machine.vtimer_irq, watchdog);
	watchdog(0);
}

/* --- exceptions ----------------------------------------------------------- */

static bool note(struct trap_frame *frame)
{
	struct state *s = &states[vcpu_id()];

	s->codes[TRAP_ECODE(frame->estat) % CODES]++;
	s->stopped = true;
	if (!s->trying)
		return false;
	frame->era = (uint64_t)try_back;
	frame->prmd = 0;
	return true;
}

/* From another level: a run at level 3, or an operation that changed CRMD. */
static bool note_user(struct trap_frame *frame)
{
	if (note(frame))
		return true;
	user_stop(frame, 0);
	return true;
}

/* --- level 0 -------------------------------------------------------------- */

/* Never the registers that the way back needs. */
static bool writes_fixed(uint32_t word)
{
	unsigned rd = word & 31, rj = word >> 5 & 31;
	bool rdtime = word >> 10 >= 0x18 && word >> 10 <= 0x1a;

	return rd == 1 || rd == 3 || (rdtime && (rj == 1 || rj == 3));
}

static void operate(struct state *s, uint32_t word, const uint64_t regs[32])
{
	uint32_t *slot = slots[vcpu_id()];

	slot[0] = word;
	slot[1] = RETURN;
	isb();
	s->stopped = false;
	s->trying = true;
	try_run(slot, regs);
	s->trying = false;
	s->passed += !s->stopped;
	csr_write(CSR_ECFG, ESTAT_TI);
}

static uint64_t random_address(struct state *s)
{
	const uint64_t places[] = {
		HIGH_VA, IO_WINDOW, user_va(0), user_va(1),
		(uint64_t)user_data[vcpu_id()], 0x9000000000000000,
	};
	unsigned kind = below(s, 8);

	if (kind < 6)
		return places[kind] + below(s, 0x4000);
	return random_odd(&s->random);
}

static void random_regs(struct state *s, uint64_t regs[32])
{
	for (unsigned i = 0; i < 32; i++)
		regs[i] = below(s, 3) ? random_odd(&s->random)
				      : random_address(s);
}

static uint32_t random_rd(struct state *s)
{
	unsigned rd = below(s, 32);

	return rd == 1 || rd == 3 ? 12 : rd;
}

/* What the way back and exceptions need. */
static bool keeps(unsigned csr)
{
	return csr == CSR_EENTRY || csr == CSR_TLBRENTRY ||
	       csr == CSR_SAVE0 + 6 || csr == CSR_SAVE0 + 7 || csr == CSR_DMW0;
}

static uint32_t random_csr(struct state *s)
{
	static const unsigned short areas[] = {
		0x0, 0x10, 0x18, 0x20, 0x30, 0x40, 0x60, 0x80,
		0x88, 0x90, 0x98, 0xc0, 0x180, 0x200, 0x500,
	};
	unsigned csr = areas[below(s, 15)] + below(s, 16);
	unsigned rj = below(s, 32);

	if (below(s, 4) == 0)
		csr = below(s, 0x4000);
	if (keeps(csr))
		rj = 0;
	return 0x04000000u | csr << 10 | rj << 5 | random_rd(s);
}

static void csrs(struct state *s)
{
	uint64_t regs[32];

	for (unsigned i = 0; i < BATCH; i++) {
		random_regs(s, regs);
		operate(s, random_csr(s), regs);
		walk_sane(s);
	}
}

/* Contents of the TLB registers, then the instruction. */
static void tlbs(struct state *s)
{
	static const uint32_t words[] = {
		0x06482000, 0x06482400, 0x06482800, 0x06482c00, 0x06483000,
		0x06483400, 0x06482c00, 0x06483000, 0x06483400,
	};
	uint64_t regs[32];

	for (unsigned i = 0; i < BATCH; i++) {
		unsigned kind = below(s, 12);
		uint32_t word = (uint32_t)next(s) & 0x7fff;

		csr_write(CSR_TLBIDX, random_odd(&s->random));
		csr_write(CSR_TLBEHI, random_address(s));
		csr_write(CSR_TLBELO0, random_odd(&s->random));
		csr_write(CSR_TLBELO1, random_odd(&s->random));
		csr_write(CSR_ASID, below(s, 4));
		csr_write(CSR_TLBREHI, random_odd(&s->random));
		if (kind < 9)
			word = words[kind];
		else if (kind < 10)	/* INVTLB, more ops than there are */
			word = 0x06498000 | (word & ~0x1fu) | below(s, 10);
		else			/* LDDIR, LDPTE */
			word = (kind < 11 ? 0x06400000u : 0x06440000u) |
			       below(s, 8) << 10 | (word & 0x3e0) |
			       (kind < 11 ? random_rd(s) : 0);
		random_regs(s, regs);
		operate(s, word, regs);
	}
}

/* Some IOCSR address that exists, or any. */
static uint64_t random_iocsr(struct state *s)
{
	static const unsigned short areas[] = { 0, 0x420, 0x1000, 0x1020,
						0x1040, 0x1158, 0x1400, 0x1600,
						0x1800, 0x1c00 };

	if (below(s, 8) == 0)
		return random_odd(&s->random);
	return areas[below(s, 10)] + below(s, 64) * (below(s, 8) ? 4 : 1);
}

static void privileged(struct state *s)
{
	static const uint32_t bases[][2] = {
		/* mask of random bits, fixed bits */
		{ 0x000003ff, 0x06480000 }, /* IOCSR, see below */
		{ 0x003fffff, 0x06000000 }, /* CACOP */
		{ 0x00007fff, 0x06488000 }, /* IDLE */
		{ 0x00000000, 0x06483800 }, /* ERTN */
		{ 0x00007fff, 0x002a0000 }, /* BREAK */
		{ 0x00007fff, 0x002b0000 }, /* SYSCALL */
		{ 0x00ffffff, 0x05000000 }, /* GCSR */
		{ 0x0003ffff, 0x06480000 }, /* all near IOCSR and TLB */
	};
	uint64_t regs[32];

	for (unsigned i = 0; i < BATCH; i++) {
		unsigned kind = below(s, 16);
		uint32_t word;

		random_regs(s, regs);
		if (kind >= 8)
			kind = 0;
		word = bases[kind][1] | ((uint32_t)next(s) & bases[kind][0]);
		if (kind == 0) {
			word |= below(s, 8) << 10;
			regs[12] = random_iocsr(s);
			word = (word & ~0x3e0u) | 12 << 5;
		}
		if (writes_fixed(word))
			word ^= 16;
		operate(s, word, regs);
	}
}

static uint64_t random_device(struct state *s)
{
	const struct region areas[] = {
		{ machine.uart.base, 0x100 },
		{ machine.rtc.base, 0x100 },
		{ 0x10000000, 0x400 },
		{ 0x1c000000, 0x2000 },
		{ 0x1fe00000, 0x1000 },
		{ 0x20000000, 0x10000000 },
		{ 0x10000000, 0xd0000 },
	};
	const struct region *area = &areas[below(s, 7)];
	uint64_t addr = area->base + below(s, (unsigned)area->size);

	/* The console stays readable most of the time. */
	if (addr == machine.uart.base && below(s, 16))
		addr += UART_LSR;
	return below(s, 4) ? addr & ~3ull : addr;
}

/* Loads and stores of all kinds, from and to $t0. */
static void devices(struct state *s)
{
	static const uint32_t words[][2] = {
		{ 0x07c00000, 0x28000000 }, /* 12-bit offset */
		{ 0x03000000, 0x24000000 }, /* LDPTR, STPTR */
		{ 0x007c7c00, 0x38000000 }, /* register offset */
		{ 0x03000000, 0x20000000 }, /* LL, SC */
		{ 0x001f8000, 0x38600000 }, /* atomics */
	};
	uint64_t regs[32];

	for (unsigned i = 0; i < BATCH; i++) {
		unsigned kind = below(s, 8);
		uint32_t word;

		random_regs(s, regs);
		if (kind >= 5)
			kind = 0;
		word = words[kind][1] | ((uint32_t)next(s) & words[kind][0]);
		regs[12] = random_device(s) | IO_WINDOW;
		operate(s, word | 12 << 5 | random_rd(s), regs);
	}
}

static void calls(struct state *s)
{
	uint64_t regs[32];

	for (unsigned i = 0; i < BATCH; i++) {
		uint32_t word = HVCL | (below(s, 4) ? 0 : below(s, 0x8000));

		random_regs(s, regs);
		do
			regs[4] = (below(s, 4) ? NESTLING_VERSION & ~31u
					       : random_odd(&s->random)) +
				  below(s, 32);
		while ((uint32_t)regs[4] == NESTLING_EXIT);
		operate(s, word, regs);
	}
}

/* --- level 3 -------------------------------------------------------------- */

/* Random, but weighted to groups of which random words find little. */
static uint32_t random_word(struct state *s)
{
	static const uint32_t bases[][2] = {
		{ 0xffffffff, 0 },
		{ 0x07ffffff, 0x28000000 }, /* loads and stores */
		{ 0x007fffff, 0x38000000 }, /* with a register, atomics */
		{ 0x03ffffff, 0x20000000 }, /* LL, SC */
		{ 0x03ffffff, 0x04000000 }, /* CSR */
		{ 0x007fffff, 0x06000000 }, /* privileged */
		{ 0x000fffff, 0x00200000 }, /* among them HVCL, SYSCALL */
		{ 0x3fffffff, 0x40000000 }, /* branches */
	};
	unsigned kind = below(s, 2) ? 0 : below(s, 8);

	return ((uint32_t)next(s) & bases[kind][0]) | bases[kind][1];
}

static void fill_user(void)
{
	uint32_t *code = user_code[vcpu_id()];

	for (unsigned i = 0; i < 1024; i++)
		code[i] = SYSCALL;
	for (unsigned i = 1; i < 32; i++)
		code[i] = LOAD(i);
	code[4] = LOAD(1);	/* its own comes last */
	code[32] = LOAD(4);
	for (unsigned i = 33; i < WORD_AT; i++)
		code[i] = 0x03400000;	/* nop */
	code[0] = code[33];
}

static void level3(struct state *s)
{
	unsigned id = vcpu_id();
	uint64_t *data = user_data[id];

	fill_user();
	for (unsigned i = 0; i < BATCH; i++) {
		const uint64_t args[2] = { user_va(1), 0 };

		random_regs(s, data);
		user_code[id][WORD_AT] = random_word(s);
		isb();
		user_run(user_va(0), 3 | PRMD_PIE, args, 0);
	}
}

/* -------------------------------------------------------------------------- */

static const struct kind {
	char letter;
	unsigned weight;
	void (*batch)(struct state *s);
} kinds[] = {
	{ 'u', 35, level3 },
	{ 's', 20, csrs },
	{ 't', 15, tlbs },
	{ 'p', 15, privileged },
	{ 'm', 10, devices },
	{ 'c', 5, calls },
};

#define KINDS	(sizeof(kinds) / sizeof(kinds[0]))

static const struct kind *choose(struct state *s, const char *only)
{
	unsigned n = below(s, 100), i = 0;

	for (; n >= kinds[i].weight; i++)
		n -= kinds[i].weight;
	while (!strchr(only, kinds[i].letter))
		i = (i + 1) % KINDS;
	return &kinds[i];
}

static void progress(void)
{
	uint64_t now_done = __atomic_add_fetch(&done_ops, BATCH,
					       __ATOMIC_RELAXED);

	if (now_done / PROGRESS != (now_done - BATCH) / PROGRESS)
		say("\nhostile: %lu operations", now_done);
}

static void prepare(void)
{
	unsigned id = vcpu_id();

	for (unsigned e = 1; e < CODES; e++) {
		trap_on(0, e, note);
		trap_on(3, e, note_user);
	}
	mmu_init_vcpu();
	states[id].root = csr_read(CSR_PGDL);
	mmu_map(user_va(0), (uint64_t)user_code[id] | MAP_USER);
	mmu_map(user_va(1), (uint64_t)user_data[id] | MAP_USER | TLBELO_NX);
}

static void run(void)
{
	static struct barrier barrier;
	struct state *s = &states[vcpu_id()];
	const char *only = arg_str("only", "ustpmc");

	s->random = random_start(arg_u64("seed", 1), vcpu_id());
	prepare();
	barrier_wait(&barrier, machine.nr_vcpus);
	while (__atomic_load_n(&done_ops, __ATOMIC_RELAXED) < total_ops) {
		const struct kind *kind = choose(s, only);

		if (trace)
			say("vcpu %u: %c, state %#lx", vcpu_id(), kind->letter,
			    s->random);
		make_sane(s);
		kind->batch(s);
		progress();
	}
	make_sane(s);
	timer_off(TIMER_VIRT);
	barrier_wait(&barrier, machine.nr_vcpus);
}

static void summary(void)
{
	uint64_t passed = 0;

	for (unsigned id = 0; id < MAX_VCPUS; id++)
		passed += states[id].passed;
	say("hostile: %lu at level 0 went through", passed);
	for (unsigned c = 0; c < CODES; c++) {
		uint64_t sum = 0;

		for (unsigned id = 0; id < MAX_VCPUS; id++)
			sum += states[id].codes[c];
		if (sum)
			say("hostile: %lu exceptions of code %#x", sum, c);
	}
}

int main(int, char **)
{
	total_ops = arg_u64("ops", 1000000);
	trace = arg_u64("trace", 0);
	smp_boot(run);
	run();
	smp_join();
	say("\nhostile: done, %lu operations", done_ops);
	summary();
	return 0;
}
