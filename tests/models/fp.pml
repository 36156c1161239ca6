// SPDX-License-Identifier: BSD-2-Clause
/*
 * FP ownership (core/fp.c, vcpu_bring() and vcpu_unload()): three vCPUs on two
 * pCPUs. vCPUs run anywhere, use their registers or not, move, are looked at by
 * a debugger and reset. What is checked is what a guest would see: in each use
 * the live registers are its own and as it left them; a debugger reads them as
 * they were left.
 *
 * A register file is whose it is, and whether it is as its guest left it: each
 * use makes all other copies stale. Steps that others may come in between
 * are separate; a pCPU answers calls between instructions of a guest, when it
 * has nothing to do, and while it waits for a call of its own.
 *
 * OWNER: saved when another traps; else (lazy) at the switch away. LONG: live
 * registers do not stay while another vCPU is entered (arm64, long vectors).
 * The PLANT_ words are mistakes, each of which must be found.
 */

#define CPUS	2
#define VCPUS	3
#define NONE	7
#define MEM	7

/* Hardware. */
byte hw_who[CPUS] = NONE;
bool hw_stale[CPUS];
bool open[CPUS];		/* the guest may use the registers */

/* The record. */
byte owner[CPUS] = NONE;
byte fp_cpu[VCPUS] = MEM;

bool stale[VCPUS];		/* what is in memory */

/* Scheduler: who has the vCPU, and what a pCPU has loaded. */
bool busy[VCPUS];
byte loaded[CPUS] = NONE;
byte loaded_on[VCPUS] = NONE;

/* Cross-CPU calls: at most one for each pCPU, since the other is one. */
byte call[CPUS] = NONE;		/* vCPU */
bool put_call[CPUS];		/* put as well, not only flush */
bool done[CPUS];

/* First half: v's registers, live on cpu, to memory. Opens the unit. */
inline copy_out(cpu, v)
{
	open[cpu] = true;
	stale[v] = hw_stale[cpu] || hw_who[cpu] != v
}

/* Second half: the record. What is left in hardware is nobody's. */
inline disown(cpu, v)
{
	owner[cpu] = NONE;
	fp_cpu[v] = MEM;
	hw_stale[cpu] = true
}

#ifdef PLANT_RECORD_FIRST
#define SAVE(cpu, v)	atomic { disown(cpu, v) }; atomic { copy_out(cpu, v) }
#else
#define SAVE(cpu, v)	atomic { copy_out(cpu, v) }; atomic { disown(cpu, v) }
#endif
#ifdef PLANT_FLUSH_WHOEVER
#define IS_OWNER(cpu, v)	(owner[cpu] != NONE)
#else
#define IS_OWNER(cpu, v)	(owner[cpu] == v)
#endif

inline load(cpu, v)
{
	hw_who[cpu] = v;
	hw_stale[cpu] = stale[v];
	owner[cpu] = v;
	fp_cpu[v] = cpu
}

inline access(cpu)
{
	open[cpu] = loaded[cpu] != NONE && owner[cpu] == loaded[cpu]
}

inline put(cpu)
{
#ifndef OWNER
	if
	:: atomic { owner[cpu] == loaded[cpu] -> w = loaded[cpu] };
	   SAVE(cpu, w)
	:: else
	fi;
#endif
	atomic { loaded_on[loaded[cpu]] = NONE; loaded[cpu] = NONE }
}

inline flush(cpu, v)
{
	if
	:: IS_OWNER(cpu, v) -> SAVE(cpu, v)
	:: else
	fi;
#ifndef PLANT_NO_RECOMPUTE
	access(cpu)
#endif
}

#define CALLED(cpu)	(call[cpu] != NONE && !done[cpu])

inline answer(cpu)
{
	if
	:: put_call[cpu] && loaded[cpu] == call[cpu] -> put(cpu)
	:: else
	fi;
	flush(cpu, call[cpu]);
	done[cpu] = true
}

/* Has the other pCPU put and flush v, answering meanwhile. */
inline call_other(cpu, v, with_put)
{
	atomic { call[1 - cpu] = v; put_call[1 - cpu] = with_put };
	do
	:: atomic {
		done[1 - cpu] ->
		call[1 - cpu] = NONE;
		done[1 - cpu] = false;
		break
	   }
#ifndef PLANT_WAIT_DEAF
	:: CALLED(cpu) -> answer(cpu)
#endif
	od
}

/* vcpu_unload(): all of v's state in memory. */
inline unload(cpu, v)
{
	if
	:: loaded_on[v] == cpu -> put(cpu)
	:: loaded_on[v] == 1 - cpu -> call_other(cpu, v, true)
	:: else
	fi;
	if
	:: fp_cpu[v] == cpu -> flush(cpu, v)
	:: fp_cpu[v] == 1 - cpu -> call_other(cpu, v, false)
	:: else
	fi
}

/* vcpu_bring() and fp_load(): v is entered on this pCPU. */
inline enter(cpu, v)
{
	if
	:: loaded[cpu] != NONE && loaded[cpu] != v -> put(cpu)
	:: else
	fi;
	if
	:: loaded_on[v] == 1 - cpu -> call_other(cpu, v, true)
	:: else
	fi;
#ifndef PLANT_NO_BRING
	if
	:: fp_cpu[v] == 1 - cpu -> call_other(cpu, v, false)
	:: else
	fi;
#endif
	atomic { loaded[cpu] = v; loaded_on[v] = cpu };
#ifdef LONG
	if
	:: atomic {
		owner[cpu] != NONE && owner[cpu] != v -> w = owner[cpu]
	   };
	   SAVE(cpu, w)
	:: else
	fi;
#endif
	access(cpu)
}

/* An instruction that uses the registers; if it may not, fp_trap() first. */
inline use(cpu, v)
{
	if
	:: !open[cpu] ->
		if
		:: atomic {
			owner[cpu] != NONE && owner[cpu] != v -> w = owner[cpu]
		   };
		   SAVE(cpu, w)
		:: else
		fi;
		atomic {
			if
			:: owner[cpu] == NONE -> load(cpu, v)
			:: else
			fi;
			access(cpu)
		}
	:: else
	fi;
	atomic {
		assert(hw_who[cpu] == v && !hw_stale[cpu]);
		stale[v] = true;
		if
		:: hw_who[1 - cpu] == v -> hw_stale[1 - cpu] = true
		:: else
		fi
	}
}

/* The monitor or a debugger, on some pCPU, with a vCPU that does not run: looks
 * at its registers, and may give it the initial ones. */
inline look(cpu, v)
{
#ifndef PLANT_RESET_LIVE
	unload(cpu, v);
	assert(!stale[v] && fp_cpu[v] == MEM);
#endif
	if
	:: atomic {
		true ->
		stale[v] = false;
		if
		:: hw_who[0] == v -> hw_stale[0] = true
		:: else
		fi;
		if
		:: hw_who[1] == v -> hw_stale[1] = true
		:: else
		fi
	   }
	:: true
	fi
}

active [CPUS] proctype cpu()
{
	byte v, w;

end:
	do
	:: CALLED(_pid) -> answer(_pid)
	:: atomic {
		if
		:: !busy[0] -> v = 0
		:: !busy[1] -> v = 1
		:: !busy[2] -> v = 2
		fi;
		busy[v] = true
	   };
	   if
	   :: true ->
	      enter(_pid, v);
	      do
	      :: CALLED(_pid) -> answer(_pid)
	      :: true -> use(_pid, v)
	      :: break
	      od
	   :: true -> look(_pid, v)
	   fi;
	   atomic { busy[v] = false; v = 0; w = 0 }
	od
}
