// SPDX-License-Identifier: BSD-2-Clause
// objs: core/console.c core/monitor.c core/monitor_show.c
// objs: core/monitor_fp.c core/fpwords.c core/print.c
// objs: core/prompt.c core/timer.c
/*
 * The console mux: what guests can and cannot put on the terminal, focus,
 * input in order and without loss; the monitor's prompt and its commands.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "console.h"
#include "fake.h"
#include "machine.h"
#include "monitor.h"
#include "print.h"
#include "prompt.h"

static const struct vm_config cfg[3] = {
	{ .name = "a", .nr_vcpus = 2, .memory = 2 * MiB },
	{ .name = "b", .nr_vcpus = 1, .memory = 2 * MiB },
	{ .name = "c", .nr_vcpus = 1, .memory = 2 * MiB },
};

static struct vcpu vcpu_memory;
static struct vm *vm[3];

/* What the devices of the VMs took, and how much room they have. */
static char taken[3][CONSOLE_INPUT_MAX + 100];
static unsigned int nr_taken[3], room[3];
/* What another CPU does while the device is asked. */
static void (*while_unlocked)(void);

bool dev_input(struct vm *v, uint8_t ch)
{
	unsigned int i = v->id;
	bool full = !room[i];

	if (while_unlocked) {
		void (*fn)(void) = while_unlocked;

		while_unlocked = NULL;
		fn();
	}
	if (full)
		return false;
	room[i]--;
	taken[i][nr_taken[i]++] = (char)ch;
	return true;
}

static void start(unsigned int n)
{
	fake_cpus_init(1);
	for (unsigned int i = 0; i < n; i++) {
		vm[i] = fake_vm(&cfg[i]);
		for (unsigned int k = 0; k < cfg[i].nr_vcpus; k++)
			vm[i]->vcpus[k] = &vcpu_memory;
	}
	memset(taken, 0, sizeof(taken));
	memset(nr_taken, 0, sizeof(nr_taken));
	memset(room, 0, sizeof(room));
	console_set_prefix(n > 1, false);
	console_focus(0);
	fake_uart_clear();
}

static int stop(void **)
{
	prompt_close();
	console_line("");	/* leaves nobody's line open */
	while (nr_vms)
		fake_vm_free(vm[nr_vms - 1]);
	return 0;
}

static void guest(unsigned int i, const char *text)
{
	for (; *text; text++)
		console_guest_putc(vm[i], (uint8_t)*text);
}

static void expect(const char *text)
{
	assert_string_equal(fake_uart, text);
	fake_uart_clear();
}

/* ---- output ------------------------------------------------------------ */

static void single(void **)
{
	start(1);
	guest(0, "x\ny\r\nz\x1b[1m\v\x80");
	expect("x\r\ny\r\nz\x1b[1m\v\x80");
	guest(0, "\x1enestling status 0\n");
	expect("?nestling status 0\r\n");
	guest(0, "10%\r20%\r\n");
	expect("10%\r20%\r\n");
}

static void hypervisor_breaks_in(void **)
{
	start(1);
	guest(0, "half");
	console_line("nestling: note");
	guest(0, "done\n");
	console_status("nestling status 1");
	expect("half\r\nnestling: note\r\ndone\r\n"
	       "\x1enestling status 1\r\n");
}

static void lines_of_two(void **)
{
	start(2);
	guest(0, "$ ");
	guest(1, "hel");
	guest(1, "lo\n");
	guest(0, "ls\n");
	guest(1, "\n");
	expect("[a] $ \r\n[b] hello\r\n[a] ls\r\n[b] \r\n");
}

static void unfocused_is_harmless(void **)
{
	start(2);
	guest(1, "a\x1b[2J\x1e\x01\x7f" "b\tc\r\n");
	expect("[b] a.[2J?b\tc\r\n");
	guest(1, "abc\b\b\b\b\b\b\bxyz\rforged\n");
	expect("[b] xyzforged\r\n");
	/* UTF-8 text passes; C1 controls, overlong and cut forms do not. */
	guest(1, "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\n");
	expect("[b] \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\r\n");
	guest(1, "\x9b \xc2\x9b \xc0\x9b \xe0\x82\x9b\n");
	expect("[b] ? ?? ?? ???\r\n");
	guest(1, "\xf4\x90\x80\x80 \xe2\x82\n");
	expect("[b] ???? ??\r\n");
}

static void long_lines_break(void **)
{
	char want[CONSOLE_LINE_MAX + 32] = "[b] ";

	start(2);
	for (unsigned int i = 0; i < CONSOLE_LINE_MAX + 1; i++)
		console_guest_putc(vm[1], 'x');
	memset(want + 4, 'x', CONSOLE_LINE_MAX);
	strcat(want, "\r\n");
	expect(want);
	console_guest_flush(vm[1]);
	expect("[b] x\r\n");
}

static void focused_cannot_lose_prefix(void **)
{
	start(2);
	guest(0, "ab\r[b] x\r\n\v\f\x1c\x1d\x1e\x1f.\r");
	expect("[a] ab\r[a] [b] x\r\n[a] ??????.");
	guest(0, "\n\r");
	expect("\r\n");
	guest(0, "y\x1b[K\b");
	expect("[a] y\x1b[K\b");
}

/* Checks the line at @s; returns its end, a CR LF before @end. */
static char *check_line(char *s, char *end)
{
	char *c;

	assert_int_equal(s[0], '[');
	assert_true(s[1] >= 'a' && s[1] <= 'c');
	assert_memory_equal(s + 2, "] ", 2);
	for (c = s; c[0] != '\r' || c[1] != '\n'; c++) {
		assert_true(c + 2 < end);
		assert_true(*c != '\n' && *c != '\x1e');
		if (*c == '\r')
			assert_memory_equal(c + 1, "[a] ", 4);
		if (s[1] != 'a')
			assert_true((uint8_t)*c >= 0x20 || *c == '\t');
	}
	return c;
}

/* Whatever guests emit, every line of the byte stream has its prefix. */
static void random_bytes(void **)
{
	start(3);
	srand(1);
	for (unsigned int i = 0; i < 200000; i++) {
		int r = rand();
		uint8_t ch = r & 0x100 ? "\n\r\b\x1e\x1b[ab] "[r % 10] :
			     (uint8_t)r;

		console_guest_putc(vm[r >> 10 & 1 ? 2 : r >> 11 & 1], ch);
	}
	console_guest_flush(vm[0]);
	assert_true(fake_uart_len + 1 < sizeof(fake_uart));
	for (char *s = fake_uart, *end = fake_uart + fake_uart_len; s < end;)
		s = check_line(s, end) + 2;
}

static void focus_shows_prompt(void **)
{
	start(2);
	guest(0, "one");
	guest(1, "login: ");
	console_input(CONSOLE_ESCAPE);
	console_input('n');
	guest(1, "x\n");
	guest(0, " more\n");
	expect("[a] one\r\nnestling: focus on b\r\n[b] login: x\r\n"
	       "[a]  more\r\n");
	assert_int_equal(console_focused(), 1);
	assert_false(console_focus(2));
}

/* ---- input ------------------------------------------------------------- */

static void type(const char *text)
{
	for (; *text; text++)
		console_input((uint8_t)*text);
}

static void input_waits(void **)
{
	start(2);
	room[0] = 3;
	type("hello");
	assert_string_equal(taken[0], "hel");
	room[0] = 1;
	console_input_more(vm[0]);
	assert_string_equal(taken[0], "hell");
	type("\x14" "1bye");
	room[1] = 10;
	type("!");
	assert_string_equal(taken[1], "bye!");
	room[0] = 10;
	console_input_more(vm[0]);
	assert_string_equal(taken[0], "hello");
	type("\x14\x14");	/* the escape itself */
	assert_string_equal(taken[1], "bye!\x14");
}

static void input_overflows(void **)
{
	start(1);
	for (unsigned int i = 0; i < CONSOLE_INPUT_MAX + 2; i++)
		console_input((uint8_t)('a' + i % 26));
	expect("\a\a");
	room[0] = CONSOLE_INPUT_MAX + 10;
	console_input_more(vm[0]);
	assert_int_equal(nr_taken[0], CONSOLE_INPUT_MAX);
	for (unsigned int i = 0; i < CONSOLE_INPUT_MAX; i++)
		assert_int_equal(taken[0][i], 'a' + i % 26);
}

static void makes_room(void)
{
	room[0] = 1;
	console_input_more(vm[0]);
}

/* Another CPU makes room between "full" and the end of feeding. */
static void no_lost_room(void **)
{
	start(1);
	while_unlocked = makes_room;
	console_input('x');
	assert_string_equal(taken[0], "x");
	assert_int_equal(vm[0]->out.in_count, 0);
}

/* Another CPU types while one feeds: order stays. */
static void types_more(void)
{
	console_input('2');
}

static void order_stays(void **)
{
	start(1);
	room[0] = 10;
	while_unlocked = types_more;
	console_input('1');
	assert_string_equal(taken[0], "12");
}

/* ---- monitor ----------------------------------------------------------- */

static int kept;	/* machine_keep() minus machine_drop() */

void machine_keep(void)
{
	kept++;
}

void machine_drop(void)
{
	kept--;
}

static void single_keys(void **)
{
	start(2);
	vcpu_memory.state = VCPU_BLOCKED;
	type("\x14?");
	assert_non_null(strstr(fake_uart, "nestling:   l      list the VMs"));
	fake_uart_clear();
	type("\x14l");
	expect("nestling:  #  name  state      vcpus  MiB       starts  status"
	       "      vCPU states\r\n"
	       "nestling: *0  a     running    2      2         1       -     "
	       "      2 blocked\r\n"
	       "nestling:  1  b     running    1      2         1       -     "
	       "      1 blocked\r\n");
	type("\x14~");
	expect("nestling: no such command; Ctrl-T ? lists them\r\n");
	type("\x14" "7");
	expect("nestling: there is no VM 7\r\n");
	type("\x14q");
	assert_int_equal(vm[0]->reason, VM_KILLED);
	assert_int_equal(vm[1]->reason, VM_KILLED);
}

#define BACK "\b \b"

static void editing(void **)
{
	start(2);
	type("\x14:");
	assert_int_equal(kept, 1);
	type("mex\x7f" "m\r");
	expect("nestling> mex" BACK "m\r\nnestling: 4096 pages of 4 KiB: 1280 "
	       "free, 2816 used (5 of 16 MiB free)\r\nnestling> ");
	type("a\x15\x08log  loud \x17");
	expect("a" BACK "log  loud " BACK BACK BACK BACK BACK);
	type("\x17\x17x\n");
	expect(BACK BACK BACK BACK BACK "x\r\nnestling: there is no command "
					"'x'; help lists them\r\nnestling> ");
	/* Up arrow, other keys of terminals, control and 8-bit characters. */
	type("y\x1b[A\x1bOA\x1b[1;5C\x1b[3~\x01\xc3\x1bq");
	expect("y" BACK "x" BACK "xq");
	type("\r\n\r\n");
	expect("\r\nnestling: there is no command 'xq'; help lists them\r\n"
	       "nestling> \r\nnestling> ");
	type("leave\r");
	expect("leave\r\n");
	assert_int_equal(kept, 0);
	type("\x14m\x03\x14m\x04");
	expect("nestling> \r\nnestling> \r\n");
	assert_int_equal(kept, 0);
	room[0] = 1;
	type("z");
	assert_string_equal(taken[0], "z");
}

static void line_is_bounded(void **)
{
	start(2);
	type("\x14:");
	fake_uart_clear();
	for (unsigned int i = 0; i < PROMPT_LINE_MAX + 2; i++)
		type("x");
	assert_int_equal(fake_uart_len, PROMPT_LINE_MAX + 2);
	assert_string_equal(fake_uart + PROMPT_LINE_MAX, "\a\a");
	fake_uart_clear();
	type("\x17");
	assert_int_equal(fake_uart_len, 3 * PROMPT_LINE_MAX);
}

/* Output breaks into a command that is typed; the next key shows it again. */
static void prompt_comes_back(void **)
{
	start(2);
	guest(0, "lo");
	type("\x14:vm");
	guest(0, "gin\n");
	guest(1, "x\n");
	type("s");
	expect("[a] lo\r\nnestling> vm\r\n[a] gin\r\n[b] x\r\nnestling> vms");
	guest(0, "half");
	type("\x04");
	expect("\r\n[a] half");
}

static char answer[4096];

static void keep(struct monitor *, const char *text)
{
	strcat(answer, text);
	strcat(answer, "\n");
}

/* Executes @line elsewhere than at the prompt. */
static const char *run(const char *line)
{
	static struct monitor m = { .line = keep };
	char text[100];

	answer[0] = 0;
	strcpy(text, line);
	monitor_execute(&m, text);
	return answer;
}

static void commands(void **)
{
	start(3);
	assert_non_null(strstr(run("help"), "\nnestling:   kill   VM       "));
	assert_string_equal(run("  pause   b  "), "");
	assert_true(vm[1]->paused);
	assert_string_equal(run("pause b"), "nestling: VM b is paused\n");
	assert_string_equal(run("resume 1"), "");
	assert_string_equal(run("resume b"), "nestling: VM b is not paused\n");
	assert_string_equal(run("start b"), "nestling: VM b is running\n");
	assert_string_equal(run("kill b"), "");
	assert_int_equal(vm[1]->reason, VM_KILLED);
	assert_string_equal(run("kill b"), "nestling: VM b is not running\n");
	assert_string_equal(run("reset b"), "nestling: VM b is not running\n");
	assert_string_equal(run("pause b"), "nestling: VM b is stopped\n");
	assert_string_equal(run("regs b 0"), "nestling: VM b is not running\n");
	assert_string_equal(run("start b"), "");
	assert_string_equal(run("reset b"), "");
	assert_int_equal(vm[1]->reason, VM_RESET);
	vcpu_memory.vm = vm[0];
	vcpu_memory.state = VCPU_RUNNING;
	assert_string_equal(run("regs a 1"), "nestling: VM a vCPU 0 is "
					     "running: pause the VM first\n");
	assert_string_equal(run("regs a 2"), "nestling: VM a has no vCPU 2\n");
	assert_string_equal(run("regs a -1"),
			    "nestling: VM a has no vCPU -1\n");
	assert_string_equal(run("log debug"), "");
	assert_int_equal(log_level, LOG_DEBUG);
	log_level = LOG_INFO;
	assert_string_equal(run(""), "");
}

static void mistakes(void **)
{
	static const char *const names[] = { "3", "-1", "4294967296", "aa",
					     "A", "99999999999999999999" };
	char line[80], want[80];

	start(3);
	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		sprintf(line, "kill %s", names[i]);
		sprintf(want, "nestling: there is no VM %s\n", names[i]);
		assert_string_equal(run(line), want);
	}
	assert_string_equal(run("kill"), "nestling: usage: kill VM\n");
	assert_string_equal(run("kill a b"), "nestling: usage: kill VM\n");
	assert_string_equal(run("regs a 1 2 3 4 5 6"),
			    "nestling: usage: regs VM VCPU\n");
	assert_string_equal(run("vms x"), "nestling: usage: vms\n");
	assert_string_equal(run("log loud"), "nestling: log: 'loud' is none of "
					     "error, warn, info, debug\n");
	assert_string_equal(run("Kill a"), "nestling: there is no command "
					   "'Kill'; help lists them\n");
	assert_int_equal(vm[0]->state, VM_RUNNING);
}

static void table_of_vcpus(void **)
{
	start(2);
	fake_cpus_init(4);
	memset(&vcpu_memory, 0, sizeof(vcpu_memory));
	vcpu_memory.vm = vm[1];
	vcpu_memory.id = 3;
	vcpu_memory.state = VCPU_BLOCKED;
	vcpu_memory.loaded_on = 2;
	vcpu_memory.se.par.weight = 10000;
	vcpu_memory.se.par.affinity = 0xd;
	vcpu_memory.se.run = 1234567;
	vcpu_memory.se.wait = 2000;
	vcpu_memory.se.blocked = 9999;
	vcpu_memory.stats.exits = 42;
	run("vcpus b");
	assert_non_null(strstr(answer, "name  vCPU  state    pCPU  affinity  "
				       "class             run ms   wait ms  "
				       "sleep ms exits\n"));
	assert_non_null(strstr(answer, "b     3     blocked  2     0,2-3     "
				       "fair 10000        1234     2        "
				       "9        42\n"));
	vcpu_memory.loaded_on = VCPU_NOT_LOADED;
	vcpu_memory.se.par.rt_budget = 500;
	vcpu_memory.se.par.rt_period = 10000;
	assert_non_null(strstr(run("vcpus 1"),
			       "blocked  -     0,2-3     rt 500/10000 us   "));
}

static void nobody_in_focus(void **)
{
	start(2);
	guest(0, "half");
	type("\x14:focus all\r\x04");
	fake_uart_clear();
	guest(0, " a");
	guest(1, "b\n");
	guest(0, "\n");
	expect("[b] b\r\n[a]  a\r\n");
	room[0] = room[1] = 9;
	type("lost\x14nkept");
	assert_string_equal(taken[0], "kept");
	assert_string_equal(taken[1], "");
}

static bool ending;

bool vm_settled(struct vm *)
{
	return !ending;
}

/* A VM that takes time to end: what is typed meanwhile comes afterwards. */
static void typed_ahead(void **)
{
	start(2);
	type("\x14:");
	fake_uart_clear();
	ending = true;
	type("kill b\r");
	type("mem\r\x04" "ab\x14nc");
	expect("kill b\r\n");
	fake_time = fake_timer;
	timer_run(&cpus[0]->timers, fake_time);
	expect("");
	assert_true(fake_timer > fake_time);
	ending = false;
	room[0] = 9;
	fake_time = fake_timer;
	timer_run(&cpus[0]->timers, fake_time);
	assert_non_null(strstr(fake_uart, "nestling> mem\r\nnestling: 4096 "));
	assert_non_null(strstr(fake_uart, "\r\nnestling> \r\nnestling: focus "
					  "on b\r\n"));
	assert_string_equal(taken[0], "ab");
	assert_int_equal(kept, 0);
}

/* Whatever is typed, the monitor stays in its buffers, and the prompt keeps the
 * machine exactly while it is open. */
static void random_keys(void **)
{
	static const char keys[] = "\x14\x14:m?n0l\r\n\x7f\x15\x17\x03\x1b[A"
				   "   killstarpugeoc012ab\xff";

	start(2);
	srand(2);
	for (unsigned int i = 0; i < 300000; i++) {
		int r = rand();
		uint8_t key = (uint8_t)(r >> 16);

		if (r & 0x3000)
			key = (uint8_t)keys[r % (sizeof(keys) - 1)];
		console_input(key);
		ending = (r & 0x70000) == 0;
		if (i % 64 == 0) {
			fake_time = fake_timer;
			timer_run(&cpus[0]->timers, fake_time);
			fake_uart_clear();
			nr_taken[0] = nr_taken[1] = 0;
			room[0] = room[1] = 1000;
		}
		assert_int_equal(kept, prompt_is_open());
	}
	ending = false;
	fake_time = fake_timer;
	timer_run(&cpus[0]->timers, fake_time);
}

/* Input of a VM that has ended is gone; of one between two lives it waits. */
static void input_of_another_life(void **)
{
	start(1);
	vm[0]->state = VM_STARTING;
	type("x");
	console_input_drop(vm[0]);
	type("y");
	vm[0]->state = VM_STOPPED;
	type("z");
	room[0] = 9;
	vm[0]->state = VM_RUNNING;
	console_input_more(vm[0]);
	assert_string_equal(taken[0], "y");
}

static void drops(void)
{
	console_input_drop(vm[0]);
}

/* The same when another CPU is just feeding it. */
static void dropped_while_fed(void **)
{
	start(1);
	type("ab");
	assert_int_equal(vm[0]->out.in_count, 2);
	while_unlocked = drops;
	room[0] = 1;
	console_input_more(vm[0]);
	assert_int_equal(vm[0]->out.in_count, 0);
	room[0] = 9;
	type("c");
	assert_string_equal(taken[0], "ac");
}

#define TEST(fn) cmocka_unit_test_teardown(fn, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(single),
		TEST(hypervisor_breaks_in),
		TEST(lines_of_two),
		TEST(unfocused_is_harmless),
		TEST(long_lines_break),
		TEST(focused_cannot_lose_prefix),
		TEST(random_bytes),
		TEST(focus_shows_prompt),
		TEST(input_waits),
		TEST(input_overflows),
		TEST(no_lost_room),
		TEST(order_stays),
		TEST(single_keys),
		TEST(editing),
		TEST(line_is_bounded),
		TEST(prompt_comes_back),
		TEST(commands),
		TEST(mistakes),
		TEST(table_of_vcpus),
		TEST(nobody_in_focus),
		TEST(typed_ahead),
		TEST(random_keys),
		TEST(input_of_another_life),
		TEST(dropped_while_fed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
