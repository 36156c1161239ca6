// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which width is loaded. "step" and "max" are one line each; the adaptive rule
 * is this. Hardware does not tell which width a guest used while a wider one
 * was live, so a vCPU that used wide registers is loaded wide WIDE_LOADS times,
 * then once as narrow as the use that trapped. If that is enough it stays
 * narrow; if not, the second trap starts over.
 *
 * A vCPU that keeps one width so pays one trap in WIDE_LOADS + 1 loads more
 * than with "max" if it is a wide one, nothing more than with "step" if it is
 * narrow. Who changes from narrow to wide pays one trap, since a vCPU that was
 * not being tried goes to the widest at once; who changes from wide to narrow
 * is loaded wide WIDE_LOADS times more.
 */
#include "fp.h"

enum : uint16_t { WIDE_LOADS = 256 };

static enum fp_level adaptive_first(struct fp_recent *r, enum fp_level used)
{
	if (r->level > used && r->credit) {
		r->credit--;
		r->probe = false;
		return r->level;
	}
	r->probe = r->level > used;
	r->level = used;
	return used;
}

static enum fp_level adaptive_more(struct fp_state *s, enum fp_level used)
{
	struct fp_recent *r = &s->recent;

	r->level = r->probe ? used : s->par.max;
	r->probe = false;
	r->credit = WIDE_LOADS;
	return r->level;
}

enum fp_level fp_width_first(struct fp_state *s, enum fp_level used)
{
	return s->par.width == FP_STEP ? used :
					 adaptive_first(&s->recent, used);
}

enum fp_level fp_width_more(struct fp_state *s, enum fp_level used)
{
	if (s->par.width == FP_MAX)
		return s->par.max;
	return s->par.width == FP_STEP ? used : adaptive_more(s, used);
}
