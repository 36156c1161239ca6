// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where was I put? Prints entry, device tree and ramdisk addresses, the
 * registers at entry and the boot arguments, then overwrites its own memory
 * up to the size that its header claims (SPAN bytes from the entry) and checks
 * that the device tree and the ramdisk survived. Status 0: they did.
 */
#include "mini.h"

/* Hidden: not through a GOT, which nobody would relocate. */
[[gnu::visibility("hidden")]] extern uint8_t image_end[];

static uint64_t number(const uint8_t *fdt, const char *name)
{
	uint32_t len;
	const uint8_t *p = prop(fdt, name, &len);

	if (!p)
		return 0;
	return len == 8 ? be64(p) : be32(p);
}

static void show_args(const uint8_t *fdt)
{
	uint32_t len;
	const uint8_t *p = prop(fdt, "bootargs", &len);

	print("bootargs=");
	print(p ? (const char *)p : "(none)");
	putch('\n');
}

int main(uint64_t x0, uint64_t x1, uint64_t x2, uint64_t x3, uint64_t entry)
{
	const uint8_t *fdt = (const uint8_t *)x0;
	uint64_t start, end, tree_sum, disk_sum, size, daif, sctlr, el;

	asm volatile("mrs %0, daif" : "=r"(daif));
	asm volatile("mrs %0, sctlr_el1" : "=r"(sctlr));
	asm volatile("mrs %0, currentel" : "=r"(el));
	value("entry", entry);
	value("dtb", x0);
	value("others", x1 | x2 | x3);
	value("daif", daif >> 6);
	value("mmu", sctlr & 1);
	value("el", el >> 2);
	if (x0 & 7 || be32(fdt) != FDT_MAGIC) {
		print("no device tree\n");
		return 1;
	}
	size = be32(fdt + 4);
	start = number(fdt, "linux,initrd-start");
	end = number(fdt, "linux,initrd-end");
	value("dtb-end", x0 + size);
	value("initrd", start);
	value("initrd-end", end);
	show_args(fdt);

	tree_sum = sum(fdt, size);
	disk_sum = sum((const uint8_t *)start, end - start);
	value("disk-sum", disk_sum);
	for (uint8_t *p = image_end; p < (uint8_t *)entry + SPAN; p++)
		*(volatile uint8_t *)p = 0xa5;
	if (sum(fdt, size) != tree_sum)
		return 2;
	if (sum((const uint8_t *)start, end - start) != disk_sum)
		return 3;
	print("intact\n");
	return 0;
}
