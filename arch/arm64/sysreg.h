/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * System register access and the bits the hypervisor uses. With E2H=1 the
 * plain EL1 names mean EL2's own registers: sctlr_el1 here is SCTLR_EL2. The
 * hypervisor uses these for its own state because as a guest hypervisor under
 * FEAT_NV2 they do not trap.
 */
#ifndef ARM64_SYSREG_H
#define ARM64_SYSREG_H

#include "types.h"

#define SR_STR_(x) #x
#define SR_STR(x) SR_STR_(x)

#define sysreg_read(r) ({						\
	uint64_t v_;							\
	__asm__ volatile("mrs %0, " SR_STR(r) : "=r"(v_));		\
	v_; })
#define sysreg_write(r, v)						\
	__asm__ volatile("msr " SR_STR(r) ", %x0"			\
			 : : "rZ"((uint64_t)(v)) : "memory")

static inline void isb(void)
{
	__asm__ volatile("isb" ::: "memory");
}

static inline void dsb_ish(void)
{
	__asm__ volatile("dsb ish" ::: "memory");
}

static inline void dsb_ishst(void)
{
	__asm__ volatile("dsb ishst" ::: "memory");
}

static inline void dsb_sy(void)
{
	__asm__ volatile("dsb sy" ::: "memory");
}

/* Interrupt controller CPU interface (Arm IHI 0069). */
#define ICC_PMR_EL1		S3_0_C4_C6_0
#define ICC_IAR1_EL1		S3_0_C12_C12_0
#define ICC_EOIR1_EL1		S3_0_C12_C12_1
#define ICC_BPR1_EL1		S3_0_C12_C12_3
#define ICC_CTLR_EL1		S3_0_C12_C12_4
#define ICC_SRE_EL1		S3_0_C12_C12_5
#define ICC_IGRPEN1_EL1		S3_0_C12_C12_7
#define ICC_DIR_EL1		S3_0_C12_C11_1
#define ICC_SGI1R_EL1		S3_0_C12_C11_5
#define ICC_SRE_EL2		S3_4_C12_C9_5
#define ICH_AP0R0_EL2		S3_4_C12_C8_0
#define ICH_AP1R0_EL2		S3_4_C12_C9_0
#define ICH_HCR_EL2		S3_4_C12_C11_0
#define ICH_VTR_EL2		S3_4_C12_C11_1
#define ICH_MISR_EL2		S3_4_C12_C11_2
#define ICH_EISR_EL2		S3_4_C12_C11_3
#define ICH_ELRSR_EL2		S3_4_C12_C11_5
#define ICH_VMCR_EL2		S3_4_C12_C11_7
/* ICH_AP*Rn_EL2 and ICH_LRn_EL2 as asm text: see vgic_hw.c. */

#define VDISR_EL2		S3_4_C12_C1_1	/* FEAT_RAS */

/* HCR_EL2 (Arm ARM D24). */
#define HCR_VM			BIT(0)
#define HCR_SWIO		BIT(1)
#define HCR_PTW			BIT(2)
#define HCR_FMO			BIT(3)
#define HCR_IMO			BIT(4)
#define HCR_AMO			BIT(5)
#define HCR_VSE			BIT(8)
#define HCR_BSU_IS		BIT(10)
#define HCR_FB			BIT(9)
#define HCR_TWI			BIT(13)
#define HCR_TWE			BIT(14)
#define HCR_TID0		BIT(15)
#define HCR_TID1		BIT(16)
#define HCR_TID2		BIT(17)
#define HCR_TID3		BIT(18)
#define HCR_TSC			BIT(19)
#define HCR_TIDCP		BIT(20)
#define HCR_TACR		BIT(21)
#define HCR_TSW			BIT(22)
#define HCR_TGE			BIT(27)
#define HCR_RW			BIT(31)
#define HCR_E2H			BIT(34)
#define HCR_TLOR		BIT(35)
#define HCR_TERR		BIT(36)
#define HCR_TEA			BIT(37)
#define HCR_APK			BIT(40)
#define HCR_API			BIT(41)
#define HCR_FWB			BIT(46)
#define HCR_ENSCXT		BIT(53)
#define HCR_ATA			BIT(56)
#define HCR_TID5		BIT(58)

/* Exception classes, ESR_ELx[31:26]. */
enum esr_ec {
	EC_UNKNOWN = 0x00,
	EC_WFX = 0x01,
	EC_FP = 0x07,
	EC_PAUTH = 0x09,
	EC_LS64 = 0x0a,
	EC_BTI = 0x0d,
	EC_ILLEGAL = 0x0e,
	EC_SYSREG128 = 0x14,
	EC_SVC64 = 0x15,
	EC_HVC64 = 0x16,
	EC_SMC64 = 0x17,
	EC_SYSREG = 0x18,
	EC_SVE = 0x19,
	EC_ERET = 0x1a,
	EC_SME = 0x1d,
	EC_IABT_LOW = 0x20,
	EC_IABT_CUR = 0x21,
	EC_PC_ALIGN = 0x22,
	EC_DABT_LOW = 0x24,
	EC_DABT_CUR = 0x25,
	EC_SP_ALIGN = 0x26,
	EC_SERROR = 0x2f,
	EC_BREAK_LOW = 0x30,
	EC_STEP_LOW = 0x32,
	EC_WATCH_LOW = 0x34,
	EC_BRK64 = 0x3c,
};

#define ESR_EC(esr)		((unsigned int)field(esr, 31, 26))
#define ESR_EC_SHIFT		26
#define ESR_IL			BIT(25)
#define ESR_ISS_MASK		BITS(24, 0)

/* PSTATE as in SPSR_ELx. */
#define PSTATE_EL0T		0x0
#define PSTATE_EL1T		0x4
#define PSTATE_EL1H		0x5
#define PSTATE_EL2H		0x9
#define PSTATE_M		BITS(4, 0)
#define PSTATE_F		BIT(6)
#define PSTATE_I		BIT(7)
#define PSTATE_A		BIT(8)
#define PSTATE_D		BIT(9)
#define PSTATE_DAIF		BITS(9, 6)
#define PSTATE_BTYPE		BITS(11, 10)
#define PSTATE_SSBS		BIT(12)
#define PSTATE_IL		BIT(20)
#define PSTATE_SS		BIT(21)
#define PSTATE_PAN		BIT(22)
#define PSTATE_UAO		BIT(23)
#define PSTATE_DIT		BIT(24)
#define PSTATE_TCO		BIT(25)
#define PSTATE_NZCV		BITS(31, 28)

#define SCTLR_M			BIT(0)
#define SCTLR_C			BIT(2)
#define SCTLR_SPAN		BIT(23)
#define SCTLR_DSSBS		BIT(44)

#endif
