# SPDX-License-Identifier: BSD-2-Clause
#
# The scenarios of the FP benchmark: vCPUs that take turns and use FP registers
# in them (guest/fpcost.c), under each policy and width. A turn of one vCPU is a
# switch; all numbers are per switch, over all vCPUs.

import dataclasses
import re

from launch.errors import Mistake
from measure import machine
from measure.rows import MIB, Run

LINE = re.compile(rb"(?:\[(\w+)\] )?FP vcpu (\d+) rounds (\d+) instructions "
                  rb"(\d+) traps (\d+) saves (\d+) loads (\d+) widens (\d+) "
                  rb"bytes (\d+)$", re.M)
TASKS_LINE = re.compile(rb"tasks: turns (\d+) instructions (\d+) own traps "
                        rb"\d+ hypervisor's (\d+)$", re.M)
PIPE_LINE = re.compile(rb"pipe: rounds (\d+) ticks (\d+)")
COUNTERS = ("traps", "saves", "loads", "widens", "bytes")
POLICIES = ("eager", "lazy", "owner")
WIDTHS = ("step", "max", "adaptive")

# Names of mixes: what one vCPU uses in a turn, in order; "+" between two vCPUs.
WORDS = {
    "arm64": {"n": "nothing", "f": "FPSIMD", "x": "SVE"},
    "loongarch": {"n": "nothing", "f": "scalar", "l": "LSX", "x": "LASX"},
}


def describe(mix, arch):
    """A mix in words."""
    def one(part):
        return ", then ".join(" > ".join(WORDS[arch][c] for c in turn)
                              for turn in part.split(","))
    parts = [one(part) for part in mix.split("+")]
    first = f"{len(parts) - 1} x {parts[0]}" if len(parts) > 2 else parts[0]
    return f"{first} beside {parts[-1]}" if len(parts) > 1 else first


@dataclasses.dataclass(frozen=True)
class Case:
    """One run: `mix` is what each of two vCPUs uses, or each VM of `vms`."""

    scenario: str
    mix: str
    fp: str
    fpwidth: str
    by: str = "yield"
    vms: int = 1
    rounds: int = 1000
    smp: int = None		# CPUs, without icount: counters only

    def run(self):
        """What is booted."""
        parts = self.mix.split("+")
        if self.by == "pipe":
            vm = ("a", machine.LINUX, {
                "init": "linux-pipe", "memory": 256 * MIB,
                "bootargs": f"quiet -- {parts[0]} {parts[-1]}"})
            return Run((vm,), (), f"fp={self.fp} fpwidth={self.fpwidth}")
        if self.by == "tasks":
            args = f"use={parts[0]}{parts[-1]} turns={2 * self.rounds}"
            return Run((("a", "tasks", {"bootargs": args}),), (),
                       f"fp={self.fp} fpwidth={self.fpwidth}")
        args = f"rounds={self.rounds} by={self.by}"
        if self.vms == 1:
            args += f" touch={parts[0]} touch1={parts[-1]}"
            vms = [("a", "fpcost", {"vcpus": 2, "bootargs": args})]
        else:
            vms = [(f"v{i}", "fpcost",
                    {"bootargs": f"{args} touch={parts[i % len(parts)]}",
                     "memory": 16 * MIB}) for i in range(self.vms)]
        return Run(tuple(vms), (), f"console=lines fp={self.fp} "
                   f"fpwidth={self.fpwidth}")

    def options(self):
        """What it was, for the results."""
        return {"scenario": self.scenario, "fp": self.fp,
                "fpwidth": self.fpwidth, "mix": self.mix, "by": self.by,
                "vms": self.vms, "rounds": self.rounds,
                "smp": self.smp or 1}


def _of_tasks(case, text):
    """Per switch of two user tasks in one guest, whose kernel moves their
    registers itself."""
    found = TASKS_LINE.search(text)
    if not found or int(found[1]) != 2 * case.rounds:
        raise Mistake(f"{case.scenario} {case.mix}: no result")
    turns, instructions, traps = map(int, found.groups())
    return {"switch_instructions": instructions / turns,
            "traps": traps / turns}


def _of_pipe(case, text):
    """Per switch of two processes of Linux."""
    found = PIPE_LINE.search(text)
    if not found:
        raise Mistake(f"{case.scenario} {case.mix}: no result")
    rounds, instructions = map(int, found.groups())
    return {"switch_instructions": instructions / rounds / 2}


def measure(case, arch, append=""):
    """{name: value per switch} of a case."""
    text = machine.output(case.run(), append, arch, case.smp)
    if case.by == "tasks":
        return _of_tasks(case, text)
    if case.by == "pipe":
        return _of_pipe(case, text)
    lines = [[int(n) for n in m.groups()[2:]] for m in LINE.finditer(text)]
    vcpus = 2 if case.vms == 1 else case.vms
    if len(lines) != vcpus or any(n[0] != case.rounds for n in lines):
        raise Mistake(f"{case.scenario} {case.mix}: {len(lines)} results "
                      f"instead of {vcpus}")
    switches = case.rounds * vcpus
    out = {}
    if not case.smp:
        out["switch_instructions"] = lines[0][1] / switches
    for i, name in enumerate(COUNTERS):
        out[name] = sum(n[2 + i] for n in lines) / switches
    return out


def _all(scenario, mixes, **more):
    return [Case(scenario, mix, fp, width, **more) for mix in mixes
            for fp in POLICIES for width in WIDTHS]


def _lazy(scenario, mixes, **more):
    return [Case(scenario, mix, fp, width, **more) for mix in mixes
            for fp in ("lazy", "owner") for width in WIDTHS]


def cases(arch):
    """All cases of an architecture, by scenario."""
    la = arch == "loongarch"
    token = ("n", "f", "l", "x", "f+x", "fx", "flx", "n+x") if la else (
        "n", "f", "x", "f+x", "fx", "n+x")
    return (_all("token", token, by="token") +
            _lazy("seed", ("f,x", "fx"), rounds=2000) +
            _lazy("scalar10", ("f",), vms=10) +
            _lazy("scalar10-smp", ("f",), vms=10, smp=4) +
            (_all("tasks", ("n", "f", "x", "f+x"), by="tasks") if la else
             [Case("pipe", mix, fp, "max", by="pipe")
              for mix in ("n", "f", "x") for fp in ("eager", "owner")]) +
            _lazy("nofp", ("n+n+n+x", "n+n+n+f"), vms=4))
