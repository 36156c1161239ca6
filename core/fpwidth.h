/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The adaptive rule for the width that is loaded. Hardware does not tell which
 * width a guest used while a wider one was live, so a vCPU that used wide
 * registers is loaded wide WIDE_LOADS times, then once as narrow as the use
 * that trapped. If that is enough it stays narrow; if not, the second trap
 * starts over.
 *
 * A vCPU that keeps one width so pays one trap in WIDE_LOADS + 1 loads more
 * than with "max" if it is a wide one, nothing more than with "step" if it is
 * narrow. Who changes from narrow to wide pays one trap, since a vCPU that was
 * not being tried goes to the widest at once; who changes from wide to narrow
 * is loaded wide WIDE_LOADS times more.
 */
#ifndef CORE_FPWIDTH_H
#define CORE_FPWIDTH_H

#include "fp.h"

#define FP_WIDE_LOADS	256

/* The width to load when a vCPU, whose registers are in memory, used @used. */
static inline enum fp_level fp_adapt_first(struct fp_state *s,
					   enum fp_level used)
{
	struct fp_recent *r = &s->recent;

	if (r->level == used && used < s->par.max) {
		r->probe = false;
		return used;
	}
	if (r->level > used && r->credit) {
		r->credit--;
		return r->level;
	}
	r->probe = r->level > used;
	r->level = used;
	/* Who begins with the widest will again: its saves need not find out
	 * whether less would do. */
	r->credit = used == s->par.max;
	return used;
}

/* The width to widen to when it did with narrower ones live. */
static inline enum fp_level fp_adapt_more(struct fp_state *s,
					  enum fp_level used)
{
	struct fp_recent *r = &s->recent;

	r->level = r->probe ? used : s->par.max;
	r->probe = false;
	r->credit = FP_WIDE_LOADS;
	return r->level;
}

/* May the next load be a narrow one, if nothing would be lost? */
static inline bool fp_adapt_probe(const struct fp_state *s)
{
	return s->recent.level < s->par.max || s->recent.credit == 0;
}

#endif
