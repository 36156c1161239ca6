/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What host unit tests see of the fake architecture and of the stand-ins for
 * core functions that a test does not link. Every function of the fakes is
 * weak: a test or a linked core source that defines it wins.
 */
#ifndef TESTS_FAKE_H
#define TESTS_FAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch.h"
#include "cpu.h"
#include "vm.h"

/* Host UARTs: everything output since the last fake_uart_clear(). */
extern char fake_uart[1 << 20];
extern size_t fake_uart_len;
void fake_uart_clear(void);

/* Time and machine. */
extern uint64_t fake_time, fake_hz, fake_wallclock, fake_ram_max;
extern uint64_t fake_timer;		/* last arch_timer_set() */

/* Levels of interrupt lines of VMs, and how often they were driven. */
extern bool fake_irq[64];
extern unsigned int fake_irq_calls;

/* Kicks sent to each pCPU. */
extern unsigned int fake_kicks[MAX_PCPUS];

/* The host device tree that host_fdt() returns. */
extern const void *fake_fdt;

/* Bytes that arch_sync_ram() was told of. */
extern uint64_t fake_synced;

/*
 * Runs @fn(@arg). Returns -1 when it returns, or the status of the
 * arch_poweroff() that it ended in.
 */
int fake_run(void (*fn)(void *arg), void *arg);

/* cpus[0..@n-1] and nr_cpus, zeroed; this CPU is 0. */
void fake_cpus_init(unsigned int n);

/* A VM without devices and with RAM of one slot at arch_ram.bank[0]; enters it
 * into vms[]. fake_vm_free() undoes the last. @cfg->memory stays the same. */
struct vm *fake_vm(const struct vm_config *cfg);
void fake_vm_free(struct vm *vm);

#endif
