// SPDX-License-Identifier: BSD-2-Clause
/*
 * What an exit, an interrupt and a switch cost, seen from the guest. Uses no
 * interface that is Nestling's own, so the same image runs as a guest of other
 * hypervisors: docs/measurements.md compares their rows. Started at EL2 it is
 * also a guest hypervisor with a guest of its own.
 */
#include "bench.h"

#define LIMIT		100000000	/* an interrupt that never comes */
#define CTL_ISTATUS	4
#define PAGES		(SAMPLES < 256 ? SAMPLES : 256)

extern char __end[];

static volatile uint64_t seq, ack, mode, up;

static void call_rows(void)
{
	MEASURE("call_unknown", SAMPLES, , call(CALL_UNKNOWN));
	MEASURE("call_psci_version", SAMPLES, , call(PSCI_VERSION));
	MEASURE("call_smccc_version", SAMPLES, , call(SMCCC_VERSION));
	MEASURE("call+fp", SAMPLES, use_fp(),
		({ use_fp(); call(CALL_UNKNOWN); use_fp(); }));
	MEASURE("sysreg_idreg", SAMPLES, , sysreg_read(id_aa64isar0_el1));
}

#ifdef BENCH_XEN

static uint64_t xen_call(uint64_t number)
{
	register uint64_t nr __asm__("x16") = number;
	register uint64_t x0 __asm__("x0") = 0;
	register uint64_t x1 __asm__("x1") = 0;
	register uint64_t x2 __asm__("x2") = 0;

	__asm__ volatile("hvc #0xea1" : "+r"(x0), "+r"(x1), "+r"(x2)
			 : "r"(nr) : "memory", "x3", "x4");
	return x0;
}

static void device_rows(void)
{
	MEASURE("xen_version_hypercall", SAMPLES, , xen_call(17));
	MEASURE("xen_sched_yield", SAMPLES, , xen_call(29));
	MEASURE("xen_yield+fp", SAMPLES, use_fp(),
		({ use_fp(); xen_call(29); use_fp(); }));
}

#else

static void device_rows(void)
{
	MEASURE("mmio_user_unmapped", SAMPLES, , read32(MMIO_EMPTY));
	MEASURE("mmio_user_uart_lsr", SAMPLES, , read8(UART + UART_STATUS));
	MEASURE("mmio_user+fp", SAMPLES, use_fp(),
		({ read32(MMIO_EMPTY); use_fp(); }));
	MEASURE("fp_touch_after_user", SAMPLES,
		({ use_fp(); read32(MMIO_EMPTY); }), use_fp());
}

#endif

static void gic_rows(void)
{
	MEASURE("fp_touch_hot", SAMPLES, use_fp(), use_fp());
	MEASURE("mmio_vgic_iidr", SAMPLES, , read32(GICD + GICD_IIDR));
	MEASURE("mmio_vgic+fp", SAMPLES, use_fp(),
		({ read32(GICD + GICD_IIDR); use_fp(); }));
	gic_init(0);
	MEASURE("eoi_spurious", SAMPLES, , sysreg_write(ICC_EOIR1_EL1, 1023));
}

/* Spins until an interrupt beyond @old has been handled. */
static inline void spin_for_irq(uint64_t old)
{
	for (long k = 0; k < LIMIT && irqs == old; k++)
		;
}

static void sgi_row(void)
{
	uint64_t mpidr = sysreg_read(mpidr_el1);
	uint64_t self = SGI_INTID(1) | 1 | (mpidr >> 8 & 0xff) << 16 |
			(mpidr >> 16 & 0xff) << 32;

	MEASURE("self_sgi_full", SAMPLES, , ({
			uint64_t old = irqs;

			sysreg_write(ICC_SGI1R_EL1, self);
			isb();
			spin_for_irq(old);
		}));
	if (!irqs)
		print("NO IRQ\n");
}

static uint64_t arm_timer(uint64_t ticks)
{
	uint64_t at = now() + ticks;

	sysreg_write(cntv_cval_el0, at);
	sysreg_write(cntv_ctl_el0, 1);
	isb();
	return at;
}

/* Deadline to the handler's first reading of the counter, 50 us ahead. */
static void timer_rows(void)
{
	uint64_t ticks = sysreg_read(cntfrq_el0) / 20000;
	int n = SAMPLES / 4;

	for (int i = 0; i < n; i++) {
		uint64_t old = irqs, at = arm_timer(ticks);

		spin_for_irq(old);
		samples[i] = irq_time - at;
	}
	report("timer_latency_spin", n, 0);
	for (int i = 0; i < n; i++) {
		uint64_t old = irqs, at;

		irq_disable();
		at = arm_timer(ticks);
		while (!(sysreg_read(cntv_ctl_el0) & CTL_ISTATUS))
			__asm__ volatile("wfi");
		__asm__ volatile("msr daifclr, #2; isb");
		spin_for_irq(old);
		samples[i] = irq_time - at;
	}
	report("timer_latency_wfi", n, 0);
	MEASURE("timer_arm_cancel", SAMPLES, , ({
			sysreg_write(cntv_cval_el0, ~0ul >> 1);
			sysreg_write(cntv_ctl_el0, 1);
			isb();
			sysreg_write(cntv_ctl_el0, 0);
		}));
}

/* First touch of memory: what a hypervisor that maps on demand pays. */
static void memory_rows(void)
{
	uint64_t base = ((uint64_t)__end + 0x3fffff) & ~0x1ffffful;
	uint64_t page = base;

	MEASURE("s2_fault_4k_stride", PAGES, page += 4096, write32(page, 1));
	page = base + 0x1000000;
	MEASURE("s2_fault_2m_stride", 32, page += 0x200000, write32(page, 1));
}

void bench_secondary(void)
{
	uint64_t last = 0;

	gic_init(1);
	up = 1;
	for (;;) {
		wait_until(seq != last);
		last = seq;
		if (mode & 1)
			use_fp();
		ack = last;
		dsb();
		sysreg_write(ICC_SGI1R_EL1, SGI_INTID(1) | 1);
		isb();
	}
}

/* One message to vCPU 1 and back, both sides asleep when it arrives. */
static void pingpong(void)
{
	for (long i = 0; i < SAMPLES; i++) {
		uint64_t begin = now();

		seq++;
		if (mode & 2)
			use_fp();
		dsb();
		sysreg_write(ICC_SGI1R_EL1, SGI_INTID(1) | 2);
		isb();
		wait_until(ack == seq);
		if (mode & 2)
			use_fp();
		samples[i] = now() - begin;
	}
}

static void pingpong_rows(void)
{
	/* No table of pointers: the image may run anywhere. */
	static const char names[][24] = {
		"vcpu_pingpong_wfi", "vcpu_pingpong_wfi+fp1",
		"vcpu_pingpong_wfi+fp0", "vcpu_pingpong_wfi+fp01",
	};

	if (start_vcpu(1)) {
		print("no second vCPU\n");
		return;
	}
	while (!up)
		call(CALL_UNKNOWN);
	for (mode = 0; mode < 4; mode++) {
		pingpong();
		report(names[mode], SAMPLES, overhead);
	}
	irq_disable();
}

void bench_main(uint64_t fdt, uint64_t boot_counter)
{
	(void)fdt;
	(void)boot_counter;
	print("\nUBENCH el ");
	print_number(at_el2 ? 2 : 1);
	print(" cntfrq ");
	print_number(sysreg_read(cntfrq_el0));
	print(" pfr0 ");
	print_hex(sysreg_read(id_aa64pfr0_el1));
	print("\n");
	measure_overhead();
	call_rows();
	device_rows();
	gic_rows();
	irq_enable();
	sgi_row();
	timer_rows();
	irq_disable();
	memory_rows();
	pingpong_rows();
	if (at_el2)
		nested_rows();
	print("UBENCH DONE\n");
	power_off();
}
