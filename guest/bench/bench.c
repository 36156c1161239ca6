// SPDX-License-Identifier: BSD-2-Clause
/*
 * The common part of the benchmark images: console, statistics of one row,
 * interrupts. The measured instructions are in the images themselves, but for
 * irq_handler(), which is part of every row with an interrupt.
 */
#include "bench.h"

#define INTID_VTIMER	27
#define INTID_VTIMER_EL2 28

/* Redistributor: the control frame, and the frame of SGIs and PPIs. */
#define GICR_STRIDE	0x20000u
#define GICR_TYPER_HIGH	0xc		/* affinity */
#define GICR_WAKER	0x14
#define WAKER_SLEEP	(1u << 1)
#define WAKER_ASLEEP	(1u << 2)
#define GICR_IGROUPR0	0x10080
#define GICR_ISENABLER0	0x10100
#define GICR_IPRIORITYR	0x10400
#define GICD_CTLR_ARE	0x10u
#define GICD_CTLR_GRP1	0x2u
#define GICD_CTLR_GRP0	0x1u

uint64_t samples[SAMPLES];
uint64_t overhead;
bool at_el2;
volatile uint64_t irqs, irq_time;
volatile uint32_t irq_last;

#ifdef BENCH_XEN

/* Xen gives its first domain a console by hypercall, line by line. */
static uint64_t console_io(uint64_t len, const char *text)
{
	register uint64_t nr __asm__("x16") = 18;
	register uint64_t x0 __asm__("x0") = 0;
	register uint64_t x1 __asm__("x1") = len;
	register uint64_t x2 __asm__("x2") = (uint64_t)text;

	__asm__ volatile("hvc #0xea1" : "+r"(x0), "+r"(x1), "+r"(x2)
			 : "r"(nr) : "memory", "x3", "x4");
	return x0;
}

static void put(char c)
{
	static char line[150];
	static uint64_t n;

	line[n++] = c;
	if (c != '\n' && n < sizeof(line))
		return;
	console_io(n, line);
	n = 0;
}

#else

static void put(char c)
{
	write8(UART, (uint8_t)c);
}

#endif

void print(const char *s)
{
	while (*s)
		put(*s++);
}

void print_number(uint64_t v)
{
	char digit[24];
	int n = 0;

	do {
		digit[n++] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	while (n)
		put(digit[--n]);
}

void print_hex(uint64_t v)
{
	for (int shift = 60; shift >= 0; shift -= 4)
		put("0123456789abcdef"[v >> shift & 15]);
}

void power_off(void)
{
	call(PSCI_SYSTEM_OFF);
	for (;;)
		__asm__ volatile("wfi");
}

void bad_exception(uint64_t n, uint64_t esr, uint64_t elr, uint64_t far)
{
	print("BAD EXC ");
	print_number(n);
	print(" esr ");
	print_hex(esr);
	print(" elr ");
	print_hex(elr);
	print(" far ");
	print_hex(far);
	print("\n");
	power_off();
}

void irq_handler(void)
{
	uint64_t intid = sysreg_read(ICC_IAR1_EL1);

	irq_time = now();
	irq_last = (uint32_t)intid;
	if (intid == INTID_VTIMER || intid == INTID_VTIMER_EL2)
		sysreg_write(cntv_ctl_el0, 0);
	sysreg_write(ICC_EOIR1_EL1, intid);
	irqs++;
	isb();
}

/* Heapsort: no memory beyond the samples. */
static void sift(uint64_t *a, long i, long n)
{
	for (;;) {
		long child = 2 * i + 1;
		uint64_t t;

		if (child >= n)
			return;
		if (child + 1 < n && a[child + 1] > a[child])
			child++;
		if (a[i] >= a[child])
			return;
		t = a[i];
		a[i] = a[child];
		a[child] = t;
		i = child;
	}
}

static void sort(uint64_t *a, long n)
{
	for (long i = n / 2 - 1; i >= 0; i--)
		sift(a, i, n);
	for (long end = n - 1; end > 0; end--) {
		uint64_t t = a[0];

		a[0] = a[end];
		a[end] = t;
		sift(a, 0, end);
	}
}

static void print_value(const char *label, uint64_t v, uint64_t less)
{
	print(label);
	print_number(v > less ? v - less : 0);
}

void report(const char *name, long n, uint64_t less)
{
	uint64_t sum = 0;

	for (long i = 0; i < n; i++)
		sum += samples[i];
	sort(samples, n);
	print("UB ");
	print(name);
	print_value(" min ", samples[0], less);
	print_value(" med ", samples[n / 2], less);
	print_value(" p90 ", samples[n * 9 / 10], less);
	print_value(" mean ", sum / (uint64_t)n, less);
	print_value(" max ", samples[n - 1], less);
	print_value(" n ", (uint64_t)n, 0);
	print("\n");
}

void measure_overhead(void)
{
	for (long i = 0; i < SAMPLES; i++)
		samples[i] = 0;
	for (long i = 0; i < SAMPLES; i++) {
		uint64_t begin = now(), end = now();

		samples[i] = end - begin;
	}
	report("null_raw", SAMPLES, 0);
	overhead = samples[SAMPLES / 2];
}

static void wake_redistributor(uint64_t at)
{
	write32(at + GICR_WAKER, read32(at + GICR_WAKER) & ~WAKER_SLEEP);
	for (int i = 0; i < 1000000; i++)
		if (!(read32(at + GICR_WAKER) & WAKER_ASLEEP))
			return;
}

void gic_init(unsigned int cpu)
{
	static uint64_t first = GICR;
	uint64_t at;

	if (!cpu) {
		write32(GICD, GICD_CTLR_ARE);
		write32(GICD, GICD_CTLR_ARE | GICD_CTLR_GRP1 | GICD_CTLR_GRP0);
		/* kvmtool puts those of more vCPUs below the address. */
		if (read32(first + GICR_TYPER_HIGH) & 0xffffff)
			first -= GICR_STRIDE;
	}
	at = first + cpu * GICR_STRIDE;
	wake_redistributor(at);
	write32(at + GICR_IGROUPR0, ~0u);
	for (unsigned int i = 0; i < 8; i++)
		write32(at + GICR_IPRIORITYR + 4 * i, 0x80808080);
	write32(at + GICR_ISENABLER0,
		1u << 1 | 1u << INTID_VTIMER | 1u << INTID_VTIMER_EL2);
	if (at_el2)
		sysreg_write(ICC_SRE_EL2, 0xf | sysreg_read(ICC_SRE_EL2));
	sysreg_write(ICC_SRE_EL1, 7);
	isb();
	sysreg_write(ICC_PMR_EL1, 0xff);
	sysreg_write(ICC_IGRPEN1_EL1, 1);
	isb();
}

uint64_t start_vcpu(uint64_t affinity)
{
	register uint64_t x0 __asm__("x0") = PSCI_CPU_ON;
	register uint64_t x1 __asm__("x1") = affinity;
	register uint64_t x2 __asm__("x2") = (uint64_t)secondary_entry;
	register uint64_t x3 __asm__("x3") = 0;

	if (at_el2)
		__asm__ volatile("smc #0"
				 : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3)
				 : : "memory");
	else
		__asm__ volatile("hvc #0"
				 : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3)
				 : : "memory");
	return x0;
}
