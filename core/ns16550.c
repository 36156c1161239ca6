// SPDX-License-Identifier: BSD-2-Clause
/*
 * 16550A UART (National Semiconductor PC16550D), registers one byte apart.
 * Transmission takes no time: the transmitter is always empty. The receive FIFO
 * is fed by console.c and never overruns but in loop-back mode. Choices where
 * time would matter on hardware:
 * - bytes below the trigger level raise the timeout interrupt at once;
 * - the transmit interrupt is raised by each byte that is sent, and by enabling
 *   it, and stays until IIR shows it.
 * Divisor, word length and break only store. Everything is protected by the VM
 * lock.
 */
#include "dev.h"

#include <string.h>

#include <libfdt.h>

#include "console.h"
#include "gfdt.h"

enum {
	REG_DATA, REG_IER, REG_IIR, REG_LCR, REG_MCR, REG_LSR, REG_MSR, REG_SCR,
	REG_FCR = REG_IIR
};

#define CLOCK_HZ	100000000	/* as QEMU's machine says */
#define FIFO_DEPTH	16
#define IER_ALL		0x0f
#define IER_RX		0x01
#define IER_TX		0x02
#define IER_LINE	0x04
#define IER_MODEM	0x08
#define IIR_NONE	0x01
#define IIR_MODEM	0x00
#define IIR_TX		0x02
#define IIR_RX		0x04
#define IIR_LINE	0x06
#define IIR_TIMEOUT	0x0c
#define IIR_FIFO	0xc0
#define FCR_ON		0x01
#define FCR_CLEAR_RX	0x02
#define FCR_KEPT	0xc9
#define LCR_DLAB	0x80
#define MCR_ALL		0x1f
#define MCR_LOOP	0x10
#define LSR_DR		0x01
#define LSR_OE		0x02		/* overrun */
#define LSR_EMPTY	0x60		/* THRE, TEMT */
#define MSR_RI		0x40
#define MSR_PEER	0xb0		/* CTS, DSR, DCD: a terminal is there */

struct ns16550 {
	uint8_t ier, fcr, lcr, mcr, scr;
	uint8_t divisor[2];
	uint8_t msr;		/* upper half: lines; lower: they changed */
	bool tx;		/* transmit interrupt, if enabled */
	bool overrun;
	uint8_t fifo[FIFO_DEPTH];
	uint8_t head, count;
};

static_assert(sizeof(struct ns16550) <= DEV_STATE_MAX);

static struct ns16550 *state(struct device *d)
{
	return (void *)d->state;
}

/* The interrupt of highest priority, as IIR shows it. */
static uint8_t interrupt(const struct ns16550 *s)
{
	static const uint8_t trigger[] = { 1, 4, 8, 14 };
	unsigned int level = s->fcr & FCR_ON ? trigger[s->fcr >> 6] : 1;

	if (s->ier & IER_LINE && s->overrun)
		return IIR_LINE;
	if (s->ier & IER_RX && s->count)
		return s->count >= level ? IIR_RX : IIR_TIMEOUT;
	if (s->ier & IER_TX && s->tx)
		return IIR_TX;
	if (s->ier & IER_MODEM && s->msr & 0xf)
		return IIR_MODEM;
	return IIR_NONE;
}

static void update(struct device *d)
{
	dev_irq(d, interrupt(state(d)) != IIR_NONE);
}

static bool receive(struct ns16550 *s, uint8_t ch)
{
	if (s->count >= (s->fcr & FCR_ON ? FIFO_DEPTH : 1))
		return false;
	s->fifo[(s->head + s->count) % FIFO_DEPTH] = ch;
	s->count++;
	return true;
}

static uint8_t read_data(struct ns16550 *s)
{
	uint8_t ch;

	if (!s->count)
		return 0;
	ch = s->fifo[s->head];
	s->head = (uint8_t)((s->head + 1) % FIFO_DEPTH);
	s->count--;
	return ch;
}

static void write_data(struct device *d, uint8_t ch)
{
	struct ns16550 *s = state(d);

	if (!(s->mcr & MCR_LOOP))
		console_guest_putc(d->vm, ch);
	else if (!receive(s, ch))
		s->overrun = true;
	s->tx = true;
}

static uint8_t read_iir(struct ns16550 *s)
{
	uint8_t iir = interrupt(s);

	if (iir == IIR_TX)
		s->tx = false;
	return iir | (s->fcr & FCR_ON ? IIR_FIFO : 0);
}

static uint8_t read_lsr(struct ns16550 *s)
{
	uint8_t lsr = LSR_EMPTY | (s->count ? LSR_DR : 0) |
		      (s->overrun ? LSR_OE : 0);

	s->overrun = false;
	return lsr;
}

static uint8_t read_msr(struct ns16550 *s)
{
	uint8_t msr = s->msr;

	s->msr &= 0xf0;
	return msr;
}

static void write_ier(struct ns16550 *s, uint8_t val)
{
	if (val & ~s->ier & IER_TX)
		s->tx = true;
	s->ier = val & IER_ALL;
}

static void write_fcr(struct ns16550 *s, uint8_t val)
{
	/* The other bits can only be written together with this one. */
	if (!(val & FCR_ON))
		val = 0;
	if (val & FCR_CLEAR_RX || (val ^ s->fcr) & FCR_ON)
		s->count = 0;
	s->fcr = val & FCR_KEPT;
}

/* In loop-back mode the modem's lines are the UART's own outputs. */
static void write_mcr(struct ns16550 *s, uint8_t val)
{
	uint8_t lines = MSR_PEER, changed;

	s->mcr = val & MCR_ALL;
	if (s->mcr & MCR_LOOP)	/* RTS, DTR, OUT1, OUT2: CTS, DSR, RI, DCD */
		lines = (uint8_t)((s->mcr & 2) << 3 | (s->mcr & 1) << 5 |
				  (s->mcr & 0xc) << 4);
	changed = s->msr ^ lines;
	if (lines & MSR_RI)	/* only its end counts */
		changed &= (uint8_t)~MSR_RI;
	s->msr = lines | (s->msr & 0xf) | changed >> 4;
}

static uint8_t read_reg(struct ns16550 *s, uint64_t off)
{
	switch (off) {
	case REG_DATA:
		return read_data(s);
	case REG_IER:
		return s->ier;
	case REG_IIR:
		return read_iir(s);
	case REG_LCR:
		return s->lcr;
	case REG_MCR:
		return s->mcr;
	case REG_LSR:
		return read_lsr(s);
	case REG_MSR:
		return read_msr(s);
	case REG_SCR:
		return s->scr;
	default:
		return 0;
	}
}

static uint64_t ns16550_read(struct device *d, uint64_t off, unsigned int)
{
	struct ns16550 *s = state(d);
	uint8_t val;

	if (s->lcr & LCR_DLAB && off <= REG_IER)
		return s->divisor[off];
	val = read_reg(s, off);
	update(d);
	return val;
}

static void write_reg(struct device *d, uint64_t off, uint8_t val)
{
	struct ns16550 *s = state(d);

	switch (off) {
	case REG_DATA:
		write_data(d, val);
		break;
	case REG_IER:
		write_ier(s, val);
		break;
	case REG_FCR:
		write_fcr(s, val);
		break;
	case REG_LCR:
		s->lcr = val;
		break;
	case REG_MCR:
		write_mcr(s, val);
		break;
	case REG_SCR:
		s->scr = val;
		break;
	default:
		break;
	}
}

static void ns16550_write(struct device *d, uint64_t off, unsigned int,
			  uint64_t val)
{
	struct ns16550 *s = state(d);

	if (s->lcr & LCR_DLAB && off <= REG_IER) {
		s->divisor[off] = (uint8_t)val;
		return;
	}
	write_reg(d, off, (uint8_t)val);
	update(d);
}

static void ns16550_reset(struct device *d)
{
	struct ns16550 *s = state(d);

	memset(s, 0, sizeof(*s));
	s->msr = MSR_PEER;
}

static bool ns16550_input(struct device *d, uint8_t ch)
{
	struct ns16550 *s = state(d);
	bool taken = !(s->mcr & MCR_LOOP) && receive(s, ch);

	update(d);
	return taken;
}

static int ns16550_fdt(struct device *d, void *fdt)
{
	static const char compatible[] = "ns16550a";
	int err = gfdt_device(d, fdt, compatible, sizeof(compatible));

	if (!err)
		err = fdt_property_u32(fdt, "clock-frequency", CLOCK_HZ);
	return err ? err : fdt_end_node(fdt);
}

const struct dev_ops ns16550_ops = {
	.name = "serial",
	.state_size = sizeof(struct ns16550),
	.read = ns16550_read,
	.write = ns16550_write,
	.reset = ns16550_reset,
	.fdt = ns16550_fdt,
	.input = ns16550_input,
};
