// SPDX-License-Identifier: BSD-2-Clause
// objs: core/console.c core/monitor.c core/print.c
/*
 * The console mux: what guests can and cannot put on the terminal, focus,
 * input in order and without loss, and the monitor's commands.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "console.h"
#include "fake.h"
#include "print.h"

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

static void command(void *keys)
{
	type(keys);
}

static char help_keys[] = "\x14?", list_keys[] = "\x14l", quit_keys[] = "\x14q",
	    bad_keys[] = "\x14z", far_keys[] = "\x14" "7";

static void commands(void **)
{
	start(2);
	vcpu_memory.state = VCPU_BLOCKED;
	command(help_keys);
	assert_non_null(strstr(fake_uart, "nestling:   l       list the VMs"));
	fake_uart_clear();
	command(list_keys);
	expect("nestling: *0 a running, vCPUs: 2 blocked\r\n"
	       "nestling:  1 b running, vCPUs: 1 blocked\r\n");
	command(bad_keys);
	expect("nestling: no such command; Ctrl-T ? lists them\r\n");
	command(far_keys);
	expect("nestling: there is no VM 7\r\n");
	vm[0]->state = VM_STOPPED;
	assert_int_equal(fake_run(command, quit_keys), -1);
	assert_int_equal(vm[0]->reason, VM_OFF);
	assert_int_equal(vm[1]->reason, VM_KILLED);
	assert_int_equal(fake_run(command, quit_keys), 0);
	expect("\x1enestling status 0\r\n");
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
		TEST(commands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
