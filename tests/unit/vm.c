// SPDX-License-Identifier: BSD-2-Clause
// objs: core/vm.c core/vmram.c core/power.c
/*
 * Life of a VM: whatever fails on the way, and whoever ends, resets or pauses
 * it at the worst moment, everything comes back exactly once and no vCPU is
 * forgotten. Memory is malloc's, so the sanitizers see what is used after it
 * was given back. Hooks are the moments in which another CPU does something.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake.h"
#include "gfdt.h"
#include "machine.h"
#include "power.h"
#include "run.h"

static struct vm_config cfg = {
	.name = "a", .nr_vcpus = 3, .memory = 2 * MiB,
	.sched = { .weight = 1000, .affinity = 1 },
};

static struct vm *vm;
static int blocks;		/* allocated */
static int fail_at;		/* the allocation that fails, -1: none */
static int vm_inits, vcpu_inits, reservations, kept, loads;
static int image_error, vcpu_error, sched_error;
static void (*hook)(void);	/* once, by whoever gets there first */
static char record[80];

static void run_hook(void)
{
	void (*fn)(void) = hook;

	hook = NULL;
	if (fn)
		fn();
}

/* ---- what vm.c stands on ----------------------------------------------- */

static void *allocate(size_t size)
{
	void *p;

	if (fail_at >= 0 && !fail_at--)
		return NULL;
	p = aligned_alloc(PAGE_SIZE, align_up(size, PAGE_SIZE));
	memset(p, 0, size);
	blocks++;
	return p;
}

void *page_zalloc(size_t size)
{
	return allocate(size);
}

void page_zfree(void *p, size_t)
{
	blocks -= p != NULL;
	free(p);
}

paddr_t page_alloc_dirty(unsigned int order)
{
	void *p = order <= 8 ? allocate(PAGE_SIZE << order) : NULL;

	if (p)
		memset(p, 0xa5, PAGE_SIZE << order);
	return (uintptr_t)p;
}

void page_free(paddr_t pa, unsigned int)
{
	blocks--;
	free((void *)(uintptr_t)pa);
}

unsigned int page_order(uint64_t size)
{
	unsigned int order = 0;

	while (PAGE_SIZE << order < size)
		order++;
	return order;
}

int arch_vm_init(struct vm *)
{
	vm_inits++;
	return 0;
}

void arch_vm_fini(struct vm *)
{
	vm_inits--;
}

int arch_vcpu_init(struct vcpu *)
{
	if (vcpu_error)
		return vcpu_error;
	vcpu_inits++;
	return 0;
}

void arch_vcpu_fini(struct vcpu *)
{
	vcpu_inits--;
}

int sched_vcpu_init(struct vcpu *, const struct sched_params *)
{
	if (sched_error)
		return sched_error;
	reservations++;
	return 0;
}

void sched_vcpu_fini(struct vcpu *v)
{
	assert_int_equal(v->state, VCPU_OFF);
	reservations--;
}

static void leave(struct vcpu *v, enum vcpu_state to)
{
	v->state = to;
	if (to == VCPU_OFF)
		v->loaded_on = VCPU_NOT_LOADED;
}

void sched_start(struct vcpu *v)
{
	if (v->state == VCPU_OFF)
		v->state = VCPU_READY;
}

void sched_resume(struct vcpu *v)
{
	if (v->state == VCPU_STOPPED)
		v->state = VCPU_READY;
}

void sched_off(struct vcpu *v, unsigned int to)
{
	assert_int_equal(v->state, VCPU_RUNNING);
	leave(v, to);
	run_hook();
}

bool sched_remove(struct vcpu *v, unsigned int to)
{
	if (v->state == VCPU_RUNNING || v->state == VCPU_OFF || v->state == to)
		return false;
	leave(v, to);
	return true;
}

void vcpu_request(struct vcpu *v, uint32_t bits)
{
	v->req |= bits;
	run_hook();
}

void vcpu_unload(struct vcpu *v)
{
	v->loaded_on = VCPU_NOT_LOADED;
}

void fp_init(struct vcpu *v, const struct fp_params *)
{
	v->fp.cpu = FP_IN_MEMORY;
}

void fp_reset(struct vcpu *)
{
}

int image_load(struct vm *v, struct image_layout *)
{
	/* Nothing of whoever had the memory before. */
	for (unsigned int i = 0; i < v->nr_slots; i++) {
		uint64_t *p = (uint64_t *)(uintptr_t)v->slots[i].pa;

		assert_int_equal(p[0], 0);
		assert_int_equal(p[v->slots[i].size / 8 - 1], 0);
		p[0] = 1;
	}
	loads++;
	run_hook();
	return image_error;
}

int gfdt_build(struct vm *, const struct image_layout *)
{
	return 0;
}

void dev_init(struct vm *)
{
}

void dev_reset(struct vm *)
{
}

void console_guest_flush(struct vm *)
{
}

void console_input_drop(struct vm *)
{
}

void console_status(const char *text)
{
	/* Whoever reads it may start the VM again. */
	assert_int_equal(vm->state, VM_STOPPED);
	assert_int_equal(strlen(record), 0);
	strcpy(record, text);
}

void cpu_answer(void)
{
}

void run_leave_off(struct vcpu *v)
{
	leave(v, VCPU_OFF);
	vm_vcpu_gone(v);
}

static enum power_result powered;

void arch_vcpu_power_done(struct vcpu *, enum power_result res)
{
	powered = res;
}

void machine_keep(void)
{
	kept++;
}

void machine_drop(void)
{
	kept--;
}

/* ---- helpers ----------------------------------------------------------- */

static int setup(void **)
{
	fake_cpus_init(2);
	fail_at = -1;
	hook = NULL;
	image_error = vcpu_error = sched_error = 0;
	loads = 0;
	record[0] = 0;
	assert_int_equal(vm_create(&cfg), 0);
	vm = vms[0];
	fake_uart_clear();
	return 0;
}

/* Nothing is left but the VM itself, and it can start again. */
static void check_gone(void)
{
	assert_int_equal(vm->state, VM_STOPPED);
	assert_int_equal(vm->refs, 0);
	assert_int_equal(blocks, 1);
	assert_int_equal(vm_inits, 0);
	assert_int_equal(vcpu_inits, 0);
	assert_int_equal(reservations, 0);
	assert_int_equal(kept, 0);
	for (unsigned int i = 0; i < MAX_VCPUS; i++)
		assert_null(vm->vcpus[i]);
	assert_int_equal(vm->nr_slots, 0);
}

static int teardown(void **)
{
	check_gone();
	page_zfree(vm, sizeof(*vm));
	vms[0] = NULL;
	nr_vms = 0;
	return 0;
}

static void expect_record(const char *text)
{
	assert_string_equal(record, text);
	record[0] = 0;
}

/* All vCPUs on: vCPU 0 runs, 1 waits, 2 sleeps. */
static void start_all(void)
{
	assert_int_equal(vm_start(vm), 0);
	assert_int_equal(kept, 1);
	for (unsigned int i = 1; i < 3; i++) {
		vm->vcpus[i]->on = true;
		vm->refs++;
	}
	vm->vcpus[0]->state = VCPU_RUNNING;
	vm->vcpus[1]->state = VCPU_READY;
	vm->vcpus[2]->state = VCPU_BLOCKED;
}

/* What the run loop does with VCPU_REQ_OFF. */
static void leave_off(unsigned int i)
{
	struct vcpu *v = vm->vcpus[i];

	assert_true(v->req & VCPU_REQ_OFF);
	leave(v, VCPU_OFF);
	vm_vcpu_gone(v);
}

/* ---- start ------------------------------------------------------------- */

static void starts_and_ends(void **)
{
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(vm_start(vm), 0);
		assert_int_equal(vm_start(vm), ERR_BUSY);
		assert_int_equal(vm->state, VM_RUNNING);
		assert_true(vm->vcpus[0]->on);
		assert_false(vm->vcpus[1]->on);
		vm->vcpus[0]->state = VCPU_RUNNING;
		vm_end(vm, VM_EXIT, 7);
		vm_end(vm, VM_FAULT, 120);	/* the first one counts */
		assert_int_equal(vm->state, VM_ENDING);
		assert_int_equal(vm_start(vm), ERR_BUSY);
		leave_off(0);
		expect_record("nestling vm a status 7 reason exit");
		check_gone();
	}
	assert_int_equal(vm->starts, 3);
}

/* Out of memory at each allocation: one line, nothing lost. */
static void rolls_back(void **)
{
	int n = 0;

	for (;; n++) {
		fail_at = n;
		fake_uart_clear();
		if (!vm_start(vm))
			break;
		assert_string_equal(fake_uart, "VM a: not enough memory\n");
		check_gone();
	}
	/* vCPUs and RAM; RAM may come in smaller blocks. */
	assert_true(n >= 3);
	fail_at = -1;
	vm_end(vm, VM_KILLED, 0);
}

static void refuses(void **)
{
	sched_error = ERR_BUSY;
	assert_int_equal(vm_start(vm), ERR_NOMEM);
	assert_non_null(strstr(fake_uart, "VM a: rt-budget: "));
	check_gone();
	sched_error = 0;
	vcpu_error = ERR_NOMEM;
	assert_int_equal(vm_start(vm), ERR_NOMEM);
	check_gone();
	vcpu_error = 0;
	image_error = ERR_FORMAT;
	assert_int_equal(vm_start(vm), ERR_FORMAT);
	check_gone();
	image_error = 0;
	cfg.memory = 1024 * MiB;
	fake_uart_clear();
	assert_int_equal(vm_start(vm), ERR_NOMEM);
	assert_string_equal(fake_uart, "VM a: 1024 MiB of memory wanted, the "
				       "machine has 5 MiB free\n");
	cfg.memory = 2 * MiB;
	assert_int_equal(vm->starts, 0);
}

/* ---- end --------------------------------------------------------------- */

static void kill_it(void)
{
	vm_end(vm, VM_KILLED, 0);
}

static void killed_in_every_state(void **)
{
	start_all();
	kill_it();
	/* What waited and what slept is out, what runs is asked. */
	assert_int_equal(vm->vcpus[1]->state, VCPU_OFF);
	assert_int_equal(vm->vcpus[2]->state, VCPU_OFF);
	assert_int_equal(vm->refs, 1);
	leave_off(0);
	expect_record("nestling vm a status 0 reason killed");
}

static void killed_while_starting(void **)
{
	hook = kill_it;
	assert_int_equal(vm_start(vm), 0);
	assert_int_equal(vm->starts, 0);
	expect_record("nestling vm a status 0 reason killed");
	/* That was for this start only. */
	assert_int_equal(vm_start(vm), 0);
	assert_int_equal(vm->state, VM_RUNNING);
	kill_it();
	expect_record("nestling vm a status 0 reason killed");
}

static void reset_again(void **)
{
	struct vcpu *v0;

	start_all();
	v0 = vm->vcpus[0];
	vm_end(vm, VM_RESET, 0);
	leave_off(0);
	assert_int_equal(vm->state, VM_RUNNING);
	assert_ptr_equal(vm->vcpus[0], v0);
	assert_int_equal(vm->refs, 1);
	assert_int_equal(vm->starts, 2);
	assert_int_equal(v0->req, 0);
	assert_false(vm->vcpus[1]->on);
	assert_int_equal(kept, 1);
	kill_it();
	expect_record("nestling vm a status 0 reason killed");
}

static void killed_while_resetting(void **)
{
	start_all();
	vm_end(vm, VM_RESET, 0);
	kill_it();
	leave_off(0);
	expect_record("nestling vm a status 0 reason killed");
	start_all();
	vm_end(vm, VM_RESET, 0);
	hook = kill_it;		/* while the images are loaded */
	leave_off(0);
	expect_record("nestling vm a status 0 reason killed");
	assert_int_equal(loads, 3);
}

static void reset_fails(void **)
{
	start_all();
	vm_end(vm, VM_RESET, 0);
	image_error = ERR_INVAL;
	leave_off(0);
	expect_record("nestling vm a status 120 reason fault");
}

static void leaves_at_once(void)
{
	leave_off(0);
}

/* The vCPU that runs is faster than the loop of vm_end(). */
static void ends_under_the_ender(void **)
{
	start_all();
	hook = leaves_at_once;
	kill_it();
	expect_record("nestling vm a status 0 reason killed");
	start_all();
	hook = leaves_at_once;
	vm_end(vm, VM_RESET, 0);
	/* The new life's vCPU is not taken for one of the old. */
	assert_int_equal(vm->vcpus[0]->state, VCPU_READY);
	assert_true(vm->vcpus[0]->on);
	kill_it();
	expect_record("nestling vm a status 0 reason killed");
}

static void every_cpu_off(void **)
{
	assert_int_equal(vm_start(vm), 0);
	vm_end(vm, VM_EXIT, 7);
	expect_record("nestling vm a status 7 reason exit");
	assert_int_equal(vm_start(vm), 0);
	leave(vm->vcpus[0], VCPU_OFF);
	vm_vcpu_gone(vm->vcpus[0]);
	expect_record("nestling vm a status 0 reason off");
}

static void held(void **)
{
	assert_false(vm_get(vm));
	assert_int_equal(vm_start(vm), 0);
	assert_true(vm_get(vm));
	kill_it();
	assert_int_equal(vm->state, VM_ENDING);
	assert_int_equal(strlen(record), 0);
	assert_true(vm_get(vm));
	assert_non_null(vm->vcpus[0]);
	vm_put(vm);
	vm_put(vm);
	expect_record("nestling vm a status 0 reason killed");
}

/* ---- pause ------------------------------------------------------------- */

static void pauses(void **)
{
	assert_int_equal(vm_pause(vm), ERR_BUSY);
	start_all();
	assert_int_equal(vm_resume(vm), ERR_BUSY);
	assert_int_equal(vm_pause(vm), 0);
	assert_int_equal(vm_pause(vm), ERR_BUSY);
	assert_false(vm_settled(vm));
	vm_vcpu_stop(vm->vcpus[0]);
	assert_true(vm_settled(vm));
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(vm->vcpus[i]->state, VCPU_STOPPED);
	assert_int_equal(vm_resume(vm), 0);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(vm->vcpus[i]->state, VCPU_READY);
		assert_int_equal(vm->vcpus[i]->req, 0);
	}
	assert_int_equal(vm->refs, 3);
	kill_it();
	expect_record("nestling vm a status 0 reason killed");
}

static void resume_it(void)
{
	assert_int_equal(vm_resume(vm), 0);
}

/* Resumed before, and while, the vCPU stops. */
static void resumed_while_stopping(void **)
{
	start_all();
	vm_pause(vm);
	resume_it();
	vm_vcpu_stop(vm->vcpus[0]);
	assert_int_equal(vm->vcpus[0]->state, VCPU_READY);
	vm->vcpus[0]->state = VCPU_RUNNING;
	vm_pause(vm);
	hook = resume_it;
	vm_vcpu_stop(vm->vcpus[0]);
	assert_int_equal(vm->vcpus[0]->state, VCPU_READY);
	kill_it();
	expect_record("nestling vm a status 0 reason killed");
}

/* Another CPU asks for the end when the vCPU still ran; it then stops. */
static void asked_too_early(void)
{
	vm->vcpus[0]->state = VCPU_RUNNING;
	kill_it();
	vm->vcpus[0]->state = VCPU_STOPPED;
}

static void killed_while_stopping(void **)
{
	start_all();
	vm_pause(vm);
	hook = kill_it;		/* finds it STOPPED and takes it out */
	vm_vcpu_stop(vm->vcpus[0]);
	expect_record("nestling vm a status 0 reason killed");
	start_all();
	vm_pause(vm);
	hook = asked_too_early;
	vm_vcpu_stop(vm->vcpus[0]);
	assert_int_equal(vm->vcpus[0]->state, VCPU_READY);
	assert_int_equal(vm->state, VM_ENDING);
	leave_off(0);
	expect_record("nestling vm a status 0 reason killed");
}

static void killed_while_paused(void **)
{
	start_all();
	vm_pause(vm);
	vm_vcpu_stop(vm->vcpus[0]);
	vm_end(vm, VM_RESET, 0);
	assert_int_equal(vm->state, VM_RUNNING);
	assert_false(vm->paused);
	vm_pause(vm);
	kill_it();
	expect_record("nestling vm a status 0 reason killed");
}

/* ---- power calls ------------------------------------------------------- */

static enum power_result cpu_on(unsigned int target)
{
	struct vm_exit e = { .kind = EXIT_POWER };

	e.power.op = POWER_CPU_ON;
	e.power.target = target;
	power_exit(vm->vcpus[0], &e);
	return powered;
}

static void power(enum power_op op, unsigned int caller)
{
	struct vm_exit e = { .kind = EXIT_POWER };

	e.power.op = op;
	power_exit(vm->vcpus[caller], &e);
}

/* A vCPU that is turned on while its VM is being paused stops as well, and one
 * that was off during a pause does not remember it. */
static void turned_on_and_paused(void **)
{
	assert_int_equal(vm_start(vm), 0);
	vm->vcpus[0]->state = VCPU_RUNNING;
	vm_pause(vm);
	assert_int_equal(cpu_on(1), POWER_OK);
	assert_int_equal(vm->vcpus[1]->state, VCPU_READY);
	assert_true(vm->vcpus[1]->req & VCPU_REQ_STOP);
	assert_false(vm_settled(vm));
	vm->vcpus[1]->state = VCPU_RUNNING;
	vm_vcpu_stop(vm->vcpus[0]);
	vm_vcpu_stop(vm->vcpus[1]);
	assert_true(vm_settled(vm));
	vm->vcpus[2]->req |= VCPU_REQ_STOP;
	vm_resume(vm);
	vm->vcpus[0]->state = VCPU_RUNNING;
	vm->vcpus[2]->req |= VCPU_REQ_STOP;
	assert_int_equal(cpu_on(2), POWER_OK);
	assert_false(vm->vcpus[2]->req & VCPU_REQ_STOP);
	assert_int_equal(cpu_on(2), POWER_ALREADY_ON);
	assert_int_equal(vm->refs, 3);
	kill_it();
	assert_int_equal(cpu_on(2), POWER_INVALID);
	leave_off(0);
	expect_record("nestling vm a status 0 reason killed");
}

static void powers_off(void **)
{
	start_all();
	vm->vcpus[1]->state = VCPU_RUNNING;
	power(POWER_CPU_OFF, 1);
	assert_false(vm->vcpus[1]->on);
	assert_int_equal(vm->refs, 2);
	power(POWER_RESET, 0);
	leave_off(0);
	assert_int_equal(vm->state, VM_RUNNING);
	vm->vcpus[0]->state = VCPU_RUNNING;
	power(POWER_OFF, 0);
	leave_off(0);
	expect_record("nestling vm a status 0 reason off");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(starts_and_ends),
		TEST(rolls_back),
		TEST(refuses),
		TEST(killed_in_every_state),
		TEST(killed_while_starting),
		TEST(reset_again),
		TEST(killed_while_resetting),
		TEST(reset_fails),
		TEST(ends_under_the_ender),
		TEST(every_cpu_off),
		TEST(held),
		TEST(pauses),
		TEST(resumed_while_stopping),
		TEST(killed_while_stopping),
		TEST(killed_while_paused),
		TEST(turned_on_and_paused),
		TEST(powers_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
