/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The control and status registers of a guest CPU, as memory. vcsr.c has the
 * table that says what each one does; no guest register but TID is ever in the
 * hardware register of the same name. Belongs to the pCPU that has the vCPU
 * loaded, but what its other writers mark.
 */
#ifndef ARCH_CSR_TYPES_H
#define ARCH_CSR_TYPES_H

#include <stdint.h>

#define LA_SAVES	8	/* PRCFG1.SAVENum */
#define LA_DMWS		4

struct la_csr {
	uint64_t crmd, prmd, euen, misc, ecfg;
	uint64_t estat;		/* IS: only SWI bits 1..0; the others are
				 * computed, see la_lines() */
	uint64_t era, badv, badi, eentry;
	uint64_t tlbidx, tlbehi, tlbelo0, tlbelo1;
	uint64_t asid;		/* field ASID only */
	uint64_t pgdl, pgdh, pwcl, pwch, stlbps;
	uint64_t cpuid, prcfg1, prcfg2, prcfg3;
	uint64_t save[LA_SAVES];
	uint64_t tid, tcfg, cntc;	/* TVAL: vtimer.c */
	uint64_t ticlr;			/* 0 but while it is written */
	uint64_t llbctl;
	uint64_t tlbrentry, tlbrbadv, tlbrera, tlbrsave;
	uint64_t tlbrelo0, tlbrelo1, tlbrehi, tlbrprmd;
	uint64_t merrctl, merrentry, merrera, merrsave;
	uint64_t ctag;
	uint64_t dmw[LA_DMWS];
	uint64_t dera, dsave;
};

#endif
