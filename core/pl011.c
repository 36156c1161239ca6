// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arm PrimeCell UART PL011 (Arm DDI 0183). Transmission takes no time: the
 * transmit FIFO is always empty. The receive FIFO is fed by console.c and never
 * overruns but in loop-back mode. Choices where the manual leaves
 * freedom, or where guests written for QEMU count on it:
 * - both directions work whether or not CR enables them;
 * - the receive interrupt comes with the first byte, whatever IFLS says, and
 *   with it the receive timeout, both until the FIFO is empty or ICR clears
 *   them. A byte that came after the guest emptied the FIFO but before it
 *   wrote ICR raises the timeout once more, as the hardware's timer would;
 * - the transmit interrupt is raised by each byte that is sent, not by reset
 *   or by unmasking, and stays until ICR clears it.
 * Everything is protected by the VM lock.
 */
#include "dev.h"

#include <string.h>

#include <libfdt.h>

#include "console.h"
#include "gfdt.h"

enum {
	REG_DR = 0x00, REG_RSR = 0x04, REG_FR = 0x18, REG_ILPR = 0x20,
	REG_IBRD = 0x24, REG_FBRD = 0x28, REG_LCRH = 0x2c, REG_CR = 0x30,
	REG_IFLS = 0x34, REG_IMSC = 0x38, REG_RIS = 0x3c, REG_MIS = 0x40,
	REG_ICR = 0x44, REG_DMACR = 0x48, REG_ID = 0xfe0,
};

#define FIFO_DEPTH	16
#define DR_OE		BIT(11)		/* overrun */
#define RSR_OE		BIT(3)
#define FR_TXFE		BIT(7)
#define FR_RXFF		BIT(6)
#define FR_RXFE		BIT(4)
#define LCRH_FEN	BIT(4)		/* FIFOs on, else one byte */
#define CR_LBE		BIT(7)		/* loop back */
#define CR_RESET	0x300
#define IFLS_RESET	0x12
#define INT_RX		BIT(4)
#define INT_TX		BIT(5)
#define INT_RT		BIT(6)		/* receive timeout */
#define INT_OE		BIT(10)
#define INT_ALL		0x7ff

struct pl011 {
	uint32_t regs[REG_DMACR / 4 + 1];	/* the plain ones */
	uint32_t ris;
	uint32_t rsr;
	uint8_t fifo[FIFO_DEPTH];
	uint8_t head, count;
	bool overrun;		/* goes with the next byte that is read */
	bool fresh;		/* bytes came since RT was cleared */
};

static_assert(sizeof(struct pl011) <= DEV_STATE_MAX);

/* Writable bits of the registers that only store; 0: not one of them. */
static const uint16_t plain[REG_DMACR / 4 + 1] = {
	[REG_ILPR / 4] = 0xff,
	[REG_IBRD / 4] = 0xffff,
	[REG_FBRD / 4] = 0x3f,
	[REG_LCRH / 4] = 0xff,
	[REG_CR / 4] = 0xff87,
	[REG_IFLS / 4] = 0x3f,
	[REG_IMSC / 4] = INT_ALL,
	[REG_DMACR / 4] = 0x7,
};

static struct pl011 *state(struct device *d)
{
	return (void *)d->state;
}

static uint32_t *reg(struct pl011 *s, unsigned int off)
{
	return &s->regs[off / 4];
}

static void update(struct device *d)
{
	struct pl011 *s = state(d);

	dev_irq(d, s->ris & *reg(s, REG_IMSC));
}

static unsigned int depth(struct pl011 *s)
{
	return *reg(s, REG_LCRH) & LCRH_FEN ? FIFO_DEPTH : 1;
}

static bool receive(struct pl011 *s, uint8_t ch)
{
	if (s->count >= depth(s))
		return false;
	s->fifo[(s->head + s->count) % FIFO_DEPTH] = ch;
	s->count++;
	s->fresh = true;
	s->ris |= INT_RX | INT_RT;
	return true;
}

static uint32_t read_data(struct pl011 *s)
{
	uint32_t val;

	if (!s->count)
		return 0;
	val = s->fifo[s->head];
	s->head = (uint8_t)((s->head + 1) % FIFO_DEPTH);
	s->count--;
	s->rsr = 0;
	if (s->overrun) {
		s->overrun = false;
		s->rsr = RSR_OE;
		val |= DR_OE;
	}
	if (!s->count)
		s->ris &= (uint32_t)~(INT_RX | INT_RT);
	return val;
}

static void write_data(struct device *d, uint8_t ch)
{
	struct pl011 *s = state(d);

	if (!(*reg(s, REG_CR) & CR_LBE)) {
		console_guest_putc(d->vm, ch);
	} else if (!receive(s, ch)) {
		s->overrun = true;
		s->ris |= INT_OE;
	}
	s->ris |= INT_TX;
}

static void clear_interrupts(struct pl011 *s, uint32_t bits)
{
	s->ris &= ~bits;
	if (!(bits & (INT_RX | INT_RT)))
		return;
	if (s->fresh && s->count)
		s->ris |= INT_RT;
	s->fresh = false;
}

static uint32_t flags(struct pl011 *s)
{
	uint32_t fr = FR_TXFE;

	if (!s->count)
		fr |= FR_RXFE;
	if (s->count >= depth(s))
		fr |= FR_RXFF;
	return fr;
}

static uint32_t read_reg(struct pl011 *s, uint64_t off)
{
	/* PeriphID 0x00141011: part 011, Arm, revision 1: 16-byte FIFOs. */
	static const uint8_t id[] = { 0x11, 0x10, 0x14, 0x00,
				      0x0d, 0xf0, 0x05, 0xb1 };

	switch (off) {
	case REG_DR:
		return read_data(s);
	case REG_RSR:
		return s->rsr;
	case REG_FR:
		return flags(s);
	case REG_RIS:
		return s->ris;
	case REG_MIS:
		return s->ris & *reg(s, REG_IMSC);
	default:
		break;
	}
	if (off >= REG_ID && off < REG_ID + 4 * sizeof(id))
		return id[(off - REG_ID) / 4];
	return off / 4 < ARRAY_SIZE(plain) && plain[off / 4] ?
	       s->regs[off / 4] : 0;
}

static uint64_t pl011_read(struct device *d, uint64_t off, unsigned int)
{
	uint32_t val = 0;

	if (off == REG_DR || off >= 4)	/* only the first byte of DR pops */
		val = read_reg(state(d), off & ~UINT64_C(3));
	update(d);
	return val >> off % 4 * 8;
}

static void pl011_write(struct device *d, uint64_t off, unsigned int,
			uint64_t val)
{
	struct pl011 *s = state(d);

	switch (off) {
	case REG_DR:
		write_data(d, (uint8_t)val);
		break;
	case REG_RSR:
		s->rsr = 0;
		break;
	case REG_ICR:
		clear_interrupts(s, (uint32_t)val);
		break;
	default:
		if (is_aligned(off, 4) && off / 4 < ARRAY_SIZE(plain))
			s->regs[off / 4] = (uint32_t)val & plain[off / 4];
		break;
	}
	update(d);
}

static void pl011_reset(struct device *d)
{
	struct pl011 *s = state(d);

	memset(s, 0, sizeof(*s));
	*reg(s, REG_CR) = CR_RESET;
	*reg(s, REG_IFLS) = IFLS_RESET;
}

static bool pl011_input(struct device *d, uint8_t ch)
{
	bool taken = receive(state(d), ch);

	update(d);
	return taken;
}

static int pl011_fdt(struct device *d, void *fdt)
{
	static const char compatible[] = "arm,pl011\0arm,primecell";
	static const char clocks[] = "uartclk\0apb_pclk";
	int err = gfdt_device(d, fdt, compatible, sizeof(compatible));

	if (!err)
		err = gfdt_clocks(fdt, clocks, sizeof(clocks));
	return err ? err : fdt_end_node(fdt);
}

const struct dev_ops pl011_ops = {
	.name = "pl011",
	.state_size = sizeof(struct pl011),
	.clocked = true,
	.read = pl011_read,
	.write = pl011_write,
	.reset = pl011_reset,
	.fdt = pl011_fdt,
	.input = pl011_input,
};
