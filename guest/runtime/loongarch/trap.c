// SPDX-License-Identifier: BSD-2-Clause
/*
 * Exceptions: the handler tables, the armed note, and the dump at the end. All
 * of it is per vCPU and needs no lock.
 */
#include "trap.h"
#include <stdio.h>
#include "../runtime.h"
#include "layout.h"
#include "smp.h"

static_assert(offsetof(struct trap_frame, era) == FRAME_ERA);
static_assert(offsetof(struct trap_frame, prmd) == FRAME_PRMD);
static_assert(offsetof(struct trap_frame, estat) == FRAME_ESTAT);
static_assert(offsetof(struct trap_frame, badv) == FRAME_BADV);
static_assert(offsetof(struct trap_frame, badi) == FRAME_BADI);
static_assert(sizeof(struct trap_frame) <= FRAME_F);

enum { FROM_KERNEL, FROM_USER, FROMS };

static trap_fn handlers[MAX_VCPUS][FROMS][64];

static struct {
	bool armed;
	struct trap_note note;
} notes[MAX_VCPUS];

__attribute__((weak)) const bool trap_keeps_fp = true;

void trap_on(unsigned plv, unsigned ecode, trap_fn fn)
{
	handlers[vcpu_id()][plv ? FROM_USER : FROM_KERNEL][ecode & 0x3f] = fn;
}

void trap_arm(void)
{
	unsigned id = vcpu_id();

	notes[id].note = (struct trap_note){ 0 };
	notes[id].armed = true;
	asm volatile("" ::: "memory");
}

struct trap_note trap_result(void)
{
	unsigned id = vcpu_id();

	asm volatile("" ::: "memory");
	notes[id].armed = false;
	return notes[id].note;
}

static bool is_fetch(uint64_t estat)
{
	unsigned ecode = TRAP_ECODE(estat);

	return ecode == ECODE_PIF || ecode == ECODE_PNX ||
	       (ecode == ECODE_ADE && TRAP_ESUB(estat) == ESUB_ADEF);
}

/* Notes an expected exception and steps over what raised it. */
static bool note_take(struct trap_frame *frame)
{
	unsigned id = vcpu_id();
	struct trap_note *note = &notes[id].note;

	if (!notes[id].armed)
		return false;
	if (note->count++ == 0) {
		note->estat = frame->estat;
		note->badv = frame->badv;
		note->badi = frame->badi;
		note->era = frame->era;
		note->prmd = frame->prmd;
	}
	if (is_fetch(frame->estat))
		frame->era = frame->r[1];
	else
		frame->era += 4;
	return true;
}

[[noreturn]] static void dump(const struct trap_frame *frame)
{
	static bool dumping;

	if (!dumping) {
		dumping = true;
		printf("guest: unexpected exception %#x.%u on vCPU %u\n",
		       TRAP_ECODE(frame->estat), TRAP_ESUB(frame->estat),
		       vcpu_id());
		printf("  era %#lx prmd %#lx estat %#lx badv %#lx badi %#lx\n",
		       frame->era, frame->prmd, frame->estat, frame->badv,
		       frame->badi);
		for (int i = 0; i < 32; i++)
			printf("  r%d %#lx%s", i, frame->r[i],
			       i % 4 == 3 ? "\n" : "");
		fflush(stdout);
	}
	guest_exit(EXIT_CRASH);
}

void trap_entry(struct trap_frame *frame)
{
	unsigned ecode = TRAP_ECODE(frame->estat);
	unsigned from = frame->prmd & PRMD_PPLV ? FROM_USER : FROM_KERNEL;
	trap_fn fn = handlers[vcpu_id()][from][ecode];

	/* An image may take interrupts itself. */
	if (ecode == ECODE_INT && !fn) {
		irq_entry();
		return;
	}
	if (from == FROM_KERNEL && note_take(frame))
		return;
	if (!fn || !fn(frame))
		dump(frame);
}
