// SPDX-License-Identifier: BSD-2-Clause
/*
 * Loads and stores carried out for the guest: to devices, and to RAM through
 * addresses that hardware cannot translate at PLV3. Plain loads and stores of
 * general registers in all their forms; anything else (FP and vector, LL/SC,
 * atomics) is an address error for the guest.
 */
#include "memfault.h"

#include <string.h>

struct access {
	uint8_t size;		/* bytes */
	bool write;
	bool is_signed;		/* loads */
};

#define LD(n)	{ n, false, true }
#define LDU(n)	{ n, false, false }
#define ST(n)	{ n, true, false }

/* LD.B .. LD.WU with a 12-bit offset: by the low bits of the opcode, which are
 * the same in the forms with an index register. */
static const struct access plain[] = {
	LD(1), LD(2), LD(4), LD(8), ST(1), ST(2), ST(4), ST(8),
	LDU(1), LDU(2), LDU(4),
};

/* LDPTR.W, STPTR.W, LDPTR.D, STPTR.D. */
static const struct access ptr[] = { LD(4), ST(4), LD(8), ST(8) };

#define RD(w)	((w) & 31)
#define RJ(w)	((w) >> 5 & 31)
#define RK(w)	((w) >> 10 & 31)

/* @w's field at bit 10 of @bits bits, sign extended. */
static uint64_t offset(uint32_t w, unsigned int bits)
{
	return (uint64_t)((int64_t)((uint64_t)w << (54 - bits)) >> (64 - bits));
}

/* What kind of access @w is and where; NULL: none of ours. */
static const struct access *decode(const struct vcpu *v, uint32_t w, gva_t *va)
{
	gva_t base = reg_read(v, RJ(w));

	if (w >> 26 == 0x0a && (w >> 22 & 15) < ARRAY_SIZE(plain)) {
		*va = base + offset(w, 12);
		return &plain[w >> 22 & 15];
	}
	if (w >> 26 == 0x09) {
		*va = base + (offset(w, 14) << 2);
		return &ptr[w >> 24 & 3];
	}
	if (w >> 22 == 0x0e0 && !(w >> 15 & 7) &&
	    (w >> 18 & 15) < ARRAY_SIZE(plain)) {
		*va = base + reg_read(v, RK(w));
		return &plain[w >> 18 & 15];
	}
	return NULL;
}

static enum exit_action address_error(struct vcpu *v, gva_t va, uint32_t w)
{
	inject_badv(v, ECODE_ADE, ESUB_ADEM, va, w);
	return ACT_RESUME;
}

/* Bits that a load of @a leaves in the register. */
static uint64_t extend(const struct access *a, uint64_t val)
{
	unsigned int shift = 64 - 8u * a->size;

	val <<= shift;
	return a->is_signed ? (uint64_t)((int64_t)val >> shift) : val >> shift;
}

/* @p is the guest's page; an access over its end is not carried out. */
static enum exit_action page_access(struct vcpu *v, const struct access *a,
				    uint32_t w, char *p)
{
	uint64_t val = reg_read(v, RD(w));

	if (a->write) {
		memcpy(p, &val, a->size);
	} else {
		val = 0;
		memcpy(&val, p, a->size);
		reg_write(v, RD(w), extend(a, val));
	}
	exit_skip(v);
	return ACT_RESUME;
}

static enum exit_action device(struct vcpu *v, const struct access *a,
			       uint32_t w, gpa_t gpa)
{
	struct vm_exit *e = v->arch.exit;
	enum exit_action act;

	v->arch.mem.insn = w;
	e->kind = EXIT_MMIO;
	e->mmio.gpa = gpa;
	e->mmio.size = a->size;
	e->mmio.write = a->write;
	e->mmio.value = a->write ? reg_read(v, RD(w)) &
				   (UINT64_MAX >> (64 - 8u * a->size)) : 0;
	act = machine_mmio(v);
	if (act == ACT_RESUME)
		arch_vcpu_mmio_done(v, e);
	return act;
}

enum exit_action ldst_emulate(struct vcpu *v, gva_t gva, gpa_t gpa)
{
	uint32_t w = (uint32_t)csr_read(CSR_BADI);
	gva_t va;
	const struct access *a = decode(v, w, &va);
	uint64_t off = gpa % PAGE_SIZE;
	bool writable;
	char *page;

	/* The second half of an access over the end of a page is not ours. */
	if (!a || va != gva)
		return address_error(v, gva, w);
	page = machine_page(v->vm, align_down(gpa, PAGE_SIZE), &writable);
	if (!page)
		return device(v, a, w, gpa);
	if ((a->write && !writable) || off + a->size > PAGE_SIZE)
		return address_error(v, gva, w);
	return page_access(v, a, w, page + off);
}

void arch_vcpu_mmio_done(struct vcpu *v, const struct vm_exit *exit)
{
	uint32_t w = v->arch.mem.insn;
	gva_t va;
	const struct access *a = decode(v, w, &va);

	if (!a->write)
		reg_write(v, RD(w), extend(a, exit->mmio.value));
	exit_skip(v);
}

void arch_vcpu_mmio_abort(struct vcpu *v, const struct vm_exit *exit)
{
	uint32_t w = v->arch.mem.insn;
	gva_t va = 0;

	(void)exit;
	decode(v, w, &va);
	address_error(v, va, w);
}
