// SPDX-License-Identifier: BSD-2-Clause
/*
 * Touches everything that is not this VM's: below and above its RAM, the holes
 * between its devices, the limits of the physical address space, with every
 * size and with instructions that leave no syndrome, with the MMU on and off,
 * by execution and by the table walker. Each time an abort of the architecture
 * (or a right emulation) must come, and the VM goes on.
 *
 * Arguments: step=BYTES between the probes below 4 GiB (default 0x100000).
 */
#include <stdio.h>
#include "arm64/sysreg.h"
#include "check.h"
#include "code.h"
#include "guest.h"
#include "hcall.h"
#include "io.h"
#include "irq.h"
#include "mmu.h"
#include "timer.h"
#include "trap.h"
#include "uart.h"

/* Where the page under test is mapped. */
#define PROBE_VA	0x20000000000ull

enum { ALIGNMENT, ADDRESS_SIZE, TRANSLATION, PERMISSION, EXTERNAL, OTHER,
       NOTHING, KINDS };

static const char *const kind_names[KINDS] = {
	"alignment", "address size", "translation", "permission",
	"external", "other", "no abort",
};

static unsigned kinds[KINDS];
static unsigned wrong;

static unsigned kind_of(uint64_t esr)
{
	unsigned ec = ESR_EC(esr), fsc = ESR_DFSC(esr);

	if (esr == 0)
		return NOTHING;
	if (ec == EC_PC_ALIGN || ec == EC_SP_ALIGN)
		return ALIGNMENT;
	if (ec != EC_DABT && ec != EC_IABT)
		return OTHER;
	if (fsc <= 3)
		return ADDRESS_SIZE;
	if (fsc <= 7)
		return TRANSLATION;
	if (fsc >= 0xc && fsc <= 0xf)
		return PERMISSION;
	if (fsc == 0x10 || (fsc >= 0x14 && fsc <= 0x17))
		return EXTERNAL;
	return fsc == 0x21 || fsc == 0x35 ? ALIGNMENT : OTHER;
}

/* Files what an access came to; `va` is what FAR must be within. */
static unsigned file(struct trap_note note, uint64_t va, uint64_t length)
{
	unsigned kind = note.count ? kind_of(note.esr) : NOTHING;

	kinds[kind]++;
	if (kind == NOTHING || kind == OTHER)
		return kind;
	if (note.far - va >= length || (note.spsr & 0xf) != 5)
		wrong++;
	return kind;
}

static bool in_region(const struct region *region, uint64_t addr)
{
	return region->size && addr - region->base < region->size;
}

/* Whether something of ours answers at this address. */
static bool is_ours(uint64_t addr)
{
	const struct region transports = { 0x0a000000, 32 * 0x200 };

	for (unsigned i = 0; i < machine.nr_ram; i++)
		if (in_region(&machine.ram[i], addr))
			return true;
	return in_region(&machine.gicd, addr) ||
	       in_region(&machine.gicr, addr) ||
	       in_region(&machine.uart, addr) ||
	       in_region(&machine.rtc, addr) || in_region(&transports, addr);
}

static void probe_map(uint64_t pa, unsigned flags)
{
	mmu_unmap(&mmu_kernel, PROBE_VA, PAGE_SIZE);
	mmu_map(&mmu_kernel, PROBE_VA, pa & ~(PAGE_SIZE - 1), PAGE_SIZE,
		flags);
}

/* --- plain accesses ------------------------------------------------------- */

#define ACCESS(va, statement)                                                  \
	({                                                                     \
		trap_arm();                                                    \
		statement;                                                     \
		dsb();                                                         \
		file(trap_result(), va, 16);                                   \
	})

/* How many of eight kinds of access to one address got through. */
static unsigned touch(uint64_t va)
{
	unsigned open = 0;

	open += ACCESS(va, io_read8(va)) == NOTHING;
	open += ACCESS(va, io_read16(va)) == NOTHING;
	open += ACCESS(va, io_read32(va)) == NOTHING;
	open += ACCESS(va, io_read64(va)) == NOTHING;
	open += ACCESS(va, io_write8(va, 0xa5)) == NOTHING;
	open += ACCESS(va, io_write16(va, 0xa5a5)) == NOTHING;
	open += ACCESS(va, io_write32(va, 0xa5a5a5a5)) == NOTHING;
	open += ACCESS(va, io_write64(va, ~0ull)) == NOTHING;
	return open;
}

static void test_address(const char *name, uint64_t pa)
{
	unsigned open;

	if (!on_nestling()) {
		skip(name, "the machine may have something there");
		return;
	}
	probe_map(pa, MAP_WRITE | MAP_DEVICE);
	open = touch(PROBE_VA + (pa & (PAGE_SIZE - 1)));
	probe_map(pa, MAP_WRITE);
	open += touch(PROBE_VA + (pa & (PAGE_SIZE - 1)));
	CHECK_EQ(open, 0, "%s (%#lx)", name, pa);
}

static uint64_t pa_limit(void)
{
	static const unsigned char bits[] = { 32, 36, 40, 42, 44, 48, 48, 48 };

	return 1ull << bits[read_sysreg(id_aa64mmfr0_el1) & 7];
}

static void test_addresses(void)
{
	const struct region *ram = &machine.ram[0];
	uint64_t gicr_end = machine.gicr.base +
			    machine.nr_vcpus * (uint64_t)GICR_STRIDE;

	test_address("zero", 0);
	test_address("below-the-gic", machine.gicd.base - 8);
	test_address("behind-the-distributor", machine.gicd.base + 0x10000);
	test_address("before-the-redistributors", machine.gicr.base - 8);
	test_address("behind-the-redistributors", gicr_end);
	test_address("behind-the-uart", machine.uart.base + 0x1000);
	test_address("second-uart", 0x09040000);
	test_address("fw-cfg", 0x09020000);
	test_address("behind-the-transports", 0x0a004000);
	test_address("platform-bus", 0x0c000000);
	test_address("pci-window", 0x10000000);
	test_address("below-ram", ram->base - PAGE_SIZE);
	test_address("last-bytes-below-ram", ram->base - 8);
	test_address("above-ram", ram->base + ram->size);
	test_address("far-above-ram", ram->base + ram->size + (1ull << 30));
	test_address("512-gib", 1ull << 39);
	test_address("1-tib", 1ull << 40);
	test_address("below-the-pa-limit", pa_limit() - PAGE_SIZE);
	if (pa_limit() < 1ull << 48)
		test_address("at-the-pa-limit", pa_limit());
	test_address("top-of-48-bits", (1ull << 48) - PAGE_SIZE);
}

/* One read in every `step` bytes below 4 GiB and at the powers of two above. */
static void test_sweep(uint64_t step)
{
	unsigned open = 0, probes = 0;
	uint64_t last = 0;

	if (!on_nestling()) {
		skip("sweep", "the machine has other devices");
		return;
	}
	for (uint64_t pa = 0; pa < 1ull << 48;
	     pa = pa < 1ull << 32 ? pa + step : pa * 2) {
		if (is_ours(pa))
			continue;
		probe_map(pa, MAP_WRITE | MAP_DEVICE);
		probes++;
		if (ACCESS(PROBE_VA, io_read32(PROBE_VA)) != NOTHING)
			continue;
		open++;
		last = pa;
	}
	if (open)
		say("isolation: something answers at %#lx", last);
	CHECK_EQ(open, 0, "sweep-of-%u-addresses", probes);
}

/* --- devices, by instructions without a syndrome -------------------------- */

/* Words with the address in x2 and data in x0, x1, x3; assembled here. */
#define AWKWARD(X)                                                             \
	X("ldp w0, w1, [x2]")                                                  \
	X("ldp x0, x1, [x2]")                                                  \
	X("stp wzr, wzr, [x2]")                                                \
	X("ldr w0, [x2], #4")                                                  \
	X("ldr x0, [x2, #8]!")                                                 \
	X("str wzr, [x2], #4")                                                 \
	X("ldr q0, [x2]")                                                      \
	X("str d0, [x2]")                                                      \
	X("ld1 {v0.16b}, [x2]")                                                \
	X("ld4 {v0.4s, v1.4s, v2.4s, v3.4s}, [x2]")                            \
	X("st1 {v0.8b}, [x2]")                                                 \
	X("ld1r {v0.4s}, [x2]")                                                \
	X("ldxr w0, [x2]")                                                     \
	X("stxr w3, w0, [x2]")                                                 \
	X("ldaxp x0, x1, [x2]")                                                \
	X("stlxp w3, x0, x1, [x2]")                                            \
	X("ldar w0, [x2]")                                                     \
	X("stlr wzr, [x2]")                                                    \
	X("ldadd w0, w1, [x2]")                                                \
	X("swp w0, w1, [x2]")                                                  \
	X("cas w0, w1, [x2]")                                                  \
	X("casp x0, x1, x0, x1, [x2]")                                         \
	X("prfm pldl1keep, [x2]")                                              \
	X("ldtr w0, [x2]")                                                     \
	X("sttr wzr, [x2]")                                                    \
	X("dc zva, x2")                                                        \
	X("dc civac, x2")                                                      \
	X("dc ivac, x2")                                                       \
	X("dc cvau, x2")                                                       \
	X("ic ivau, x2")                                                       \
	X("at s1e1r, x2")                                                      \
	X("at s1e1w, x2")                                                      \
	X("tlbi vae1is, x2")

extern const uint32_t awkward_words[];

#define X(text) text "\n\t"
asm(".pushsection .rodata.awkward, \"a\"\n\t.balign 4\n"
    "awkward_words:\n\t" AWKWARD(X) "\n\t.popsection\n");
#undef X

static const char *const awkward_names[] = {
#define X(text) text,
	AWKWARD(X)
#undef X
};

/* Each at one address, through both memory types. No outcome but an abort of
 * the architecture or none counts. */
static void test_awkward(const char *name, uint64_t pa)
{
	uint64_t va = PROBE_VA + (pa & (PAGE_SIZE - 1));
	unsigned bad = 0;

	for (unsigned type = 0; type < 2; type++) {
		probe_map(pa, MAP_WRITE | (type ? MAP_NC : MAP_DEVICE));
		for (unsigned i = 0;
		     i < sizeof(awkward_names) / sizeof(awkward_names[0]);
		     i++) {
			uint64_t x[4] = { 0, 0, va, 0 };
			uint64_t esr = code_run(awkward_words[i], x);

			kinds[kind_of(esr)]++;
			if (kind_of(esr) != OTHER)
				continue;
			bad++;
			say("isolation: %s at %s: esr %#lx", awkward_names[i],
			    name, esr);
		}
	}
	CHECK_EQ(bad, 0, "awkward-%s", name);
}

/* Where a pair or a write-back got through it must be right. */
static void test_right_or_abort(void)
{
	uint64_t gicd = machine.gicd.base;
	uint64_t typer = io_read32(gicd + GICD_TYPER);
	uint64_t iidr = io_read32(gicd + GICD_IIDR);
	uint64_t pair[4] = { 0, 0, gicd + GICD_TYPER, 0 };
	uint64_t post[4] = { 0, 0, gicd + GICD_TYPER, 0 };
	uint64_t esr = code_run(0x29400440 /* ldp w0, w1, [x2] */, pair);

	if (esr == 0)
		CHECK(pair[0] == typer && pair[1] == iidr, "pair-emulated");
	else
		CHECK(ESR_EC(esr) == EC_DABT, "pair-aborts");
	esr = code_run(0xb8404440 /* ldr w0, [x2], #4 */, post);
	if (esr == 0)
		CHECK(post[0] == typer && post[2] == gicd + GICD_TYPER + 4,
		      "write-back-emulated");
	else
		CHECK(ESR_EC(esr) == EC_DABT &&
			      post[2] == gicd + GICD_TYPER,
		      "write-back-aborts-without-writing-back");
}

/* Unaligned accesses and pairs over the end of a page. */
static void test_unaligned(void)
{
	uint64_t uart = uart_base();
	static const unsigned offsets[] = { 0x1a, 0x3d, 0xfff, 0xffc, 0xff9 };
	unsigned bad = 0;

	for (unsigned i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
		uint64_t x[4] = { 0, 0, uart + offsets[i], 0 };

		bad += ACCESS(uart + offsets[i] - 8,
			      io_read64(uart + offsets[i])) == OTHER;
		bad += ACCESS(uart + offsets[i] - 8,
			      io_write32(uart + offsets[i], 0)) == OTHER;
		bad += kind_of(code_run(0xa9400440 /* ldp x0, x1, [x2] */,
					x)) == OTHER;
	}
	CHECK_EQ(bad, 0, "unaligned-and-over-the-page");
}

/* --- sign extension, zero register, widths -------------------------------- */

static uint64_t load(uint32_t insn, uint64_t addr)
{
	uint64_t x[4] = { ~0ull, 0, addr, 0 };

	return code_run(insn, x) ? 0xdead : x[0];
}

/* The clock's match register holds any 32-bit value. */
static void test_extension(void)
{
	uint64_t reg = machine.rtc.base + 4;
	uint64_t x[4] = { 5, 6, reg, 7 };

	if (!machine.rtc.size) {
		skip("sign-extension", "no PL031");
		return;
	}
	io_write32(reg, 0x8000ff80);
	CHECK_EQ(load(0x39c00040, reg), 0xffffff80, "ldrsb-w");
	CHECK_EQ(load(0x39800040, reg), ~0x7full, "ldrsb-x");
	CHECK_EQ(load(0x79c00040, reg), 0xffffff80, "ldrsh-w");
	CHECK_EQ(load(0x79800040, reg), ~0x7full, "ldrsh-x");
	CHECK_EQ(load(0xb9800040, reg), 0xffffffff8000ff80, "ldrsw-x");
	CHECK_EQ(load(0x39400040, reg), 0x80, "ldrb");
	CHECK_EQ(load(0x79400040, reg), 0xff80, "ldrh");
	CHECK_EQ(load(0xb9400040, reg), 0x8000ff80, "ldr-w");
	CHECK_EQ(code_run(0xb940005f /* ldr wzr, [x2] */, x), 0, "ldr-wzr");
	CHECK_EQ(code_run(0xb900005f /* str wzr, [x2] */, x), 0, "str-wzr");
	CHECK_EQ(io_read32(reg), 0, "str-wzr-stores-zero");
	CHECK(x[0] == 5 && x[1] == 6 && x[3] == 7, "others-untouched");
}

static void test_widths(void)
{
	uint64_t uart = uart_base();

	for (unsigned i = 0; i < 8; i++) {
		uint64_t reg = uart + UART_PERIPH_ID + i * 4;
		uint32_t word = io_read32(reg);

		CHECK(io_read8(reg) == (word & 0xff) &&
			      io_read16(reg) == (word & 0xffff) && word < 256,
		      "uart-id-%u-at-every-width", i);
	}
	CHECK_EQ(io_read32(uart + UART_PERIPH_ID) |
			 io_read32(uart + UART_PERIPH_ID + 4) << 8,
		 0x1011, "uart-part-number");
}

/* --- execution, tables, MMU off ------------------------------------------- */

static void call(uint64_t va)
{
	asm volatile("blr %0" ::"r"(va)
		     : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8",
		       "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16",
		       "x17", "x18", "x30", "memory", "cc");
}

static void test_execution(void)
{
	const struct {
		const char *name;
		uint64_t pa;
	} rows[] = {
		{ "distributor", machine.gicd.base },
		{ "hole", machine.uart.base + 0x30000 },
		{ "above-ram",
		  machine.ram[0].base + machine.ram[0].size },
	};

	if (!on_nestling()) {
		skip("execution", "QEMU fetches from devices");
		return;
	}
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct trap_note note;

		probe_map(rows[i].pa, MAP_EXEC | MAP_DEVICE);
		trap_arm();
		call(PROBE_VA);
		note = trap_result();
		CHECK(note.count == 1 && ESR_EC(note.esr) == EC_IABT &&
			      note.far == PROBE_VA && note.elr == PROBE_VA,
		      "execute-from-%s", rows[i].name);
	}
	trap_arm();
	call(PROBE_VA + 2);
	CHECK(trap_result().count == 1, "execute-unaligned");
}

/* A table where there is a device, or nothing, behind a top-level entry. */
static void test_tables(void)
{
	const uint64_t bases[] = { uart_base() & ~(PAGE_SIZE - 1),
				   machine.gicd.base, 0x0c000000,
				   machine.ram[0].base + machine.ram[0].size,
				   1ull << 40, (1ull << 48) - PAGE_SIZE };

	for (unsigned i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
		unsigned slot = 300 + i;
		uint64_t va = (uint64_t)slot << 39;

		mmu_kernel.root[slot] = bases[i] | 3;
		dsb();
		isb();
		CHECK(ACCESS(va, io_read64(va)) != NOTHING,
		      "table-at-%#lx-read", bases[i]);
		CHECK(ACCESS(va, io_write32(va, 1)) != NOTHING,
		      "table-at-%#lx-write", bases[i]);
		trap_arm();
		asm volatile("at s1e1r, %0\n\tisb" ::"r"(va) : "memory");
		kinds[kind_of(trap_result().esr)]++;
		mmu_kernel.root[slot] = 0;
		asm volatile("dsb ishst\n\ttlbi vmalle1\n\tdsb ish\n\tisb" ::
				     : "memory");
	}
}

/* Reads one word with MMU and caches off; the handlers run so as well. */
static void read_bare(uint64_t pa)
{
	uint64_t sctlr = read_sysreg(sctlr_el1);

	for (uint64_t p = (uint64_t)image_start; p < (uint64_t)image_end;
	     p += 64)
		asm volatile("dc civac, %0" ::"r"(p) : "memory");
	asm volatile("dsb sy\n\t"
		     "msr sctlr_el1, %0\n\tisb\n\t"
		     "ldr w9, [%2]\n\t"
		     "dsb sy\n\t"
		     "msr sctlr_el1, %1\n\tisb"
		     :
		     : "r"(sctlr & ~0x1005ull), "r"(sctlr), "r"(pa)
		     : "x9", "memory");
}

static void test_bare(void)
{
	const uint64_t pas[] = { 0x0c000000,
				 machine.ram[0].base + machine.ram[0].size,
				 pa_limit() - PAGE_SIZE, pa_limit(),
				 1ull << 40, 1ull << 48, 1ull << 52,
				 ~0ull << 12 };

	for (unsigned i = 0; i < sizeof(pas) / sizeof(pas[0]); i++) {
		unsigned kind;

		trap_arm();
		read_bare(pas[i]);
		kind = file(trap_result(), pas[i], 4);
		if (kind == NOTHING && !on_nestling())
			skip("mmu-off", "the machine has something there");
		else
			CHECK(kind != NOTHING && kind != OTHER,
			      "mmu-off-%#lx", pas[i]);
	}
}

int main(int, char **)
{
	test_addresses();
	test_sweep(arg_u64("step", 0x100000));
	test_awkward("distributor", machine.gicd.base + GICD_TYPER);
	test_awkward("redistributor", machine.gicr.base + GICR_TYPER);
	test_awkward("uart", machine.uart.base + UART_PERIPH_ID);
	test_awkward("transport", 0x0a000000);
	if (on_nestling())
		test_awkward("hole", 0x0c000000);
	test_right_or_abort();
	test_unaligned();
	test_extension();
	test_widths();
	test_execution();
	test_tables();
	test_bare();
	CHECK_EQ(wrong, 0, "fault-address-and-state");
	CHECK_EQ(kinds[OTHER], 0, "no-other-exception");
	for (unsigned i = 0; i < KINDS; i++)
		say("isolation: %u times %s", kinds[i], kind_names[i]);
	return report();
}
