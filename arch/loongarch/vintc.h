/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The guest's interrupt controllers: what the machine and each other need of
 * them; what the CPU needs is in la.h. vintc.c: IPI and EIOINTC in IOCSR space;
 * vpic.c: the PCH-PIC.
 */
#ifndef LOONGARCH_VINTC_H
#define LOONGARCH_VINTC_H

#include "dev.h"
#include "types.h"

struct vcpu;
struct vm;

/* Handles in the guest's device tree. */
#define FDT_PCH_PIC	1
#define FDT_EIOINTC	3
#define FDT_CPUIC	4

#define PIC_BASE	UINT64_C(0x10000000)
#define PIC_SIZE	UINT64_C(0x400)

/* Reset state of the VM's controllers and of their part of every vCPU; no vCPU
 * is loaded. */
void vintc_vm_reset(struct vm *vm);

/* Nodes of the CPU's interrupt controller, the EIOINTC and the PCH-PIC. */
int vintc_fdt(void *fdt);

/* Input @n of the EIOINTC goes up or down. The vintc lock is held. */
void vintc_input(struct vm *vm, unsigned int n, bool level);

/* vpic.c, the lock held: reset, an input line (0..63). */
void vpic_reset(struct vm *vm);
void vpic_input(struct vm *vm, unsigned int irq, bool level);

/* An access to the PCH-PIC's registers; false: @m is elsewhere. No lock. */
bool vpic_access(struct vm *vm, struct mmio *m);

#endif
