// SPDX-License-Identifier: BSD-2-Clause
/*
 * The rows of a guest hypervisor: entering a guest of its own at EL1 and
 * getting its hypercall back, with and without a stage 2 of its own and FP use
 * on either side, and the registers such a round needs. start.S has the guest.
 */
#include "bench.h"

#define HCR_VM		(1ul << 0)
#define HCR_TGE		(1ul << 27)
#define HCR_RW		(1ul << 31)
#define SCTLR_RESET	0x30d00800	/* RES1 bits, MMU off */

/* Stage 2: identity in blocks of 1 GiB, 39 bits of IPA, start at level 1. */
#define S2_ENTRIES	512
#define S2_AF		(1ul << 10)
#define S2_INNER	(3ul << 8)
#define S2_RW		(3ul << 6)
#define S2_NORMAL_WB	(0xful << 2)
#define S2_BLOCK	1ul
#define VTCR_T0SZ	25		/* 39 bits */
#define VTCR_SL0	(1ul << 6)
#define VTCR_WALK_WB	(1ul << 8 | 1ul << 10 | 3ul << 12)
#define VTCR_PS		(2ul << 16)	/* 40 bits of output */
#define VTCR_RES1	(1ul << 31)
#define VTCR							\
	(VTCR_RES1 | VTCR_PS | VTCR_WALK_WB | VTCR_SL0 | VTCR_T0SZ)
#define VMID		(1ul << 48)

#ifndef TLBI_SAMPLES
#define TLBI_SAMPLES	1
#endif

/* Runs the guest at @entry; its ESR_EL2 when it comes back. */
uint64_t nested_enter(void *entry);
extern char l2_hvc[], l2_fp_hvc[], l2_el1regs[];

static uint64_t table[S2_ENTRIES] __attribute__((aligned(4096)));

static void print_esr(uint64_t esr)
{
	print("esr ");
	print_hex(esr);
	print("\n");
}

static void stage2_on(uint64_t hcr)
{
	for (uint64_t i = 0; i < S2_ENTRIES; i++)
		table[i] = i << 30 | S2_AF | S2_INNER | S2_RW | S2_NORMAL_WB |
			   S2_BLOCK;
	dsb();
	sysreg_write(vtcr_el2, VTCR);
	sysreg_write(vttbr_el2, (uint64_t)table | VMID);
	__asm__ volatile("isb; tlbi vmalls12e1is; dsb ish; isb");
	sysreg_write(hcr_el2, hcr | HCR_VM);
	isb();
}

static void stage2_off_rows(void)
{
	uint64_t esr = 0;

	MEASURE("nv_eret_hvc_s2off", SAMPLES, , esr = nested_enter(l2_hvc));
	print_esr(esr);
	MEASURE("nv_eret_hvc_s2off+l2fp", SAMPLES, , nested_enter(l2_fp_hvc));
	MEASURE("nv_eret_hvc_s2off+l1fp", SAMPLES, ,
		({ use_fp(); nested_enter(l2_hvc); use_fp(); }));
	MEASURE("nv_eret_hvc_s2off+bothfp", SAMPLES, ,
		({ use_fp(); nested_enter(l2_fp_hvc); use_fp(); }));
}

static void stage2_on_rows(void)
{
	print_esr(nested_enter(l2_hvc));
	MEASURE("nv_eret_hvc_s2on", SAMPLES, , nested_enter(l2_hvc));
	MEASURE("nv_eret_hvc_s2on+l2fp", SAMPLES, , nested_enter(l2_fp_hvc));
	MEASURE("nv_eret_hvc_s2on+l1fp", SAMPLES, ,
		({ use_fp(); nested_enter(l2_hvc); use_fp(); }));
	MEASURE("nv_eret_hvc_s2on+bothfp", SAMPLES, ,
		({ use_fp(); nested_enter(l2_fp_hvc); use_fp(); }));
}

static void register_rows(uint64_t hcr)
{
	MEASURE("nv_msr_hcr_el2", SAMPLES, ,
		sysreg_write(hcr_el2, hcr | HCR_VM));
	MEASURE("nv_mrs_esr_el2", SAMPLES, , sysreg_read(esr_el2));
	MEASURE("nv_msr_vttbr_el2", SAMPLES, ,
		sysreg_write(vttbr_el2, (uint64_t)table | VMID));
	MEASURE("nv_tlbi_vmalls12e1", TLBI_SAMPLES, ,
		__asm__ volatile("tlbi vmalls12e1; dsb nsh; isb"));
	MEASURE("nv_tlbi_then_l2", TLBI_SAMPLES, , ({
			__asm__ volatile("tlbi vmalls12e1; dsb nsh; isb");
			nested_enter(l2_hvc);
		}));
}

void nested_rows(void)
{
	uint64_t hcr = sysreg_read(hcr_el2);

	print("HCR_EL2 ");
	print_hex(hcr);
	print("\n");
	hcr = (hcr & ~HCR_TGE) | HCR_RW;
	sysreg_write(hcr_el2, hcr);
	isb();
	sysreg_write(sctlr_el12, SCTLR_RESET);
	nested_enter(l2_el1regs);
	stage2_off_rows();
	stage2_on(hcr);
	stage2_on_rows();
	register_rows(hcr);
}
