// SPDX-License-Identifier: BSD-2-Clause
/*
 * Resets the VM again and again in the middle of everything: vCPUs that run,
 * sleep, start each other, go off, hold pending interrupts and armed timers,
 * until the clock says that it is enough. Each boot must find the machine as
 * the first one did: memory as loaded, all other vCPUs off, nothing pending.
 * Then the last one ends with status 0.
 *
 * Arguments: until=SECONDS since 1970 (default 0: at once); each=US between
 * resets at most (default 20000).
 */
#include <stdio.h>
#include "check.h"
#include "hcall.h"
#include "io.h"
#include "irq.h"
#include "random.h"
#include "smp.h"
#include "timer.h"

#define SGI	3
#define RESET	(PSCI_SYSTEM_RESET)

static unsigned nr;
static uint64_t boots, deadline;	/* boots is 0 in each */

static void ignore([[maybe_unused]] unsigned intid)
{
}

static void on_timer([[maybe_unused]] unsigned intid)
{
	timer_ctl(TIMER_VIRT, 0);
}

static void one_thing(uint64_t *random);

static void come_and_go(void)
{
	uint64_t random = random_start(now(), vcpu_id());
	unsigned things = random_below(&random, 50);

	irq_on(SGI, ignore);
	irq_on(machine.vtimer_irq, on_timer);
	while (things--)
		one_thing(&random);
}

static void one_thing(uint64_t *random)
{
	uint64_t mpidr = machine.mpidr[random_below(random, nr)];

	/* Several may get here at once. */
	if (now() > deadline)
		psci(RESET, 0, 0, 0);
	switch (random_below(random, 5)) {
	case 0:
		timer_at(TIMER_VIRT,
			 now() + us_to_ticks(random_below(random, 500)));
		irq_wait();
		break;
	case 1:
		sgi_to(mpidr, SGI);
		break;
	case 2:
		vcpu_start(vcpu_of(mpidr), come_and_go);
		break;
	case 3:
		irq_take();
		break;
	default:
		delay_us(random_below(random, 100));
		break;
	}
}

static void test_fresh(void)
{
	unsigned on = 0;

	for (unsigned i = 0; i < nr; i++)
		on += vcpu_of(machine.mpidr[i]) != vcpu_id() &&
		      psci(PSCI_AFFINITY_INFO | PSCI_64, machine.mpidr[i], 0,
			   0) != 1;
	CHECK_EQ(on, 0, "others-are-off");
	CHECK_EQ(boots++, 0, "memory-as-loaded");
	CHECK_EQ(vcpu_id(), vcpu_of(machine.mpidr[0]), "boot-vcpu");
	CHECK_EQ(timer_read_ctl(TIMER_VIRT), 0, "timer-off");
	/* The runtime cleared what was pending: look for what comes anyway. */
	irq_take();
	CHECK_EQ(irq_spurious(), 0, "no-stray-interrupt");
}

int main(int, char **)
{
	uint64_t random = random_start(now(), 0);

	nr = machine.nr_vcpus;
	test_fresh();
	if (failures() || !machine.rtc.size ||
	    io_read32(machine.rtc.base) >= arg_u64("until", 0))
		return report();
	deadline = now() +
		   us_to_ticks(random_below(
			   &random, (unsigned)arg_u64("each", 20000)));
	irq_on(SGI, ignore);
	irq_on(machine.vtimer_irq, on_timer);
	for (;;)
		one_thing(&random);
}
