// SPDX-License-Identifier: BSD-2-Clause
/*
 * Exceptions: the handler tables, the armed note, and the dump at the end. All
 * of it is per vCPU and needs no lock.
 */
#include <stdio.h>
#include "../runtime.h"
#include "layout.h"
#include "smp.h"
#include "trap.h"

static_assert(sizeof(struct trap_frame) == FRAME_Q);
static_assert(offsetof(struct trap_frame, sp) == FRAME_SP);
static_assert(offsetof(struct trap_frame, elr) == FRAME_ELR);
static_assert(offsetof(struct trap_frame, esr) == FRAME_ESR);

enum { KIND_SYNC, KIND_IRQ, KIND_FIQ, KIND_SERROR };

static trap_fn handlers[MAX_VCPUS][TRAP_FROMS][64];
static trap_fn serror_handlers[MAX_VCPUS];

static struct {
	bool armed;
	struct trap_note note;
} notes[MAX_VCPUS];

__attribute__((weak)) const bool trap_keeps_fp = true;

void trap_on(enum trap_from from, unsigned ec, trap_fn fn)
{
	handlers[vcpu_id()][from][ec & 0x3f] = fn;
}

void trap_on_serror(trap_fn fn)
{
	serror_handlers[vcpu_id()] = fn;
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

/* Notes an expected exception and steps over what raised it. */
static bool note_take(struct trap_frame *frame)
{
	unsigned id = vcpu_id();
	struct trap_note *note = &notes[id].note;
	unsigned ec = ESR_EC(frame->esr);

	if (!notes[id].armed)
		return false;
	if (note->count++ == 0) {
		note->esr = frame->esr;
		note->far = frame->far;
		note->elr = frame->elr;
		note->spsr = frame->spsr;
	}
	if (ec == EC_IABT || ec == EC_PC_ALIGN)
		frame->elr = frame->x[30];
	else if (ec != EC_SVC64)
		frame->elr += 4;
	return true;
}

[[noreturn]] static void dump(const struct trap_frame *frame, unsigned vector)
{
	static bool dumping;

	if (!dumping) {
		dumping = true;
		printf("guest: unexpected exception on vCPU %u, vector %#x\n",
		       vcpu_id(), vector * 0x80);
		printf("  esr %#lx (class %#x) far %#lx elr %#lx "
		       "spsr %#lx sp %#lx\n",
		       frame->esr, ESR_EC(frame->esr), frame->far, frame->elr,
		       frame->spsr, frame->sp);
		for (int i = 0; i < 31; i++)
			printf("  x%d %#lx%s", i, frame->x[i],
			       i % 4 == 3 || i == 30 ? "\n" : "");
		fflush(stdout);
	}
	guest_exit(EXIT_CRASH);
}

void trap_entry(struct trap_frame *frame, unsigned vector)
{
	enum trap_from from = vector / 4;
	unsigned kind = vector % 4;
	trap_fn fn = nullptr;

	if (kind == KIND_IRQ || kind == KIND_FIQ) {
		irq_entry();
		return;
	}
	if (kind == KIND_SYNC && from == TRAP_EL1H && note_take(frame))
		return;
	if (kind == KIND_SYNC)
		fn = handlers[vcpu_id()][from][ESR_EC(frame->esr)];
	else
		fn = serror_handlers[vcpu_id()];
	if (!fn || !fn(frame))
		dump(frame, vector);
}
