// SPDX-License-Identifier: BSD-2-Clause
/*
 * A GICv3 with several vCPUs: routes of shared interrupts, SGIs to exactly
 * those named, an SGI that comes again while it is active elsewhere, and the
 * redistributor of another vCPU, started or not.
 *
 * Arguments: rounds=N of re-routing (default 200).
 */
#include <stdio.h>
#include "check.h"
#include "io.h"
#include "irq.h"
#include "smp.h"
#include "timer.h"

#define SPI	48	/* nobody drives it, nor the next 16 */
#define PPI	22
#define SGI	6
#define SGI_STOP 7
#define IRM	(1ull << 31)

/* How often each INTID came to each vCPU. */
static unsigned came[MAX_VCPUS][64 + 32];
static volatile bool stop, hold, holding;
static struct barrier barrier;
static unsigned nr;

static void count(unsigned intid)
{
	__atomic_add_fetch(&came[vcpu_id()][intid], 1, __ATOMIC_RELEASE);
	if (intid != SGI || !hold || vcpu_id() == 0)
		return;
	holding = true;
	while (hold)
		;
}

static void stopped([[maybe_unused]] unsigned intid)
{
	stop = true;
}

static void serve(void)
{
	irq_on(SGI, count);
	irq_on(SGI_STOP, stopped);
	irq_handler(PPI, count);
	barrier_wait(&barrier, nr);
	while (!stop)
		irq_wait();
}

static unsigned id_of(unsigned index)
{
	return vcpu_of(machine.mpidr[index]);
}

static unsigned times(unsigned index, unsigned intid)
{
	return __atomic_load_n(&came[id_of(index)][intid], __ATOMIC_ACQUIRE);
}

static unsigned times_all(unsigned intid)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < nr; i++)
		sum += times(i, intid);
	return sum;
}

static void clear(void)
{
	for (unsigned i = 0; i < nr; i++)
		for (unsigned k = 0; k < sizeof(came[0]) / sizeof(came[0][0]);
		     k++)
			__atomic_store_n(&came[i][k], 0, __ATOMIC_RELAXED);
}

/* Waits until `intid` came `want` times in all, then a bit for one too many. */
static unsigned settle(unsigned intid, unsigned want)
{
	uint64_t end = now() + 2 * timer_freq();

	irq_enable();
	while (times_all(intid) < want && now() < end)
		;
	delay_us(want ? 500 : 5000);
	irq_disable();
	return times_all(intid);
}

static uint64_t router(unsigned spi)
{
	return machine.gicd.base + GICD_IROUTER + spi * 8ull;
}

/* --- routes --------------------------------------------------------------- */

/* Each width and order of writing a route; 0 is one 64-bit store. */
static void route(unsigned spi, uint64_t to, unsigned how)
{
	if (how == 0) {
		io_write64(router(spi), to);
	} else if (how == 1) {
		io_write32(router(spi), (uint32_t)to);
		io_write32(router(spi) + 4, (uint32_t)(to >> 32));
	} else {
		io_write32(router(spi) + 4, (uint32_t)(to >> 32));
		io_write32(router(spi), (uint32_t)to);
	}
}

static void test_routes(void)
{
	for (unsigned how = 0; how < 3; how++) {
		unsigned wrong = 0;

		clear();
		for (unsigned i = 0; i < 16; i++)
			route(SPI + i, machine.mpidr[i % nr], how);
		for (unsigned i = 0; i < 16; i++) {
			wrong += io_read64(router(SPI + i)) !=
				 machine.mpidr[i % nr];
			irq_write_bit(GICD_ISPENDR, SPI + i);
			wrong += settle(SPI + i, 1) != 1;
			wrong += times(i % nr, SPI + i) != 1;
		}
		CHECK_EQ(wrong, 0, "routes-written-%u", how);
	}
}

/* A pending interrupt that is re-routed arrives once, wherever that is. */
static void test_rerouting(uint64_t rounds)
{
	unsigned wrong = 0;

	clear();
	for (uint64_t round = 0; round < rounds; round++) {
		unsigned to = (unsigned)(round % nr);

		irq_write_bit(GICD_ISPENDR, SPI);
		route(SPI, machine.mpidr[to], (unsigned)(round % 3));
		if (settle(SPI, (unsigned)round + 1) != round + 1) {
			wrong++;
			break;
		}
	}
	CHECK_EQ(wrong, 0, "rerouted-while-pending");

	clear();
	route(SPI, machine.mpidr[0], 0);
	irq_disable_id(SPI);
	irq_write_bit(GICD_ISPENDR, SPI);
	route(SPI, machine.mpidr[nr - 1], 0);
	irq_enable_id(SPI);
	CHECK_EQ(settle(SPI, 1), 1, "rerouted-while-disabled");
	CHECK_EQ(times(nr - 1, SPI), 1, "rerouted-while-disabled-target");
}

static void reroute_here(unsigned intid)
{
	count(intid);
	if (times_all(intid) > 1)
		return;
	route(intid, machine.mpidr[1], 0);
	irq_write_bit(GICD_ISPENDR, intid);
}

/*
 * Pended for another vCPU while it is active on this one: after the EOI there.
 */
static void test_rerouted_active(void)
{
	clear();
	route(SPI, machine.mpidr[0], 0);
	irq_handler(SPI, reroute_here);
	irq_write_bit(GICD_ISPENDR, SPI);
	CHECK_EQ(settle(SPI, 2), 2, "rerouted-while-active");
	CHECK_EQ(times(1, SPI), 1, "rerouted-while-active-target");
	irq_handler(SPI, count);
}

static void test_any(void)
{
	clear();
	route(SPI, IRM, 0);
	CHECK_EQ(io_read64(router(SPI)) & IRM, IRM, "route-to-any-kept");
	for (unsigned i = 1; i <= 10; i++) {
		irq_write_bit(GICD_ISPENDR, SPI);
		if (settle(SPI, i) != i)
			break;
	}
	CHECK_EQ(times_all(SPI), 10, "route-to-any-one-each");
	route(SPI, 0x00ffffff, 0);
	irq_write_bit(GICD_ISPENDR, SPI);
	clear();
	CHECK_EQ(settle(SPI, 0), 0, "route-to-nobody");
	CHECK_EQ(irq_bit(GICD_ISPENDR, SPI), 1, "route-to-nobody-pending");
	route(SPI, machine.mpidr[0], 0);
	CHECK_EQ(settle(SPI, 1), 1, "route-back");
}

/* --- SGIs ----------------------------------------------------------------- */

static void test_named(void)
{
	unsigned wrong = 0;

	clear();
	for (unsigned i = 0; i < nr; i++) {
		sgi_to(machine.mpidr[i], SGI);
		wrong += settle(SGI, i + 1) != i + 1;
		wrong += times(i, SGI) != 1;
	}
	CHECK_EQ(wrong, 0, "sgi-to-one");

	/* A list of all in the first cluster, then all others by IRM. */
	clear();
	write_sysreg((uint64_t)SGI << 24 | 0xffff, icc_sgi1r_el1);
	isb();
	wrong = nr < 16 ? nr : 16;
	CHECK_EQ(settle(SGI, wrong), wrong, "sgi-to-a-list");
	clear();
	sgi_others(SGI);
	CHECK_EQ(settle(SGI, nr - 1), nr - 1, "sgi-to-others");
	CHECK_EQ(times(0, SGI), 0, "sgi-to-others-not-self");

	clear();
	write_sysreg((uint64_t)SGI << 24 | 0xffull << 16 | 0xffff,
		     icc_sgi1r_el1);
	write_sysreg((uint64_t)SGI << 24 | 0xffull << 32 | 0xffff,
		     icc_sgi1r_el1);
	write_sysreg((uint64_t)SGI << 24 | 0xffull << 48 | 0xffff,
		     icc_sgi1r_el1);
	isb();
	CHECK_EQ(settle(SGI, 0), 0, "sgi-to-absent-clusters");
}

/* Sent twice more while its handler runs there: one more delivery. */
static void test_again(void)
{
	uint64_t end = now() + 2 * timer_freq();

	clear();
	holding = false;
	hold = true;
	sgi_to(machine.mpidr[1], SGI);
	while (!holding && now() < end)
		;
	sgi_to(machine.mpidr[1], SGI);
	sgi_to(machine.mpidr[1], SGI);
	delay_us(1000);
	hold = false;
	CHECK_EQ(settle(SGI, 2), 2, "sgi-again-while-active");
	CHECK_EQ(times(1, SGI), 2, "sgi-again-same-vcpu");
}

/* --- redistributors ------------------------------------------------------- */

/* Enables and pends in the frame of another vCPU. */
static void test_frames(void)
{
	unsigned wrong = 0, arrived = 0;

	clear();
	for (unsigned i = 1; i < nr; i++) {
		uint64_t sgi = gicr_frame(machine.mpidr[i]) + GICR_SGI;

		io_write32(sgi + GICD_ISENABLER, 1u << PPI);
		wrong += !(io_read32(sgi + GICD_ISENABLER) >> PPI & 1);
		wrong += irq_bit(GICD_ISENABLER, PPI);
		io_write32(sgi + GICD_ISPENDR, 1u << PPI);
		wrong += settle(PPI, i) != i;
		arrived += times(i, PPI);
		io_write32(sgi + GICD_ICENABLER, 1u << PPI);
		io_write8(sgi + GICD_IPRIORITYR + PPI, (uint8_t)(i << 3));
		wrong += io_read8(irq_frame(PPI) + GICD_IPRIORITYR + PPI) !=
			 IRQ_PRIO;
	}
	CHECK_EQ(wrong, 0, "other-frame");
	CHECK_EQ(arrived, nr - 1, "other-frame-arrives-there");
	for (unsigned i = 1; i < nr; i++)
		wrong += io_read8(gicr_frame(machine.mpidr[i]) + GICR_SGI +
				  GICD_IPRIORITYR + PPI) !=
			 (uint8_t)(i << 3 & 0xf8);
	CHECK_EQ(wrong, 0, "other-frame-keeps-priorities");
}

/* Before anything is started: frames of vCPUs that are off. */
static void test_frames_off(void)
{
	unsigned wrong = 0;

	for (unsigned i = 1; i < nr; i++) {
		uint64_t rd = gicr_frame(machine.mpidr[i]);
		uint64_t sgi = rd + GICR_SGI;

		wrong += rd == 0;
		if (!rd)
			continue;
		io_write32(sgi + GICD_ISENABLER, 1u << PPI);
		io_write32(sgi + GICD_ISPENDR, 1u << PPI);
		wrong += !(io_read32(sgi + GICD_ISPENDR) >> PPI & 1);
		io_write32(sgi + GICD_ICPENDR, 1u << PPI);
		io_write32(sgi + GICD_ICENABLER, 1u << PPI);
		wrong += io_read32(sgi + GICD_ISPENDR) >> PPI & 1;
	}
	CHECK_EQ(wrong, 0, "frames-of-vcpus-that-are-off");
}

int main(int, char **)
{
	nr = machine.nr_vcpus;
	if (nr == 1) {
		skip("everything", "the VM has one vCPU");
		return 0;
	}
	test_frames_off();
	if (!CHECK_EQ(smp_boot(serve), nr - 1, "all-started"))
		return report();
	irq_on(SGI, count);
	for (unsigned i = 0; i < 16; i++) {
		irq_edge(SPI + i, true);
		irq_on(SPI + i, count);
	}
	barrier_wait(&barrier, nr);
	test_routes();
	test_rerouting(arg_u64("rounds", 200));
	test_rerouted_active();
	test_any();
	test_named();
	test_again();
	test_frames();
	sgi_others(SGI_STOP);
	smp_join();
	CHECK_EQ(irq_spurious(), 0, "no-stray-interrupt");
	return report();
}
