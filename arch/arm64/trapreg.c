// SPDX-License-Identifier: BSD-2-Clause
/*
 * Trapped system registers. A const table, sorted by encoding and checked at
 * boot, says what each does; whatever is not in it is UNDEFINED for the guest.
 * The ID space is handled before the table: it is read-only and dense.
 */
#include "arm64.h"
#include "host.h"
#include "sysreg.h"
#include "trapreg.h"
#include "vgic.h"

/* ISS of EC_SYSREG. */
#define ISS_READ	BIT(0)
#define ISS_RT(iss)	((unsigned int)field(iss, 9, 5))
/* The encoding in the order that compares like op0, op1, CRn, CRm, op2. */
#define ENC(op0, op1, crn, crm, op2)					\
	((op0) << 14 | (op1) << 11 | (crn) << 7 | (crm) << 3 | (op2))

static unsigned int iss_enc(uint64_t iss)
{
	return (unsigned int)ENC(field(iss, 21, 20), field(iss, 16, 14),
				 field(iss, 13, 10), field(iss, 4, 1),
				 field(iss, 19, 17));
}

/* A handler returns false when this access is UNDEFINED. */
struct trap_reg {
	uint16_t enc;
	bool (*access)(struct vcpu *v, uint64_t *val, bool read);
};

static bool raz_wi(struct vcpu *v, uint64_t *val, bool read)
{
	(void)v;
	if (read)
		*val = 0;
	return true;
}

static bool raz(struct vcpu *v, uint64_t *val, bool read)
{
	(void)v;
	*val = 0;
	return read;
}

/* OSLAR_EL1: write-only; the lock also gates debug exceptions. */
static bool os_lock(struct vcpu *v, uint64_t *val, bool read)
{
	if (read)
		return false;
	v->arch.dbg.oslk = *val & 1;
	sysreg_write(oslar_el1, v->arch.dbg.oslk);
	isb();
	return true;
}

/* OSLSR_EL1: OSLM = 0b10 (lock implemented), OSLK. */
static bool os_lock_status(struct vcpu *v, uint64_t *val, bool read)
{
	*val = BIT(3) | v->arch.dbg.oslk << 1;
	return read;
}

static bool sgi1(struct vcpu *v, uint64_t *val, bool read)
{
	if (!read)
		vgic_sgi(v, VGIC_SGI1R, *val);
	return !read;
}

static bool asgi1(struct vcpu *v, uint64_t *val, bool read)
{
	if (!read)
		vgic_sgi(v, VGIC_ASGI1R, *val);
	return !read;
}

static bool sgi0(struct vcpu *v, uint64_t *val, bool read)
{
	if (!read)
		vgic_sgi(v, VGIC_SGI0R, *val);
	return !read;
}

static bool dir(struct vcpu *v, uint64_t *val, bool read)
{
	if (!read)
		vgic_dir(v, *val);
	return !read;
}

/* ICC_SRE_EL1: system registers are the only interface; DFB, DIB, SRE. */
static bool sre(struct vcpu *v, uint64_t *val, bool read)
{
	(void)v;
	if (read)
		*val = 7;
	return true;
}

static const struct trap_reg regs[] = {
	{ ENC(2, 0, 1, 0, 4), os_lock },		/* OSLAR_EL1 */
	{ ENC(2, 0, 1, 1, 4), os_lock_status },		/* OSLSR_EL1 */
	{ ENC(2, 0, 1, 3, 4), raz_wi },			/* OSDLR_EL1 */
	{ ENC(2, 0, 1, 4, 4), raz_wi },			/* DBGPRCR_EL1 */
	{ ENC(3, 0, 0, 0, 6), raz },			/* REVIDR_EL1 */
	{ ENC(3, 0, 1, 0, 1), raz_wi },			/* ACTLR_EL1 */
	{ ENC(3, 0, 12, 11, 1), dir },			/* ICC_DIR_EL1 */
	{ ENC(3, 0, 12, 11, 5), sgi1 },			/* ICC_SGI1R_EL1 */
	{ ENC(3, 0, 12, 11, 6), asgi1 },		/* ICC_ASGI1R_EL1 */
	{ ENC(3, 0, 12, 11, 7), sgi0 },			/* ICC_SGI0R_EL1 */
	{ ENC(3, 0, 12, 12, 5), sre },			/* ICC_SRE_EL1 */
	{ ENC(3, 1, 0, 0, 7), raz },			/* AIDR_EL1 */
};

void trapreg_init(void)
{
	for (unsigned int i = 1; i < ARRAY_SIZE(regs); i++)
		ASSERT(regs[i - 1].enc < regs[i].enc);
}

static const struct trap_reg *find(unsigned int enc)
{
	unsigned int lo = 0, hi = ARRAY_SIZE(regs);

	while (lo < hi) {
		unsigned int mid = (lo + hi) / 2;

		if (regs[mid].enc == enc)
			return &regs[mid];
		if (regs[mid].enc < enc)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

/* S3_0_C0_C1..C7_n: the ID registers of AArch64 and AArch32. */
static bool is_id_space(unsigned int enc)
{
	return enc >= ENC(3, 0, 0, 1, 0) && enc <= ENC(3, 0, 0, 7, 7);
}

/*
 * The debug registers that MDCR_EL2.TDA traps until the guest uses them: op0 2
 * but not the OS lock group, which stays trapped.
 */
static bool is_debug(unsigned int enc)
{
	bool lock_group = enc >= ENC(2, 0, 1, 0, 0) &&
			  enc <= ENC(2, 0, 1, 15, 7);

	return enc >> 14 == 2 && (enc >> 11 & 7) == 0 && !lock_group;
}

static enum exit_action undef(struct vcpu *v)
{
	inject_undef(v);
	return ACT_RESUME;
}

enum exit_action trapreg_handle(struct vcpu *v)
{
	uint64_t iss = v->arch.esr & ESR_ISS_MASK;
	unsigned int enc = iss_enc(iss), rt = ISS_RT(iss);
	bool read = iss & ISS_READ;
	const struct trap_reg *r;
	uint64_t val;

	/* By far the most frequent one. */
	if (enc == ENC(3, 0, 12, 11, 5) && !read) {
		vgic_sgi(v, VGIC_SGI1R, reg_read(v, rt));
		exit_skip(v);
		return ACT_RESUME;
	}
	if (is_id_space(enc)) {
		if (!read)
			return undef(v);
		reg_write(v, rt, idreg_value(v, enc >> 3 & 15, enc & 7));
		exit_skip(v);
		return ACT_RESUME;
	}
	if (is_debug(enc) && !v->arch.dbg.used) {
		/* From now on real; the instruction is executed again. */
		dbg_use(v);
		return ACT_RESUME;
	}
	r = find(enc);
	val = reg_read(v, rt);
	if (!r || !r->access(v, &val, read))
		return undef(v);
	if (read)
		reg_write(v, rt, val);
	exit_skip(v);
	return ACT_RESUME;
}
