// SPDX-License-Identifier: BSD-2-Clause
/*
 * What every guest image may rely on: the machine as its device tree describes
 * it, and the arguments of the image. Filled in once, before main runs, and
 * never changed after that.
 */
#ifndef GUEST_GUEST_H
#define GUEST_GUEST_H

#include <stdint.h>

#define MAX_VCPUS	32
#define MAX_BANKS	4
#define PAGE_SIZE	4096ull

struct region {
	uint64_t base;
	uint64_t size;
};

struct machine {
	const void *fdt;	/* where the device tree lies */
	struct region dtb;	/* the memory it takes */
	struct region initrd;	/* size 0: there is none */
	struct region image;	/* this program, BSS and stacks included */
	struct region ram[MAX_BANKS];
	unsigned nr_ram;
	struct region gicd;
	struct region gicr;
	struct region uart;
	struct region rtc;	/* size 0: there is none */
	unsigned uart_irq;	/* INTIDs */
	unsigned rtc_irq;
	unsigned vtimer_irq;
	unsigned ptimer_irq;
	unsigned nr_vcpus;
	uint64_t mpidr[MAX_VCPUS]; /* "reg" of the cpu nodes, their order */
	bool psci_smc;		/* conduit of PSCI: SMC rather than HVC */
	const char *bootargs;
};

extern struct machine machine;

/* End of this image in memory; what lies behind it in its bank is free. */
extern char image_start[], image_end[];

/*
 * Image argument "name=value" of the boot arguments as a number (any C base),
 * or the default when it is absent. A value that is not a number ends the guest
 * with status 2.
 */
uint64_t arg_u64(const char *name, uint64_t otherwise);

/* Image argument "name=value" as a string, or the default. */
const char *arg_str(const char *name, const char *otherwise);

/* The part of RAM that malloc hands out: the largest that is nobody's. */
struct region heap_region(void);

/*
 * Parts of RAM that neither the image, the device tree nor the ramdisk takes;
 * the heap lies in the largest. Returns how many of `max` were filled in.
 */
unsigned free_regions(struct region *out, unsigned max);

/* Ends the VM now with a status, without flushing stdio. Any vCPU. */
[[noreturn]] void guest_exit(int status);

/* What each image defines. Its result is the exit status of the VM. */
int main(int argc, char **argv);

#endif
