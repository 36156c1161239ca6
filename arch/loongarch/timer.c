// SPDX-License-Identifier: BSD-2-Clause
/*
 * Host time: the stable counter, and the CPU's own constant timer, which
 * counts the same ticks down to an interrupt. The deadline that is set is
 * kept per CPU, so that asking for the same again costs no register write. No
 * lock: the timer is the CPU's own.
 */
#include "arch.h"
#include "cpu.h"
#include "csr.h"
#include "host.h"
#include "hostirq.h"

/* CPUCFG words 4 and 5: crystal frequency, multiplier and divisor. */
#define CPUCFG_CC_FREQ	4
#define CPUCFG_CC_RATIO	5

#define TICK_UNIT	4	/* TCFG has no bits for less */

static uint64_t hz;
static uint64_t longest;	/* that the timer can count */

void timer_discover(void)
{
	uint64_t freq = cpucfg(CPUCFG_CC_FREQ);
	uint32_t ratio = cpucfg(CPUCFG_CC_RATIO);
	uint64_t bits = field(csr_read(CSR_PRCFG1), 11, 4) + 1;

	if (!freq || !(ratio & 0xffff) || !(ratio >> 16))
		config_error("CPUCFG: the stable counter has no frequency");
	hz = freq * (ratio & 0xffff) / (ratio >> 16);
	longest = BITS(min_u64(bits, 48) - 1, 0) & TCFG_INIT;
}

void timer_cpu_init(void)
{
	csr_write(CSR_TCFG, 0);
	csr_write(CSR_TICLR, TICLR_CLR);
	csr_write(CSR_CNTC, 0);		/* the same time on all CPUs */
	this_cpu()->arch.host.timer_deadline = UINT64_MAX;
}

uint64_t arch_time(void)
{
	uint64_t t;

	__asm__ volatile("rdtime.d %0, $zero" : "=r"(t) : : "memory");
	return t;
}

uint64_t arch_time_hz(void)
{
	return hz;
}

void arch_timer_set(uint64_t deadline)
{
	struct host_cpu *h = &this_cpu()->arch.host;
	uint64_t now, ticks;

	if (h->timer_deadline == deadline)
		return;
	h->timer_deadline = deadline;
	csr_write(CSR_TCFG, 0);
	/* What fired for an older deadline is dealt with by the new one. */
	csr_write(CSR_TICLR, TICLR_CLR);
	if (deadline == UINT64_MAX)
		return;
	now = arch_time();
	ticks = deadline > now ? min_u64(deadline - now, longest) : 0;
	ticks = max_u64(align_up(ticks, TICK_UNIT), TICK_UNIT);
	csr_write(CSR_TCFG, min_u64(ticks, longest) | TCFG_EN);
}

void timer_by(uint64_t deadline)
{
	if (deadline < this_cpu()->arch.host.timer_deadline)
		arch_timer_set(deadline);
}

void timer_irq(void)
{
	csr_write(CSR_TICLR, TICLR_CLR);
	this_cpu()->arch.host.timer_deadline = UINT64_MAX;
	host_timer();
}
