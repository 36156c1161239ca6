// SPDX-License-Identifier: BSD-2-Clause
/*
 * The stable counter in ticks, and the timer of the calling vCPU. There is one
 * timer; both names of the other architecture's mean it.
 */
#ifndef GUEST_LOONGARCH_TIMER_H
#define GUEST_LOONGARCH_TIMER_H

#include <stdint.h>
#include "csr.h"
#include "guest.h"

enum timer {
	TIMER_VIRT,
	TIMER_PHYS,
};

/* Ticks per second: CPUCFG words 4 and 5. */
static inline uint64_t timer_freq(void)
{
	return (uint64_t)cpucfg(4) * (cpucfg(5) & 0xffff) / (cpucfg(5) >> 16);
}

static inline uint64_t now(void)
{
	uint64_t ticks;

	asm volatile("rdtime.d %0, $zero" : "=r"(ticks)::"memory");
	return ticks;
}

static inline uint64_t timer_now([[maybe_unused]] enum timer timer)
{
	return now();
}

static inline uint64_t us_to_ticks(uint64_t us)
{
	return us * (timer_freq() / 10000) / 100;
}

static inline uint64_t ticks_to_us(uint64_t ticks)
{
	return ticks / (timer_freq() / 10000) * 100 +
	       ticks % (timer_freq() / 10000) * 100 / (timer_freq() / 10000);
}

static inline unsigned timer_irq([[maybe_unused]] enum timer timer)
{
	return machine.vtimer_irq;
}

/* Busy wait. */
static inline void delay_us(uint64_t us)
{
	uint64_t end = now() + us_to_ticks(us);

	while (now() < end)
		;
}

/* Stops the timer and takes its interrupt back. */
static inline void timer_off([[maybe_unused]] enum timer timer)
{
	csr_write(CSR_TCFG, 0);
	csr_write(CSR_TICLR, TICLR_CLR);
}

/* One interrupt at an absolute count, or up to 3 ticks later. */
static inline void timer_at([[maybe_unused]] enum timer timer, uint64_t cval)
{
	uint64_t t = now();
	uint64_t ticks = cval > t ? (cval - t + 3) & ~3ull : 4;

	csr_write(CSR_TCFG, 0);
	csr_write(CSR_TICLR, TICLR_CLR);
	csr_write(CSR_TCFG, ticks | TCFG_EN);
}

#endif
