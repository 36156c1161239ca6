// SPDX-License-Identifier: BSD-2-Clause
/*
 * What exits and refills cost, in instructions, under QEMU's icount, where one
 * tick of the counter is ten instructions: everything is done many times in a
 * loop, and the same loop without it is taken off. Lines as guest/bench has
 * them; all columns have the one value that there is.
 *
 * Arguments: run=exits, refill or smp (with two vCPUs).
 */
#include <stdio.h>
#include <string.h>
#include "guest.h"
#include "hcall.h"
#include "io.h"
#include "irq.h"
#include "smp.h"
#include "timer.h"
#include "trap.h"
#include "uart.h"

const bool trap_keeps_fp = false;

#define ROUNDS		1000
#define INSTRUCTIONS	10	/* per tick */
#define IPI		1

/* Ticks that `rounds` turns of a loop around the instructions take. */
#define TICKS(rounds, insns, arg)                                              \
	({                                                                     \
		uint64_t start_ = now();                                       \
                                                                               \
		for (uint64_t n_ = (rounds); n_; n_--)                         \
			asm volatile(insns ::"r"((uint64_t)(arg))              \
				     : "$a0", "$a1", "$a2", "$a3", "$t0",      \
				       "memory");                              \
		now() - start_;                                                \
	})

static uint64_t empty;		/* ticks of the loop alone */

static void report(const char *name, uint64_t value)
{
	printf("UB %s min %lu med %lu p90 %lu mean %lu max %lu n %u\n", name,
	       value, value, value, value, value, ROUNDS);
}

/* Instructions of one turn, to the nearest. */
static uint64_t each(uint64_t ticks, uint64_t less, uint64_t rounds)
{
	return ((ticks - less) * INSTRUCTIONS + rounds / 2) / rounds;
}

#define ROW(name, insns, arg)                                                  \
	report(name, each(TICKS(ROUNDS, insns, arg), empty, ROUNDS))

/* ---- one vCPU ------------------------------------------------------------ */

/*
 * Entry of exceptions while these rows run: notes the time in $r21, which no
 * compiled code uses, and takes the timer's interrupt back. $tp is free, too.
 */
asm(".text\n\t"
    ".balign 4096\n"
    "timer_vector:\n\t"
    "rdtime.d $r21, $zero\n\t"
    "li.w $tp, 1\n\t"
    "csrwr $tp, 0x44\n\t"
    "ertn");
extern char timer_vector[];

static uint64_t fired_at(void)
{
	uint64_t ticks;

	asm volatile("move %0, $r21" : "=r"(ticks)::"memory");
	return ticks;
}

/* From expiry to the first instruction of the handler, awake or asleep. */
static void timer_row(const char *name, bool sleep)
{
	uint64_t old = csr_write(CSR_EENTRY, (uint64_t)timer_vector);
	uint64_t late = 0;

	csr_write(CSR_ECFG, ESTAT_TI);
	for (unsigned i = 0; i < ROUNDS; i++) {
		uint64_t due;

		timer_at(TIMER_VIRT, now() + 1000);
		due = now() + csr_read(CSR_TVAL);
		asm volatile("move $r21, $zero");
		irq_enable();
		if (sleep)
			wfi();
		while (!fired_at())
			;
		irq_disable();
		late += fired_at() - due;
	}
	csr_write(CSR_ECFG, 0);
	csr_write(CSR_EENTRY, old);
	report(name, each(late, 0, ROUNDS));
}

/* An interrupt that the vCPU sends itself, seen in its status and cleared. */
static void self_ipi_row(void)
{
	uint64_t start;

	iocsr_write32(IOCSR_IPI_EN, 1u << IPI);
	start = now();
	for (unsigned i = 0; i < ROUNDS; i++) {
		sgi_to(vcpu_id(), IPI);
		while (!(csr_read(CSR_ESTAT) & ESTAT_IPI))
			;
		iocsr_write32(IOCSR_IPI_CLEAR, 1u << IPI);
	}
	report("self_ipi", each(now() - start, 0, ROUNDS));
	iocsr_write32(IOCSR_IPI_EN, 0);
}

static void run_exits(uint64_t boot)
{
	uint64_t lsr = uart_base() + UART_LSR;

	report("boot", boot * INSTRUCTIONS);
	ROW("hypercall", "move $a0, %0\n\thvcl 0", NESTLING_VERSION);
	ROW("csr_read", "csrrd $t0, 0x33", 0);
	ROW("csr_write", "csrwr $t0, 0x33", 0);
	ROW("iocsr_read", "iocsrrd.w $t0, %0", IOCSR_IPI_STATUS);
	ROW("mmio_read", "ld.bu $t0, %0, 0", lsr | IO_WINDOW);
	ROW("mmio_read_mapped", "ld.bu $t0, %0, 0", lsr);
	ROW("yield_alone", "move $a0, %0\n\thvcl 0", NESTLING_YIELD);
	timer_row("timer", false);
	timer_row("timer_idle", true);
	self_ipi_row();
}

/* ---- translation --------------------------------------------------------- */

/* Pages that all fall into one set of the TLB, many more than it has ways, so
 * that each access misses. */
#define PAGES		64
#define STRIDE		(2ull << 20)
#define KERNEL_VA	0xffff800000000000ull
#define PTE_RW		(TLBELO_V | TLBELO_D | TLBELO_MAT_CC | TLBELO_G)

alignas(4096) static uint64_t tables[3][512], last[PAGES][512];
extern uint64_t empty_root[512];

/* VA KERNEL_VA + i * STRIDE: page i of the heap. */
static void map_pages(uint64_t pa)
{
	for (unsigned i = 0; i < 3; i++)
		memcpy(tables[i], empty_root, sizeof(tables[i]));
	tables[0][KERNEL_VA >> 39 & 511] = (uint64_t)tables[1];
	tables[1][KERNEL_VA >> 30 & 511] = (uint64_t)tables[2];
	for (unsigned i = 0; i < PAGES; i++) {
		tables[2][(KERNEL_VA >> 21 & 511) + i] = (uint64_t)last[i];
		last[i][0] = (pa + i * PAGE_SIZE) | PTE_RW;
	}
	csr_write(CSR_PGDH, (uint64_t)tables[0]);
	asm volatile("invtlb 0, $zero, $zero" ::: "memory");
}

static uint64_t touch(uint64_t base)
{
	uint64_t start = now();

	for (unsigned round = 0; round < ROUNDS / PAGES; round++)
		for (unsigned i = 0; i < PAGES; i++)
			asm volatile("ld.d $t0, %0, 0" ::"r"(base + i * STRIDE)
				     : "$t0", "memory");
	return now() - start;
}

static uint64_t touch_one(uint64_t base)
{
	uint64_t start = now();

	for (unsigned round = 0; round < ROUNDS / PAGES; round++)
		for (unsigned i = 0; i < PAGES; i++)
			asm volatile("ld.d $t0, %0, 0" ::"r"(base) : "$t0",
								     "memory");
	return now() - start;
}

static void touch_row(const char *name, uint64_t base)
{
	uint64_t hits;

	touch(base);
	touch_one(base);
	hits = touch_one(base);
	report(name, each(touch(base), hits, ROUNDS / PAGES * PAGES));
}

/*
 * Through segment 0 the hypervisor has all it needs after the first time, and
 * only the CPU's TLB misses; in KERNEL_VA the guest's own TLB misses, too.
 */
static void run_refill(void)
{
	uint64_t base = ((uint64_t)image_end + STRIDE - 1) & ~(STRIDE - 1);

	touch_row("tlb_refill_hit", base);
	map_pages(base);
	touch_row("tlb_refill", KERNEL_VA);
}

/* ---- two vCPUs ----------------------------------------------------------- */

static volatile bool finished;

/* Sleeps until an IPI has come, with interrupts masked. */
static void await_ipi(void)
{
	while (!(csr_read(CSR_ESTAT) & ESTAT_IPI))
		wfi();
	iocsr_write32(IOCSR_IPI_CLEAR, 1u << IPI);
}

static void listen(void)
{
	iocsr_write32(IOCSR_IPI_EN, 1u << IPI);
	csr_write(CSR_ECFG, ESTAT_IPI);
}

/* Answers from its sleep; or gives the CPU back at once. */
static void sleeper(void)
{
	listen();
	while (!finished) {
		await_ipi();
		sgi_to(0, IPI);
	}
}

static void yielder(void)
{
	while (!finished)
		nestling(NESTLING_YIELD, 0);
}

static uint64_t ping_pong(void)
{
	uint64_t start = now();

	for (unsigned i = 0; i < ROUNDS; i++) {
		sgi_to(1, IPI);
		await_ipi();
	}
	return now() - start;
}

static void end_other(void)
{
	finished = true;
	sgi_to(1, IPI);
	smp_join();
	finished = false;
}

static void run_smp(void)
{
	uint64_t start;

	listen();
	vcpu_start(1, sleeper);
	ping_pong();
	report("ipi", each(ping_pong(), 0, ROUNDS));
	end_other();
	vcpu_start(1, yielder);
	nestling(NESTLING_YIELD, 0);
	start = now();
	for (unsigned i = 0; i < ROUNDS; i++)
		nestling(NESTLING_YIELD, 0);
	report("yield_round", each(now() - start, 0, ROUNDS));
	end_other();
}

int main(int, char **)
{
	uint64_t boot = now();
	const char *run = arg_str("run", "exits");

	on_nestling();
	empty = TICKS(ROUNDS, "", 0);
	if (strcmp(run, "refill") == 0)
		run_refill();
	else if (strcmp(run, "smp") == 0)
		run_smp();
	else
		run_exits(boot);
	return 0;
}
