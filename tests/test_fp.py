# SPDX-License-Identifier: BSD-2-Clause
#
# FP registers belong to their vCPU under every policy and width: images that
# fill them at full width and look again after whatever makes the hypervisor
# run. Switches that moved registers are counted by the hypervisor.

import itertools
import re

import pytest
from fpmix import image, run_mixed
from harness import SOAK, run_vms
from prompt import Prompt

POLICIES = ("eager", "lazy", "owner")
WIDTHS = ("step", "max", "adaptive")
SWITCHES = 100000 if SOAK else 10000
PASSED = r"^([1-9][0-9]*) passed, 0 failed$"


def passed(result, names):
    """Every VM ended with 0 and says that all its checks passed."""
    result.expect(0, **{name: (0, "exit") for name in names})
    for name in names:
        result.has(name, PASSED)
        assert "FAIL" not in result.text(name)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("arch", ["arm64", "loongarch"])
def test_policy(arch, policy, width, tmp_path):
    """Two VMs with two vCPUs each that share a pCPU: at least 10,000 saves and
    loads together."""
    args = f"rounds={SWITCHES // 3} yields=1"
    result = run_vms(
        tmp_path, *(image(arch, f"v{k}", f"vm={k} {args}", vcpus=2)
                    for k in (1, 2)),
        append=f"fp={policy} fpwidth={width}", arch=arch, timeout=900)
    passed(result, ["v1", "v2"])
    pattern = {"arm64": r" saves (\d+) ", "loongarch": r" (\d+) saves"}[arch]
    counts = re.findall(pattern, result.text("v1") + result.text("v2"))
    assert len(counts) == 4 and sum(map(int, counts)) >= SWITCHES


@pytest.mark.parametrize("arch", ["arm64", "loongarch"])
def test_mixed_widths(arch, tmp_path):
    """VMs of all widths and policies beside each other."""
    passed(*run_mixed(tmp_path, arch, rounds=20000 if SOAK else 600,
                      timeout=900 if SOAK else 240))


@pytest.mark.parametrize("arch", ["arm64", "loongarch"])
def test_owner_ends(arch, tmp_path):
    """A VM whose registers are live is killed, reset and changed in policy
    again and again; those beside it keep theirs."""
    endless = "rounds=1000000000"
    vms = [image(arch, "victim", f"vm=1 {endless}", vcpus=2),
           image(arch, "a", "vm=2 rounds=3000", vcpus=2),
           image(arch, "b", "vm=3 rounds=3000")]
    words = itertools.cycle(["step", "lazy", "max", "owner", "adaptive",
                             "eager"])
    with Prompt(tmp_path, *vms, args=["--smp", "2", "--arch", arch,
                                      "--hyp-append", "slice=200"],
                timeout=60) as machine:
        machine.expect(r"\[a\] ok")
        machine.open()
        for turn in range(60 if SOAK else 12):
            machine.silent(f"fp victim {next(words)}")
            assert [line for line in machine.ask("fp")
                    if re.search("victim +0 ", line)]
            machine.ask("reset victim" if turn % 3 else "kill victim")
            if turn % 3 == 0:
                machine.ask("start victim")
        machine.ask("kill victim")
        verdict = r"\[([ab])\] \d+ passed, 0 failed"
        while len(set(re.findall(verdict, machine.seen))) < 2:
            machine.expect(verdict, timeout=120)
        assert "FAIL" not in machine.seen
        machine.child.send("\x04")
        assert machine.end() == 0
