// SPDX-License-Identifier: BSD-2-Clause
/*
 * Real-time clock of the Loongson 7A1000 bridge (its user manual, chapter on
 * the RTC): TOY, a calendar, and RTC, a counter at 32768 Hz. Both can be set
 * and stand still until the guest enables them, as after the loss of power;
 * the calendar starts from the machine's clock, or from 1970 where there is
 * none. Without alarms: the match registers only store, the interrupt of the
 * device tree never comes. Everything is protected by the VM lock.
 */
#include "dev.h"

#include <string.h>

#include <libfdt.h>

#include "arch.h"
#include "gfdt.h"

enum {
	REG_TOY_TRIM = 0x20, REG_TOY_WRITE0 = 0x24, REG_TOY_WRITE1 = 0x28,
	REG_TOY_READ0 = 0x2c, REG_TOY_READ1 = 0x30, REG_TOY_MATCH0 = 0x34,
	REG_TOY_MATCH2 = 0x3c, REG_CTRL = 0x40, REG_RTC_TRIM = 0x60,
	REG_RTC_WRITE = 0x64, REG_RTC_READ = 0x68, REG_RTC_MATCH0 = 0x6c,
	REG_RTC_MATCH2 = 0x74, REGS_END = 0x78,
};

#define CTRL_EO		BIT(8)		/* oscillator */
#define CTRL_TOYEN	BIT(11)
#define CTRL_RTCEN	BIT(13)
#define RTC_HZ		32768
#define DAY		86400
#define YEAR0		1900		/* of the year register */
#define YEARS		8100		/* its values, so that nothing wraps */
/* Dates are counted from 1600, where a cycle of the calendar begins. */
#define CYCLE0		1600
#define CYCLE_YEARS	400
#define CYCLE_DAYS	146097
#define DAYS_TO_1970	135140

struct ls7a_rtc {
	uint32_t regs[REGS_END / 4];	/* those that only store, and CTRL */
	int64_t toy;			/* calendar minus clock(), seconds */
	uint32_t rtc;			/* counter minus ticks() */
};

static_assert(sizeof(struct ls7a_rtc) <= DEV_STATE_MAX);

struct date {
	uint32_t year, month, day, hour, min, sec;	/* month, day from 1 */
};

static struct ls7a_rtc *state(struct device *d)
{
	return (void *)d->state;
}

static bool enabled(const struct ls7a_rtc *s, uint64_t unit)
{
	uint64_t want = CTRL_EO | unit;

	return (s->regs[REG_CTRL / 4] & want) == want;
}

/* ---- calendar ---------------------------------------------------------- */

static bool is_leap(uint32_t year)
{
	return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static uint32_t month_days(uint32_t year, uint32_t month)
{
	static const uint8_t days[] = { 31, 28, 31, 30, 31, 30,
					31, 31, 30, 31, 30, 31 };

	return days[month - 1] + (month == 2 && is_leap(year));
}

static uint32_t year_days(uint32_t year)
{
	return 365 + is_leap(year);
}

/* Seconds since the begin of CYCLE0. Fields out of range carry over. */
static uint64_t date_to_seconds(const struct date *d)
{
	uint32_t cycles = (d->year - CYCLE0) / CYCLE_YEARS;
	uint64_t days = (uint64_t)cycles * CYCLE_DAYS;

	for (uint32_t y = CYCLE0 + cycles * CYCLE_YEARS; y < d->year; y++)
		days += year_days(y);
	for (uint32_t m = 1; m < d->month && m <= 12; m++)
		days += month_days(d->year, m);
	days += d->day ? d->day - 1 : 0;
	return days * DAY + d->hour * 3600 + d->min * 60 + d->sec;
}

static struct date seconds_to_date(uint64_t seconds)
{
	uint32_t rest = (uint32_t)(seconds % DAY);
	uint64_t days = seconds / DAY;
	struct date d = {
		.year = CYCLE0 +
			(uint32_t)(days / CYCLE_DAYS) * CYCLE_YEARS,
		.month = 1,
		.hour = rest / 3600,
		.min = rest / 60 % 60,
		.sec = rest % 60,
	};

	days %= CYCLE_DAYS;
	for (; days >= year_days(d.year); d.year++)
		days -= year_days(d.year);
	for (; days >= month_days(d.year, d.month); d.month++)
		days -= month_days(d.year, d.month);
	d.day = (uint32_t)days + 1;
	return d;
}

/* Now, in seconds since the begin of CYCLE0. */
static uint64_t clock(void)
{
	uint64_t now = arch_wallclock();

	if (!now)
		now = arch_time() / arch_time_hz();
	return (uint64_t)DAYS_TO_1970 * DAY + now;
}

static struct date toy_date(const struct ls7a_rtc *s)
{
	return seconds_to_date(clock() + (uint64_t)s->toy);
}

static void toy_set(struct ls7a_rtc *s, const struct date *d)
{
	s->toy = (int64_t)(date_to_seconds(d) - clock());
}

/* Month, day, hour, minute, second, tenths (always 0). */
static uint32_t toy_word(const struct date *d)
{
	return d->month << 26 | d->day << 21 | d->hour << 16 | d->min << 10 |
	       d->sec << 4;
}

static void toy_write(struct ls7a_rtc *s, uint64_t off, uint32_t val)
{
	struct date d = toy_date(s);

	if (off == REG_TOY_WRITE1) {
		d.year = YEAR0 + val % YEARS;
	} else {
		d.month = val >> 26;
		d.day = val >> 21 & 0x1f;
		d.hour = val >> 16 & 0x1f;
		d.min = val >> 10 & 0x3f;
		d.sec = val >> 4 & 0x3f;
	}
	toy_set(s, &d);
}

/* ---- counter ----------------------------------------------------------- */

static uint32_t ticks(void)
{
	uint64_t now = arch_time(), hz = arch_time_hz();

	return (uint32_t)(now / hz * RTC_HZ + now % hz * RTC_HZ / hz);
}

/* ---- registers --------------------------------------------------------- */

static bool is_plain(uint64_t off)
{
	return off == REG_TOY_TRIM || off == REG_RTC_TRIM || off == REG_CTRL ||
	       (off >= REG_TOY_MATCH0 && off <= REG_TOY_MATCH2) ||
	       (off >= REG_RTC_MATCH0 && off <= REG_RTC_MATCH2);
}

static uint32_t read_reg(struct ls7a_rtc *s, uint64_t off)
{
	struct date d;

	switch (off) {
	case REG_TOY_READ0:
	case REG_TOY_READ1:
		if (!enabled(s, CTRL_TOYEN))
			return 0;
		d = toy_date(s);
		return off == REG_TOY_READ0 ? toy_word(&d) : d.year - YEAR0;
	case REG_RTC_READ:
		return enabled(s, CTRL_RTCEN) ? ticks() + s->rtc : 0;
	default:
		return is_plain(off) ? s->regs[off / 4] : 0;
	}
}

static uint64_t ls7a_rtc_read(struct device *d, uint64_t off, unsigned int)
{
	return read_reg(state(d), off & ~UINT64_C(3)) >> off % 4 * 8;
}

static void ls7a_rtc_write(struct device *d, uint64_t off, unsigned int size,
			   uint64_t val)
{
	struct ls7a_rtc *s = state(d);

	if (size != 4)
		return;
	switch (off) {
	case REG_TOY_WRITE0:
	case REG_TOY_WRITE1:
		if (enabled(s, CTRL_TOYEN))
			toy_write(s, off, (uint32_t)val);
		break;
	case REG_RTC_WRITE:
		if (enabled(s, CTRL_RTCEN))
			s->rtc = (uint32_t)val - ticks();
		break;
	default:
		if (is_plain(off))
			s->regs[off / 4] = (uint32_t)val;
		break;
	}
}

static void ls7a_rtc_reset(struct device *d)
{
	memset(state(d), 0, sizeof(struct ls7a_rtc));
}

static int ls7a_rtc_fdt(struct device *d, void *fdt)
{
	static const char compatible[] = "loongson,ls7a-rtc";
	int err = gfdt_device(d, fdt, compatible, sizeof(compatible));

	return err ? err : fdt_end_node(fdt);
}

const struct dev_ops ls7a_rtc_ops = {
	.name = "rtc",
	.state_size = sizeof(struct ls7a_rtc),
	.read = ls7a_rtc_read,
	.write = ls7a_rtc_write,
	.reset = ls7a_rtc_reset,
	.fdt = ls7a_rtc_fdt,
};
