// SPDX-License-Identifier: BSD-2-Clause
/*
 * Model of block, wake and kick, step by step as in core/{run,vcpu,cpu,sched,
 * wake,balance}.c: NC pCPUs, NV vCPUs that wait for interrupts or spin, and
 * devices that raise interrupts at any moment. With PAUSE a monitor stops and
 * resumes one vCPU as vm_pause() and vm_resume() do.
 *
 * Each statement is one access to shared memory, or a section under a lock
 * that no other process can look into. Memory is sequentially consistent: where
 * the code depends on that it has arch_mb() or an atomic with that order. What
 * the policy decides (who runs, where a woken vCPU goes) is a free choice here,
 * so the result holds for every policy.
 *
 * Checked: whenever nothing can move any more (timeout), no interrupt waits
 * for a vCPU that has not got it, and no vCPU waits while a pCPU sleeps; a
 * vCPU's registers are in one pCPU at most; nobody waits for ever in a
 * cross-CPU call. PLANT_* builds in one wrong order; each must be found.
 */
#define NC	2
#define NV	2
#ifndef EVENTS
#define EVENTS	2	/* interrupts that devices raise in all */
#endif
#define NONE	15
#define HERE(v, c)	(onq[v] && se_cpu[v] == (c))
#define WAITS(c)	(HERE(0, c) + HERE(1, c))
/* fair_can_give() */
#define CAN_GIVE(c)	(WAITS(c) > 0 && (curr[c] != NONE || WAITS(c) > 1))
#define CLEAR(c)	mask = mask & ~(1 << (c))
#define OTHER(c)	(1 - (c))

mtype = { READY, RUNNING, BLOCKED, STOPPED };

/* vCPUs */
mtype state[NV] = READY;
bool onq[NV];		/* in the tree of se_cpu */
byte se_cpu[NV];
bool pend[NV];		/* interrupt pending, vgic lock */
bool lr[NV];		/* in a list register */
bool req_irq[NV];
bool req_stop[NV];
byte loaded_on[NV] = NONE;

/* pCPUs */
bool work[NC];		/* CPU_RESCHED */
bool ipi[NC];		/* host interrupt pending */
bool lock[NC];		/* run queue lock */
bool idle[NC];		/* rq.idle */
bool hint[NC];		/* rq.hint_mask */
byte mask;		/* idle_cpus */
byte curr[NC] = NONE;
byte loaded[NC] = NONE;	/* cpu->loaded */
bool call[NC];		/* CPU_CALL: the other pCPU wants ... */
byte callee[NC];	/* ... this vCPU unloaded; cleared when done */

byte left = EVENTS;
bool busy[NV];		/* spins instead of WFI */
bool paused;

/* balance_release(): publishes what others may take without the lock. */
#define RELEASE(c)	atomic { hint[c] = CAN_GIVE(c); lock[c] = false }

/* Values that are dead must not multiply the states. */
#define FORGET	d_step { on = 0; to = 0; it = 0; old = 0; seen = 0; ok = 0 }

/* cpu_post(cpu, CPU_RESCHED) by pCPU @who, NC for a device. */
inline post(who, cpu)
{
#ifdef PLANT_KICK_FIRST
	ipi[cpu] = true;
	work[cpu] = true;
#else
	atomic { old = work[cpu]; work[cpu] = true };
	if
	:: !old && cpu != who -> ipi[cpu] = true
	:: else
	fi
#endif
}

/* balance_kick_idle(), queue lock of @kcpu held. */
inline kick_idle(kself, kcpu)
{
	hint[kcpu] = CAN_GIVE(kcpu);
	if
	:: hint[kcpu] && (mask & (1 << OTHER(kcpu))) ->
		CLEAR(OTHER(kcpu));
		post(kself, OTHER(kcpu))
	:: else
	fi
}

/* announce(): a vCPU has begun to wait on @acpu, whose queue is locked. */
inline announce(aself, acpu)
{
	if
	:: idle[acpu] ->
		CLEAR(acpu);
		post(aself, acpu)
	:: !idle[acpu] && curr[acpu] != NONE ->
		post(aself, acpu)			/* goes first */
	:: !idle[acpu]
	fi;
#ifdef PLANT_ONE_SLEEPER
	if
	:: !idle[acpu] -> kick_idle(aself, acpu)
	:: else
	fi
#else
	kick_idle(aself, acpu)
#endif
}

/* sched_make_ready(): both queues are locked in one step, since they are taken
 * in order and a CPU that has one of them only waits for the other. */
inline make_ready(mself, mv, mfrom, mto)
{
	atomic {
		!lock[0] && !lock[1];
		lock[0] = true;
		lock[1] = true;
		ok = state[mv] == mfrom && !onq[mv];
		if
		:: ok ->
			state[mv] = READY;
			se_cpu[mv] = mto;
			onq[mv] = true
		:: else
		fi
	};
	if
	:: ok -> announce(mself, mto)
	:: else
	fi;
	RELEASE(0);
	RELEASE(1)
}

/* balance_place(): any pCPU. */
inline place(where)
{
	if
	:: where = 0
	:: where = 1
	fi
}

/* sched_wake(v) */
inline wake(wself, wv)
{
	if
	:: state[wv] == BLOCKED ->
		place(to);
		make_ready(wself, wv, BLOCKED, to)
	:: else
	fi
}

/* host_vcpu_irq(v): vcpu_request() with VCPU_REQ_IRQ */
inline request_irq(rself, rv)
{
	atomic { seen = req_irq[rv]; req_irq[rv] = true };
	on = loaded_on[rv];
	wake(rself, rv);
	if
	:: !seen && on != NONE && on != rself -> ipi[on] = true
	:: else
	fi
}

/* A device or timer raises the interrupt of a vCPU: level first. */
proctype Device()
{
	byte v, on, to, it;
	bool old, seen, ok;

end:	do
	:: atomic {
		left > 0 -> left--;
		if
		:: v = 0
		:: v = 1
		fi
	   };
#ifdef PLANT_LEVEL_LATE
	   request_irq(NC, v);
	   pend[v] = true;
#else
	   pend[v] = true;
	   request_irq(NC, v);
#endif
	   d_step { v = 0; on = 0; to = 0; old = 0; seen = 0; ok = 0 }
	od
}

/* vcpu_put_here(): what is in list registers is pending again. */
inline put_here(pcpu, pv)
{
	it = pv;
	if
	:: loaded[pcpu] == it ->
		d_step { lr[it] = false; loaded[pcpu] = NONE };
		loaded_on[it] = NONE
	:: else
	fi
}

/* cpu_answer() */
inline answer(ccpu)
{
	if
	:: call[ccpu] ->
		call[ccpu] = false;
		put_here(ccpu, callee[ccpu]);
		callee[ccpu] = NONE
	:: else
	fi
}

/* vcpu_unload(v) by pCPU @c */
inline unload(ucpu, uv)
{
	on = loaded_on[uv];
	if
	:: on == ucpu -> put_here(ucpu, uv)
	:: on != ucpu && on != NONE ->
		callee[on] = uv;
		call[on] = true;
		ipi[on] = true;
		do
		:: callee[on] == NONE -> break
		:: call[ucpu] -> answer(ucpu)
		od
	:: else
	fi
}

/* load(c, v) in run.c, which ends with the look at the interrupt state. */
inline load(lcpu, lv)
{
	if
	:: loaded[lcpu] != lv ->
		if
		:: loaded[lcpu] != NONE -> put_here(lcpu, loaded[lcpu])
		:: else
		fi;
		unload(lcpu, lv);
		assert(loaded_on[lv] == NONE);
		loaded[lcpu] = lv;
		loaded_on[lv] = lcpu;
		req_irq[lv] = false;
		lr[lv] = pend[lv]
	:: else
	fi
}

/* pick_local(): leaves the choice in @v. */
inline pick_local(c)
{
	atomic {
		!lock[c];
		if
		:: HERE(0, c) -> v = 0
		:: HERE(1, c) -> v = 1
		:: !WAITS(c) -> v = NONE
		fi;
		if
		:: v != NONE ->
			onq[v] = false;
			state[v] = RUNNING;
			curr[c] = v;
			if
			:: idle[c] -> idle[c] = false; CLEAR(c)
			:: else
			fi
		:: else ->
			idle[c] = true;
#ifndef PLANT_IDLE_AFTER_LOOK
			mask = mask | (1 << c)
#endif
		fi;
		hint[c] = CAN_GIVE(c)
	}
}

/* balance_steal(): a look at the hint without a lock, then at the tree. */
inline steal(c)
{
	if
	:: hint[OTHER(c)] ->
		atomic {
			!lock[0] && !lock[1];
			if
			:: CAN_GIVE(OTHER(c)) && HERE(0, OTHER(c)) ->
				se_cpu[0] = c
			:: CAN_GIVE(OTHER(c)) && HERE(1, OTHER(c)) ->
				se_cpu[1] = c
			:: !CAN_GIVE(OTHER(c))
			fi;
			hint[0] = CAN_GIVE(0);
			hint[1] = CAN_GIVE(1)
		};
		pick_local(c)
	:: else
	fi
}

inline sched_pick(c)
{
	pick_local(c);
	if
	:: v == NONE -> steal(c)
	:: else
	fi;
#ifdef PLANT_IDLE_AFTER_LOOK
	if
	:: v == NONE -> mask = mask | (1 << c)
	:: else
	fi
#endif
}

/* sched_preempt(): READY again on the same pCPU. */
inline preempt(c)
{
	atomic {
		!lock[c];
		lock[c] = true;
		curr[c] = NONE;
		state[v] = READY;
		onq[v] = true
	};
	kick_idle(c, c);
	RELEASE(c)
}

/* sched_block() */
inline block(c)
{
#ifdef PLANT_LOOK_FIRST
	seen = pend[v] || req_stop[v];
#endif
	atomic {
		!lock[c];
		curr[c] = NONE;
		state[v] = BLOCKED;
		hint[c] = CAN_GIVE(c)
	};
#ifndef PLANT_LOOK_FIRST
	seen = pend[v] || req_stop[v];
#endif
	if
	:: seen -> make_ready(c, v, BLOCKED, c)
	:: else
	fi
}

/* vm_vcpu_stop() */
inline stop(c)
{
	unload(c, v);
	atomic {
		!lock[c];
		curr[c] = NONE;
		state[v] = STOPPED;
		hint[c] = CAN_GIVE(c)
	};
#ifndef PLANT_STOP_NO_LOOK
	if
	:: !req_stop[v] ->
		place(to);
		make_ready(c, v, STOPPED, to)
	:: else
	fi
#endif
}

/*
 * arch_vcpu_run(): one look at the requests, then the guest. It takes the
 * interrupt that is in its list register, waits for one (WFI), or spins; an
 * interrupt of the host brings it back.
 */
inline run_guest(c)
{
	if
#ifdef PLANT_CLEAR_LATE
	:: req_irq[v] -> lr[v] = pend[v]; req_irq[v] = false
#else
	:: req_irq[v] -> req_irq[v] = false; lr[v] = pend[v]
#endif
	:: else
	fi;
	if
	:: work[c] || call[c] || req_stop[v]
	:: else ->
end_guest:	if
		:: lr[v] -> atomic { lr[v] = false; pend[v] = false }
		:: !lr[v] && !busy[v] -> block(c)
		:: ipi[c] -> ipi[c] = false
		fi
	fi
}

/* run_vcpu() */
inline run_vcpu(c)
{
	load(c, v);
	do
	:: curr[c] == v ->
		answer(c);
		if
		:: req_stop[v] -> stop(c); break
		:: else
		fi;
		atomic { old = work[c]; work[c] = false };
		if
		:: old -> preempt(c); break
		:: true
		fi;
		load(c, v);
		run_guest(c);
		FORGET
	:: else -> break
	od
}

proctype Cpu(byte c)
{
	byte v, on, to, it;
	bool old, seen, ok;

	do
	:: answer(c);
	   work[c] = false;
	   sched_pick(c);
	   if
	   :: v != NONE -> run_vcpu(c)
	   :: else ->
		if
		:: work[c] || call[c]
		:: else ->
end_sleep:		ipi[c]
		fi;
		ipi[c] = false
	   fi;
	   v = NONE;
	   FORGET
	od
}

/* vm_pause() and vm_resume() for vCPU 0; the monitor is no pCPU here. */
proctype Monitor()
{
	byte on, to, it;
	bool old, seen, ok;

	atomic { seen = req_stop[0]; req_stop[0] = true; paused = true };
	on = loaded_on[0];
	if
	:: !seen && on != NONE -> ipi[on] = true
	:: else
	fi;
	atomic {	/* sched_remove(): the queue it belongs to */
		!lock[se_cpu[0]];
		if
		:: state[0] == READY || state[0] == BLOCKED ->
			onq[0] = false;
			state[0] = STOPPED;
			hint[se_cpu[0]] = CAN_GIVE(se_cpu[0])
		:: else
		fi
	};
#ifdef RESUME
	atomic { req_stop[0] = false; paused = false };
	if
	:: state[0] == STOPPED ->
		place(to);
		make_ready(NC, 0, STOPPED, to)
	:: else
	fi
#endif
}

/* Nothing can move any more: has everybody got what it is due? */
proctype Quiet()
{
	byte v;

	timeout;
	d_step {
		assert(!work[0] && !work[1] && !call[0] && !call[1]);
		v = 0;
		do
		:: v < NV ->
			if
			:: paused && v == 0 -> assert(state[0] == STOPPED)
			:: else ->
				assert(state[v] != STOPPED);
				assert(!pend[v]);
				assert(!(state[v] == READY && (idle[0] ||
							       idle[1])))
			fi;
			v++
		:: else -> break
		od
	}
}

init {
	atomic {
		onq[0] = true;
		onq[1] = true;
		se_cpu[1] = 1;
		callee[0] = NONE;
		callee[1] = NONE;
		if
		:: busy[0] = true
		:: true
		fi;
		run Cpu(0);
		run Cpu(1);
		run Device();
#ifdef TWO_DEVICES
		run Device();
#endif
#ifdef PAUSE
		run Monitor();
#endif
		run Quiet()
	}
}
