// SPDX-License-Identifier: BSD-2-Clause
/*
 * The generic timer: the counter in ticks, and the two EL1 timers of the
 * calling vCPU.
 */
#ifndef GUEST_TIMER_H
#define GUEST_TIMER_H

#include <stdint.h>
#include "arm64/sysreg.h"
#include "guest.h"

enum timer {
	TIMER_VIRT,
	TIMER_PHYS,
};

#define TIMER_ENABLE	1u
#define TIMER_IMASK	2u
#define TIMER_ISTATUS	4u

/* Ticks per second. */
static inline uint64_t timer_freq(void)
{
	return read_sysreg(cntfrq_el0);
}

/* The virtual counter, not read early. */
static inline uint64_t now(void)
{
	isb();
	return read_sysreg(cntvct_el0);
}

/* The counter that a timer compares with. */
static inline uint64_t timer_now(enum timer timer)
{
	isb();
	return timer == TIMER_VIRT ? read_sysreg(cntvct_el0)
				   : read_sysreg(cntpct_el0);
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

static inline unsigned timer_irq(enum timer timer)
{
	return timer == TIMER_VIRT ? machine.vtimer_irq : machine.ptimer_irq;
}

/* Busy wait. */
static inline void delay_us(uint64_t us)
{
	uint64_t end = now() + us_to_ticks(us);

	while (now() < end)
		;
}

static inline void timer_ctl(enum timer timer, uint64_t ctl)
{
	if (timer == TIMER_VIRT)
		write_sysreg(ctl, cntv_ctl_el0);
	else
		write_sysreg(ctl, cntp_ctl_el0);
	isb();
}

static inline uint64_t timer_read_ctl(enum timer timer)
{
	isb();
	return timer == TIMER_VIRT ? read_sysreg(cntv_ctl_el0)
				   : read_sysreg(cntp_ctl_el0);
}

static inline void timer_cval(enum timer timer, uint64_t cval)
{
	if (timer == TIMER_VIRT)
		write_sysreg(cval, cntv_cval_el0);
	else
		write_sysreg(cval, cntp_cval_el0);
	isb();
}

static inline uint64_t timer_read_cval(enum timer timer)
{
	return timer == TIMER_VIRT ? read_sysreg(cntv_cval_el0)
				   : read_sysreg(cntp_cval_el0);
}

static inline void timer_tval(enum timer timer, uint64_t tval)
{
	if (timer == TIMER_VIRT)
		write_sysreg(tval, cntv_tval_el0);
	else
		write_sysreg(tval, cntp_tval_el0);
	isb();
}

static inline uint64_t timer_read_tval(enum timer timer)
{
	isb();
	return timer == TIMER_VIRT ? read_sysreg(cntv_tval_el0)
				   : read_sysreg(cntp_tval_el0);
}

static inline void timer_off(enum timer timer)
{
	timer_ctl(timer, 0);
}

/* Arms a timer for an absolute count, interrupt unmasked. */
static inline void timer_at(enum timer timer, uint64_t cval)
{
	timer_cval(timer, cval);
	timer_ctl(timer, TIMER_ENABLE);
}

#endif
