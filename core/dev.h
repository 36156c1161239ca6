/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Emulated devices of a VM. A device is a range of guest physical addresses
 * with two functions behind it; it never sees how the exit was decoded. Which
 * devices a VM has comes from the architecture's machine table. Device state
 * is protected by the VM lock, which the callers below take.
 */
#ifndef CORE_DEV_H
#define CORE_DEV_H

#include "types.h"

struct device;
struct vm;
struct vcpu;

enum dev_kind {
	DEV_PL011, DEV_PL031, DEV_VIRTIO_EMPTY, DEV_NS16550, DEV_LS7A_RTC,
	DEV_KINDS
};

/* Where a machine has a device; the arch's table ends with size 0. */
struct dev_place {
	enum dev_kind kind;
	gpa_t base;
	uint64_t size;		/* bytes */
	unsigned int irq;	/* interrupt line, 0: none */
};

struct dev_ops {
	const char *name;
	uint32_t state_size;	/* bytes, at most DEV_STATE_MAX */
	bool clocked;		/* its node refers to GFDT_CLOCK */
	/*
	 * A read of @size 1, 2 or 4 bytes at @off, inside the device and
	 * aligned to its size: dev_access() makes the rest fit. @size may be
	 * less than the register. Unknown registers read 0 and ignore writes.
	 */
	uint64_t (*read)(struct device *d, uint64_t off, unsigned int size);
	void (*write)(struct device *d, uint64_t off, unsigned int size,
		      uint64_t val);
	void (*reset)(struct device *d);
	/* Appends the device's node with libfdt's sequential writer; 0 or a
	 * libfdt error. NULL: the device has no node. */
	int (*fdt)(struct device *d, void *fdt);
	/* A byte typed on the console for this VM; false: no room now. */
	bool (*input)(struct device *d, uint8_t ch);
};

#define DEV_STATE_MAX	256

struct device {
	const struct dev_ops *ops;
	const struct dev_place *place;
	struct vm *vm;
	bool line;		/* interrupt line as last driven */
	alignas(8) uint8_t state[DEV_STATE_MAX];
};

/* Creates the devices of the arch's machine table. */
void dev_init(struct vm *vm);
void dev_reset(struct vm *vm);
int dev_fdt(struct vm *vm, void *fdt);

struct mmio {
	gpa_t gpa;
	uint64_t value;		/* to write; result of a read, zero extended */
	uint8_t size;		/* 1, 2, 4, 8 bytes */
	bool write;
};

/*
 * Performs @m on the device at its address; false: there is none, or the access
 * runs over its end. Eight aligned bytes are two accesses of four; an access
 * that is not aligned to its size reads 0 and writes nothing. No lock.
 */
bool dev_access(struct vm *vm, struct mmio *m);

/* Gives a typed byte to the VM's console device; false: try again later. No
 * lock. */
bool dev_input(struct vm *vm, uint8_t ch);

/* Drives the interrupt line of @d; idempotent. VM lock held. */
void dev_irq(struct device *d, bool level);

extern const struct dev_ops pl011_ops, pl031_ops, virtio_empty_ops,
	ns16550_ops, ls7a_rtc_ops;

#endif
