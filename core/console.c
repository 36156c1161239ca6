// SPDX-License-Identifier: BSD-2-Clause
/*
 * The host console; console.h says what it guarantees. Invariant: con.at is the
 * VM whose unfinished line is on the terminal, and only a focused VM can be
 * there; con.prompt says that the monitor's line is. Neither: the terminal is
 * at the start of a line. Everything is
 * protected by the console lock, the innermost one; it is dropped while a
 * device takes input, because that needs the VM lock.
 */
#include "console.h"

#include "arch.h"
#include "dev.h"
#include "lock.h"
#include "monitor.h"
#include "prompt.h"
#include "vm.h"

#define PROMPT	"nestling> "

static struct {
	struct spinlock lock;
	bool broken;		/* [a] panic: no lock any more */
	bool prefix;
	bool lines;		/* the focused VM too is shown in whole lines */
	bool escape;		/* the escape character was typed */
	bool editing;		/* the monitor's prompt is open */
	unsigned int focus;	/* index in vms[] */
	struct vm *at;
	bool prompt;
} con;

static void con_lock(void)
{
	if (!__atomic_load_n(&con.broken, __ATOMIC_RELAXED))
		spin_lock(&con.lock);
}

static void con_unlock(void)
{
	if (!__atomic_load_n(&con.broken, __ATOMIC_RELAXED))
		spin_unlock(&con.lock);
}

static void out(uint8_t ch)
{
	arch_uart_putc(0, ch);
}

static void out_text(const char *text)
{
	for (; *text; text++)
		out((uint8_t)*text);
}

static void new_line(void)
{
	out_text("\r\n");
	con.at = NULL;
	con.prompt = false;
}

static void fresh_line(void)
{
	if (con.at || con.prompt)
		new_line();
}

static void out_prefix(const struct vm *vm)
{
	if (!con.prefix)
		return;
	out('[');
	out_text(vm->cfg->name);
	out_text("] ");
}

/* Is output of @vm passed through character by character? */
static bool direct(const struct vm *vm)
{
	return !con.editing &&
	       (!con.prefix || (vm->id == con.focus && !con.lines));
}

void console_set_prefix(bool on, bool lines)
{
	con_lock();
	con.prefix = on;
	con.lines = lines;
	con_unlock();
}

/* ---- output of a VM without the focus ---------------------------------- */

/* Bytes of the UTF-8 character at @s that is not a control character; 0: it is
 * none, or is cut off after @n bytes. */
static unsigned int utf8_len(const uint8_t *s, unsigned int n)
{
	static const uint32_t least[] = { 0, 0, 0xa0, 0x800, 0x10000 };
	unsigned int len = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
	uint32_t code = s[0] & (0xffu >> (len + 1));

	if (s[0] < 0xc2 || s[0] > 0xf4 || len > n)
		return 0;
	for (unsigned int i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (s[i] & 0x3f);
	}
	return code >= least[len] && code <= 0x10ffff ? len : 0;
}

/* The buffered bytes of @vm, harmless for the terminal; empties the buffer. */
static void out_buffer(struct vm *vm)
{
	const uint8_t *s = (const uint8_t *)vm->out.line;
	unsigned int n = vm->out.len;

	while (n) {
		unsigned int len = 1;

		if (s[0] >= 0x80)
			len = utf8_len(s, n);
		if (!len) {
			out('?');
			len = 1;
		} else if (s[0] < 0x20 && s[0] != '\t') {
			out('.');
		} else {
			for (unsigned int i = 0; i < len; i++)
				out(s[i]);
		}
		s += len;
		n -= len;
	}
	vm->out.len = 0;
}

static void out_line(struct vm *vm)
{
	fresh_line();
	out_prefix(vm);
	out_buffer(vm);
	new_line();
}

static void buffered_putc(struct vm *vm, uint8_t ch)
{
	struct console_out *o = &vm->out;

	switch (ch) {
	case '\n':
		out_line(vm);
		return;
	case '\r':
	case '\a':
		return;
	case '\b':
	case 0x7f:
		if (o->len)
			o->len--;
		return;
	case CONSOLE_STATUS_BYTE:
		ch = '?';
		break;
	default:
		break;
	}
	if (o->len == CONSOLE_LINE_MAX)
		out_line(vm);
	o->line[o->len++] = (char)ch;
}

/* ---- output of the focused VM ------------------------------------------ */

/* Control characters that something could take as a line break. */
static bool line_breaker(uint8_t ch)
{
	return ch == '\v' || ch == '\f' || (ch >= 0x1c && ch <= 0x1f);
}

/*
 * A carriage return waits for the next character, which tells whether it is
 * part of a line end.
 */
static void direct_putc(struct vm *vm, uint8_t ch)
{
	bool cr = vm->out.cr;

	vm->out.cr = ch == '\r';
	if (ch == '\r')
		return;
	if (con.at != vm) {
		fresh_line();
		out_prefix(vm);
		con.at = vm;
	} else if (cr && ch != '\n') {
		out('\r');
		out_prefix(vm);
	}
	if (ch == '\n')
		new_line();
	else if (ch == CONSOLE_STATUS_BYTE || (con.prefix && line_breaker(ch)))
		out('?');
	else
		out(ch);
}

void console_guest_putc(struct vm *vm, uint8_t ch)
{
	con_lock();
	if (direct(vm))
		direct_putc(vm, ch);
	else
		buffered_putc(vm, ch);
	con_unlock();
}

void console_guest_flush(struct vm *vm)
{
	con_lock();
	if (con.at == vm)
		new_line();
	if (vm->out.len)
		out_line(vm);
	vm->out.cr = false;
	con_unlock();
}

/* ---- output of the hypervisor ------------------------------------------ */

static void out_safe(const char *text)
{
	for (; *text; text++)
		out(*text >= 0x20 && *text < 0x7f ? (uint8_t)*text : '?');
}

void console_line(const char *text)
{
	con_lock();
	fresh_line();
	out_safe(text);
	new_line();
	con_unlock();
}

void console_status(const char *text)
{
	con_lock();
	fresh_line();
	out(CONSOLE_STATUS_BYTE);
	out_safe(text);
	new_line();
	con_unlock();
}

void console_prompt(const char *text, const char *echo)
{
	con_lock();
	if (!con.prompt) {
		fresh_line();
		out_text(PROMPT);
		out_text(text);
		con.prompt = true;
	}
	out_text(echo);
	con_unlock();
}

void console_prompt_end(void)
{
	con_lock();
	if (con.prompt)
		new_line();
	con_unlock();
}

/* What @vm has buffered, if it may be passed through now. */
static void show_unfinished(struct vm *vm)
{
	if (!vm->out.len || !direct(vm))
		return;
	fresh_line();
	out_prefix(vm);
	out_buffer(vm);
	con.at = vm;
}

void console_editing(bool on)
{
	con_lock();
	con.editing = on;
	if (con.focus < nr_vms)
		show_unfinished(vms[con.focus]);
	con_unlock();
}

void console_break_lock(void)
{
	__atomic_store_n(&con.broken, true, __ATOMIC_RELAXED);
}

/* ---- input and focus --------------------------------------------------- */

bool console_focus(unsigned int id)
{
	struct vm *vm = NULL;

	if (id < nr_vms)
		vm = vms[id];
	else if (id != CONSOLE_NO_FOCUS)
		return false;
	con_lock();
	fresh_line();
	con.focus = id;
	if (vm)
		show_unfinished(vm);
	con_unlock();
	return true;
}

unsigned int console_focused(void)
{
	return __atomic_load_n(&con.focus, __ATOMIC_RELAXED);
}

/* Appends to what waits for @vm; a byte beyond the limit is lost and the
 * terminal rings. */
static void input_put(struct vm *vm, uint8_t ch)
{
	struct console_out *o = &vm->out;

	con_lock();
	if (o->in_count == CONSOLE_INPUT_MAX) {
		out('\a');
	} else {
		o->in[(o->in_head + o->in_count) % CONSOLE_INPUT_MAX] = ch;
		__atomic_store_n(&o->in_count, o->in_count + 1,
				 __ATOMIC_RELAXED);
	}
	con_unlock();
}

/*
 * Gives waiting bytes to the device until it is full. One CPU at a time, so
 * that they stay in order; another one that comes meanwhile leaves a note, and
 * the device is tried again. Console lock held, dropped and taken again.
 */
static void input_feed(struct vm *vm)
{
	struct console_out *o = &vm->out;

	if (o->feeding) {
		o->again = true;
		return;
	}
	o->feeding = true;
	while (o->in_count) {
		uint8_t ch = o->in[o->in_head];
		bool taken;

		o->again = false;
		con_unlock();
		taken = dev_input(vm, ch);
		con_lock();
		if (o->dropped) {
			o->dropped = false;
			__atomic_store_n(&o->in_count, 0, __ATOMIC_RELAXED);
		} else if (taken) {
			o->in_head = (o->in_head + 1) % CONSOLE_INPUT_MAX;
			__atomic_store_n(&o->in_count, o->in_count - 1,
					 __ATOMIC_RELAXED);
		} else if (!o->again) {
			break;
		}
	}
	o->feeding = false;
}

void console_input_more(struct vm *vm)
{
	if (!__atomic_load_n(&vm->out.in_count, __ATOMIC_RELAXED))
		return;
	con_lock();
	input_feed(vm);
	con_unlock();
}

void console_input_drop(struct vm *vm)
{
	struct console_out *o = &vm->out;

	con_lock();
	o->dropped = o->feeding;
	if (!o->feeding)
		__atomic_store_n(&o->in_count, 0, __ATOMIC_RELAXED);
	con_unlock();
}

static void input_to_vm(uint8_t ch)
{
	unsigned int id = console_focused();

	if (id >= nr_vms || __atomic_load_n(&vms[id]->state, __ATOMIC_RELAXED)
			    == VM_STOPPED)
		return;
	input_put(vms[id], ch);
	console_input_more(vms[id]);
}

void console_input(uint8_t ch)
{
	bool command;

	if (prompt_defers(ch))
		return;
	con_lock();
	command = con.escape;
	con.escape = !command && ch == CONSOLE_ESCAPE;
	con_unlock();
	if (command && ch != CONSOLE_ESCAPE)
		monitor_key(ch);
	else if (!command && ch == CONSOLE_ESCAPE)
		return;
	else if (prompt_is_open())
		prompt_input(ch);
	else
		input_to_vm(ch);
}
