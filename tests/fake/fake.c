// SPDX-License-Identifier: BSD-2-Clause
/*
 * The contract of core/arch.h on the host, as simple as tests allow: output
 * goes to a buffer, time stands still until a test moves it, a power-off jumps
 * back into the test. One thread, so no locks.
 */
#include "fake.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <libfdt.h>

#define WEAK [[gnu::weak]]

char fake_uart[1 << 20];
size_t fake_uart_len;
uint64_t fake_time, fake_hz = 1000000, fake_wallclock, fake_ram_max = GiB;
uint64_t fake_timer;
bool fake_irq[64];
unsigned int fake_irq_calls;
unsigned int fake_kicks[MAX_PCPUS];
const void *fake_fdt;
uint64_t fake_synced;

static struct cpu fake_cpu_memory[MAX_PCPUS];
struct cpu *fake_cpu = &fake_cpu_memory[0];

static jmp_buf *catcher;

/* ---- for tests --------------------------------------------------------- */

void fake_uart_clear(void)
{
	memset(fake_uart, 0, fake_uart_len);
	fake_uart_len = 0;
}

int fake_run(void (*fn)(void *arg), void *arg)
{
	jmp_buf here, *outer = catcher;
	int status;

	catcher = &here;
	status = setjmp(here);
	if (!status)
		fn(arg);
	catcher = outer;
	return status - 1;
}

void fake_cpus_init(unsigned int n)
{
	memset(fake_cpu_memory, 0, sizeof(fake_cpu_memory));
	memset(cpus, 0, sizeof(cpus));
	for (unsigned int i = 0; i < n; i++) {
		cpus[i] = &fake_cpu_memory[i];
		cpus[i]->id = cpus[i]->arch.id = i;
		cpus[i]->online = true;
	}
	nr_cpus = n;
	fake_cpu = &fake_cpu_memory[0];
}

struct vm *fake_vm(const struct vm_config *cfg)
{
	struct vm *vm = calloc(1, sizeof(*vm));
	/* Fresh zero pages that cost nothing until they are touched. */
	void *ram = mmap(NULL, cfg->memory, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!vm || ram == MAP_FAILED)
		abort();
	vm->cfg = cfg;
	vm->nr_vcpus = cfg->nr_vcpus;
	vm->nr_slots = 1;
	vm->slots[0] = (struct vm_slot){ arch_ram.bank[0].base, (uintptr_t)ram,
					 cfg->memory };
	vm->state = VM_RUNNING;
	vm->starts = 1;
	vm->id = nr_vms;
	vms[nr_vms++] = vm;
	return vm;
}

void fake_vm_free(struct vm *vm)
{
	vms[--nr_vms] = NULL;
	munmap((void *)(uintptr_t)vm->slots[0].pa, vm->cfg->memory);
	free(vm);
}

/* ---- the contract: machine --------------------------------------------- */

WEAK const uint16_t arch_elf_machine = 183;
WEAK const struct guest_ram arch_ram = { .bank = { { 0x40000000, BIT(52) } } };
WEAK const bool arch_start_all = false;

WEAK const char *arch_entry_refused(uint64_t)
{
	return NULL;
}

// clang-format off
WEAK const struct dev_place arch_machine[] = {
	{ DEV_PL011,		0x09000000, 0x1000,	1 },
	{ DEV_PL031,		0x09010000, 0x1000,	2 },
	{ DEV_VIRTIO_EMPTY,	0x0a000000, 0x4000,	0 },
	{ 0, 0, 0, 0 },
};
// clang-format on

WEAK uint64_t arch_ram_max(void)
{
	return fake_ram_max;
}

WEAK unsigned int arch_cpu_count(void)
{
	return nr_cpus;
}

WEAK void arch_cpu_kick(unsigned int id)
{
	fake_kicks[id]++;
}

WEAK uint64_t arch_time(void)
{
	return fake_time;
}

WEAK uint64_t arch_time_hz(void)
{
	return fake_hz;
}

WEAK uint64_t arch_wallclock(void)
{
	return fake_wallclock;
}

WEAK void arch_timer_set(uint64_t deadline)
{
	fake_timer = deadline;
}

WEAK void arch_poweroff(int status)
{
	if (!catcher) {
		fprintf(stderr, "power-off, status %d, output:\n%s\n", status,
			fake_uart);
		abort();
	}
	longjmp(*catcher, status + 1);
}

WEAK void arch_map_ram(paddr_t, uint64_t)
{
}

WEAK void arch_reserved(paddr_t *base, uint64_t *size)
{
	*base = *size = 0;
}

WEAK void arch_panic_dump(void)
{
}

WEAK void arch_uart_putc(unsigned int port, uint8_t ch)
{
	if (port == 0 && fake_uart_len + 1 < sizeof(fake_uart))
		fake_uart[fake_uart_len++] = (char)ch;
}

WEAK void arch_sync_ram(void *, uint64_t size)
{
	fake_synced += size;
}

WEAK void arch_zero_ram(void *p, uint64_t size)
{
	memset(p, 0, size);
}

/* ---- the contract: VM and vCPU ----------------------------------------- */

WEAK int arch_vm_init(struct vm *)
{
	return 0;
}

WEAK void arch_vm_fini(struct vm *)
{
}

WEAK void arch_vm_reset(struct vm *vm)
{
	vm->arch.resets++;
}

WEAK int arch_vm_boot(struct vm *, const struct image_layout *)
{
	return 0;
}

WEAK int arch_vm_map(struct vm *vm, gpa_t, paddr_t, uint64_t size)
{
	vm->arch.mapped += size;
	return 0;
}

WEAK void arch_vm_irq(struct vm *, unsigned int irq, bool level)
{
	fake_irq[irq % ARRAY_SIZE(fake_irq)] = level;
	fake_irq_calls++;
}

WEAK int arch_vm_fdt_root(struct vm *, void *fdt)
{
	static const char compatible[] = "linux,dummy-virt";

	return fdt_property(fdt, "compatible", compatible, sizeof(compatible));
}

WEAK int arch_vm_fdt(struct vm *, void *fdt)
{
	int err = fdt_begin_node(fdt, "intc");

	return err ? err : fdt_end_node(fdt);
}

WEAK int arch_fdt_irq(void *fdt, unsigned int irq)
{
	return fdt_property_u32(fdt, "interrupts", irq);
}

WEAK int arch_vcpu_init(struct vcpu *)
{
	return 0;
}

WEAK void arch_vcpu_fini(struct vcpu *)
{
}

WEAK void arch_vcpu_reset(struct vcpu *v, gpa_t entry, uint64_t arg)
{
	v->arch.entry = entry;
	v->arch.arg = arg;
}

WEAK void arch_vcpu_load(struct vcpu *v)
{
	v->arch.loaded = true;
}

WEAK void arch_vcpu_put(struct vcpu *v)
{
	v->arch.loaded = false;
}

WEAK void arch_vcpu_sync(struct vcpu *)
{
}

WEAK bool arch_vcpu_wakes(struct vcpu *v)
{
	return v->arch.wakes;
}

WEAK void arch_vcpu_dump(struct vcpu *)
{
}

WEAK enum fp_level arch_fp_max(void)
{
	return FP_SVE;
}

WEAK const char *arch_fp_name(enum fp_level level)
{
	if (level == FP_SIMD)
		return "fpsimd";
	return level == FP_SVE ? "sve" : NULL;
}

/* 128 to 2048 bits, powers of two. */
WEAK uint32_t arch_fp_length(uint32_t bits)
{
	uint32_t n = 2048;

	while (bits && n > bits)
		n /= 2;
	return n < 128 ? 0 : n;
}

WEAK uint32_t arch_fp_bytes(const struct arch_fp *, enum fp_level)
{
	return 512;
}

WEAK void arch_fp_init(struct arch_fp *fp, uint32_t)
{
	memset(fp, 0, sizeof(*fp));
}

WEAK void arch_fp_access(struct vcpu *, enum fp_level)
{
}
