// SPDX-License-Identifier: BSD-2-Clause
/*
 * The vCPU's context. Its privileged state is in memory at all times, so load
 * only points hardware at it: SAVE0 and TID, translation, EUEN. What a vCPU
 * leaves behind after put is what the next load overwrites before a guest runs.
 */
#include "la.h"

#include "cpu.h"
#include "host.h"
#include "print.h"
#include "vm.h"

#include <string.h>

typedef unsigned long long ull;

int arch_vcpu_init(struct vcpu *v)
{
	vtimer_vcpu_init(v);
	return mem_vcpu_init(v);
}

void arch_vcpu_fini(struct vcpu *v)
{
	vtimer_vcpu_fini(v);
	mem_vcpu_fini(v);
}

void arch_vcpu_reset(struct vcpu *v, gpa_t entry, uint64_t arg)
{
	memset(&v->arch.regs, 0, sizeof(v->arch.regs));
	v->arch.regs.pc = entry;
	reg_write(v, 4, arg);
	vtimer_vcpu_reset(v);
	vcsr_reset(v);
	mem_vcpu_reset(v);
}

void arch_vcpu_load(struct vcpu *v)
{
	csr_write(CSR_SAVE0, (uintptr_t)v);
	csr_write(CSR_TID, v->arch.csr.tid);
	mem_load(v);
	vtimer_load(v);
}

void arch_vcpu_put(struct vcpu *v)
{
	(void)v;
	csr_write(CSR_SAVE0, 0);
}

void arch_vcpu_sync(struct vcpu *v)
{
	(void)v;	/* memory is the truth */
}

/* Power-off and reset of the VM do not come back. */
void arch_vcpu_power_done(struct vcpu *v, enum power_result res)
{
	panic("VM %s vCPU %u: power call returned %d", v->vm->cfg->name, v->id,
	      (int)res);
}

/* ---- dump ---------------------------------------------------------------- */

static void dump_gprs(const struct arch_regs *r)
{
	for (unsigned int i = 0; i < 32; i += 4)
		log_error("  r%-2u %016llx %016llx %016llx %016llx", i,
			  (ull)r->r[i], (ull)r->r[i + 1], (ull)r->r[i + 2],
			  (ull)r->r[i + 3]);
}

void arch_vcpu_dump(struct vcpu *v)
{
	const struct la_csr *c = &v->arch.csr;

	log_error("VM %s vCPU %u", v->vm->cfg->name, v->id);
	log_error("  pc  %016llx crmd %llx prmd %llx estat %08llx ecfg %05llx",
		  (ull)v->arch.regs.pc, (ull)c->crmd, (ull)c->prmd,
		  (ull)(c->estat | la_lines(v)), (ull)c->ecfg);
	dump_gprs(&v->arch.regs);
	log_error("  era %016llx badv %016llx badi %08llx eentry %016llx",
		  (ull)c->era, (ull)c->badv, (ull)c->badi, (ull)c->eentry);
	log_error("  refill: entry %012llx badv %016llx era %016llx",
		  (ull)c->tlbrentry, (ull)c->tlbrbadv, (ull)c->tlbrera);
	log_error("  asid %03llx pgdl %016llx pgdh %016llx pwcl %08llx pwch "
		  "%06llx", (ull)c->asid, (ull)c->pgdl, (ull)c->pgdh,
		  (ull)c->pwcl, (ull)c->pwch);
	log_error("  dmw %016llx %016llx %016llx %016llx", (ull)c->dmw[0],
		  (ull)c->dmw[1], (ull)c->dmw[2], (ull)c->dmw[3]);
}
