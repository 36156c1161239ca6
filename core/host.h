/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The up-calls: everything arch/ may use of core/, besides print.h, string.h,
 * libfdt and the inline functions of the other headers. IRQs masked.
 */
#ifndef CORE_HOST_H
#define CORE_HOST_H

#include "fplevel.h"
#include "limits.h"
#include "page.h"
#include "print.h"
#include "types.h"

struct cpu;
struct timer;
struct vcpu;
struct vm;

/* The boot CPU, MMU on, on its boot stack; @fdt is the host device tree. */
[[noreturn]] void host_main(const void *fdt);

/* Another CPU, MMU on, on its own stack. */
[[noreturn]] void host_cpu_main(struct cpu *c);

/* The one-shot timer of this CPU has fired. */
void host_timer(void);

/* A character has arrived on host UART @port. */
void host_uart_rx(unsigned int port, uint8_t ch);

/*
 * Interrupt state of @v changed: it must look before it runs on, or wake. Any
 * CPU, any lock but a run queue's.
 */
void host_vcpu_irq(struct vcpu *v);

/* The timers of descheduled vCPUs, on this CPU's queue. */
void host_timer_set(struct timer *t, uint64_t deadline);
void host_timer_cancel(struct timer *t);

/*
 * The answer to guest call @fn(@arg) if nothing has to be decided for it, so
 * that it needs no exit to core; else HCALL_EXIT, which is no answer to any.
 */
#define HCALL_EXIT	INT64_MIN
int64_t host_hcall(const struct vcpu *v, uint32_t fn, uint64_t arg);

/* Stops @v's VM for something its guest did. */
[[gnu::format(printf, 2, 3)]]
void vm_fault(struct vcpu *v, const char *fmt, ...);

/*
 * Runs @fn(@arg) on CPU @id with IRQs masked and no lock held, and returns
 * when it is done. The caller holds no lock and answers calls itself while it
 * waits, so two CPUs may call each other. On the own CPU a plain call.
 */
void cpu_call(unsigned int id, void (*fn)(void *arg), void *arg);

/*
 * Host pointer to @len bytes of guest RAM at @gpa, or NULL when they are not
 * all RAM in one slot. The memory may change under the reader's feet.
 */
void *vm_ram(const struct vm *vm, gpa_t gpa, uint64_t len);

/*
 * QEMU's pvpanic device: looks for it, gives it an address (boot); reports a
 * failure if there is one and returns (any context).
 */
void pvpanic_init(void);
void pvpanic_fail(void);

/* Every pCPU by id, NULL beyond the last one that is online. */
extern struct cpu *cpus[MAX_PCPUS];

/* The host device tree, read-only, mapped for good; arch sets it at once. */
const void *host_fdt(void);
void host_set_fdt(const void *fdt);

/* Boot option walk=: do what a guest's usual TLB refill handler would do. */
bool host_walks_tables(void);

/*
 * The loaded @v used a width that the record does not allow although the VM
 * has it and the guest has enabled it: makes it live. The instruction is
 * executed again.
 */
void fp_trap(struct vcpu *v, enum fp_level used);

/* Width that @v may use on this CPU without a trap, by the FP record. */
enum fp_level fp_access(const struct vcpu *v);

#endif
