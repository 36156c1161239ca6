// SPDX-License-Identifier: BSD-2-Clause
/*
 * Empty virtio-mmio transports: what a driver that probes the addresses of the
 * machine finds, a transport without a device behind it (virtio 1.2, 4.2.3.1.1:
 * DeviceID 0 is to be ignored). Not in the device tree. No state, no lock.
 */
#include "dev.h"

#define SLOT_SIZE	0x200
#define REG_MAGIC	0x000
#define REG_VERSION	0x004
#define REG_VENDOR	0x00c
#define MAGIC		0x74726976	/* "virt" */
#define VERSION		2
#define VENDOR		0x4c54534e	/* "NSTL" */

static uint64_t virtio_read(struct device *, uint64_t off, unsigned int)
{
	uint32_t val = 0;

	switch (off % SLOT_SIZE & ~UINT64_C(3)) {
	case REG_MAGIC:
		val = MAGIC;
		break;
	case REG_VERSION:
		val = VERSION;
		break;
	case REG_VENDOR:
		val = VENDOR;
		break;
	default:
		break;
	}
	return val >> off % 4 * 8;
}

static void virtio_write(struct device *, uint64_t, unsigned int, uint64_t)
{
}

static void virtio_reset(struct device *)
{
}

const struct dev_ops virtio_empty_ops = {
	.name = "virtio_mmio",
	.read = virtio_read,
	.write = virtio_write,
	.reset = virtio_reset,
};
