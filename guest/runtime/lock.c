// SPDX-License-Identifier: BSD-2-Clause
/*
 * Locks between vCPUs. A waiter spins with the lock word only read; the
 * hypervisor preempts it when its owner does not run.
 */
#include "smp.h"

void spin_lock(struct spinlock *lock)
{
	unsigned self = vcpu_id() + 1;
	unsigned expected;

	if (__atomic_load_n(&lock->owner, __ATOMIC_RELAXED) == self) {
		lock->depth++;
		return;
	}
	do {
		while (__atomic_load_n(&lock->owner, __ATOMIC_RELAXED))
			;
		expected = 0;
	} while (!__atomic_compare_exchange_n(&lock->owner, &expected, self,
					      false, __ATOMIC_ACQUIRE,
					      __ATOMIC_RELAXED));
	lock->depth = 1;
}

void spin_unlock(struct spinlock *lock)
{
	if (--lock->depth == 0)
		__atomic_store_n(&lock->owner, 0, __ATOMIC_RELEASE);
}

void barrier_wait(struct barrier *barrier, unsigned count)
{
	unsigned turn = __atomic_load_n(&barrier->turn, __ATOMIC_ACQUIRE);

	if (__atomic_add_fetch(&barrier->arrived, 1, __ATOMIC_ACQ_REL) ==
	    count) {
		__atomic_store_n(&barrier->arrived, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&barrier->turn, turn + 1, __ATOMIC_RELEASE);
		return;
	}
	while (__atomic_load_n(&barrier->turn, __ATOMIC_ACQUIRE) == turn)
		;
}
