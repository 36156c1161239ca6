/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The host console: one UART shared by the hypervisor and every VM's console
 * device. With more than one VM (prefix mode) the output of a VM is made into
 * whole lines with its name in front; the focused VM is passed through
 * character by character. Input goes to the focused VM; Ctrl-T is the escape.
 *
 * What guests cannot do, whatever they output:
 * - emit the status byte (it becomes '?');
 * - in prefix mode, begin a line of the byte stream without their own prefix:
 *   every line feed on the UART is the hypervisor's, a lone carriage return
 *   gets the prefix again, other bytes that a terminal may take as a line
 *   break become '?';
 * - in prefix mode and without the focus, move the cursor: control characters
 *   become '.', bytes that are not UTF-8 text become '?'.
 * The focused VM may use escape sequences, which line editing and full-screen
 * programs need, so it can repaint the user's screen; a single VM owns the
 * terminal altogether. Hypervisor lines and status records always begin on a
 * fresh line, and so does the monitor's prompt.
 */
#ifndef CORE_CONSOLE_H
#define CORE_CONSOLE_H

#include "types.h"

struct vm;

#define CONSOLE_STATUS_BYTE	0x1e	/* only the hypervisor can output it */
#define CONSOLE_ESCAPE		0x14	/* Ctrl-T */
#define CONSOLE_LINE_MAX	160	/* longer guest lines are broken */
#define CONSOLE_INPUT_MAX	16384	/* typed ahead of the guest */

/* A VM's side of the console: output that is not on the terminal yet, and
 * input that its device had no room for. All fields: console lock. */
struct console_out {
	uint16_t len;
	bool cr;		/* a carriage return waits for what follows */
	bool feeding, again;	/* a CPU gives input to the device */
	bool dropped;		/* ... and what it holds is lost */
	uint32_t in_head, in_count;	/* [in_count also read without lock] */
	char line[CONSOLE_LINE_MAX];
	uint8_t in[CONSOLE_INPUT_MAX];
};

/*
 * With more than one VM every guest line is prefixed. With @lines even the
 * focused VM is shown in whole lines only, so that no other VM's line comes
 * between its characters. Boot CPU, before the first VM.
 */
void console_set_prefix(bool on, bool lines);

/* One character of a guest's console. VM lock held or not. */
void console_guest_putc(struct vm *vm, uint8_t ch);

/* Outputs what is buffered for @vm, ended by a new line. */
void console_guest_flush(struct vm *vm);

/* One whole hypervisor line; breaks into a guest's unfinished line. Bytes that
 * are not printable ASCII become '?'. Any lock held but the console's. */
void console_line(const char *text);

/* A status record: the status byte, @text and a line end. */
void console_status(const char *text);

/* From now on output takes no lock: for panic. */
void console_break_lock(void);

/*
 * Shows the monitor's prompt with @text behind it, unless that is on the
 * terminal already and nothing came in between; then @echo. console_prompt_end
 * ends the line, if the terminal is on it.
 */
void console_prompt(const char *text, const char *echo);
void console_prompt_end(void);

/* While the prompt is open every VM is shown in whole lines, so that output
 * breaks into what is typed as little as possible. */
void console_editing(bool on);

/*
 * A character typed on the host UART: it goes to the monitor or to the VM in
 * focus, where it waits while that has no room or is not up yet; for a STOPPED
 * VM it is lost. Interrupt context of the CPU that serves the UART, or a timer
 * there, IRQs masked, no lock held.
 */
void console_input(uint8_t ch);

/* What waits for @vm is lost. No lock held. */
void console_input_drop(struct vm *vm);

/* A VM's console device has room again: feed it what waits. No lock held. */
void console_input_more(struct vm *vm);

/*
 * Gives the focus to VM number @id and shows its unfinished line; false: there
 * is no such VM. CONSOLE_NO_FOCUS: every VM is shown in whole lines and what is
 * typed goes to none. The number of the focused VM. No lock held.
 */
#define CONSOLE_NO_FOCUS	UINT32_MAX
bool console_focus(unsigned int id);
unsigned int console_focused(void);

#endif
