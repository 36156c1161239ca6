// SPDX-License-Identifier: BSD-2-Clause
/*
 * How one vCPU's interrupts behave in a GICv3: pending and disabled, disabled
 * while active, the same SGI again from its handler, priorities with more
 * pending than there are list registers, preemption, the priority mask and
 * sleep, group enables, EOImode 1, and a level-triggered line.
 *
 * Arguments: none.
 */
#include <stdio.h>
#include "check.h"
#include "io.h"
#include "irq.h"
#include "smp.h"
#include "timer.h"

#define SGI	3
#define PPI	22	/* no device drives it */
#define SPI	48	/* nor these, up to SPI + 20 */

/* PL031. */
#define RTC_DR	0x00
#define RTC_MR	0x04
#define RTC_IMSC 0x10
#define RTC_RIS	0x14
#define RTC_ICR	0x1c

static const unsigned kinds[] = { SGI, PPI, SPI };
static const char *const kind_names[] = { "sgi", "ppi", "spi" };

/* What the handlers saw, in order; what they do besides. */
static volatile unsigned seen[64];
static volatile unsigned nr_seen;
static void (*volatile action)(unsigned intid);

static void note(unsigned intid)
{
	if (nr_seen < 64)
		seen[nr_seen] = intid;
	nr_seen++;
	if (action)
		action(intid);
}

/* Lets interrupts in for a moment; how many came. */
static unsigned settle(void)
{
	nr_seen = 0;
	irq_enable();
	delay_us(300);
	irq_disable();
	return nr_seen;
}

static void pend(unsigned intid)
{
	irq_write_bit(GICD_ISPENDR, intid);
}

static void setup(void)
{
	for (unsigned i = 0; i < 3; i++)
		irq_on(kinds[i], note);
	for (unsigned i = 0; i < 20; i++) {
		irq_edge(SPI + i, true);
		io_write64(machine.gicd.base + GICD_IROUTER + (SPI + i) * 8,
			   read_sysreg(mpidr_el1) & MPIDR_AFF);
		irq_handler(SPI + i, note);
	}
}

/* --- states --------------------------------------------------------------- */

static void test_pending_disabled(unsigned id, const char *name)
{
	irq_disable_id(id);
	pend(id);
	CHECK_EQ(settle(), 0, "%s-disabled-held", name);
	CHECK_EQ(irq_bit(GICD_ISPENDR, id), 1, "%s-disabled-pending", name);
	irq_enable_id(id);
	CHECK_EQ(settle(), 1, "%s-enabled-delivered-once", name);
	CHECK_EQ(irq_bit(GICD_ISPENDR, id), 0, "%s-not-pending-after", name);

	irq_disable_id(id);
	pend(id);
	irq_write_bit(GICD_ICPENDR, id);
	CHECK_EQ(irq_bit(GICD_ISPENDR, id), 0, "%s-icpendr", name);
	irq_enable_id(id);
	CHECK_EQ(settle(), 0, "%s-cleared-not-delivered", name);
}

static void disable_in_handler(unsigned id)
{
	irq_disable_id(id);
}

static void test_disabled_while_active(unsigned id, const char *name)
{
	action = disable_in_handler;
	pend(id);
	CHECK_EQ(settle(), 1, "%s-disable-in-handler", name);
	action = nullptr;
	CHECK_EQ(irq_bit(GICD_ISACTIVER, id), 0, "%s-eoi-when-disabled", name);
	irq_enable_id(id);
	pend(id);
	CHECK_EQ(settle(), 1, "%s-comes-again", name);
}

static volatile bool active_seen, pending_seen;

static void pend_self(unsigned id)
{
	if (nr_seen > 1)
		return;
	pend(id);
	active_seen = irq_bit(GICD_ISACTIVER, id);
	pending_seen = irq_bit(GICD_ISPENDR, id);
}

static void send_self(unsigned id)
{
	if (nr_seen == 1)
		sgi_to(read_sysreg(mpidr_el1), id);
}

/* Active and pending: exactly one more after the EOI. */
static void test_again(unsigned id, const char *name)
{
	action = pend_self;
	pend(id);
	CHECK_EQ(settle(), 2, "%s-pended-in-handler", name);
	CHECK(active_seen && pending_seen, "%s-active-and-pending", name);
	action = nullptr;
}

static void pend_and_disable(unsigned id)
{
	if (nr_seen > 1)
		return;
	pend(id);
	irq_disable_id(id);
}

/* Active, pending and disabled: nothing after the EOI until it is enabled. */
static void test_again_disabled(unsigned id, const char *name)
{
	action = pend_and_disable;
	pend(id);
	CHECK_EQ(settle(), 1, "%s-pended-and-disabled-is-held", name);
	action = nullptr;
	CHECK_EQ(irq_bit(GICD_ISPENDR, id), 1, "%s-held-is-pending", name);
	irq_enable_id(id);
	CHECK_EQ(settle(), 1, "%s-held-comes-when-enabled", name);
}

static void test_self_sgi(void)
{
	sgi_to(read_sysreg(mpidr_el1), SGI);
	CHECK_EQ(irq_bit(GICD_ISPENDR, SGI), 1, "self-sgi-pending");
	sgi_to(read_sysreg(mpidr_el1), SGI);
	CHECK_EQ(settle(), 1, "self-sgi-twice-is-once");
	action = send_self;
	sgi_to(read_sysreg(mpidr_el1), SGI);
	CHECK_EQ(settle(), 2, "self-sgi-in-handler");
	action = nullptr;
	sgi_others(SGI);
	CHECK_EQ(settle(), 0, "sgi-to-others-not-to-self");
}

static void test_activate_by_hand(unsigned id, const char *name)
{
	irq_write_bit(GICD_ISACTIVER, id);
	CHECK_EQ(irq_bit(GICD_ISACTIVER, id), 1, "%s-isactiver", name);
	pend(id);
	CHECK_EQ(settle(), 0, "%s-active-is-held", name);
	irq_write_bit(GICD_ICACTIVER, id);
	CHECK_EQ(settle(), 1, "%s-icactiver-lets-go", name);
}

/* --- priorities ----------------------------------------------------------- */

static void test_order(unsigned count)
{
	unsigned wrong = 0, last = 0;

	for (unsigned i = 0; i < count; i++) {
		irq_priority(SPI + i, (i * 7 % 11 + 3) << 4);
		irq_enable_id(SPI + i);
		pend(SPI + i);
	}
	CHECK_EQ(settle(), count, "%u-pending-all-come-once", count);
	for (unsigned i = 0; i < nr_seen && i < 64; i++) {
		unsigned prio = ((seen[i] - SPI) * 7 % 11 + 3) << 4;

		wrong += prio < last;
		last = prio;
		for (unsigned k = 0; k < i; k++)
			wrong += seen[k] == seen[i];
	}
	CHECK_EQ(wrong, 0, "%u-pending-in-order", count);
	for (unsigned i = 0; i < count; i++) {
		irq_priority(SPI + i, IRQ_PRIO);
		irq_disable_id(SPI + i);
	}
}

static void pend_once_more(unsigned id)
{
	unsigned times = 0;

	for (unsigned i = 0; i < nr_seen && i < 64; i++)
		times += seen[i] == id;
	if (times == 1)
		pend(id);
}

/* Each of 20 comes again from its own handler, the others still pending. */
static void test_all_again(void)
{
	unsigned wrong = 0;

	action = pend_once_more;
	for (unsigned i = 0; i < 20; i++) {
		irq_enable_id(SPI + i);
		pend(SPI + i);
	}
	CHECK_EQ(settle(), 40, "20-pending-all-come-twice");
	action = nullptr;
	for (unsigned i = 0; i < 20; i++) {
		unsigned times = 0;

		for (unsigned k = 0; k < nr_seen && k < 64; k++)
			times += seen[k] == SPI + i;
		wrong += times != 2;
		irq_disable_id(SPI + i);
	}
	CHECK_EQ(wrong, 0, "20-pending-twice-each");
}

static volatile unsigned inner;

/* Runs nested: the more urgent one comes in between, the other does not. */
static void nest(unsigned id)
{
	if (id != SPI)
		return;
	pend(SPI + 1);
	pend(SPI + 2);
	irq_enable();
	delay_us(300);
	irq_disable();
	inner = nr_seen;
}

static void test_preemption(void)
{
	irq_priority(SPI, 0x80);
	irq_priority(SPI + 1, 0x40);
	irq_priority(SPI + 2, 0xc0);
	for (unsigned i = 0; i < 3; i++)
		irq_enable_id(SPI + i);
	/* The exception return of the outer one needs its own registers. */
	action = nest;
	pend(SPI);
	CHECK_EQ(settle(), 3, "preemption-all-come");
	action = nullptr;
	CHECK_EQ(inner, 2, "preemption-only-by-the-urgent");
	CHECK(seen[0] == SPI && seen[1] == SPI + 1 && seen[2] == SPI + 2,
	      "preemption-order");
	for (unsigned i = 0; i < 3; i++) {
		irq_priority(SPI + i, IRQ_PRIO);
		irq_disable_id(SPI + i);
	}
	CHECK_EQ(read_sysreg(icc_rpr_el1), 0xff, "idle-running-priority");
}

static void on_timer([[maybe_unused]] unsigned intid)
{
	timer_ctl(TIMER_VIRT, 0);
}

static void test_priority_mask(void)
{
	uint64_t start;

	irq_enable_id(SPI);
	write_sysreg(0x80, icc_pmr_el1);
	isb();
	pend(SPI);
	CHECK_EQ(settle(), 0, "pmr-holds");

	/* No sleep when the mask opens right before it. */
	start = now();
	irq_on(machine.vtimer_irq, on_timer);
	irq_priority(machine.vtimer_irq, 0x20);
	timer_at(TIMER_VIRT, start + us_to_ticks(500000));
	write_sysreg(0xf0, icc_pmr_el1);
	wfi();
	CHECK_IN(ticks_to_us(now() - start), 0, 400000, "pmr-opens-no-sleep");
	CHECK_EQ(settle(), 1, "pmr-opens-delivers");

	/* What the mask hides does not wake; the timer does. */
	write_sysreg(0x80, icc_pmr_el1);
	isb();
	pend(SPI);
	start = now();
	timer_at(TIMER_VIRT, start + us_to_ticks(20000));
	while (timer_read_ctl(TIMER_VIRT) == TIMER_ENABLE)
		wfi();
	CHECK_IN(ticks_to_us(now() - start), 20000, 10000000,
		 "pmr-timer-wakes");
	write_sysreg(0xf0, icc_pmr_el1);
	isb();
	CHECK_EQ(settle(), 1, "pmr-held-comes-last");
	timer_ctl(TIMER_VIRT, 0);
	irq_on(machine.vtimer_irq, nullptr);
	irq_priority(machine.vtimer_irq, IRQ_PRIO);
	irq_disable_id(SPI);
}

/* --- groups, EOImode, levels ---------------------------------------------- */

static void test_group_enables(void)
{
	uint64_t gicd = machine.gicd.base;

	irq_enable_id(SPI);
	write_sysreg(0, icc_igrpen1_el1);
	isb();
	pend(SPI);
	CHECK_EQ(settle(), 0, "igrpen1-off-holds");
	CHECK_EQ(irq_bit(GICD_ISPENDR, SPI), 1, "igrpen1-off-pending");
	write_sysreg(1, icc_igrpen1_el1);
	isb();
	CHECK_EQ(settle(), 1, "igrpen1-on-delivers");

	io_write32(gicd + GICD_CTLR, GICD_CTLR_ARE);
	pend(SPI);
	CHECK_EQ(settle(), 0, "gicd-group-off-holds");
	io_write32(gicd + GICD_CTLR, GICD_CTLR_ARE | GICD_CTLR_GRP1);
	CHECK_EQ(settle(), 1, "gicd-group-on-delivers");

	io_write32(gicd + GICD_IGROUPR + SPI / 32 * 4, ~(1u << SPI % 32));
	pend(SPI);
	CHECK_EQ(settle(), 0, "group-0-not-enabled-holds");
	io_write32(gicd + GICD_IGROUPR + SPI / 32 * 4, ~0u);
	CHECK_EQ(settle(), 1, "back-in-group-1-delivers");
	irq_disable_id(SPI);
}

/* The whole IRQ exception under EOImode 1; `deactivate` tells it to finish. */
static volatile bool deactivate;

static void split_irq(void)
{
	uint64_t id = read_sysreg(icc_iar1_el1);

	if (id >= IRQ_LIMIT)
		return;
	if (nr_seen < 64)
		seen[nr_seen] = (unsigned)id;
	nr_seen++;
	write_sysreg(id, icc_eoir1_el1);
	isb();
	active_seen = irq_bit(GICD_ISACTIVER, (unsigned)id);
	if (deactivate)
		write_sysreg(id, icc_dir_el1);
	isb();
}

static void test_eoimode(unsigned id, const char *name)
{
	irq_hook(split_irq);
	write_sysreg(2, icc_ctlr_el1);
	isb();
	irq_enable_id(id);
	deactivate = true;
	pend(id);
	CHECK_EQ(settle(), 1, "%s-eoimode1", name);
	CHECK(active_seen, "%s-eoir-keeps-it-active", name);
	CHECK_EQ(irq_bit(GICD_ISACTIVER, id), 0, "%s-dir-deactivates", name);

	deactivate = false;
	pend(id);
	CHECK_EQ(settle(), 1, "%s-without-dir", name);
	CHECK_EQ(irq_bit(GICD_ISACTIVER, id), 1, "%s-stays-active", name);
	CHECK_EQ(read_sysreg(icc_rpr_el1), 0xff, "%s-priority-dropped", name);
	pend(id);
	CHECK_EQ(settle(), 0, "%s-active-holds-the-next", name);
	deactivate = true;
	write_sysreg(id, icc_dir_el1);
	isb();
	CHECK_EQ(settle(), 1, "%s-dir-lets-it-go", name);
	write_sysreg(0, icc_ctlr_el1);
	isb();
	irq_hook(nullptr);
	irq_disable_id(id);
}

static void mask_rtc(unsigned)
{
	io_write32(machine.rtc.base + RTC_IMSC, 0);
}

/* The clock's match interrupt is a level: RIS and its mask make the line. */
static void test_level(void)
{
	uint64_t rtc = machine.rtc.base;
	unsigned irq = machine.rtc_irq;

	if (!machine.rtc.size) {
		skip("level", "no PL031");
		return;
	}
	irq_edge(irq, false);
	io_write32(rtc + RTC_IMSC, 0);
	io_write32(rtc + RTC_MR, io_read32(rtc + RTC_DR) + 1);
	for (uint64_t end = now() + 3 * timer_freq();
	     !io_read32(rtc + RTC_RIS) && now() < end;)
		;
	CHECK_EQ(io_read32(rtc + RTC_RIS), 1, "level-raised");
	irq_on(irq, note);
	action = mask_rtc;
	io_write32(rtc + RTC_IMSC, 1);
	CHECK_EQ(settle(), 1, "level-masked-in-handler-once");
	action = nullptr;
	irq_disable_id(irq);
	io_write32(rtc + RTC_IMSC, 1);
	CHECK_EQ(irq_bit(GICD_ISPENDR, irq), 1, "level-is-pending");
	io_write32(rtc + RTC_ICR, 1);
	CHECK_EQ(irq_bit(GICD_ISPENDR, irq), 0, "level-lowered");
	irq_enable_id(irq);
	CHECK_EQ(settle(), 0, "level-lowered-none");
	io_write32(rtc + RTC_IMSC, 0);
	irq_on(irq, nullptr);
}

int main(int, char **)
{
	setup();
	for (unsigned i = 0; i < 3; i++) {
		test_pending_disabled(kinds[i], kind_names[i]);
		test_disabled_while_active(kinds[i], kind_names[i]);
		test_again(kinds[i], kind_names[i]);
		test_again_disabled(kinds[i], kind_names[i]);
		test_activate_by_hand(kinds[i], kind_names[i]);
	}
	test_self_sgi();
	test_order(4);
	test_order(5);
	test_order(9);
	test_order(20);
	test_all_again();
	test_preemption();
	test_priority_mask();
	test_group_enables();
	for (unsigned i = 0; i < 3; i++)
		test_eoimode(kinds[i], kind_names[i]);
	test_level();
	CHECK_EQ(irq_spurious(), 0, "no-stray-interrupt");
	return report();
}
