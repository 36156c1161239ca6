// SPDX-License-Identifier: BSD-2-Clause
/*
 * A small kernel with two user tasks at level 3: each has an address space of
 * its own (ASID and PGDL) with the same addresses in it, and FP registers that
 * the kernel moves lazily, by EUEN. The tasks pass a token by a system call.
 * Before each call a task fills its registers of one width, after it they must
 * be as they were; a counter in a page of its own must count its turns alone.
 *
 * Arguments: use=LETTERS, what each of the two uses: n nothing, f scalar, l
 * LSX, x LASX (default xf); turns=N of both together (default 5000);
 * asid=same: both have one ASID, so that the kernel invalidates at each switch.
 */
#include <stdio.h>
#include <string.h>
#include "check.h"
#include "csr.h"
#include "fp.h"
#include "guest.h"
#include "hcall.h"
#include "mmu.h"
#include "timer.h"
#include "trap.h"

const bool trap_keeps_fp = false;

#define TASKS		2
#define VA_CODE		0x400000ull
#define VA_DATA		0x402000ull
#define INSTRUCTIONS	10	/* per tick, under icount */
#define ENTRIES		512
#define ALL_UNITS	(EUEN_FPE | EUEN_SXE | EUEN_ASXE)

/* The page of a task. Known to its code. */
struct data {
	uint64_t turns;
	uint64_t lost;		/* registers that had changed */
};

// clang-format off
#define EACH(...)							\
	".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,"	\
	"21,22,23,24,25,26,27,28,29,30,31\n" __VA_ARGS__ ".endr\n"
/* $s1 is another number for each register and turn. */
#define TURN(name, set, get)						\
	name ":\n"							\
	EACH("	addi.d	$t0, $s1, \\n\n	" set "\n")			\
	"	syscall	0\n"						\
	EACH("	" get "\n"						\
	     "	addi.d	$t0, $t0, -\\n\n"				\
	     "	xor	$t0, $t0, $s1\n"				\
	     "	sltu	$t0, $zero, $t0\n"				\
	     "	add.d	$s2, $s2, $t0\n")				\
	"	b	task_next\n"

/* (use, data): the code of both tasks, copied to a page of theirs. */
asm("	.text\n"
    "	.balign	4\n"
    "task_code:\n"
    "	move	$s0, $a1\n"
    "	move	$s2, $zero\n"
    "	slli.d	$s1, $a0, 32\n"
    "task_next:\n"
    "	st.d	$s2, $s0, 8\n"
    "	ld.d	$t0, $s0, 0\n"
    "	addi.d	$t0, $t0, 1\n"
    "	st.d	$t0, $s0, 0\n"
    "	addi.d	$s1, $s1, 64\n"
    "	li.w	$t0, 1\n"
    "	beq	$a0, $t0, task_f\n"
    "	li.w	$t0, 2\n"
    "	beq	$a0, $t0, task_l\n"
    "	li.w	$t0, 3\n"
    "	beq	$a0, $t0, task_x\n"
    "	syscall	0\n"
    "	b	task_next\n"
    TURN("task_f", "movgr2fr.d $f\\n, $t0", "movfr2gr.d $t0, $f\\n")
    TURN("task_l", "vreplgr2vr.d $vr\\n, $t0", "vpickve2gr.d $t0, $vr\\n, 1")
    TURN("task_x", "xvreplgr2vr.d $xr\\n, $t0",
	 "xvpickve2gr.d $t0, $xr\\n, 3")
    "task_end:\n");
// clang-format on

extern const char task_code[], task_end[];
extern uint64_t empty_root[ENTRIES];

static struct {
	alignas(4096) uint64_t table[4][ENTRIES];
	alignas(4096) struct data data;
	alignas(4096) struct fp_state fp;
	struct trap_frame frame;
	uint64_t asid;
} task[TASKS];

static alignas(4096) char code[3 * PAGE];
static unsigned current, owner = TASKS;
static uint64_t turns, limit, fp_traps;
static bool same_asid;

/* Translates the low half as the task does. */
static void enter_space(unsigned i)
{
	csr_write(CSR_PGDL, (uint64_t)task[i].table[0]);
	if (same_asid)
		asm volatile("invtlb 4, %0, $zero" ::"r"(task[i].asid)
			     : "memory");
	else
		csr_write(CSR_ASID, task[i].asid);
}

/* What a task has used stays in the registers until another uses some. */
static void switch_to(struct trap_frame *f, unsigned i)
{
	task[current].frame = *f;
	*f = task[i].frame;
	current = i;
	enter_space(i);
	csr_write(CSR_EUEN, owner == i ? ALL_UNITS : 0);
}

static bool on_call(struct trap_frame *f)
{
	f->era += 4;
	if (++turns == limit) {
		user_stop(f, 0);
		return true;
	}
	switch_to(f, !current);
	return true;
}

static bool on_fp([[maybe_unused]] struct trap_frame *f)
{
	fp_traps++;
	csr_write(CSR_EUEN, ALL_UNITS);
	if (owner < TASKS)
		fp_store(&task[owner].fp);
	csr_write(CSR_EUEN, ALL_UNITS);
	task[current].fp.level = FP_LASX;
	fp_load(&task[current].fp);
	csr_write(CSR_EUEN, ALL_UNITS);
	owner = current;
	return true;
}

static void fill(uint64_t *table, uint64_t entry)
{
	for (unsigned i = 0; i < ENTRIES; i++)
		table[i] = entry;
}

/* Pages of code for both, the data page of one, at the same addresses. */
static void make_space(unsigned i)
{
	uint64_t(*t)[ENTRIES] = task[i].table;

	for (unsigned level = 0; level < 3; level++)
		fill(t[level], (uint64_t)empty_root);
	fill(t[3], 0);
	t[0][VA_CODE >> 39 & 511] = (uint64_t)t[1];
	t[1][VA_CODE >> 30 & 511] = (uint64_t)t[2];
	t[2][VA_CODE >> 21 & 511] = (uint64_t)t[3];
	for (unsigned page = 0; page < 2; page++)
		t[3][(VA_CODE >> 12 & 511) + page] =
			((uint64_t)code + page * PAGE) | MAP_USER;
	t[3][VA_DATA >> 12 & 511] = (uint64_t)&task[i].data | MAP_USER |
				    TLBELO_NX;
}

static void make_task(unsigned i, char use)
{
	const char *letters = "nflx";

	make_space(i);
	task[i].asid = same_asid ? 1 : i + 1;
	task[i].frame.era = VA_CODE;
	task[i].frame.prmd = 3 | PRMD_PIE;
	task[i].frame.r[4] = (uint64_t)(strchr(letters, use) - letters);
	task[i].frame.r[5] = VA_DATA;
}

static void run(void)
{
	uint64_t args[2] = { task[0].frame.r[4], VA_DATA }, ticks;
	uint64_t traps = (uint64_t)nestling_stat(NESTLING_STAT_FP_TRAPS);

	csr_write(CSR_EUEN, 0);
	enter_space(0);
	csr_write(CSR_ASID, task[0].asid);
	ticks = now();
	user_run(VA_CODE, 3 | PRMD_PIE, args, 0);
	ticks = now() - ticks;
	csr_write(CSR_EUEN, ALL_UNITS);
	traps = (uint64_t)nestling_stat(NESTLING_STAT_FP_TRAPS) - traps;
	say("tasks: turns %lu instructions %lu own traps %lu hypervisor's %lu",
	    turns, ticks * INSTRUCTIONS, fp_traps, traps);
}

int main(int, char **)
{
	const char *use = arg_str("use", "xf");

	limit = arg_u64("turns", 5000);
	same_asid = strcmp(arg_str("asid", "own"), "same") == 0;
	on_nestling();
	memcpy(code, task_code, (size_t)(task_end - task_code));
	asm volatile("dbar 0\n\tibar 0" ::: "memory");
	mmu_init_vcpu();
	for (unsigned i = 0; i < TASKS; i++)
		make_task(i, use[i]);
	trap_on(3, ECODE_SYS, on_call);
	trap_on(3, ECODE_FPD, on_fp);
	trap_on(3, ECODE_SXD, on_fp);
	trap_on(3, ECODE_ASXD, on_fp);
	run();
	for (unsigned i = 0; i < TASKS; i++) {
		CHECK_EQ(task[i].data.lost, 0, "task%u-registers", i);
		CHECK_EQ(task[i].data.turns, limit / 2 + (i == 0 && limit % 2),
			 "task%u-turns", i);
	}
	CHECK_EQ(turns, limit, "all-turns");
	return report();
}
