// SPDX-License-Identifier: BSD-2-Clause
/*
 * Line editor of the monitor's prompt. Nothing waits: a command that takes time
 * (a VM that has to end) leaves prompt.waits set, a timer of this CPU looks
 * until it is done, and what is typed meanwhile is kept in prompt.ahead.
 */
#include "prompt.h"

#include <string.h>

#include "arch.h"
#include "console.h"
#include "cpu.h"
#include "machine.h"
#include "monitor.h"

enum escape { ESC_NONE, ESC_BEGUN, ESC_SEQUENCE };

static void say(struct monitor *m, const char *text);

static struct {
	bool open;
	bool waits;		/* for the effect of the last command */
	bool feeding;		/* what was kept is being used */
	bool cr;		/* the last one was a carriage return */
	enum escape escape;
	unsigned int len;
	char line[PROMPT_LINE_MAX + 1];
	char last[PROMPT_LINE_MAX + 1];	/* up arrow */
	struct monitor monitor;
	struct timer timer;
	unsigned int ahead_len;
	uint8_t ahead[PROMPT_AHEAD_MAX];
} prompt = { .monitor.line = say };

static void say(struct monitor *, const char *text)
{
	console_line(text);
}

bool prompt_is_open(void)
{
	return prompt.open;
}

static void empty_line(void)
{
	prompt.len = 0;
	prompt.line[0] = 0;
}

void prompt_open(void)
{
	if (prompt.open)
		return;
	machine_keep();
	prompt.open = true;
	prompt.escape = ESC_NONE;
	prompt.cr = false;
	empty_line();
	console_editing(true);
	console_prompt("", "");
}

void prompt_close(void)
{
	if (!prompt.open)
		return;
	prompt.open = false;
	console_prompt_end();
	console_editing(false);
	machine_drop();
}

/* ---- waiting ----------------------------------------------------------- */

static void look(struct timer *t);

static void look_later(void)
{
	struct cpu *c = this_cpu();

	timer_set(&c->timers, &prompt.timer,
		  arch_time() + arch_time_hz() / 1000);
	/* The run loop may not come by before the guest goes on. */
	arch_timer_set(timer_next(&c->timers));
}

/* Uses what was typed while the last command was under way. */
static void feed(void)
{
	unsigned int used = 0;

	prompt.feeding = true;
	while (used < prompt.ahead_len && !prompt.waits)
		console_input(prompt.ahead[used++]);
	prompt.feeding = false;
	prompt.ahead_len -= used;
	memmove(prompt.ahead, prompt.ahead + used, prompt.ahead_len);
}

static void look(struct timer *)
{
	if (!monitor_done(&prompt.monitor)) {
		look_later();
		return;
	}
	prompt.waits = false;
	if (prompt.open)
		console_prompt("", "");
	feed();
}

bool prompt_defers(uint8_t ch)
{
	if (!prompt.waits || prompt.feeding)
		return false;
	if (prompt.ahead_len < PROMPT_AHEAD_MAX)
		prompt.ahead[prompt.ahead_len++] = ch;
	else
		console_prompt("", "\a");
	return true;
}

/* ---- editing ----------------------------------------------------------- */

/* Takes the last @n characters off the line, and off the terminal. */
static void erase(unsigned int n)
{
	console_prompt(prompt.line, "");
	prompt.len -= n;
	prompt.line[prompt.len] = 0;
	while (n--)
		console_prompt(prompt.line, "\b \b");
}

/* Characters of the last word, with the blanks behind it. */
static unsigned int last_word(void)
{
	unsigned int i = prompt.len;

	while (i && prompt.line[i - 1] == ' ')
		i--;
	while (i && prompt.line[i - 1] != ' ')
		i--;
	return prompt.len - i;
}

static void insert(char ch)
{
	char echo[2] = { ch, 0 };

	if (prompt.len == PROMPT_LINE_MAX) {
		console_prompt(prompt.line, "\a");
		return;
	}
	console_prompt(prompt.line, echo);
	prompt.line[prompt.len++] = ch;
	prompt.line[prompt.len] = 0;
}

static void recall(void)
{
	erase(prompt.len);
	for (const char *c = prompt.last; *c; c++)
		insert(*c);
}

static void execute(void)
{
	console_prompt(prompt.line, "");
	console_prompt_end();
	if (prompt.len)
		memcpy(prompt.last, prompt.line, sizeof(prompt.last));
	monitor_execute(&prompt.monitor, prompt.line);
	empty_line();
	if (!monitor_done(&prompt.monitor)) {
		prompt.waits = true;
		timer_init(&prompt.timer, look);
		look_later();
	} else if (prompt.open) {
		console_prompt("", "");
	}
}

/* The keys of a terminal that begin with ESC; only the up arrow means
 * something. True: @ch belongs to one. */
static bool escape_sequence(uint8_t ch)
{
	enum escape was = prompt.escape;

	prompt.escape = ESC_NONE;
	if (was == ESC_SEQUENCE) {
		if (ch < 0x40 || ch > 0x7e)
			prompt.escape = ESC_SEQUENCE;
		else if (ch == 'A')
			recall();
		return true;
	}
	if (was == ESC_BEGUN && (ch == '[' || ch == 'O')) {
		prompt.escape = ESC_SEQUENCE;
		return true;
	}
	if (ch == 0x1b)
		prompt.escape = ESC_BEGUN;
	return ch == 0x1b;
}

#define CTRL(letter) ((letter) & 0x1f)

static void edit(uint8_t ch)
{
	switch (ch) {
	case '\b':
	case 0x7f:
		erase(prompt.len ? 1 : 0);
		break;
	case CTRL('U'):
		erase(prompt.len);
		break;
	case CTRL('W'):
		erase(last_word());
		break;
	case CTRL('C'):
	case CTRL('D'):
		prompt_close();
		break;
	case '\r':
	case '\n':
		execute();
		break;
	default:
		if (ch >= ' ' && ch < 0x7f)
			insert((char)ch);
		break;
	}
}

void prompt_input(uint8_t ch)
{
	bool second = prompt.cr && ch == '\n';

	prompt.cr = ch == '\r';
	if (!second && !escape_sequence(ch))
		edit(ch);
}
