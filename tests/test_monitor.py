# SPDX-License-Identifier: BSD-2-Clause
#
# The monitor's prompt on a real machine: from a script, by hand, and what the
# tables say about vCPU time.

import re
import time

from harness import MIB, guest, mini, run_vms, vm
from prompt import Prompt

SCRIPT = b"""\x14:vms
kill b
start b
pause a
vcpus a
resume a
kill a
kill b
vms
bogus
mem
\x04"""


def spin(folder, name="a", **props):
    """A VM that never ends and cannot be interrupted."""
    return vm(name, mini(folder, "ends", "SPIN", 'NAME="spin"'),
              format="flat", memory=16 * MIB, vcpus=2, **props)


def test_script(tmp_path):
    """Commands from a pipe, all at once: each has its effect before the next
    one, and the machine ends when the prompt is left and no VM is there."""
    result = run_vms(tmp_path, spin(tmp_path), spin(tmp_path, "b"),
                     typed=SCRIPT, smp=2)
    result.expect(0, a=(0, "killed"), b=(0, "killed"))
    text = result.raw.decode("ascii")
    first, second = re.findall(r"nestling:  #.*?> ", text, re.S)
    assert re.search(r"\*0 +a +running +2 +16 +1 +- ", first), first
    assert re.search(r" 1 +b +running +2 +16 +1 +- ", first), first
    assert re.search(r"\*0 +a +stopped +2 +16 +1 +killed 0 +-", second), second
    assert re.search(r" 1 +b +stopped +2 +16 +2 +killed 0 +-", second), second
    assert len(re.findall(r"nestling: a +[01] +(?:stopped|off) ", text)) == 2
    result.says("there is no command 'bogus'; help lists them")
    assert result.raw.count(b"\x1enestling vm ") == 3


def test_script_with_carriage_returns(tmp_path):
    """The same from a terminal's or another system's line ends, with one VM;
    quit ends it."""
    result = run_vms(tmp_path, spin(tmp_path), smp=2,
                     typed=b"\x14mhelp\r\nfocus all\r\nlog debug\rquit\r\n")
    result.expect(0, a=(0, "killed"))
    result.says("  kill   VM       end a VM")
    result.says("no VM has the focus")
    assert not any("there is no command" in line for line in result.hyp)


def test_no_character_is_lost(tmp_path):
    """Some ten thousand characters as fast as they can come, while VMs run on
    all CPUs and commands take their time."""
    lines = [f"log {i:05}" for i in range(1000)]
    for i in range(100, 1000, 100):
        lines[i] = "pause a" if i % 200 else "resume a"
    result = run_vms(tmp_path, spin(tmp_path), smp=2, timeout=120,
                     typed=("\x14:" + "\n".join(lines) + "\nquit\n").encode())
    result.expect(0, a=(0, "killed"))
    bad = [line for line in result.hyp if line.startswith("log: ")]
    assert bad == [f"log: '{line[4:]}' is none of error, warn, info, debug"
                   for line in lines if line.startswith("log")]


def test_edit_by_hand(tmp_path):
    """Backspace, Ctrl-U, Ctrl-W, the up arrow and Ctrl-C, with output of a VM
    in between."""
    with Prompt(tmp_path, vm("a", guest("busy"),
                             bootargs="seconds=1000")) as machine:
        machine.expect("busy: second 1 ")
        machine.open()
        machine.child.send("mex\x7fm x\x17\r")
        machine.expect(r"nestling: \d+ pages of 4 KiB: \d+ free")
        machine.child.send("nonsense\x15\x1b[A\r")
        machine.expect(r"nestling: \d+ pages of 4 KiB: \d+ free")
        assert "there is no command" not in machine.seen
        machine.child.send("km")
        machine.expect("busy: second [0-9]+ work")
        machine.child.send("\x7fi")
        machine.expect("nestling> km?\b? ?\b?i?")
        machine.child.send("ll a\r")
        machine.expect("VM a is gone")
        machine.child.send("start a\r")
        machine.expect("busy: second 1 ")
        machine.child.send("\x03\x14q")
        assert machine.end() == 0


def test_log_level(tmp_path):
    """log: what the hypervisor says about a start."""
    with Prompt(tmp_path, spin(tmp_path),
                spin(tmp_path, "b", autostart="no")) as machine:
        machine.expect(r"\[a\] spinning")
        machine.open()
        machine.silent("start b")
        machine.says("kill b", "gone")
        machine.silent("log debug")
        machine.says("start b", "VM b: entry 40080000")
        machine.silent("log error")
        machine.silent("kill b")
        machine.says("log loud", "'loud' is none of error, warn")
        machine.type("quit")
        assert machine.end() == 0


def test_registers(tmp_path):
    """regs: of a paused vCPU, not of one that runs."""
    with Prompt(tmp_path, spin(tmp_path)) as machine:
        machine.expect(r"spinning")
        machine.open()
        machine.says("regs a 1", "VM a vCPU 1 is running: pause the VM first")
        machine.silent("pause a")
        answer = "\n".join(machine.ask("regs a 1"))
        assert re.search(r"x0  ffffffffffffffff", answer), answer
        assert re.search(r"pc  00000000400[89a-f]", answer), answer
        machine.says("regs a 2", "VM a has no vCPU 2")
        machine.says("kill a", "gone")
        machine.says("regs a 0", "VM a is not running")
        machine.child.send("\x04")
        assert machine.end() == 0


def test_focus(tmp_path):
    """focus: keys go to that VM, or with all to none."""
    with Prompt(tmp_path, vm("a", guest("uart"), bootargs="echo=1"),
                vm("b", guest("uart"), bootargs="echo=1")) as machine:
        machine.expect("uart: listening")
        machine.expect("uart: listening")
        machine.open()
        machine.says("focus b", "focus on b")
        machine.child.send("\x04")
        machine.type("one")
        machine.expect(r'\[b\] uart: got "one", 3 bytes')
        machine.open()
        machine.says("focus all", "no VM has the focus")
        machine.child.send("\x04")
        machine.type("two")
        machine.open()
        machine.says("focus 0", "focus on a")
        machine.child.send("\x04")
        machine.type("three")
        machine.expect(r'\[a\] uart: got "three", 5 bytes')
        assert '"two"' not in machine.seen
        machine.child.send("\x14q")
        assert machine.end() == 0


def times(machine):
    """{(VM, vCPU): (run, wait, sleep) in ms} of what the monitor shows."""
    rows = machine.table("vcpus")
    return {(row[0], row[1]): [int(t) for t in row[-4:-1]] for row in rows}


def test_times_add_up(tmp_path):
    """Every millisecond of a vCPU is run, wait or sleep time: between two
    tables they grow by the same sum for all, and a pCPU's vCPUs run no longer
    than that together."""
    with Prompt(tmp_path,
                vm("busy", guest("busy"), vcpus=3, bootargs="seconds=1000"),
                vm("naps", guest("sleeper"), vcpus=2,
                   bootargs="seconds=1000 period=5000"),
                vm("one", guest("busy"), affinity=[1],
                   bootargs="seconds=1000")) as machine:
        # Not the VM in focus, whose lines may be broken by others.
        machine.expect(r"\[one\] busy: second 1 ")
        machine.open()
        before = times(machine)
        assert len(before) == 6
        time.sleep(3)
        after = times(machine)
        grown = {who: [b - a for a, b in zip(before[who], after[who])]
                 for who in before}
        sums = [sum(t) for t in grown.values()]
        assert min(sums) > 1000, grown
        # The rows are made one after the other, each rounds three times.
        assert max(sums) - min(sums) < 100, grown
        run = sum(t[0] for t in grown.values())
        assert 0.9 * 2 * min(sums) < run < 2 * max(sums) + 20, grown
        assert all(t[2] == 0 for (name, _), t in grown.items()
                   if name != "naps"), grown
        assert all(t[2] > 0 for (name, _), t in grown.items()
                   if name == "naps"), grown
        machine.type("quit")
        assert machine.end() == 0
