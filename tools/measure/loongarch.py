# SPDX-License-Identifier: BSD-2-Clause
#
# The rows of the benchmark on LoongArch; see rows.py. All are lines of one
# image, guest/loongarch/bench.c. The peer is Linux/KVM with the LVZ extension
# under an emulation of it; where it was measured in several forms, its best.

import dataclasses

from measure.rows import MIB, Run, options_of

HEAD = ("KVM 7.2",)


@dataclasses.dataclass(frozen=True)
class Row:
    """`line` of run `run` divided by `parts`. A `goal` is a ceiling that is
    not held to yet."""

    name: str
    run: str
    line: str
    ceiling: int = None
    kvm: int = None
    parts: int = 1
    goal: int = None

    @property
    def peers(self):
        """What others need, in the order of HEAD."""
        return (self.kvm,)


EXITS = ("boot", "hypercall", "csr_read", "csr_write", "iocsr_read",
         "mmio_read", "mmio_read_mapped", "yield_alone", "timer", "timer_idle",
         "self_ipi")
REFILL = ("tlb_refill_hit", "tlb_refill")
SMP = ("ipi", "yield_round")


def _run(mode, lines, append="", **props):
    props = {"bootargs": f"run={mode}", "memory": 256 * MIB, **props}
    return Run((("a", "bench", props),), lines, append)


RUNS = {
    "exits": _run("exits", EXITS, memory=128 * MIB),
    "refill": _run("refill", REFILL),
    "refill-guest": _run("refill", REFILL, "walk=off"),
    "smp": _run("smp", SMP, vcpus=2, memory=128 * MIB),
}

ROWS = (
    Row("hypercall", "exits", "hypercall", 160, 421),
    Row("csr_read", "exits", "csr_read", 150, 458),
    Row("csr_write", "exits", "csr_write", 180, 458),
    Row("iocsr_read", "exits", "iocsr_read", 267, 801),
    Row("mmio_read", "exits", "mmio_read", 765, 1593, goal=531),
    Row("mmio_read_mapped", "exits", "mmio_read_mapped", 752, 1593, goal=531),
    Row("tlb_refill_hit", "refill", "tlb_refill_hit", 12),
    Row("tlb_refill_walk", "refill", "tlb_refill", 1240, goal=1134),
    Row("tlb_refill_guest", "refill-guest", "tlb_refill", 3320),
    Row("timer", "exits", "timer", 635),
    Row("timer_idle", "exits", "timer_idle", 1600, 6572),
    Row("self_ipi", "exits", "self_ipi", 1110),
    Row("ipi", "smp", "ipi", 5900, 6544, goal=2181),
    Row("vcpu_switch", "smp", "yield_round", 1440, parts=2),
    Row("yield_alone", "exits", "yield_alone", 950),
    Row("boot", "exits", "boot", 30000000),
)

# The hypervisor's walk against the guest's own; a third is the goal.
PARTS = (("tlb_refill_walk", "tlb_refill_guest", 2.5),)

SAME = ()
SAME_RUNS = ()
DRIFT = 0


def options(name):
    """What the run of that name is made with, for the results."""
    return options_of(name, RUNS[name])


def by_name(name):
    """The row of that name, or None."""
    return next((row for row in ROWS if row.name == name), None)
