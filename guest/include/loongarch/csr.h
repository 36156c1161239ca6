// SPDX-License-Identifier: BSD-2-Clause
/*
 * Control and status registers of LoongArch: numbers, fields, exception codes,
 * IOCSR space, and the instructions that reach them (Reference Manual, volume
 * 1, chapters 4 and 7). Plain numbers, for assembly too.
 */
#ifndef GUEST_LOONGARCH_CSR_H
#define GUEST_LOONGARCH_CSR_H

/* ---- numbers ------------------------------------------------------------- */

#define CSR_CRMD	0x0
#define CSR_PRMD	0x1
#define CSR_EUEN	0x2
#define CSR_MISC	0x3
#define CSR_ECFG	0x4
#define CSR_ESTAT	0x5
#define CSR_ERA		0x6
#define CSR_BADV	0x7
#define CSR_BADI	0x8
#define CSR_EENTRY	0xc
#define CSR_TLBIDX	0x10
#define CSR_TLBEHI	0x11
#define CSR_TLBELO0	0x12
#define CSR_TLBELO1	0x13
#define CSR_ASID	0x18
#define CSR_PGDL	0x19
#define CSR_PGDH	0x1a
#define CSR_PGD		0x1b
#define CSR_PWCL	0x1c
#define CSR_PWCH	0x1d
#define CSR_STLBPS	0x1e
#define CSR_RVACFG	0x1f
#define CSR_CPUID	0x20
#define CSR_PRCFG1	0x21
#define CSR_PRCFG2	0x22
#define CSR_PRCFG3	0x23
#define CSR_SAVE(n)	(0x30 + (n))
#define CSR_SAVE0	0x30
#define CSR_SAVE1	0x31
#define CSR_SAVE2	0x32
#define CSR_SAVE3	0x33
#define CSR_SAVE4	0x34
#define CSR_SAVE5	0x35
#define CSR_SAVE6	0x36
#define CSR_SAVE7	0x37
#define CSR_TID		0x40
#define CSR_TCFG	0x41
#define CSR_TVAL	0x42
#define CSR_CNTC	0x43
#define CSR_TICLR	0x44
#define CSR_LLBCTL	0x60
#define CSR_IMPCTL1	0x80
#define CSR_IMPCTL2	0x81
#define CSR_TLBRENTRY	0x88
#define CSR_TLBRBADV	0x89
#define CSR_TLBRERA	0x8a
#define CSR_TLBRSAVE	0x8b
#define CSR_TLBRELO0	0x8c
#define CSR_TLBRELO1	0x8d
#define CSR_TLBREHI	0x8e
#define CSR_TLBRPRMD	0x8f
#define CSR_MERRCTL	0x90
#define CSR_MERRINFO1	0x91
#define CSR_MERRINFO2	0x92
#define CSR_MERRENTRY	0x93
#define CSR_MERRERA	0x94
#define CSR_MERRSAVE	0x95
#define CSR_CTAG	0x98
#define CSR_DMW(n)	(0x180 + (n))
#define CSR_DMW0	0x180
#define CSR_DMW1	0x181
#define CSR_DMW2	0x182
#define CSR_DMW3	0x183
#define CSR_PMCFG(n)	(0x200 + 2 * (n))	/* n: 0..3 as implemented */
#define CSR_PMCNT(n)	(0x201 + 2 * (n))
#define CSR_MWPC	0x300
#define CSR_MWPS	0x301
#define CSR_MWP(n, r)	(0x310 + 8 * (n) + (r))	/* r: CFG1..CFG4 = 0..3 */
#define CSR_FWPC	0x380
#define CSR_FWPS	0x381
#define CSR_FWP(n, r)	(0x390 + 8 * (n) + (r))
#define CSR_DBG		0x500
#define CSR_DERA	0x501
#define CSR_DSAVE	0x502

#define CSR_COUNT	0x4000		/* 14-bit number in the instruction */

/* ---- fields -------------------------------------------------------------- */

/* CRMD; PRMD has its PPLV, PIE and PWE at the same places. */
#define CRMD_PLV	0x3
#define CRMD_IE		0x4
#define CRMD_DA		0x8
#define CRMD_PG		0x10
#define CRMD_DATF_CC	0x20
#define CRMD_DATF	0x60
#define CRMD_DATM_CC	0x80
#define CRMD_DATM	0x180
#define CRMD_WE		0x200
#define CRMD_ALL	0x3ff
#define CRMD_RESET	0x8		/* PLV 0, DA */

#define PRMD_PPLV	0x3
#define PRMD_PIE	0x4
#define PRMD_PWE	0x8
#define PRMD_ALL	0xf

#define EUEN_FPE	0x1
#define EUEN_SXE	0x2
#define EUEN_ASXE	0x4
#define EUEN_BTE	0x8
#define EUEN_ALL	0xf

/* ECFG: which of ESTAT.IS may interrupt, spacing of the vectors. */
#define ECFG_LIE	0x1fff
#define ECFG_VS_SHIFT	16
#define ECFG_VS		0x70000

#define ESTAT_IS	0x1fff
#define ESTAT_SWI	0x3		/* the only bits that are writable */
#define ESTAT_HWI_SHIFT	2		/* IS[9:2] = HWI7..0 */
#define ESTAT_HWI	0x3fc
#define ESTAT_PMI	0x400
#define ESTAT_TI	0x800
#define ESTAT_IPI	0x1000
#define ESTAT_ECODE_SHIFT 16
#define ESTAT_ECODE_MASK 0x3f
#define ESTAT_ESUB_SHIFT 22
#define ESTAT_ESUB_MASK	0x1ff

/* Where vectored interrupts begin: irq + 64. */
#define ECODE_INT_BASE	64

/* TLBIDX. */
#define TLBIDX_INDEX	0xffff
#define TLBIDX_PS_SHIFT	24
#define TLBIDX_PS	0x3f000000
#define TLBIDX_NE	0x80000000

/* TLBEHI.VPPN = VA[47:13] in place; TLBREHI has the page size below it. */
#define TLBEHI_VPPN	0x0000ffffffffe000
#define TLBREHI_PS	0x3f

/* TLBELO0, TLBELO1, TLBRELO0, TLBRELO1; a page table entry likewise. */
#define TLBELO_V	0x1
#define TLBELO_D	0x2
#define TLBELO_PLV_SHIFT 2
#define TLBELO_PLV	0xc
#define TLBELO_MAT_SHIFT 4
#define TLBELO_MAT	0x30
#define TLBELO_MAT_SUC	0x00		/* strongly-ordered uncached */
#define TLBELO_MAT_CC	0x10		/* coherent cached */
#define TLBELO_MAT_WUC	0x20		/* weakly-ordered uncached */
#define TLBELO_G	0x40
#define TLBELO_PPN	0x0000fffffffff000
#define TLBELO_NR	0x2000000000000000
#define TLBELO_NX	0x4000000000000000
#define TLBELO_RPLV	0x8000000000000000

/* In a directory entry: a leaf, and where the leaf keeps its global bit. */
#define PTE_HUGE	0x40
#define PTE_HUGE_G	0x1000

#define ASID_ASID	0x3ff
#define ASID_BITS_SHIFT	16
#define ASID_BITS	0xff0000

/* PWCL, PWCH: base and width of each level's index, 5 bits each (PWCH: 6). */
#define PWCL_PTBASE_SHIFT	0
#define PWCL_PTWIDTH_SHIFT	5
#define PWCL_DIR1_BASE_SHIFT	10
#define PWCL_DIR1_WIDTH_SHIFT	15
#define PWCL_DIR2_BASE_SHIFT	20
#define PWCL_DIR2_WIDTH_SHIFT	25
#define PWCL_PTEWIDTH_SHIFT	30	/* 0: 64 bits */
#define PWCH_DIR3_BASE_SHIFT	0
#define PWCH_DIR3_WIDTH_SHIFT	6
#define PWCH_DIR4_BASE_SHIFT	12
#define PWCH_DIR4_WIDTH_SHIFT	18
#define PWCH_HPTW_EN		0x1000000

#define CPUID_MASK	0x1ff

/* PRCFG1: SAVE registers, timer bits - 1, highest VS. */
#define PRCFG1_SAVE_NUM		0xf
#define PRCFG1_TIMER_BITS_SHIFT	4
#define PRCFG1_VSMAX_SHIFT	12
/* PRCFG3: kind of TLB, MTLB entries - 1, STLB ways - 1, log2 of STLB sets. */
#define PRCFG3_TYPE_MTLB_STLB	0x2
#define PRCFG3_MTLB_SHIFT	4
#define PRCFG3_STLB_WAYS_SHIFT	12
#define PRCFG3_STLB_SETS_SHIFT	20

#define TCFG_EN		0x1
#define TCFG_PERIODIC	0x2
#define TCFG_INITVAL	0x0000fffffffffffc	/* 48-bit timer */
#define TICLR_CLR	0x1

#define LLBCTL_ROLLB	0x1
#define LLBCTL_WCLLB	0x2
#define LLBCTL_KLO	0x4

#define TLBRERA_ISTLBR	0x1
#define MERRCTL_ISMERR	0x1
#define DBG_DST		0x1

/* Direct mapped windows: privilege levels, memory type, segment VA[63:60]. */
#define DMW_PLV(n)	(1 << (n))
#define DMW_PLV0	0x1
#define DMW_PLV3	0x8
#define DMW_MAT_SHIFT	4
#define DMW_MAT_SUC	0x00
#define DMW_MAT_CC	0x10
#define DMW_MAT_WUC	0x20
#define DMW_VSEG_SHIFT	60

/* ---- exception codes: ESTAT.Ecode, and Esubcode where there is one ------- */

#define ECODE_INT	0x0
#define ECODE_PIL	0x1		/* page invalid, load */
#define ECODE_PIS	0x2		/* page invalid, store */
#define ECODE_PIF	0x3		/* page invalid, fetch */
#define ECODE_PME	0x4		/* page modify */
#define ECODE_PNR	0x5		/* page not readable */
#define ECODE_PNX	0x6		/* page not executable */
#define ECODE_PPI	0x7		/* page privilege */
#define ECODE_ADE	0x8		/* address */
#define ESUB_ADEF	0
#define ESUB_ADEM	1
#define ECODE_ALE	0x9		/* alignment */
#define ECODE_BCE	0xa		/* bound check */
#define ECODE_SYS	0xb
#define ECODE_BRK	0xc
#define ECODE_INE	0xd		/* instruction does not exist */
#define ECODE_IPE	0xe		/* instruction privilege */
#define ECODE_FPD	0xf
#define ECODE_SXD	0x10
#define ECODE_ASXD	0x11
#define ECODE_FPE	0x12
#define ESUB_FPE	0
#define ESUB_VFPE	1
#define ECODE_WPE	0x13
#define ESUB_WPEF	0
#define ESUB_WPEM	1
#define ECODE_BTD	0x14
#define ECODE_BTE	0x15

/* ---- IOCSR addresses ----------------------------------------------------- */

#define IOCSR_VERSION		0x0
#define IOCSR_FEATURES		0x8
#define IOCSR_VENDOR		0x10
#define IOCSR_CPUNAME		0x20
#define IOCSR_MISC_FUNC		0x420
#define MISC_FUNC_EXTIOI_EN	0x1000000000000	/* bit 48 */

/* Inter-processor interrupts of the own CPU, 32-bit; mailboxes 64-bit. */
#define IOCSR_IPI_STATUS	0x1000
#define IOCSR_IPI_EN		0x1004
#define IOCSR_IPI_SET		0x1008
#define IOCSR_IPI_CLEAR		0x100c
#define IOCSR_MBUF0		0x1020
/* To another CPU. */
#define IOCSR_IPI_SEND		0x1040
#define IPI_SEND_BLOCKING	0x80000000
#define IPI_SEND_CPU_SHIFT	16
#define IOCSR_MAIL_SEND		0x1048
#define MAIL_SEND_BLOCKING	0x80000000
#define MAIL_SEND_CPU_SHIFT	16
#define MAIL_SEND_BOX_SHIFT	2	/* number of a 32-bit half */
#define MAIL_SEND_MASK_SHIFT	27	/* bytes that are kept */
#define MAIL_SEND_DATA_SHIFT	32
#define IOCSR_ANY_SEND		0x1158

/* Extended I/O interrupts: 256 inputs. */
#define IOCSR_EXTIOI_NODETYPE	0x14a0	/* 2 bytes per node */
#define IOCSR_EXTIOI_IPMAP	0x14c0	/* 1 byte per 32 inputs, one-hot pin */
#define IOCSR_EXTIOI_ENABLE	0x1600
#define IOCSR_EXTIOI_BOUNCE	0x1680
#define IOCSR_EXTIOI_ISR	0x1800	/* of the own CPU, write 1 to clear */
#define IOCSR_EXTIOI_COREMAP	0x1c00	/* 1 byte per input, one-hot CPU */

#ifndef __ASSEMBLY__

#include <stdint.h>

#define csr_read(n)                                                            \
	({                                                                     \
		uint64_t value_;                                               \
		asm volatile("csrrd %0, %1"                                    \
			     : "=r"(value_)                                    \
			     : "i"(n)                                          \
			     : "memory");                                      \
		value_;                                                        \
	})

/* The old value is the result, as of the instruction. */
#define csr_write(n, value)                                                    \
	({                                                                     \
		uint64_t value_ = (value);                                     \
		asm volatile("csrwr %0, %1"                                    \
			     : "+r"(value_)                                    \
			     : "i"(n)                                          \
			     : "memory");                                      \
		value_;                                                        \
	})

#define csr_xchg(n, value, mask)                                               \
	({                                                                     \
		uint64_t value_ = (value);                                     \
		asm volatile("csrxchg %0, %1, %2"                              \
			     : "+r"(value_)                                    \
			     : "q"((uint64_t)(mask)), "i"(n)                   \
			     : "memory");                                      \
		value_;                                                        \
	})

#define IOCSR_ACCESSORS(bits, suffix)                                          \
	static inline uint##bits##_t iocsr_read##bits(uint64_t addr)           \
	{                                                                      \
		uint64_t value;                                                \
                                                                               \
		asm volatile("iocsrrd." suffix " %0, %1"                       \
			     : "=r"(value)                                     \
			     : "r"(addr)                                       \
			     : "memory");                                      \
		return (uint##bits##_t)value;                                  \
	}                                                                      \
                                                                               \
	static inline void iocsr_write##bits(uint64_t addr,                    \
					     uint##bits##_t value)             \
	{                                                                      \
		asm volatile("iocsrwr." suffix " %0, %1" ::"r"(                \
				     (uint64_t)value),                         \
			     "r"(addr)                                         \
			     : "memory");                                      \
	}

IOCSR_ACCESSORS(8, "b")
IOCSR_ACCESSORS(16, "h")
IOCSR_ACCESSORS(32, "w")
IOCSR_ACCESSORS(64, "d")

#undef IOCSR_ACCESSORS

static inline uint32_t cpucfg(uint32_t word)
{
	uint32_t value;

	asm("cpucfg %0, %1" : "=r"(value) : "r"(word));
	return value;
}

/* Instructions fetched from here on see the stores before. */
static inline void isb(void)
{
	asm volatile("ibar 0" ::: "memory");
}

/* All accesses before, before all after. */
static inline void dsb(void)
{
	asm volatile("dbar 0" ::: "memory");
}

/* Sleeps until an enabled interrupt is pending, masked by CRMD.IE or not. */
static inline void wfi(void)
{
	asm volatile("dbar 0\n\tidle 0" ::: "memory");
}

/* In a loop that waits for memory: there is no such hint here. */
static inline void wfe(void)
{
	asm volatile("" ::: "memory");
}

static inline void sev(void)
{
}

/* Name of the level this code runs at. */
static inline const char *privilege(void)
{
	return csr_read(CSR_CRMD) & CRMD_PLV ? "PLV3" : "PLV0";
}

static inline void irq_enable(void)
{
	csr_xchg(CSR_CRMD, CRMD_IE, CRMD_IE);
}

static inline void irq_disable(void)
{
	csr_xchg(CSR_CRMD, 0, CRMD_IE);
}

/* Masks interrupts of this vCPU; the result is for irq_restore(). */
static inline uint64_t irq_save(void)
{
	return csr_xchg(CSR_CRMD, 0, CRMD_IE) & CRMD_IE;
}

static inline void irq_restore(uint64_t old)
{
	csr_xchg(CSR_CRMD, old, CRMD_IE);
}

#endif
#endif
