// SPDX-License-Identifier: BSD-2-Clause
/*
 * Locks between the vCPUs of a guest.
 */
#ifndef GUEST_LOCK_H
#define GUEST_LOCK_H

/* A recursive lock word: 0 when free, else 1 + the number of its owner. */
struct spinlock {
	unsigned owner;
	unsigned depth;
};

void spin_lock(struct spinlock *lock);
void spin_unlock(struct spinlock *lock);

/* All `count` vCPUs wait here for each other; may be used again at once. */
struct barrier {
	unsigned arrived;
	unsigned turn;
};

void barrier_wait(struct barrier *barrier, unsigned count);

#endif
