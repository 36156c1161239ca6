// SPDX-License-Identifier: BSD-2-Clause
/*
 * Host time: the physical counter, and the EL2 physical timer (CNTHP), reached
 * under the name CNTP_*_EL0 because E2H is 1. The last programmed deadline is
 * kept per CPU, so that asking for the same again costs no register write. No
 * lock: the timer is the CPU's own.
 */
#include "arch.h"
#include "cpu.h"
#include "gic.h"
#include "host.h"
#include "sysreg.h"
#include "vtimer.h"

#include <libfdt.h>

/* Positions in the interrupts property of the timer node (the binding's). */
#define FDT_PHYS	1
#define FDT_VIRT	2
#define FDT_HYP		3

/* CNTHCTL_EL2 at E2H=1 (Arm ARM D24.10.2). */
#define CNTHCTL_EL1PCTEN	BIT(10)	/* EL1 may read CNTPCT */
#define CNTHCTL_EL1PTEN		BIT(11)	/* EL1 may use CNTP */

#define CTL_ENABLE	1

struct timer_ppis timer_ppis;

static unsigned int ppi_at(int node, unsigned int index, const char *what)
{
	int intid = gic_fdt_irq(node, index);

	if (intid < 16 || intid > 31)
		config_error("device tree: timer: no usable %s timer interrupt",
			     what);
	return (unsigned int)intid;
}

void timer_discover(void)
{
	int node = fdt_node_offset_by_compatible(host_fdt(), -1,
						 "arm,armv8-timer");

	if (node < 0)
		config_error("device tree: no arm,armv8-timer node");
	if (!sysreg_read(cntfrq_el0))
		config_error("CNTFRQ_EL0 is 0: firmware did not set it");
	timer_ppis.phys = ppi_at(node, FDT_PHYS, "EL1 physical");
	timer_ppis.virt = ppi_at(node, FDT_VIRT, "virtual");
	timer_ppis.hyp = ppi_at(node, FDT_HYP, "hypervisor");
}

void timer_cpu_init(void)
{
	struct vtimer_cpu *t = &this_cpu()->arch.vtimer;

	sysreg_write(cntp_ctl_el0, 0);
	sysreg_write(cntv_ctl_el0, 0);
	sysreg_write(cntp_ctl_el02, 0);
	sysreg_write(cntv_ctl_el02, 0);
	sysreg_write(cnthctl_el2, CNTHCTL_EL1PCTEN | CNTHCTL_EL1PTEN);
	sysreg_write(cntvoff_el2, 0);
	isb();
	t->active = 0;
	t->cntvoff = 0;
	t->host_deadline = UINT64_MAX;
}

uint64_t arch_time(void)
{
	isb();		/* else the counter may be read early */
	return sysreg_read(cntpct_el0);
}

uint64_t arch_time_hz(void)
{
	return sysreg_read(cntfrq_el0);
}

void arch_timer_set(uint64_t deadline)
{
	struct vtimer_cpu *t = &this_cpu()->arch.vtimer;

	if (t->host_deadline == deadline)
		return;
	if (deadline == UINT64_MAX) {
		sysreg_write(cntp_ctl_el0, 0);
	} else {
		sysreg_write(cntp_cval_el0, deadline);
		if (t->host_deadline == UINT64_MAX) {
			isb();	/* not enabled with the old value */
			sysreg_write(cntp_ctl_el0, CTL_ENABLE);
		}
	}
	t->host_deadline = deadline;
	isb();		/* in force before the CPU sleeps */
}

void timer_expired(void)
{
	arch_timer_set(UINT64_MAX);
}
