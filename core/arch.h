/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The contract between core/ and arch/: core declares it, each architecture
 * defines it, tests/fake defines it for host unit tests. Nothing else of an
 * architecture is visible to core; tools/layers checks the objects. IRQs are
 * masked in the hypervisor at all times: an interrupt is an exit from a guest,
 * or wakes arch_cpu_idle(). So every function runs with IRQs masked; "no lock"
 * means the caller holds none.
 */
#ifndef CORE_ARCH_H
#define CORE_ARCH_H

#include "dev.h"
#include "fplevel.h"
#include "types.h"

#include <arch/types.h>

struct cpu;
struct image_layout;
struct vcpu;
struct vm;

/* ---- CPU and time ------------------------------------------------------ */

/*
 * Puts this CPU into hypervisor mode: vectors, per-CPU pointer, traps at
 * their default, interrupt controller and timer interface. Once per CPU, before
 * it takes any exit; the boot CPU first.
 */
void arch_cpu_init(struct cpu *c);

/*
 * Powers on the CPU with index @c->id in the host device tree; it calls
 * host_cpu_main(@c) on its own stack. Returns before that. ERR_INVAL when
 * firmware refuses.
 */
int arch_cpu_start(struct cpu *c);

/* How many CPUs the host device tree has, 1..MAX_PCPUS. The boot CPU is 0. */
unsigned int arch_cpu_count(void);

/*
 * Makes CPU @id leave its guest or idle soon. No payload: the reason is in
 * memory and visible before (this function has the barrier). Any CPU, any lock.
 */
void arch_cpu_kick(unsigned int id);

/* Waits for an interrupt, which stays pending; may return without one. */
void arch_cpu_idle(void);

/*
 * Acknowledges and dispatches every pending host interrupt (timer ->
 * host_timer, UART -> host_uart_rx, kick -> nothing). No lock.
 */
void arch_irq_poll(void);

/* Monotonic ticks of the stable counter, the same on all CPUs; its rate. */
uint64_t arch_time(void);
uint64_t arch_time_hz(void);

/* Seconds since 1970 by the machine's clock, or 0 when it has none. Any CPU. */
uint64_t arch_wallclock(void);

/* One-shot timer of this CPU at absolute tick @deadline; past: at once;
 * UINT64_MAX: off. */
void arch_timer_set(uint64_t deadline);

/*
 * Ends the machine: power-off for @status 0, else failure as QEMU can report
 * it; as a guest of Nestling the exit call. Any context, also in a panic.
 */
[[noreturn]] void arch_poweroff(int status);

/* Registers and stack of this CPU after our own bug; uses log_error(). */
void arch_panic_dump(void);

/* Maps host RAM for the hypervisor at VA = PA, not executable. Boot CPU. */
void arch_map_ram(paddr_t base, uint64_t size);

/* Where the hypervisor's own image is, to keep it out of the allocator. */
void arch_reserved(paddr_t *base, uint64_t *size);

/* Maps device memory at @pa for the hypervisor; the pointer stays valid. */
volatile void *arch_map_device(paddr_t pa, uint64_t size);

/* ---- host UARTs: port 0 is the console, 1 the debugger ---------------- */

/* Output, waits for room; usable before arch_cpu_init and in a panic. */
void arch_uart_putc(unsigned int port, uint8_t ch);

/* Is there such a port? Received characters come by host_uart_rx(). */
bool arch_uart_present(unsigned int port);

/* ---- a VM -------------------------------------------------------------- */

/* The devices of the guest machine, in order of address; size 0 ends. */
extern const struct dev_place arch_machine[];

/* e_machine of the ELF files that guests of this machine are. */
extern const uint16_t arch_elf_machine;

/* A range of guest physical addresses that can be RAM. */
struct ram_bank {
	gpa_t base;
	uint64_t size;
};

#define RAM_BANKS	2

/* Where RAM and what the hypervisor puts there are in the guest machine. */
struct guest_ram {
	struct ram_bank bank[RAM_BANKS];	/* filled in this order */
	uint64_t reserved;	/* bytes at the begin of RAM without images */
	gpa_t dtb;		/* the device tree's place in them, up to their
				 * end; 0: near the kernel or the end */
};

extern const struct guest_ram arch_ram;

/* Do all vCPUs run from the start of a VM, as the machine's CPUs do? */
extern const bool arch_start_all;

/*
 * Why a guest cannot begin at virtual address @entry, or with code that is
 * linked there: a phrase for one message, or NULL. Pure.
 */
const char *arch_entry_refused(uint64_t entry);

/* Largest RAM size of a VM in bytes on this machine. */
uint64_t arch_ram_max(void);

/* Stage 2 and interrupt controller of a new VM. ERR_NOMEM. The reverse, when
 * no vCPU is loaded anywhere. No lock. */
int arch_vm_init(struct vm *vm);
void arch_vm_fini(struct vm *vm);

/* Interrupt controller back to its reset state; no vCPU is loaded. */
void arch_vm_reset(struct vm *vm);

/*
 * Last step of loading, everything is in its place and reset: what the firmware
 * of the machine leaves in memory and in the vCPUs. ERR_INVAL, after a message,
 * when bootargs do not fit. VM not running.
 */
int arch_vm_boot(struct vm *vm, const struct image_layout *l);

/* Maps guest RAM @gpa..@gpa+@size to @pa, readable, writable, executable.
 * All three are multiples of the page size. ERR_NOMEM. VM not running. */
int arch_vm_map(struct vm *vm, gpa_t gpa, paddr_t pa, uint64_t size);

/* Drives interrupt line @irq of the VM; idempotent. Any CPU, VM lock. */
void arch_vm_irq(struct vm *vm, unsigned int irq, bool level);

/*
 * Appends what the architecture owns to the guest device tree (libfdt
 * sequential write, inside the root node): CPUs, interrupt controller, timer,
 * power control. arch_vm_fdt_root: properties of the root node before them.
 * arch_fdt_irq: the interrupts property of a device on @irq. 0 or an error of
 * libfdt.
 */
int arch_vm_fdt_root(struct vm *vm, void *fdt);
int arch_vm_fdt(struct vm *vm, void *fdt);
int arch_fdt_irq(void *fdt, unsigned int irq);

/*
 * Makes guest RAM that was written by the hypervisor visible to a guest that
 * runs with caches off and executes from it. @p is a host pointer.
 */
void arch_sync_ram(void *p, uint64_t size);

/* Zeroes RAM fast; both multiples of the page size. */
void arch_zero_ram(void *p, uint64_t size);

/* ---- a vCPU ------------------------------------------------------------ */

enum exit_kind {
	EXIT_WORK,		/* host interrupt, cpu->work or v->req */
	EXIT_IDLE,		/* WFI or idle; already behind it */
	EXIT_MMIO,		/* access to an address that is not RAM */
	EXIT_HCALL,		/* a call of abi/nestling.h */
	EXIT_POWER,		/* power control */
	EXIT_KINDS
};

enum power_op {
	POWER_CPU_ON,		/* target, entry, arg */
	POWER_CPU_OFF,		/* the caller */
	POWER_OFF,		/* the VM */
	POWER_RESET,
};

enum power_result { POWER_OK, POWER_ALREADY_ON, POWER_INVALID };

struct vm_exit {
	enum exit_kind kind;
	union {
		struct mmio mmio;
		struct {
			uint32_t fn;
			uint64_t arg[3];
			uint64_t ret;	/* result, filled in by core */
		} hcall;
		struct {
			enum power_op op;
			unsigned int target;	/* vCPU number */
			gpa_t entry;
			uint64_t arg;
		} power;
	};
};

/* A vCPU of a new VM. ERR_NOMEM. The reverse. */
int arch_vcpu_init(struct vcpu *v);
void arch_vcpu_fini(struct vcpu *v);

/* Architectural reset values; PC = @entry, first argument @arg. Not loaded. */
void arch_vcpu_reset(struct vcpu *v, gpa_t entry, uint64_t arg);

/*
 * Brings the privileged state of @v onto this CPU, and off it into memory: EL1
 * or CSR registers, interrupt state, timers, traps; no FP registers. After
 * put nothing of @v is left in this CPU and its timers are timer queue
 * entries of this CPU.
 */
void arch_vcpu_load(struct vcpu *v);
void arch_vcpu_put(struct vcpu *v);

/*
 * Enters the loaded @v until an exit that core must see; what is purely
 * architectural is handled inside. Returns EXIT_WORK before the first
 * instruction when this CPU's work or v->req (but VCPU_REQ_IRQ) is set.
 */
void arch_vcpu_run(struct vcpu *v, struct vm_exit *exit);

/*
 * Complete the exit just returned, before the next run: an MMIO access (the
 * read value is in exit->mmio), a hypercall, a power call that returns.
 */
void arch_vcpu_mmio_done(struct vcpu *v, const struct vm_exit *exit);
void arch_vcpu_hcall_done(struct vcpu *v, const struct vm_exit *exit);
void arch_vcpu_power_done(struct vcpu *v, enum power_result res);

/* The MMIO exit hit nothing: external abort to the guest. */
void arch_vcpu_mmio_abort(struct vcpu *v, const struct vm_exit *exit);

/* Interrupt state of the loaded @v into memory, so that arch_vcpu_wakes() sees
 * what the guest did to it; before the vCPU sleeps. */
void arch_vcpu_sync(struct vcpu *v);

/*
 * Would @v run if it were awake: an interrupt it wakes for is deliverable?
 * Any CPU; right even while another CPU injects.
 */
bool arch_vcpu_wakes(struct vcpu *v);

/* One line per register of @v for vm_fault() and the monitor; not running. */
void arch_vcpu_dump(struct vcpu *v);

/* ---- FP: mechanism only ------------------------------------------------ */

/* Widest level that every CPU has. */
enum fp_level arch_fp_max(void);

/* Word for a level in the manifest and for people; NULL: there is none here. */
const char *arch_fp_name(enum fp_level level);

/*
 * Bits of a vector of FP_SVE in a VM that asks for @bits, 0: for the longest.
 * The answer is @bits or the next smaller length that every CPU has; 0 when
 * there is none, or no such level.
 */
uint32_t arch_fp_length(uint32_t bits);

/* Architectural initial image of a VM with vectors of @length bits. */
void arch_fp_init(struct arch_fp *fp, uint32_t length);

/*
 * Registers to memory at width @level with the control and condition
 * registers. Opens the unit for the hypervisor and leaves it open: the caller
 * ends with arch_fp_access(). With @probe it also finds out whether a narrower
 * load would lose nothing, for arch_fp_fits(); without, it would.
 */
void arch_fp_save(struct arch_fp *fp, enum fp_level level, bool probe);

/* The reverse, at a width at which arch_fp_fits(), of <arch/types.h>. */
void arch_fp_load(struct arch_fp *fp, enum fp_level level);

/* Live registers of width @from become live at @to; @fp is where they were
 * loaded from. */
void arch_fp_widen(struct arch_fp *fp, enum fp_level from, enum fp_level to);

/* Do live registers of width @level survive while another vCPU runs that may
 * not use any? Pure. */
bool arch_fp_stays(const struct arch_fp *fp, enum fp_level level);

/* Bytes that a save or load at @level moves. */
uint32_t arch_fp_bytes(const struct arch_fp *fp, enum fp_level level);

/*
 * Recomputes what @v, loaded here, may use without a trap: what the record
 * allows, @level = fp_access(@v), and the guest's own controls do. Called after
 * any of them changed.
 */
void arch_fp_access(struct vcpu *v, enum fp_level level);

#endif
