/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Control and status registers (LoongArch Reference Manual, volume 1, chapter
 * 7): numbers, fields, exception codes, and the instructions that reach them.
 * The numbers are for C and assembly, the rest for C.
 */
#ifndef LOONGARCH_CSR_H
#define LOONGARCH_CSR_H

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
#define CSR_SAVE0	0x30
#define CSR_SAVE1	0x31
#define CSR_SAVE2	0x32
#define CSR_SAVE3	0x33
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
#define CSR_DMW0	0x180
#define CSR_DMW1	0x181
#define CSR_DMW2	0x182
#define CSR_DMW3	0x183
#define CSR_PERFCTRL0	0x200	/* 8 of them, PERFCNTR behind each */
#define CSR_MWPC	0x300
#define CSR_MWPS	0x301
#define CSR_FWPC	0x380
#define CSR_FWPS	0x381
#define CSR_DBG		0x500
#define CSR_DERA	0x501
#define CSR_DSAVE	0x502

/* IOCSR space of the own CPU: version and features. */
#define IOCSR_VERSION		0x0
#define IOCSR_FEATURES		0x8
#define IOCSR_VENDOR		0x10
#define IOCSR_CPUNAME		0x20
#define IOCSR_MISC		0x420
/* Inter-processor interrupts; mailboxes are 64 bits wide. */
#define IOCSR_IPI_STATUS	0x1000
#define IOCSR_IPI_ENABLE	0x1004
#define IOCSR_IPI_SET		0x1008
#define IOCSR_IPI_CLEAR		0x100c
#define IOCSR_MAILBOX0		0x1020
#define IOCSR_MAILBOX1		0x1028
/* To any CPU: number in bits 25:16, bit 31 waits until it has arrived. */
#define IOCSR_IPI_SEND		0x1040
#define IOCSR_MAIL_SEND		0x1048
#define IOCSR_ANY_SEND		0x1158
/* Extended interrupt controller: 256 inputs, shared by all CPUs. */
#define IOCSR_EIO_NODETYPE	0x14a0
#define IOCSR_EIO_IPMAP		0x14c0	/* a byte per 32 inputs: pin, one-hot */
#define IOCSR_EIO_ENABLE	0x1600
#define IOCSR_EIO_BOUNCE	0x1680
#define IOCSR_EIO_ISR		0x1800	/* of the own CPU, write 1 to clear */
#define IOCSR_EIO_COREMAP	0x1c00	/* a byte per input: CPU, one-hot */

/* Exception codes: ESTAT.Ecode. */
#define ECODE_INT	0x00
#define ECODE_PIL	0x01
#define ECODE_PIS	0x02
#define ECODE_PIF	0x03
#define ECODE_PME	0x04
#define ECODE_PNR	0x05
#define ECODE_PNX	0x06
#define ECODE_PPI	0x07
#define ECODE_ADE	0x08	/* subcode 0: fetch, 1: memory access */
#define ECODE_ALE	0x09
#define ECODE_BCE	0x0a
#define ECODE_SYS	0x0b
#define ECODE_BRK	0x0c
#define ECODE_INE	0x0d
#define ECODE_IPE	0x0e
#define ECODE_FPD	0x0f
#define ECODE_SXD	0x10
#define ECODE_ASXD	0x11
#define ECODE_FPE	0x12	/* subcode 0: scalar, 1: vector */
#define ECODE_WPE	0x13	/* subcode 0: fetch, 1: memory access */
#define ECODE_BTD	0x14
#define ECODE_BTE	0x15
#define ECODES		64
#define ESUB_ADEF	0
#define ESUB_ADEM	1

#ifndef __ASSEMBLY__

#include "types.h"

#define CRMD_PLV	BITS(1, 0)
#define CRMD_IE		BIT(2)
#define CRMD_DA		BIT(3)
#define CRMD_PG		BIT(4)
#define CRMD_DATF	BITS(6, 5)
#define CRMD_DATM	BITS(8, 7)
#define CRMD_WE		BIT(9)

#define PRMD_PPLV	BITS(1, 0)
#define PRMD_PIE	BIT(2)
#define PRMD_PWE	BIT(3)

#define EUEN_FPE	BIT(0)
#define EUEN_SXE	BIT(1)
#define EUEN_ASXE	BIT(2)
#define EUEN_BTE	BIT(3)

/* Interrupt bits of ECFG.LIE and ESTAT.IS. */
#define INT_SWI		BITS(1, 0)
#define INT_HWI0	2	/* number of the first hardware line */
#define INT_HWI		BITS(9, 2)
#define INT_PMI		BIT(10)
#define INT_TI		BIT(11)
#define INT_IPI		BIT(12)
#define INT_ALL		BITS(12, 0)

#define ECFG_VS_SHIFT	16
#define ECFG_VS		BITS(18, 16)

#define ESTAT_ECODE_SHIFT	16
#define ESTAT_ECODE	BITS(21, 16)
#define ESTAT_ESUB_SHIFT	22
#define ESTAT_ESUB	BITS(30, 22)

#define TLBIDX_INDEX	BITS(11, 0)
#define TLBIDX_PS_SHIFT	24
#define TLBIDX_PS	BITS(29, 24)
#define TLBIDX_NE	BIT(31)

#define TLBEHI_VPPN	BITS(47, 13)

/* TLBELO0/1, TLBRELO0/1 and 64-bit page table entries. */
#define PTE_V		BIT(0)
#define PTE_D		BIT(1)
#define PTE_PLV		BITS(3, 2)
#define PTE_PLV_SHIFT	2
#define PTE_MAT		BITS(5, 4)
#define PTE_MAT_SHIFT	4
#define PTE_G		BIT(6)
#define PTE_PPN		BITS(47, 12)
#define PTE_NR		BIT(61)
#define PTE_NX		BIT(62)
#define PTE_RPLV	BIT(63)
/* In tables only. */
#define PTE_HUGE	BIT(6)	/* in a directory: this is a page */
#define PTE_HGLOBAL	BIT(12)	/* G of such a page */

#define MAT_SUC		0	/* strongly-ordered uncached */
#define MAT_CC		1	/* coherent cached */
#define MAT_WUC		2	/* weakly-ordered uncached */

#define ASID_ASID	BITS(9, 0)
#define ASID_BITS_SHIFT	16

#define TCFG_EN		BIT(0)
#define TCFG_PERIODIC	BIT(1)
#define TCFG_INIT	BITS(47, 2)

#define TICLR_CLR	BIT(0)

#define LLBCTL_ROLLB	BIT(0)
#define LLBCTL_WCLLB	BIT(1)
#define LLBCTL_KLO	BIT(2)

#define TLBRERA_ISTLBR	BIT(0)
#define TLBRERA_PC	BITS(63, 2)
#define TLBREHI_PS	BITS(5, 0)
#define TLBRPRMD_PPLV	BITS(1, 0)
#define TLBRPRMD_PIE	BIT(2)
#define TLBRPRMD_PWE	BIT(4)

#define MERRCTL_ISMERR	BIT(0)

#define DMW_PLV(n)	BIT(n)
#define DMW_MAT		BITS(5, 4)
#define DMW_MAT_SHIFT	4
#define DMW_VSEG	BITS(63, 60)
#define DMW_VSEG_SHIFT	60

#define csr_read(num)							\
	({								\
		uint64_t csr_read_val;					\
		__asm__ volatile("csrrd %0, %1"				\
				 : "=r"(csr_read_val)			\
				 : "i"(num)				\
				 : "memory");				\
		csr_read_val;						\
	})

/* Gives the old value, as the instruction does. */
#define csr_write(num, val)						\
	({								\
		uint64_t csr_write_val = (val);				\
		__asm__ volatile("csrwr %0, %1"				\
				 : "+r"(csr_write_val)			\
				 : "i"(num)				\
				 : "memory");				\
		csr_write_val;						\
	})

/*
 * Changes the bits of @mask only; gives the complete old value. The mask is
 * never in $r0 or $r1, which would make another instruction of it ("q").
 */
#define csr_xchg(num, val, mask)					\
	({								\
		uint64_t csr_xchg_val = (val);				\
		__asm__ volatile("csrxchg %0, %1, %2"			\
				 : "+r"(csr_xchg_val)			\
				 : "q"((uint64_t)(mask)), "i"(num)	\
				 : "memory");				\
		csr_xchg_val;						\
	})

static inline uint32_t iocsr_read32(uint32_t addr)
{
	uint32_t val;

	__asm__ volatile("iocsrrd.w %0, %1" : "=r"(val) : "r"(addr) : "memory");
	return val;
}

static inline uint64_t iocsr_read64(uint32_t addr)
{
	uint64_t val;

	__asm__ volatile("iocsrrd.d %0, %1" : "=r"(val) : "r"(addr) : "memory");
	return val;
}

static inline void iocsr_write8(uint32_t addr, uint8_t val)
{
	__asm__ volatile("iocsrwr.b %0, %1" : : "r"(val), "r"(addr) : "memory");
}

static inline void iocsr_write32(uint32_t addr, uint32_t val)
{
	__asm__ volatile("iocsrwr.w %0, %1" : : "r"(val), "r"(addr) : "memory");
}

static inline void iocsr_write64(uint32_t addr, uint64_t val)
{
	__asm__ volatile("iocsrwr.d %0, %1" : : "r"(val), "r"(addr) : "memory");
}

/* A configuration word of this CPU. */
static inline uint32_t cpucfg(uint32_t word)
{
	uint32_t val;

	__asm__("cpucfg %0, %1" : "=r"(val) : "r"(word));
	return val;
}

/* Invalidates every entry of this CPU's TLB. */
static inline void invtlb_all(void)
{
	__asm__ volatile("invtlb 0, $zero, $zero" ::: "memory");
}

/* Stores before are seen by instruction fetches behind. */
static inline void ibar(void)
{
	__asm__ volatile("ibar 0" ::: "memory");
}

#endif /* __ASSEMBLY__ */

#endif
