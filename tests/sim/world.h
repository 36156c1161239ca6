/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The simulated machine: pCPUs that run vCPUs as core/run.c does, but whose
 * vCPUs are scripts and whose clock jumps from event to event. One host
 * thread; which CPU "executes" is sim_this_cpu. All times are ticks.
 */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include <stdint.h>

#include "cpu.h"
#include "vcpu.h"

#define SIM_PCPUS 8
#define SIM_VCPUS 64

/* A script alternates: run for @burst, then sleep for @sleep. */
struct script {
	uint64_t burst_min, burst_max;	/* 0, 0: runs for ever */
	uint64_t sleep_min, sleep_max;
	uint64_t yield_every;		/* run time between yields; 0: never */
	uint64_t start, end;		/* life; end 0: for ever */
};

struct sim_vcpu {
	struct vcpu v;
	struct script script;
	uint64_t left;		/* of this burst, as of the last update */
	uint64_t to_yield;
	uint64_t run_seen;	/* se.run at the last update */
	uint64_t wake_at;	/* while asleep; UINT64_MAX: is not */
	uint64_t woken_at;	/* start of the wait that goes on */
	double woken_load;	/* most load its queue had in that wait */
	bool waits_for_first;	/* has not run since it woke */
	bool woke_on_time;	/* it was not ahead of the others then */
	bool dead;
};

struct sim_event {
	enum {
		EV_START,
		EV_WAKE,	/* work = length of the burst */
		EV_RUN,		/* begins to run on @cpu */
		EV_LEAVE,	/* stops running on @cpu */
		EV_END,
		EV_AFFINITY,
		EV_KINDS
	} kind;
	struct sim_vcpu *v;
	unsigned int cpu;
	uint64_t work;
};

struct machine {
	uint64_t now;
	uint64_t end;
	uint64_t kick_latency;	/* from cpu_post to the work being seen */
	uint64_t rng;
	struct cpu cpu[SIM_PCPUS];
	uint64_t post_at[SIM_PCPUS];	/* UINT64_MAX: nothing posted */
	struct sim_vcpu v[SIM_VCPUS];
	unsigned int nr;
	uint64_t migrations;	/* a vCPU ran on another CPU than before */
	uint64_t switches;
	uint64_t affinity_every;	/* random affinity changes; 0: none */
	uint64_t affinity_at;
	uint64_t affinity_mask;	/* the masks to choose from are inside */
	unsigned int last_cpu[SIM_VCPUS];
};

extern struct machine m;

/* What the checks see. Defined by the program. */
void on_event(const struct sim_event *e);
/* After each step; @m.now has moved. */
void on_step(void);

/* 0 .. n - 1 from m.rng; n > 0. */
uint64_t sim_random(uint64_t n);
uint64_t sim_between(uint64_t a, uint64_t b);

/* Ends the program with a message about the scenario. */
[[noreturn, gnu::format(printf, 1, 2)]]
void sim_fail(const char *fmt, ...);
extern char sim_what[256];	/* the scenario, for messages */

/* Empties @m and sets up @pcpus CPUs; vCPUs are added with sim_add(). */
void sim_reset(uint64_t seed, unsigned int pcpus, uint64_t slice);
struct sim_vcpu *sim_add(const struct sched_params *p, const struct script *s);

/* Runs until m.end. */
void sim_run(void);

#endif
