/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the benchmark images share. They are flat binaries for the QEMU virt
 * machine and whatever offers the same devices: no MMU, no newlib, no FP in
 * compiled code, so that what lies between two readings of the counter is what
 * the source says. One result is one line:
 *     UB name min N med N p90 N mean N max N n N
 * in counter ticks. With QEMU's -icount shift=0 a tick is one instruction.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stdint.h>

/* Machine; other hosts' guest machines are built with -D. */
#ifndef UART
#define UART		0x09000000ul
#define UART_STATUS	0x18
#endif
#ifndef GICD
#define GICD		0x08000000ul
#define GICR		0x080a0000ul
#endif
#ifndef MMIO_EMPTY
#define MMIO_EMPTY	0x0a000008ul	/* DeviceID of the first transport */
#endif
#ifndef SAMPLES
#define SAMPLES		1000
#endif

#define CALL_UNKNOWN		0x4b000000
#define SMCCC_VERSION		0x80000000
#define PSCI_VERSION		0x84000000
#define PSCI_SYSTEM_OFF		0x84000008
#define PSCI_CPU_ON		0xc4000003

/* The registers of GICv3 by encoding: no assembler option is needed. */
#define ICC_PMR_EL1	S3_0_C4_C6_0
#define ICC_SGI1R_EL1	S3_0_C12_C11_5
#define ICC_IAR1_EL1	S3_0_C12_C12_0
#define ICC_EOIR1_EL1	S3_0_C12_C12_1
#define ICC_SRE_EL1	S3_0_C12_C12_5
#define ICC_IGRPEN1_EL1	S3_0_C12_C12_7
#define ICC_SRE_EL2	S3_4_C12_C9_5

#define SGI_INTID(n)	((uint64_t)(n) << 24)
#define GICD_IIDR	0x8

#define STRING(x)	#x
#define sysreg_read(reg)						\
	({								\
		uint64_t val_;						\
		__asm__ volatile("mrs %0, " STRING(reg) : "=r"(val_));	\
		val_;							\
	})
#define sysreg_write(reg, val)						\
	__asm__ volatile("msr " STRING(reg) ", %0" : : "r"((uint64_t)(val)))
#define isb()		__asm__ volatile("isb")
#define dsb()		__asm__ volatile("dsb sy")
#define irq_enable()	__asm__ volatile("msr daifclr, #2")
#define irq_disable()	__asm__ volatile("msr daifset, #2")

/* A pair of instructions that use FP. */
#define use_fp()							\
	__asm__ volatile("fmov d0, %0; fadd d0, d0, d0" : : "r"(3l) : "memory")

/* Sleeps until @cond; to be entered with interrupts masked or not, left with
 * interrupts masked. */
#define wait_until(cond)						\
	do {								\
		__asm__ volatile("msr daifset, #2" : : : "memory");	\
		while (!(cond))						\
			__asm__ volatile("wfi; msr daifclr, #2; isb;"	\
					 " msr daifset, #2"		\
					 : : : "memory");		\
	} while (0)

/* The ticks of @body, @n times; @before runs in front of each and is not
 * counted. What reading the counter costs is taken off. */
#define MEASURE(name, n, before, body)					\
	do {								\
		for (long i_ = 0; i_ < (n); i_++) {			\
			uint64_t begin_, end_;				\
									\
			before;						\
			begin_ = now();					\
			body;						\
			end_ = now();					\
			samples[i_] = end_ - begin_;			\
		}							\
		report(name, n, overhead);				\
	} while (0)

static inline uint64_t now(void)
{
	uint64_t v;

	__asm__ volatile("isb; mrs %0, cntvct_el0; isb" : "=r"(v) : : "memory");
	return v;
}

static inline uint32_t read32(uint64_t at)
{
	uint32_t v;

	__asm__ volatile("ldr %w0, [%1]" : "=r"(v) : "r"(at) : "memory");
	return v;
}

static inline void write32(uint64_t at, uint32_t v)
{
	__asm__ volatile("str %w0, [%1]" : : "r"(v), "r"(at) : "memory");
}

static inline uint8_t read8(uint64_t at)
{
	uint32_t v;

	__asm__ volatile("ldrb %w0, [%1]" : "=r"(v) : "r"(at) : "memory");
	return (uint8_t)v;
}

static inline void write8(uint64_t at, uint8_t v)
{
	__asm__ volatile("strb %w0, [%1]" : : "r"((uint32_t)v), "r"(at)
			 : "memory");
}

extern uint64_t samples[SAMPLES];
extern uint64_t overhead;		/* ticks that two readings are apart */
extern bool at_el2;
extern volatile uint64_t irqs;		/* interrupts taken */
extern volatile uint64_t irq_time;	/* when the last one was */
extern volatile uint32_t irq_last;	/* its INTID */

/* start.S: where a vCPU begins that was started by PSCI. */
extern char secondary_entry[];

/* A call without arguments: HVC at EL1, SMC at EL2. */
static inline uint64_t call(uint64_t fn)
{
	register uint64_t x0 __asm__("x0") = fn;

	if (at_el2)
		__asm__ volatile("smc #0" : "+r"(x0)
				 : : "x1", "x2", "x3", "memory");
	else
		__asm__ volatile("hvc #0" : "+r"(x0)
				 : : "x1", "x2", "x3", "memory");
	return x0;
}

/* bench.c; all for the boot vCPU, except gic_init(). */

void print(const char *s);
void print_number(uint64_t v);
void print_hex(uint64_t v);

/* Prints the line of @n samples, @less taken off each. Sorts samples[]. */
void report(const char *name, long n, uint64_t less);

/* Measures and reports the counter itself; sets overhead. */
void measure_overhead(void);

/* Turns on the interrupts of vCPU @cpu: SGI 1 and the virtual timer. */
void gic_init(unsigned int cpu);

/* PSCI CPU_ON of another vCPU by its affinity: 0 when it was started. All begin
 * on one stack. */
uint64_t start_vcpu(uint64_t affinity);

[[noreturn]] void power_off(void);

/* From start.S. */
[[noreturn]] void bad_exception(uint64_t n, uint64_t esr, uint64_t elr,
				uint64_t far);
void irq_handler(void);

/* Each image has these: the boot vCPU with the physical counter as it was at
 * its first instruction, and every other vCPU. */
void bench_main(uint64_t fdt, uint64_t boot_counter);
[[noreturn]] void bench_secondary(void);

/* nested.c: what a guest hypervisor does; only at EL2. */
void nested_rows(void);

#endif
