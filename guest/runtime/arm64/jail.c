// SPDX-License-Identifier: BSD-2-Clause
/*
 * The C side of the jail: its tables, the slots and their ways out. The tables
 * are shared by all vCPUs and complete before the first run; slots, scratch
 * memory and records belong to a vCPU each.
 */
#include "arm64/jail.h"
#include "../runtime.h"
#include "layout.h"
#include "mmu.h"
#include "smp.h"

/* Far from all else, so that no direct branch leads out of the slots. */
#define CODE_EL1	0x30000000000ull
#define CODE_EL0	0x30040000000ull
#define DATA_EL1	0x31000000000ull
#define DATA_EL0	0x31040000000ull

#define SLOT_WORDS	2
#define WAY_OUT		(JAIL_SLOTS * SLOT_WORDS)

#define INSN_BR_X0	0xd61f0000u

extern char text_start[], text_end[];

/* jailasm.S. */
void jail_enter(const uint64_t regs[32], uint64_t pc, uint64_t spsr,
		uint64_t ttbr);
void jail_out(void);

struct record {
	struct jail_result result;
	char saved[JAIL_SIZE - sizeof(struct jail_result)];
};

extern struct record jail_records[MAX_VCPUS];
alignas(64) struct record jail_records[MAX_VCPUS];

static_assert(sizeof(struct record) == JAIL_SIZE);

alignas(4096) static uint32_t code[MAX_VCPUS][PAGE_SIZE / 4];
alignas(4096) static char scratch[MAX_VCPUS][JAIL_SCRATCH_SIZE];
static struct mmu jail;

static uint32_t movz(unsigned reg, uint64_t value)
{
	return 0xd2800000u | (uint32_t)(value & 0xffff) << 5 | reg;
}

static uint32_t movk16(unsigned reg, uint64_t value)
{
	return 0xf2a00000u | (uint32_t)(value >> 16 & 0xffff) << 5 | reg;
}

static uint32_t branch(unsigned from, unsigned to)
{
	return 0x14000000u | ((to - from) & 0x3ffffffu);
}

static bool map_vcpu(unsigned id)
{
	uint64_t page = (uint64_t)code[id], data = (uint64_t)scratch[id];
	uint64_t code_at = id * PAGE_SIZE;
	uint64_t data_at = id * (uint64_t)JAIL_SCRATCH_SIZE;

	return mmu_map(&jail, CODE_EL1 + code_at, page, PAGE_SIZE, MAP_EXEC) &&
	       mmu_map(&jail, CODE_EL0 + code_at, page, PAGE_SIZE,
		       MAP_EXEC | MAP_USER) &&
	       mmu_map(&jail, DATA_EL1 + data_at, data, JAIL_SCRATCH_SIZE,
		       MAP_WRITE) &&
	       mmu_map(&jail, DATA_EL0 + data_at, data, JAIL_SCRATCH_SIZE,
		       MAP_WRITE | MAP_USER);
}

bool jail_init(void)
{
	uint64_t text = (uint64_t)text_start;

	if (!mmu_new(&jail, 2) ||
	    !mmu_map(&jail, text, text, (uint64_t)text_end - text, MAP_EXEC))
		return false;
	for (unsigned id = 0; id < machine.nr_vcpus; id++)
		if (!map_vcpu(id))
			return false;
	return true;
}

bool jail_map_device(uint64_t pa, uint64_t size)
{
	return mmu_map(&jail, pa, pa, size, MAP_WRITE | MAP_DEVICE);
}

uint64_t jail_scratch(enum jail_mode mode)
{
	uint64_t at = vcpu_id() * (uint64_t)JAIL_SCRATCH_SIZE;

	if (mode == JAIL_BARE)
		return (uint64_t)scratch[vcpu_id()];
	return (mode == JAIL_EL1 ? DATA_EL1 : DATA_EL0) + at;
}

uint64_t jail_code(enum jail_mode mode)
{
	uint64_t at = vcpu_id() * PAGE_SIZE;

	if (mode == JAIL_BARE)
		return (uint64_t)code[vcpu_id()];
	return (mode == JAIL_EL1 ? CODE_EL1 : CODE_EL0) + at;
}

void jail_fill(const uint32_t words[JAIL_SLOTS])
{
	uint32_t *page = code[vcpu_id()];
	uint64_t out = (uint64_t)jail_out;

	for (unsigned i = 0; i < JAIL_SLOTS; i++) {
		page[i * SLOT_WORDS] = words[i];
		page[i * SLOT_WORDS + 1] = branch(i * SLOT_WORDS + 1, WAY_OUT);
	}
	page[WAY_OUT] = movz(0, out);
	page[WAY_OUT + 1] = movk16(0, out);
	page[WAY_OUT + 2] = movz(1, JAIL_PASSED);
	page[WAY_OUT + 3] = INSN_BR_X0;
	/* To memory: the MMU may be off when they are fetched. */
	for (unsigned i = 0; i < PAGE_SIZE / 4; i += 16)
		asm volatile("dc civac, %0" ::"r"(page + i) : "memory");
	asm volatile("dsb ish\n\tic ialluis\n\tdsb ish\n\tisb" ::: "memory");
}

const struct jail_result *jail_run(unsigned slot, enum jail_mode mode,
				   const uint64_t regs[32])
{
	static const uint64_t spsrs[] = {
		[JAIL_EL1] = PSTATE_EL1H & ~PSTATE_I,
		[JAIL_EL0] = 0x340, /* EL0, D, A and F masked */
		[JAIL_BARE] = PSTATE_EL1H,
	};
	struct jail_result *result = &jail_records[vcpu_id()].result;

	jail_enter(regs, jail_code(mode) + slot * SLOT_WORDS * 4, spsrs[mode],
		   mode == JAIL_BARE ? 0 : mmu_ttbr(&jail));
	/* From EL0 the way out is closed and the fetch faults there. */
	if (mode == JAIL_EL0 && ESR_EC(result->esr) == EC_IABT_LOW &&
	    result->far == (uint64_t)jail_out)
		result->vector = JAIL_PASSED;
	return result;
}
