// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arm PrimeCell RTC PL031 (Arm DDI 0224): a counter of seconds that the guest
 * may set, and a match register with an interrupt. The counter starts from the
 * machine's clock, or from 0 at boot where there is none. Everything is
 * protected by the VM lock. While an unmasked match is to come, a hypervisor
 * timer looks at the counter at least once a second; it is armed by at most
 * one CPU at a time (waiting), and never moved from another one.
 */
#include "dev.h"

#include <string.h>

#include <libfdt.h>

#include "arch.h"
#include "cpu.h"
#include "gfdt.h"
#include "lock.h"
#include "timer.h"
#include "vm.h"

enum {
	REG_DR = 0x00, REG_MR = 0x04, REG_LR = 0x08, REG_CR = 0x0c,
	REG_IMSC = 0x10, REG_RIS = 0x14, REG_MIS = 0x18, REG_ICR = 0x1c,
	REG_ID = 0xfe0,
};

struct pl031 {
	/* first: neither moves nor changes with a reset */
	struct timer timer;
	struct device *dev;
	bool waiting;		/* timer is armed, or fires just now */
	/* from here on cleared by a reset */
	bool armed;		/* a match is to come, at second @due */
	bool imsc, ris;
	uint32_t offset;	/* DR minus clock() */
	uint32_t mr, lr;
	uint64_t due;		/* clock() value of the match */
};

static_assert(sizeof(struct pl031) <= DEV_STATE_MAX);

static struct pl031 *state(struct device *d)
{
	return (void *)d->state;
}

/* Seconds, wide enough never to wrap. */
static uint64_t clock(void)
{
	uint64_t now = arch_wallclock();

	return now ? now : arch_time() / arch_time_hz();
}

static uint32_t counter(const struct pl031 *s)
{
	return (uint32_t)clock() + s->offset;
}

/* The match comes when the 32-bit counter next equals the match register. */
static void arm(struct pl031 *s)
{
	s->armed = true;
	s->due = clock() + (uint32_t)(s->mr - counter(s));
}

/* Brings state, line and timer up to date. */
static void update(struct device *d)
{
	struct pl031 *s = state(d);

	if (s->armed && clock() >= s->due) {
		s->armed = false;
		s->ris = true;
	}
	dev_irq(d, s->ris && s->imsc);
	if (s->armed && s->imsc && !s->waiting) {
		s->waiting = true;
		timer_set(&this_cpu()->timers, &s->timer,
			  arch_time() + arch_time_hz());
	}
}

static void fire(struct timer *t)
{
	struct pl031 *s = container_of(t, struct pl031, timer);
	struct vm *vm = s->dev->vm;

	spin_lock(&vm->lock);
	s->waiting = false;
	update(s->dev);
	spin_unlock(&vm->lock);
}

static uint32_t read_reg(const struct pl031 *s, uint64_t off)
{
	static const uint8_t id[] = { 0x31, 0x10, 0x14, 0x00,
				      0x0d, 0xf0, 0x05, 0xb1 };

	switch (off) {
	case REG_DR:
		return counter(s);
	case REG_MR:
		return s->mr;
	case REG_LR:
		return s->lr;
	case REG_CR:
		return 1;	/* always on */
	case REG_IMSC:
		return s->imsc;
	case REG_RIS:
		return s->ris;
	case REG_MIS:
		return s->ris && s->imsc;
	default:
		break;
	}
	return off >= REG_ID && off < REG_ID + 4 * sizeof(id) ?
	       id[(off - REG_ID) / 4] : 0;
}

static uint64_t pl031_read(struct device *d, uint64_t off, unsigned int)
{
	update(d);
	return read_reg(state(d), off & ~UINT64_C(3)) >> off % 4 * 8;
}

static void pl031_write(struct device *d, uint64_t off, unsigned int,
			uint64_t val)
{
	struct pl031 *s = state(d);

	switch (off) {
	case REG_MR:
		s->mr = (uint32_t)val;
		arm(s);
		break;
	case REG_LR:
		s->lr = (uint32_t)val;
		s->offset = s->lr - (uint32_t)clock();
		if (s->armed)
			arm(s);
		break;
	case REG_IMSC:
		s->imsc = val & 1;
		break;
	case REG_ICR:
		if (val & 1)
			s->ris = false;
		break;
	default:
		break;
	}
	update(d);
}

static void pl031_reset(struct device *d)
{
	struct pl031 *s = state(d);

	if (!s->dev) {
		s->dev = d;
		timer_init(&s->timer, fire);
	}
	memset((char *)s + offsetof(struct pl031, armed), 0,
	       sizeof(*s) - offsetof(struct pl031, armed));
}

static int pl031_fdt(struct device *d, void *fdt)
{
	static const char compatible[] = "arm,pl031\0arm,primecell";
	static const char clocks[] = "apb_pclk";
	int err = gfdt_device(d, fdt, compatible, sizeof(compatible));

	if (!err)
		err = gfdt_clocks(fdt, clocks, sizeof(clocks));
	return err ? err : fdt_end_node(fdt);
}

const struct dev_ops pl031_ops = {
	.name = "pl031",
	.state_size = sizeof(struct pl031),
	.clocked = true,
	.read = pl031_read,
	.write = pl031_write,
	.reset = pl031_reset,
	.fdt = pl031_fdt,
};
