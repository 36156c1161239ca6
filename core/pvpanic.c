// SPDX-License-Identifier: BSD-2-Clause
/*
 * pvpanic-pci. The hypervisor uses no other PCI device, so it takes the first
 * page of the host bridge's 32-bit window for this one.
 */
#include "arch.h"
#include "host.h"
#include "types.h"

#include <libfdt.h>

#define PCI_ID_PVPANIC		UINT32_C(0x00111b36)
#define PCI_COMMAND		0x04
#define PCI_COMMAND_MEMORY	0x2
#define PCI_BAR0		0x10
#define PCI_DEVICES		32
#define ECAM_DEVICE(n)		((uint64_t)(n) << 15)
#define ECAM_BUS_SIZE		(UINT64_C(1) << 20)

/* Cells of a row of "ranges": PCI address (3), CPU address (2), size (2). */
#define RANGE_CELLS		7
#define RANGE_SPACE(hi)		((hi) >> 24 & 3)
#define SPACE_MEM32		2

#define PANICKED		1

static volatile void *reg;

/* CPU and PCI address of the bridge's 32-bit memory window. */
static bool find_window(const void *fdt, int node, paddr_t *cpu, uint32_t *pci)
{
	int len;
	const fdt32_t *r = fdt_getprop(fdt, node, "ranges", &len);

	for (int i = 0; r && i + RANGE_CELLS <= len / 4; i += RANGE_CELLS) {
		if (RANGE_SPACE(fdt32_to_cpu(r[i])) != SPACE_MEM32)
			continue;
		*pci = fdt32_to_cpu(r[i + 2]);
		*cpu = (uint64_t)fdt32_to_cpu(r[i + 3]) << 32 |
		       fdt32_to_cpu(r[i + 4]);
		return true;
	}
	return false;
}

static void enable(volatile char *cfg, paddr_t cpu, uint32_t pci)
{
	uint32_t cmd = arch_mmio_read32(cfg + PCI_COMMAND);

	arch_mmio_write32(cfg + PCI_BAR0, pci);
	arch_mmio_write32(cfg + PCI_COMMAND, cmd | PCI_COMMAND_MEMORY);
	reg = arch_map_device(cpu, PAGE_SIZE);
}

void pvpanic_init(void)
{
	const void *fdt = host_fdt();
	int node = fdt_node_offset_by_compatible(fdt, -1,
						 "pci-host-ecam-generic");
	const fdt32_t *ecam;
	paddr_t base, cpu;
	uint32_t pci;
	int len;

	if (node < 0)
		return;
	ecam = fdt_getprop(fdt, node, "reg", &len);
	if (!ecam || len < 16 || !find_window(fdt, node, &cpu, &pci))
		return;
	base = (uint64_t)fdt32_to_cpu(ecam[0]) << 32 | fdt32_to_cpu(ecam[1]);
	volatile char *cfg = arch_map_device(base, ECAM_BUS_SIZE);

	for (unsigned int n = 0; n < PCI_DEVICES; n++) {
		if (arch_mmio_read32(cfg + ECAM_DEVICE(n)) != PCI_ID_PVPANIC)
			continue;
		enable(cfg + ECAM_DEVICE(n), cpu, pci);
		return;
	}
}

void pvpanic_fail(void)
{
	if (reg)
		arch_mmio_write8(reg, PANICKED);
}
