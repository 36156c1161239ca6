/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of arch/loongarch share about guests. Unless said otherwise
 * everything here runs on the pCPU that has the vCPU loaded, IRQs masked.
 *
 * A guest runs at PLV3 whatever it believes; its privileged state is struct
 * la_csr in memory. Trapped instructions change that state and then tell the
 * parts that depend on it: mem_mode() and mem_forget() for translation,
 * la_irq_changed() for interrupts.
 */
#ifndef LOONGARCH_LA_H
#define LOONGARCH_LA_H

#include "arch.h"
#include "csr.h"
#include "types.h"
#include "vcpu.h"

/* What a handler decided. */
enum exit_action {
	ACT_RESUME,		/* go on in the guest */
	ACT_LEAVE,		/* v->arch.exit describes an exit for core */
};

/* What an instruction wanted of an address. */
enum la_access { ACC_READ, ACC_WRITE, ACC_EXEC };

/* ---- entry.S ------------------------------------------------------------ */

/* Runs the guest until exit_handle() says that core must see the exit. */
void la_enter(struct vcpu *v);

/* Values for EENTRY, TLBRENTRY and MERRENTRY: page aligned, VA = PA. */
extern const char la_vector[], la_refill[], la_merr[];

/* Called by entry.S for every exit, @estat as hardware left it; 0: resume the
 * guest. */
unsigned int exit_handle(struct vcpu *v, uint64_t estat);

/* Called by entry.S for an exception out of the hypervisor itself. */
[[noreturn]] void la_host_trap(const struct arch_regs *r, uint64_t sp);

/* ---- guest registers ---------------------------------------------------- */

static inline uint64_t reg_read(const struct vcpu *v, unsigned int n)
{
	return v->arch.regs.r[n];
}

static inline void reg_write(struct vcpu *v, unsigned int n, uint64_t val)
{
	if (n)
		v->arch.regs.r[n] = val;
}

/* Steps over the trapped instruction. */
static inline void exit_skip(struct vcpu *v)
{
	v->arch.regs.pc += 4;
}

/* Virtual privilege level 0..3 and mode. */
static inline unsigned int la_plv(const struct vcpu *v)
{
	return v->arch.csr.crmd & CRMD_PLV;
}

static inline bool la_paging(const struct vcpu *v)
{
	return v->arch.csr.crmd & CRMD_PG;
}

/* ---- inject.c: exceptions to the guest, at the PC of the instruction ---- */

/*
 * An ordinary exception (ECFG.VS, EENTRY). BADV and BADI are left alone: who
 * knows them sets them first, see inject_badv().
 */
void inject_exception(struct vcpu *v, unsigned int ecode, unsigned int esub);

/*
 * The same for an exception that an address caused: BADV is @badv, TLBEHI.VPPN
 * too for page exceptions (PIL..PPI). @badi: the instruction, or
 * INJECT_NO_BADI for a fetch.
 */
#define INJECT_NO_BADI	UINT64_MAX
void inject_badv(struct vcpu *v, unsigned int ecode, unsigned int esub,
		 gva_t badv, uint64_t badi);

/* TLB refill exception for @badv: TLBR registers, DA mode, TLBRENTRY. */
void inject_refill(struct vcpu *v, gva_t badv, uint64_t badi);

/* Only its TLBR registers, for who does the handler's work. */
void refill_registers(struct vcpu *v, gva_t badv, uint64_t badi);

/* The exception of an instruction, whose word @badi goes to BADI. */
void inject_insn(struct vcpu *v, unsigned int ecode, unsigned int esub,
		 uint32_t badi);

/* @va as TLBEHI and TLBREHI keep it: VPPN, sign extended. */
uint64_t la_vppn(gva_t va);

/* ---- interrupts --------------------------------------------------------- */

/* ESTAT.IS of the guest now: SWI, HWI0..7, TI, IPI. Any CPU. */
uint64_t la_lines(const struct vcpu *v);

/* Something that decides about interrupts changed: looked at before entry. */
void la_irq_changed(struct vcpu *v);

/* Takes the interrupt that is deliverable now, if one is. */
void la_irq_take(struct vcpu *v);

/* ---- lafp.c -------------------------------------------------------------- */

/* EUEN bits of the units up to @level. */
uint64_t la_euen_mask(enum fp_level level);

/* Real FPD, SXD or ASXD. */
enum exit_action la_fp_trap(struct vcpu *v, unsigned int ecode);

/* ---- priv.c, vcsr.c ----------------------------------------------------- */

/* The privileged instruction @insn at virtual PLV0. */
enum exit_action priv_handle(struct vcpu *v, uint32_t insn);

/* CSRRD, CSRWR or CSRXCHG at virtual PLV0. */
enum exit_action vcsr_insn(struct vcpu *v, uint32_t insn);

/* Reset values; @v is not loaded. */
void vcsr_reset(struct vcpu *v);

/* Constants that software may see elsewhere, too. */
#define LA_MTLB		64	/* entries of the multiple page size TLB */
#define LA_STLB_WAYS	8
#define LA_STLB_SETS	256
#define LA_STLB		(LA_STLB_WAYS * LA_STLB_SETS)
#define LA_PALEN	48
#define LA_VALEN	48
#define LA_ASIDBITS	UINT64_C(10)
#define LA_PAGE_SIZES	UINT64_C(0x3ffff000)	/* bit n: 2^n bytes */

/* ---- vtimer.c ----------------------------------------------------------- */

void vtimer_vcpu_init(struct vcpu *v);
void vtimer_vcpu_fini(struct vcpu *v);		/* not loaded, no lock */
void vtimer_vcpu_reset(struct vcpu *v);		/* not loaded */
void vtimer_load(struct vcpu *v);
void vtimer_config(struct vcpu *v);		/* csr.tcfg was written */
uint64_t vtimer_tval(const struct vcpu *v);
void vtimer_clear(struct vcpu *v);		/* TICLR.CLR written as 1 */

/* ---- guest memory: vtlb.c, shadow.c, walk.c, memfault.c ----------------- */

/* A vCPU of a new VM (ERR_NOMEM); the reverse; architectural reset: TLB empty,
 * no context. Not loaded. */
int mem_vcpu_init(struct vcpu *v);
void mem_vcpu_fini(struct vcpu *v);
void mem_vcpu_reset(struct vcpu *v);

/* The vCPU comes onto this pCPU: PGDL, PGDH and ASID are its own after that. */
void mem_load(struct vcpu *v);

/* Virtual CRMD.PLV, DA, PG or ASID changed: selects the context. Cheap. */
void mem_mode(struct vcpu *v);

/* A DMW or STLBPS changed: no translation but the direct one can be kept. */
void mem_forget(struct vcpu *v);

/* Real exceptions PIL..PPI and ADE. */
enum exit_action mem_fault(struct vcpu *v, unsigned int ecode,
			   unsigned int esub);

/*
 * Guest address as the guest's current mode translates it. False: an
 * exception is due, which this function does not raise. The result need not be
 * RAM.
 */
bool mem_translate(struct vcpu *v, gva_t gva, enum la_access acc, gpa_t *out);

/* The same for an instruction that this is: raises the exception (BADI from
 * hardware's BADI) when there is one. */
bool mem_access(struct vcpu *v, gva_t gva, enum la_access acc, gpa_t *out);

/* The TLB instructions; operands are in v->arch.csr. */
void vtlb_srch(struct vcpu *v);
void vtlb_rd(struct vcpu *v);
void vtlb_wr(struct vcpu *v);
void vtlb_fill(struct vcpu *v);
void vtlb_clr(struct vcpu *v);
void vtlb_flush(struct vcpu *v);

/* INVTLB @op, ASID operand @asid (register rj), address @va. False: the op
 * does not exist (INE). */
bool vtlb_inv(struct vcpu *v, unsigned int op, uint64_t asid, gva_t va);

/* LDDIR: result for register rd. LDPTE: loads TLBRELO0 or 1 (@odd). */
uint64_t vtlb_lddir(struct vcpu *v, uint64_t base, unsigned int level);
void vtlb_ldpte(struct vcpu *v, uint64_t base, bool odd);

/* ---- guest interrupt controllers: vintc.c ------------------------------- */

/* ESTAT.IS bits 2..9 and 12 of @v. Any CPU, no lock. */
uint64_t vintc_lines(const struct vcpu *v);

/* IOCSR access of 1, 2, 4 or 8 bytes; narrow reads come zero extended. */
uint64_t vintc_iocsr_read(struct vcpu *v, uint32_t addr, unsigned int size);
void vintc_iocsr_write(struct vcpu *v, uint32_t addr, unsigned int size,
		       uint64_t val);

/* ---- the machine: machine.c ---------------------------------------------- */

/*
 * The access in v->arch.exit->mmio, which is not to a page of machine_page().
 * ACT_RESUME: done, a read's value is there. ACT_LEAVE: v->arch.exit is for
 * core, an EXIT_MMIO or an EXIT_POWER that does not come back.
 */
enum exit_action machine_mmio(struct vcpu *v);

/*
 * The page at guest physical address @gpa as the hypervisor reaches it: RAM, or
 * the ROM, which is not @writable; it is executable. NULL: neither. Any CPU.
 */
void *machine_page(const struct vm *vm, gpa_t gpa, bool *writable);

#endif
