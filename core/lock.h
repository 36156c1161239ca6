/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spin locks. Interrupts are masked whenever a CPU runs hypervisor code, so
 * there is one kind of lock and no irqsave form.
 *
 * Lock order, outermost first; a CPU holding one may only take one further
 * down. A function that needs a lock says so in its comment.
 *	vm->lock	life cycle, power state and devices of one VM
 *	vgic lock	interrupt state of one VM (arch)
 *	runq lock	one run queue; two are taken in order of CPU number
 *	call lock	incoming cross-CPU calls of one CPU
 *	stage 2 lock	one translation table (arch)
 *	page lock	the page allocator
 *	console lock	the host console; taken by kprintf, so from anywhere
 * A cross-CPU call is made with no lock held: the answering CPU may need any.
 */
#ifndef CORE_LOCK_H
#define CORE_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include <arch/inline.h>

/* Ticket lock: first come, first served, so no CPU starves. */
struct spinlock {
	uint16_t next;		/* ticket the next taker gets */
	uint16_t owner;		/* ticket that holds the lock */
	uint32_t cpu;		/* id + 1 of the holder, 0 when free */
};

#define SPINLOCK_INIT { 0, 0, 0 }

static inline void spin_lock(struct spinlock *l)
{
	uint16_t t = __atomic_fetch_add(&l->next, 1, __ATOMIC_RELAXED);

	while (__atomic_load_n(&l->owner, __ATOMIC_ACQUIRE) != t)
		arch_relax();
	l->cpu = arch_cpu_id() + 1;
}

static inline void spin_unlock(struct spinlock *l)
{
	l->cpu = 0;
	__atomic_store_n(&l->owner, (uint16_t)(l->owner + 1),
			 __ATOMIC_RELEASE);
}

/* Does this CPU hold @l? For assertions only. */
static inline bool spin_held(const struct spinlock *l)
{
	return l->cpu == arch_cpu_id() + 1;
}

#endif
