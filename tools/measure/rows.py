# SPDX-License-Identifier: BSD-2-Clause
#
# The rows of the benchmark: which run and which line of its output a row is,
# what peers need for it, and the ceiling it must not exceed. A run is a set of
# VMs; the images are guest/bench. Peers were measured with the same image under
# the same QEMU, see docs/measurements.md.

import dataclasses

MIB = 1 << 20
GIB = 1 << 30
HEAD = ("Xen 4.20", "KVM 6.12", "KVM 7.3")
PARTS = ()	# pairs of rows and how often the first must fit the second
DRIFT = 0.01	# how far an exit's cost may depend on memory or other VMs


@dataclasses.dataclass(frozen=True)
class Run:
    """VMs as (name, image, properties); rows are lines of VM "a". `lines` are
    their names in order."""

    vms: tuple
    lines: tuple
    append: str = ""


@dataclasses.dataclass(frozen=True)
class Row:
    """`line` of run `run` divided by `parts`. A `goal` is a ceiling that is
    not held to yet."""

    name: str
    run: str
    line: str
    ceiling: int = None
    xen: int = None
    kvm612: int = None
    kvm73: int = None
    parts: int = 1
    goal: int = None

    @property
    def peers(self):
        """What others need, in the order of HEAD."""
        return (self.xen, self.kvm612, self.kvm73)

    def image(self):
        """The image whose row it is."""
        return next(kernel for name, kernel, _ in RUNS[self.run].vms
                    if name == "a")


UBENCH = (
    "null_raw", "call_unknown", "call_psci_version", "call_smccc_version",
    "call+fp", "sysreg_idreg", "mmio_user_unmapped", "mmio_user_uart_lsr",
    "mmio_user+fp", "fp_touch_after_user", "fp_touch_hot", "mmio_vgic_iidr",
    "mmio_vgic+fp", "eoi_spurious", "self_sgi_full", "timer_latency_spin",
    "timer_latency_wfi", "timer_arm_cancel", "s2_fault_4k_stride",
    "s2_fault_2m_stride", "vcpu_pingpong_wfi", "vcpu_pingpong_wfi+fp1",
    "vcpu_pingpong_wfi+fp0", "vcpu_pingpong_wfi+fp01")
SINGLE = ("null_raw", "boot", "hcall_version", "hcall_yield_alone",
          "console_line")
SMP = ("null_raw", "smp_round", "smp_round+fp0", "smp_round+fp1",
       "smp_round+fp01")
SWITCH = ("null_raw", "vm_round", "vm_round+fp", "console_line")


def _ubench(*others, **props):
    return Run((*others, ("a", "ubench", {"vcpus": 2, **props})), UBENCH)


def _own(mode, lines, *others, **props):
    return Run((("a", "own", {"bootargs": f"bench={mode}", **props}), *others),
               lines)


def _sleepers(number, vcpus):
    return tuple((f"s{i}", "own", {"bootargs": "bench=sleep", "vcpus": vcpus,
                                   "memory": 4 * MIB}) for i in range(number))


def _yielder(mode):
    return ("b", "own", {"bootargs": f"bench={mode}"})


RUNS = {
    "ubench": _ubench(),
    "memory": _ubench(memory=GIB),
    "many": _ubench(*_sleepers(31, 8), vcpus=8),
    "single": _own("single", SINGLE),
    "single-memory": _own("single", SINGLE, memory=GIB),
    "smp": _own("smp", SMP, vcpus=2),
    "switch": _own("switch", SWITCH, _yielder("yield")),
    "switch-fp": _own("switch", SWITCH, _yielder("yieldfp")),
}

ROWS = (
    Row("hypercall", "ubench", "call_smccc_version", 168, 451, 1336, 1680),
    Row("idreg_trap", "ubench", "sysreg_idreg", 200, 412, 1725, 2158),
    Row("mmio_read", "ubench", "mmio_user_unmapped", 450, None, 6844, 8498),
    Row("vgic_mmio", "ubench", "mmio_vgic_iidr", 280, 572, 2168, 2657),
    Row("self_sgi", "ubench", "self_sgi_full", 500, 1077, 2859, 3445),
    Row("vtimer", "ubench", "timer_latency_spin", 500, 1100, 2687, 3382),
    Row("vcpu_pingpong", "ubench", "vcpu_pingpong_wfi", 5300, 10845, 21148,
        32274, goal=4000),
    Row("eoi", "ubench", "eoi_spurious", 1, 1, 1, 1),
    Row("call_unknown", "ubench", "call_unknown", None, 1628, 1337, 1680),
    Row("call_psci_version", "ubench", "call_psci_version", None, 467, 1385,
        1729),
    Row("call+fp", "ubench", "call+fp", None, 1633, 1449, 1786),
    Row("mmio_uart", "ubench", "mmio_user_uart_lsr", None, None, 7099, 8754),
    Row("mmio+fp", "ubench", "mmio_user+fp", None, None, 7387, 9077),
    Row("fp_touch_after_mmio", "ubench", "fp_touch_after_user", None, None,
        323, 361),
    Row("fp_touch_hot", "ubench", "fp_touch_hot", None, 2, 2, 2),
    Row("vgic_mmio+fp", "ubench", "mmio_vgic+fp", None, 574, 2277, 2760),
    Row("vtimer_wfi", "ubench", "timer_latency_wfi", None, 7359, None, 3096),
    Row("timer_arm_cancel", "ubench", "timer_arm_cancel", None, 4, 4, 4),
    Row("first_touch_4k", "ubench", "s2_fault_4k_stride", None, 1, 1, 1),
    Row("first_touch_2m", "ubench", "s2_fault_2m_stride", None, 1, 316544,
        34217),
    Row("vcpu_pingpong+fp1", "ubench", "vcpu_pingpong_wfi+fp1", None, 10847,
        21795, 32954),
    Row("vcpu_pingpong+fp0", "ubench", "vcpu_pingpong_wfi+fp0", None, 10849,
        21690, 32956),
    Row("vcpu_pingpong+fp01", "ubench", "vcpu_pingpong_wfi+fp01", None, 10851,
        22340, 33636),
    Row("boot", "single", "boot", 10000000),
    Row("hcall_version", "single", "hcall_version"),
    Row("yield_alone", "single", "hcall_yield_alone"),
    Row("console_line", "single", "console_line"),
    Row("vcpu_switch", "smp", "smp_round", parts=2),
    Row("vcpu_switch+fp", "smp", "smp_round+fp01", parts=2),
    Row("vm_switch", "switch", "vm_round", parts=2),
    Row("vm_switch+fp", "switch-fp", "vm_round+fp", parts=2),
    Row("console_line_prefix", "switch", "console_line"),
    Row("boot_1g", "single-memory", "boot"),
)

# What must cost the same with more memory, and with more VMs and vCPUs.
SAME = ("hypercall", "idreg_trap", "mmio_read", "vgic_mmio", "self_sgi",
        "vtimer", "vcpu_pingpong")
SAME_RUNS = ("memory", "many")


def by_name(name):
    """The row of that name, or None."""
    return next((row for row in ROWS if row.name == name), None)


def options_of(name, run):
    """What a run is made with, for the results."""
    props = next(p for n, _, p in run.vms if n == "a")
    return {"run": name, "vms": len(run.vms),
            "vcpus": sum(p.get("vcpus", 1) for _, _, p in run.vms),
            "memory": props.get("memory", 128 * MIB), "smp": 1,
            "append": run.append}


def options(name):
    """What the run of that name is made with, for the results."""
    return options_of(name, RUNS[name])
