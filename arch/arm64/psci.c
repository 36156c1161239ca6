// SPDX-License-Identifier: BSD-2-Clause
/*
 * SMC Calling Convention (Arm DEN0028) and PSCI 1.1 (Arm DEN0022) as a guest
 * sees them, by HVC or SMC with immediate 0. W0 holds the function id; calls
 * of the 32-bit convention use only the low halves of their arguments.
 */
#include "arm64.h"
#include "host.h"
#include "nestling.h"
#include "sysreg.h"
#include "vm.h"

#define SMCCC_FAST		BIT(31)
#define SMCCC_64		BIT(30)
#define SMCCC_OWNER(fn)		((fn) >> 24 & 0x3f)
#define SMCCC_OWNER_HYP		6

#define SMCCC_VERSION		0x80000000
#define SMCCC_ARCH_FEATURES	0x80000001
#define SMCCC_VERSION_1_1	0x10001

#define PSCI_VERSION		0x84000000
#define PSCI_CPU_SUSPEND	0x84000001
#define PSCI_CPU_OFF		0x84000002
#define PSCI_CPU_ON		0x84000003
#define PSCI_AFFINITY_INFO	0x84000004
#define PSCI_MIGRATE_INFO_TYPE	0x84000006
#define PSCI_SYSTEM_OFF		0x84000008
#define PSCI_SYSTEM_RESET	0x84000009
#define PSCI_FEATURES		0x8400000a
#define PSCI_SYSTEM_RESET2	0x84000012
#define PSCI_VERSION_1_1	0x10001

#define PSCI_SUCCESS		0
#define PSCI_NOT_SUPPORTED	(-1)
#define PSCI_INVALID_PARAMS	(-2)
#define PSCI_ALREADY_ON		(-4)
#define PSCI_INVALID_ADDRESS	(-9)

#define PSCI_ON			0
#define PSCI_OFF		1
#define PSCI_TOS_NONE		2	/* no trusted OS to migrate */

/* CPU_SUSPEND power_state: StateType and the bits that must be zero. */
#define SUSPEND_POWERDOWN	BIT(16)
#define SUSPEND_RES0		(BITS(31, 26) | BITS(23, 17))

#define MPIDR_AFF		(BITS(39, 32) | BITS(23, 0))

struct call {
	uint32_t fn;		/* id as called */
	uint64_t arg[3];	/* x1..x3, cut for the 32-bit convention */
};

static enum exit_action ret(struct vcpu *v, int64_t val)
{
	v->arch.regs.x[0] = (uint64_t)val;
	return ACT_RESUME;
}

static enum exit_action leave(struct vcpu *v, enum power_op op)
{
	v->arch.exit->kind = EXIT_POWER;
	v->arch.exit->power.op = op;
	return ACT_LEAVE;
}

/* The vCPU whose affinity fields are @mpidr, or NULL. */
static struct vcpu *by_mpidr(const struct vm *vm, uint64_t mpidr)
{
	if (mpidr & ~MPIDR_AFF)
		return NULL;
	for (unsigned int i = 0; i < vm->nr_vcpus; i++)
		if ((vm->vcpus[i]->arch.mpidr & MPIDR_AFF) == mpidr)
			return vm->vcpus[i];
	return NULL;
}

static enum exit_action psci_version(struct vcpu *v, const struct call *c)
{
	(void)c;
	return ret(v, PSCI_VERSION_1_1);
}

/*
 * Standby keeps all state and returns at once when something is pending, as
 * WFI does. Power-down of one CPU may be demoted to standby and return
 * success when the wake-up came first (DEN0022, 5.4.1); here it always is.
 */
static enum exit_action cpu_suspend(struct vcpu *v, const struct call *c)
{
	if (c->arg[0] & SUSPEND_RES0)
		return ret(v, PSCI_INVALID_PARAMS);
	if ((c->arg[0] & SUSPEND_POWERDOWN) &&
	    !vm_ram(v->vm, c->arg[1], 4))
		return ret(v, PSCI_INVALID_ADDRESS);
	ret(v, PSCI_SUCCESS);
	v->arch.exit->kind = EXIT_IDLE;
	return ACT_LEAVE;
}

static enum exit_action cpu_off(struct vcpu *v, const struct call *c)
{
	(void)c;
	return leave(v, POWER_CPU_OFF);
}

static enum exit_action cpu_on(struct vcpu *v, const struct call *c)
{
	struct vcpu *t = by_mpidr(v->vm, c->arg[0]);
	struct vm_exit *e = v->arch.exit;

	if (!t)
		return ret(v, PSCI_INVALID_PARAMS);
	if (!is_aligned(c->arg[1], 4) || !vm_ram(v->vm, c->arg[1], 4))
		return ret(v, PSCI_INVALID_ADDRESS);
	e->power.target = t->id;
	e->power.entry = c->arg[1];
	e->power.arg = c->arg[2];
	return leave(v, POWER_CPU_ON);
}

void arch_vcpu_power_done(struct vcpu *v, enum power_result res)
{
	static const int64_t code[] = {
		[POWER_OK] = PSCI_SUCCESS,
		[POWER_ALREADY_ON] = PSCI_ALREADY_ON,
		[POWER_INVALID] = PSCI_INVALID_PARAMS,
	};

	ret(v, code[res]);
}

/* On when any CPU of the affinity instance is: level n ignores Aff0..n-1. */
static enum exit_action affinity_info(struct vcpu *v, const struct call *c)
{
	static const uint64_t mask[] = {
		MPIDR_AFF, MPIDR_AFF & ~BITS(7, 0),
		MPIDR_AFF & ~BITS(15, 0), MPIDR_AFF & ~BITS(23, 0),
	};
	const struct vm *vm = v->vm;
	bool found = false;

	if (c->arg[1] >= ARRAY_SIZE(mask) || (c->arg[0] & ~MPIDR_AFF))
		return ret(v, PSCI_INVALID_PARAMS);
	for (unsigned int i = 0; i < vm->nr_vcpus; i++) {
		const struct vcpu *t = vm->vcpus[i];

		if ((t->arch.mpidr ^ c->arg[0]) & mask[c->arg[1]])
			continue;
		found = true;
		if (__atomic_load_n(&t->on, __ATOMIC_ACQUIRE))
			return ret(v, PSCI_ON);
	}
	return ret(v, found ? PSCI_OFF : PSCI_INVALID_PARAMS);
}

static enum exit_action migrate_info(struct vcpu *v, const struct call *c)
{
	(void)c;
	return ret(v, PSCI_TOS_NONE);
}

static enum exit_action system_off(struct vcpu *v, const struct call *c)
{
	(void)c;
	return leave(v, POWER_OFF);
}

static enum exit_action system_reset(struct vcpu *v, const struct call *c)
{
	(void)c;
	return leave(v, POWER_RESET);
}

/* SYSTEM_WARM_RESET is the one architectural type; vendor types have bit 31. */
static enum exit_action system_reset2(struct vcpu *v, const struct call *c)
{
	if ((uint32_t)c->arg[0] != 0)
		return ret(v, PSCI_INVALID_PARAMS);
	return leave(v, POWER_RESET);
}

static enum exit_action psci_features(struct vcpu *v, const struct call *c);
static enum exit_action smccc_version(struct vcpu *v, const struct call *c)
{
	(void)c;
	return ret(v, SMCCC_VERSION_1_1);
}

static enum exit_action smccc_features(struct vcpu *v, const struct call *c);

/* Every call; @both: a 64-bit form exists as well. */
static const struct {
	uint32_t fn;
	bool both;
	enum exit_action (*call)(struct vcpu *v, const struct call *c);
} calls[] = {
	{ SMCCC_VERSION, false, smccc_version },
	{ PSCI_VERSION, false, psci_version },
	{ SMCCC_ARCH_FEATURES, false, smccc_features },
	{ PSCI_CPU_SUSPEND, true, cpu_suspend },
	{ PSCI_CPU_OFF, false, cpu_off },
	{ PSCI_CPU_ON, true, cpu_on },
	{ PSCI_AFFINITY_INFO, true, affinity_info },
	{ PSCI_MIGRATE_INFO_TYPE, false, migrate_info },
	{ PSCI_SYSTEM_OFF, false, system_off },
	{ PSCI_SYSTEM_RESET, false, system_reset },
	{ PSCI_SYSTEM_RESET2, true, system_reset2 },
	{ PSCI_FEATURES, false, psci_features },
};

static int find_call(uint32_t fn)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(calls); i++)
		if (calls[i].fn == fn ||
		    (calls[i].both && (calls[i].fn | SMCCC_64) == fn))
			return (int)i;
	return -1;
}

static bool is_psci(uint32_t fn)
{
	return (fn & ~(uint32_t)(SMCCC_64 | 0x1f)) == PSCI_VERSION;
}

static enum exit_action psci_features(struct vcpu *v, const struct call *c)
{
	uint32_t fn = (uint32_t)c->arg[0];
	bool known = fn == SMCCC_VERSION || is_psci(fn);

	return ret(v, known && find_call(fn) >= 0 ? PSCI_SUCCESS :
						    PSCI_NOT_SUPPORTED);
}

static enum exit_action smccc_features(struct vcpu *v, const struct call *c)
{
	uint32_t fn = (uint32_t)c->arg[0];
	bool known = fn == SMCCC_VERSION || fn == SMCCC_ARCH_FEATURES;

	return ret(v, known ? 0 : PSCI_NOT_SUPPORTED);
}

/* The vendor-specific hypervisor range: ours, unless refused for the VM. */
static enum exit_action vendor_call(struct vcpu *v, const struct call *c)
{
	struct vm_exit *e = v->arch.exit;
	uint64_t *x = v->arch.regs.x;
	int64_t now;

	if (!v->vm->cfg->hypercalls)
		return ret(v, NESTLING_NOT_SUPPORTED);
	if (c->fn == NESTLING_UID) {
		x[0] = NESTLING_UID_W0;
		x[1] = NESTLING_UID_W1;
		x[2] = NESTLING_UID_W2;
		x[3] = NESTLING_UID_W3;
		return ACT_RESUME;
	}
	if (c->fn == NESTLING_REVISION) {
		x[0] = NESTLING_ABI_MAJOR;
		x[1] = NESTLING_ABI_MINOR;
		return ACT_RESUME;
	}
	now = host_hcall(v, c->fn, c->arg[0]);
	if (now != HCALL_EXIT)
		return ret(v, now);
	e->kind = EXIT_HCALL;
	e->hcall.fn = c->fn;
	for (unsigned int i = 0; i < 3; i++)
		e->hcall.arg[i] = c->arg[i];
	return ACT_LEAVE;
}

void arch_vcpu_hcall_done(struct vcpu *v, const struct vm_exit *exit)
{
	ret(v, (int64_t)exit->hcall.ret);
}

enum exit_action psci_call(struct vcpu *v)
{
	const uint64_t *x = v->arch.regs.x;
	struct call c = { (uint32_t)x[0], { x[1], x[2], x[3] } };
	int i;

	/* ELR is behind an HVC but at a trapped SMC. */
	if (ESR_EC(v->arch.esr) == EC_SMC64)
		exit_skip(v);
	if (v->arch.esr & 0xffff)
		return ret(v, PSCI_NOT_SUPPORTED);
	if (!(c.fn & SMCCC_64))
		for (unsigned int n = 0; n < 3; n++)
			c.arg[n] &= UINT32_MAX;
	if ((c.fn & SMCCC_FAST) && SMCCC_OWNER(c.fn) == SMCCC_OWNER_HYP)
		return vendor_call(v, &c);
	i = find_call(c.fn);
	if (i < 0)
		return ret(v, PSCI_NOT_SUPPORTED);
	return calls[i].call(v, &c);
}
