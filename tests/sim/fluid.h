/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ideal that the scheduler is measured against: a machine that divides its
 * pCPUs continuously. At each instant every vCPU with work gets its weighted
 * max-min fair rate under its affinity, at most one pCPU. Work arrives when it
 * arrived in the simulation. Time and work in ticks, as doubles.
 */
#ifndef SIM_FLUID_H
#define SIM_FLUID_H

#include <stdbool.h>
#include <stdint.h>

#define FLUID_VCPUS 64
#define FLUID_PCPUS 8

struct fluid_vcpu {
	double weight;
	uint32_t mask;	/* pCPUs it may use */
	double work;	/* left to do; INFINITY: never ends */
	double done;	/* service so far */
	double rate;	/* now */
};

struct fluid {
	struct fluid_vcpu v[FLUID_VCPUS];
	unsigned int nr;
	double capacity[FLUID_PCPUS];	/* 1, or 0 while not available */
	unsigned int nr_cpus;
	double now;
	bool stale;			/* rates must be computed again */
};

void fluid_advance(struct fluid *f, double to);
void fluid_add_work(struct fluid *f, unsigned int i, double work);
void fluid_stop(struct fluid *f, unsigned int i);
void fluid_set_mask(struct fluid *f, unsigned int i, uint32_t mask);
void fluid_set_capacity(struct fluid *f, unsigned int cpu, double capacity);

/* The rates now; for tests of this model itself. */
void fluid_rates(struct fluid *f);

#endif
