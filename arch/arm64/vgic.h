/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Virtual GICv3 of a VM (Arm IHI 0069): one security state (GICD_CTLR.DS),
 * affinity routing always on, both groups, SGIs, PPIs and 96 SPIs, no LPIs.
 * The state of an interrupt is in struct vgic_bank, or for those in a list
 * register of a loaded vCPU partly there; vgic.c moves it back and forth.
 * Exits that do not change interrupt state touch no list register.
 *
 * All functions take the vgic lock themselves and, unless they say otherwise,
 * may be called on any CPU with the VM lock held. Whenever an interrupt may
 * have become deliverable they call host_vcpu_irq().
 */
#ifndef ARM64_VGIC_H
#define ARM64_VGIC_H

#include "types.h"

struct mmio;
struct vcpu;
struct vm;

/* This CPU, once, at boot: nothing pending in the virtual interface. */
void vgic_cpu_init(void);

/* A new VM, its vCPUs by vgic_vcpu_init(). Returns 0. */
int vgic_vm_init(struct vm *vm);
void vgic_vm_fini(struct vm *vm);

/* Distributor and all redistributors to their reset state. None is loaded. */
void vgic_vm_reset(struct vm *vm);

void vgic_vcpu_init(struct vcpu *v);

/*
 * A vCPU that is powered on: CPU interface to its reset state, nothing active.
 * The redistributor keeps its settings, as a real one does. Not loaded.
 */
void vgic_vcpu_reset(struct vcpu *v);

/*
 * Interrupt state of @v onto this CPU, after vtimer_load(); off it, before
 * vtimer_put(): afterwards all of it is in memory and the virtual interface
 * is off. No lock.
 */
void vgic_load(struct vcpu *v);
void vgic_put(struct vcpu *v);

/*
 * Brings the list registers of @v, loaded here, up to date. Before it enters
 * the guest after VCPU_REQ_IRQ was set; the caller has cleared that.
 */
void vgic_flush(struct vcpu *v);

/*
 * All interrupt state of @v, loaded here, into memory, so that vgic_wakes() is
 * right; sets VCPU_REQ_IRQ. Before it sleeps.
 */
void vgic_sync(struct vcpu *v);

/* The maintenance interrupt of this CPU. No lock. */
void vgic_maintenance(void);

/*
 * Would the CPU interface of @v signal an interrupt: pending, enabled, group
 * on, above priority mask and running priority? Not for a vCPU that runs. Any
 * CPU, any lock, takes none; an interrupt that becomes deliverable meanwhile
 * is followed by host_vcpu_irq().
 */
bool vgic_wakes(const struct vcpu *v);

/* Drives the input of SPI @intid; idempotent. */
void vgic_set_line(struct vm *vm, unsigned int intid, bool level);

/* Drives the input of PPI @intid of @v; idempotent. */
void vgic_set_ppi(struct vcpu *v, unsigned int intid, bool level);

/*
 * Between timers and interrupts, called by vtimer_load() and vtimer_put(): @v
 * comes to pCPU @pcpu, or is on none (VGIC_NO_PCPU) from here on; the inputs
 * VTIMER_INTIDS are at @levels. Returns those whose physical PPI must be active
 * when @v is loaded, so that what is known does not interrupt.
 */
uint32_t vgic_link(struct vcpu *v, uint32_t pcpu, uint32_t levels);

/* The physical PPI behind @intid of @v, loaded here, has become active. */
void vgic_link_fired(struct vcpu *v, unsigned int intid);

/*
 * An access of the running @v to a GIC frame, all widths and offsets; false:
 * the address is none of ours. No lock: may call other CPUs.
 */
bool vgic_mmio(struct vcpu *v, struct mmio *m);

/* Writes of the running @v to the SGI registers. */
enum vgic_sgi_reg { VGIC_SGI1R, VGIC_ASGI1R, VGIC_SGI0R };

void vgic_sgi(struct vcpu *v, enum vgic_sgi_reg reg, uint64_t val);

/* A trapped write of the running @v to ICC_DIR_EL1. No lock. */
void vgic_dir(struct vcpu *v, uint64_t val);

/* The interrupt controller node, phandle 1; 0 or a libfdt error. */
int vgic_fdt(const struct vm *vm, void *fdt);

/* Interrupt state of @v for vm_fault() and the monitor; not running. */
void vgic_dump(struct vcpu *v);

#endif
