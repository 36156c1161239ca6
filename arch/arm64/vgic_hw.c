// SPDX-License-Identifier: BSD-2-Clause
/*
 * Access to the list registers and their companions. System register names are
 * part of the instruction, so numbered access is a switch, made from one list
 * each. Owns vgic_hw, fixed after boot; the registers belong to the CPU.
 */
#include "vgic_hw.h"

#include "print.h"
#include "sysreg.h"

struct vgic_hw vgic_hw;

/* clang-format off */
/* ICH_LR0..15_EL2. */
#define LRS(X)								\
	X(0, S3_4_C12_C12_0)  X(1, S3_4_C12_C12_1)			\
	X(2, S3_4_C12_C12_2)  X(3, S3_4_C12_C12_3)			\
	X(4, S3_4_C12_C12_4)  X(5, S3_4_C12_C12_5)			\
	X(6, S3_4_C12_C12_6)  X(7, S3_4_C12_C12_7)			\
	X(8, S3_4_C12_C13_0)  X(9, S3_4_C12_C13_1)			\
	X(10, S3_4_C12_C13_2) X(11, S3_4_C12_C13_3)			\
	X(12, S3_4_C12_C13_4) X(13, S3_4_C12_C13_5)			\
	X(14, S3_4_C12_C13_6) X(15, S3_4_C12_C13_7)
/* clang-format on */

void vgic_hw_init(void)
{
	uint64_t vtr = sysreg_read(ICH_VTR_EL2);

	vgic_hw.nr_lrs = (uint8_t)((vtr & 0xf) + 1);
	vgic_hw.pre_bits = (uint8_t)(field(vtr, 28, 26) + 1);
	vgic_hw.pri_bits = (uint8_t)(field(vtr, 31, 29) + 1);
	vgic_hw.tdir = vtr & BIT(19);
	ASSERT(vgic_hw.pre_bits >= 5 && vgic_hw.pre_bits <= 7);
	ASSERT(vgic_hw.pri_bits >= vgic_hw.pre_bits);
}

uint64_t vgic_hw_lr(unsigned int i)
{
	switch (i) {
#define X(n, reg) \
	case n: return sysreg_read(reg);
		LRS(X)
#undef X
	default:
		return 0;
	}
}

void vgic_hw_set_lr(unsigned int i, uint64_t v)
{
	switch (i) {
#define X(n, reg) \
	case n: sysreg_write(reg, v); break;
		LRS(X)
#undef X
	default:
		break;
	}
}

void vgic_hw_aprs(uint64_t apr[2][VGIC_APRS])
{
	/* Which registers there are follows from how many. */
	switch (vgic_nr_aprs()) {
	case 4:
		apr[0][3] = sysreg_read(S3_4_C12_C8_3);
		apr[1][3] = sysreg_read(S3_4_C12_C9_3);
		apr[0][2] = sysreg_read(S3_4_C12_C8_2);
		apr[1][2] = sysreg_read(S3_4_C12_C9_2);
		[[fallthrough]];
	case 2:
		apr[0][1] = sysreg_read(S3_4_C12_C8_1);
		apr[1][1] = sysreg_read(S3_4_C12_C9_1);
		[[fallthrough]];
	default:
		apr[0][0] = sysreg_read(S3_4_C12_C8_0);
		apr[1][0] = sysreg_read(S3_4_C12_C9_0);
	}
}

void vgic_hw_set_aprs(const uint64_t apr[2][VGIC_APRS])
{
	switch (vgic_nr_aprs()) {
	case 4:
		sysreg_write(S3_4_C12_C8_3, apr[0][3]);
		sysreg_write(S3_4_C12_C9_3, apr[1][3]);
		sysreg_write(S3_4_C12_C8_2, apr[0][2]);
		sysreg_write(S3_4_C12_C9_2, apr[1][2]);
		[[fallthrough]];
	case 2:
		sysreg_write(S3_4_C12_C8_1, apr[0][1]);
		sysreg_write(S3_4_C12_C9_1, apr[1][1]);
		[[fallthrough]];
	default:
		sysreg_write(S3_4_C12_C8_0, apr[0][0]);
		sysreg_write(S3_4_C12_C9_0, apr[1][0]);
	}
}

uint64_t vgic_hw_hcr(void)
{
	return sysreg_read(ICH_HCR_EL2);
}

void vgic_hw_set_hcr(uint64_t v)
{
	sysreg_write(ICH_HCR_EL2, v);
}

uint64_t vgic_hw_vmcr(void)
{
	return sysreg_read(ICH_VMCR_EL2);
}

void vgic_hw_set_vmcr(uint64_t v)
{
	sysreg_write(ICH_VMCR_EL2, v);
}

void vgic_hw_sync(void)
{
	isb();
}
