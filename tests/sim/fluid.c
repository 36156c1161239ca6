// SPDX-License-Identifier: BSD-2-Clause
/*
 * Fluid reference. Rates by water filling: raise a common level L, rate =
 * min(1, weight * L), until a set X of pCPUs is full, that is, the vCPUs that
 * can only use pCPUs of X use all of it; those keep their rate; go on with the
 * others. A rate vector is feasible exactly if no X is over-full (Hall). Only
 * unions of the masks that occur can become full first.
 */
#include "fluid.h"

#include <math.h>

#define SETS (1u << FLUID_PCPUS)

static double capacity_of(const struct fluid *f, uint32_t set)
{
	double sum = 0;

	for (unsigned int c = 0; c < f->nr_cpus; c++)
		if (set & (1u << c))
			sum += f->capacity[c];
	return sum;
}

/* All unions of the masks of vCPUs that have work, into @sets. */
static unsigned int unions(const struct fluid *f, uint32_t *sets)
{
	bool seen[SETS] = { false };
	unsigned int n = 0;

	for (unsigned int i = 0; i < f->nr; i++) {
		uint32_t m = f->v[i].mask;

		if (f->v[i].work <= 0 || seen[m])
			continue;
		for (unsigned int k = 0, old = n; k < old; k++) {
			if (!seen[sets[k] | m]) {
				seen[sets[k] | m] = true;
				sets[n++] = sets[k] | m;
			}
		}
		if (!seen[m]) {
			seen[m] = true;
			sets[n++] = m;
		}
	}
	return n;
}

/* The level at which the open vCPUs inside @set fill what is left of it. */
static double full_at(const struct fluid *f, const bool *open, uint32_t set)
{
	double room = capacity_of(f, set), weight = 0;
	bool capped[FLUID_VCPUS] = { false };

	for (unsigned int i = 0; i < f->nr; i++) {
		const struct fluid_vcpu *v = &f->v[i];

		if (v->mask & ~set)
			continue;
		if (open[i])
			weight += v->weight;
		else
			room -= v->rate;
	}
	for (;;) {
		double level, before = weight;

		if (weight <= 0)
			return INFINITY;
		level = fmax(room, 0) / weight;
		for (unsigned int i = 0; i < f->nr; i++) {
			const struct fluid_vcpu *v = &f->v[i];

			if (!open[i] || capped[i] || (v->mask & ~set) ||
			    v->weight * level <= 1)
				continue;
			capped[i] = true;
			weight -= v->weight;
			room -= 1;
		}
		if (weight == before)
			return level;
		if (weight < 0.5)
			return INFINITY;
	}
}

/* Keeps the rates of those inside @set. Returns how many that were. */
static unsigned int fix(struct fluid *f, bool *open, uint32_t set, double level)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < f->nr; i++) {
		if (!open[i] || (f->v[i].mask & ~set))
			continue;
		open[i] = false;
		f->v[i].rate = fmin(1, f->v[i].weight * level);
		n++;
	}
	return n;
}

void fluid_rates(struct fluid *f)
{
	bool open[FLUID_VCPUS];
	uint32_t sets[SETS];
	unsigned int n = unions(f, sets), left = 0;

	for (unsigned int i = 0; i < f->nr; i++) {
		open[i] = f->v[i].work > 0;
		left += open[i];
		f->v[i].rate = 0;
	}
	while (left) {
		uint32_t first = SETS - 1;
		double level = INFINITY;

		for (unsigned int k = 0; k < n; k++) {
			double at = full_at(f, open, sets[k]);

			if (at < level) {
				level = at;
				first = sets[k];
			}
		}
		left -= fix(f, open, first, level);
	}
	f->stale = false;
}

void fluid_advance(struct fluid *f, double to)
{
	while (f->now < to) {
		double dt = to - f->now;

		if (f->stale)
			fluid_rates(f);
		for (unsigned int i = 0; i < f->nr; i++)
			if (f->v[i].rate > 0)
				dt = fmin(dt, f->v[i].work / f->v[i].rate);
		for (unsigned int i = 0; i < f->nr; i++) {
			struct fluid_vcpu *v = &f->v[i];

			v->done += v->rate * dt;
			v->work -= v->rate * dt;
			if (v->rate > 0 && v->work < 1e-3) {
				v->work = 0;
				f->stale = true;
			}
		}
		f->now += dt;
	}
}

void fluid_add_work(struct fluid *f, unsigned int i, double work)
{
	f->v[i].work += work;
	f->stale = true;
}

void fluid_stop(struct fluid *f, unsigned int i)
{
	f->v[i].work = 0;
	f->stale = true;
}

void fluid_set_mask(struct fluid *f, unsigned int i, uint32_t mask)
{
	f->v[i].mask = mask;
	f->stale = true;
}

void fluid_set_capacity(struct fluid *f, unsigned int cpu, double capacity)
{
	f->stale |= f->capacity[cpu] != capacity;
	f->capacity[cpu] = capacity;
}
