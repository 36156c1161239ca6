// SPDX-License-Identifier: BSD-2-Clause
/*
 * TLB maintenance for stage 2 (Arm ARM D8.14). A flush begins with a DSB, so
 * that the changed table is what a repeated walk reads, and ends with a DSB
 * that waits for all CPUs; broadcast forms always, since vCPUs move.
 */
#include "tlb.h"

#include "cpu.h"
#include "sysreg.h"

void tlb_publish(void)
{
	dsb_ishst();
}

/* VTTBR_EL2 = @vttbr for the operations that follow; returns the old one. */
static uint64_t borrow(uint64_t vttbr)
{
	uint64_t old = sysreg_read(vttbr_el2);

	dsb_ishst();
	if (old != vttbr) {
		sysreg_write(vttbr_el2, vttbr);
		isb();
	}
	return old;
}

static void give_back(uint64_t old, uint64_t vttbr)
{
	dsb_ish();
	if (old != vttbr)
		sysreg_write(vttbr_el2, old);
	isb();
}

void tlb_flush_ipa(uint64_t vttbr, gpa_t ipa)
{
	uint64_t old = borrow(vttbr);

	/* The second one drops combined stage 1 and 2 entries, which the
	 * first may leave (D8.14.5). */
	__asm__ volatile("tlbi ipas2e1is, %0\n\tdsb ish\n\ttlbi vmalle1is"
			 : : "r"(ipa >> PAGE_SHIFT) : "memory");
	give_back(old, vttbr);
}

void tlb_flush_vmid(uint64_t vttbr)
{
	uint64_t old = borrow(vttbr);

	__asm__ volatile("tlbi vmalls12e1is" ::: "memory");
	give_back(old, vttbr);
}

void tlb_switch(uint64_t vttbr)
{
	struct cpu *c = this_cpu();

	if (c->arch.vttbr == vttbr)
		return;
	c->arch.vttbr = vttbr;
	sysreg_write(vttbr_el2, vttbr);
	isb();
}

void tlb_forget(uint64_t vttbr)
{
	/* VMID 0 belongs to no guest, so nothing ever runs with this. */
	if (this_cpu()->arch.vttbr == vttbr)
		tlb_switch(0);
}

void tlb_flush_local(void)
{
	__asm__ volatile("tlbi vmalle1\n\tic iallu\n\tdsb nsh\n\tisb"
			 ::: "memory");
}
