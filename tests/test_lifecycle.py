# SPDX-License-Identifier: BSD-2-Clause
#
# VMs that are killed, started again, paused and reset at run time: whatever
# their vCPUs do, everything is given back, the next owner of the memory finds
# zeros, and a VM beside them never notices.

import random
import re
import time

import pytest
from harness import MIB, SOAK, TOP, guest, mini, vm
from launch import demo
from prompt import Prompt


def ends(folder, name, *defines, **props):
    """A VM that ends, or does not, in one way."""
    kernel = mini(folder, "ends", *defines, f'NAME="{defines[0]}"')
    return vm(name, kernel, format="flat", memory=16 * MIB, **props)


def neighbour(**props):
    """A VM that checks itself for as long as the test takes."""
    return vm("neighbour", guest("neighbour"), memory=32 * MIB, **props)


class Memory:
    """Free pages of a machine, which stay the same but for the end of the
    neighbour."""

    def __init__(self, machine):
        self.machine = machine
        self.free = machine.free()
        self.alone = False

    def check(self, what):
        """Nothing was lost, nor given back twice, since the beginning."""
        free = self.machine.free()
        if free != self.free and not self.alone:
            self.alone = self.machine.state("neighbour") == "stopped"
            if self.alone:
                self.free = free = self.machine.free()
        assert free == self.free, what


def quit_with_neighbour(machine):
    """Wait for the neighbour's verdict and the machine's end."""
    assert "] FAIL " not in machine.seen
    verdict = r"\[neighbour\] \d+ passed, 0 failed"
    if not re.search(verdict, machine.seen):
        machine.expect(verdict, timeout=120)
    machine.child.send("\x04")
    assert machine.end() == 0


def test_kill_in_every_state(tmp_path):
    """Killed while it spins with interrupts masked on two pCPUs and its vector
    registers are live, sleeps for good, waits for a pCPU, sleeps until a
    timer, is paused, resets itself for ever: everything comes back, and the
    VM starts again."""
    victims = [
        ends(tmp_path, "spin", "SPIN", vcpus=2),
        ends(tmp_path, "sleep", "SLEEP"),
        ends(tmp_path, "resets", "RESET"),
        vm("busy", guest("busy"), vcpus=3, bootargs="seconds=1000",
           memory=16 * MIB),
        vm("naps", guest("sleeper"), vcpus=2, memory=16 * MIB,
           bootargs="seconds=1000 period=300000"),
        vm("fp", guest("fp"), vcpus=2, memory=16 * MIB,
           bootargs="rounds=100000000"),
        vm("rt", guest("busy"), memory=16 * MIB, bootargs="seconds=1000",
           rt_budget=4000, rt_period=10000),
    ]
    victims = [(name, {**props, "autostart": "no"})
               for name, props in victims]
    fresh = vm("fresh", guest("fp"), vcpus=2, memory=16 * MIB, autostart="no",
               bootargs="rounds=10")
    with Prompt(tmp_path, neighbour(bootargs="seconds=12"), *victims, fresh,
                timeout=100) as machine:
        machine.expect(r"\[neighbour\] ")
        machine.open()
        memory = Memory(machine)
        for name, _ in victims:
            for paused in (False, True):
                machine.silent(f"start {name}")
                time.sleep(0.3)
                if paused:
                    machine.ask(f"pause {name}")
                machine.says(f"kill {name}", f"VM {name} is gone")
                assert machine.state(name) == "stopped"
                memory.check(name)
        # All at once, in all kinds of states of each other.
        for name, _ in victims:
            machine.silent(f"start {name}")
        time.sleep(1)
        for name, _ in victims:
            machine.says(f"kill {name}", f"VM {name} is gone")
        memory.check("all")
        # Nothing of the killed VM is in the vector registers.
        machine.silent("start spin")
        machine.expect(r"\[spin\] spinning")
        machine.ask("kill spin")
        machine.type("start fresh")
        machine.expect(r"\[fresh\] ok vcpu0-entry-q-zero")
        machine.expect(r"\[fresh\] \d+ passed, 0 failed")
        quit_with_neighbour(machine)


def test_memory_of_another(tmp_path):
    """Two VMs take turns with the same memory and are killed at any time in
    between: each finds it zeroed, none of it is lost, and the third does not
    notice."""
    rng = random.Random(1)
    rounds = 500 if SOAK else 50
    tests = [vm(name, guest("memtest"), memory=32 * MIB, autostart="no",
                vcpus=cpus, bootargs=f"vm={cpus}")
             for name, cpus in (("a", 1), ("b", 2))]
    with Prompt(tmp_path, neighbour(bootargs="seconds=12"), *tests,
                timeout=100 + rounds) as machine:
        machine.expect(r"\[neighbour\] ")
        machine.open()
        memory = Memory(machine)
        for i in range(rounds):
            name = "ab"[i % 2]
            machine.silent(f"start {name}")
            if i % 10 == 9:
                machine.expect(rf"\[{name}\] ok memory-is-zero-at-first")
                machine.expect(rf"\[{name}\] \d+ passed, 0 failed")
                while machine.state(name) != "stopped":
                    time.sleep(0.05)
            else:
                time.sleep(rng.uniform(0, 0.15))
                machine.ask(f"kill {name}")
            memory.check(f"round {i}")
        quit_with_neighbour(machine)


def test_too_little_memory(tmp_path):
    """A VM that does not fit is refused with one line and leaves nothing
    behind; it starts once there is room."""
    with Prompt(tmp_path, ends(tmp_path, "spin", "SPIN", vcpus=2),
                vm("big", guest("busy"), memory=256 * MIB, vcpus=2,
                   bootargs="seconds=1000"),
                vm("same", guest("hello"), memory=256 * MIB, autostart="no"),
                args=("--host-memory", "512M")) as machine:
        machine.expect(r"\[big\] busy: second 1 ")
        machine.open()
        free = machine.free()
        assert machine.ask("start same") == [
            "VM same: 256 MiB of memory wanted, the machine has "
            f"{free * 4096 // MIB} MiB free"]
        assert machine.free() == free
        assert machine.state("same") == "never ran"
        machine.says("kill big", "gone")
        machine.type("start same")
        machine.expect(r"\[same\] hello: malloc and 3.142 work")
        machine.type("quit")
        assert machine.end() == 0


def test_bad_image_later(tmp_path):
    """A mistake that shows only when a VM is started: one line, nothing is
    lost, the others go on."""
    (tmp_path / "text").write_text("no kernel\n" * 100, encoding="ascii")
    with Prompt(tmp_path, ends(tmp_path, "spin", "SPIN", vcpus=2),
                vm("bad", str(tmp_path / "text"), autostart="no")) as machine:
        machine.expect(r"\[spin\] spinning")
        machine.open()
        free = machine.free()
        assert machine.ask("start bad") == [
            "bad: kernel: is neither a Linux Image nor an ELF file"]
        assert machine.free() == free
        assert machine.state("bad") == "never ran"
        machine.type("quit")
        assert machine.end() == 0


def test_reservation_comes_back(tmp_path):
    """Real-time reservations of killed VMs are free again, and what does not
    fit is refused."""
    budget = {"rt_budget": 6000, "rt_period": 10000, "affinity": [1],
              "memory": 16 * MIB, "bootargs": "seconds=1000"}
    with Prompt(tmp_path, ends(tmp_path, "spin", "SPIN", vcpus=2),
                vm("one", guest("busy"), autostart="no", **budget),
                vm("two", guest("busy"), autostart="no",
                   **budget)) as machine:
        machine.expect(r"\[spin\] spinning")
        machine.open()
        free = machine.free()
        machine.silent("start one")
        refused = "rt-budget: no pCPU of its affinity has so much time left " \
                  "to reserve"
        assert machine.ask("start two") == [f"VM two: {refused}"]
        machine.says("kill one", "gone")
        machine.silent("start two")
        assert machine.ask("start one") == [f"VM one: {refused}"]
        machine.says("kill two", "gone")
        assert machine.free() == free
        machine.type("quit")
        assert machine.end() == 0


def test_machine_stays_with_the_prompt(tmp_path):
    """The open prompt keeps a machine without VMs; closing it ends it. The
    last end of a VM counts for the status."""
    with Prompt(tmp_path, vm("a", guest("hello"), bootargs="exit=3"),
                vm("b", guest("uart"), bootargs="echo=1")) as machine:
        machine.expect(r"\[b\] uart: listening")
        machine.open()
        machine.says("kill b", "VM b is gone")
        rows = [row.split() for row in machine.ask("vms")[1:]]
        assert rows[0][-3:-1] == ["exit", "3"], rows
        machine.says("start nobody", "there is no VM nobody")
        machine.says("kill b", "VM b is not running")
        machine.type("start a")
        machine.expect(r"\[a\] hello: malloc and 3.142 work")
        while machine.state("a") != "stopped":
            time.sleep(0.05)
        machine.child.send("\x04")
        assert machine.end() == 3


def test_input_of_a_dead_vm(tmp_path):
    """What was typed for a VM that has ended is not read by its next life."""
    with Prompt(tmp_path, vm("a", guest("uart"), bootargs="echo=1"),
                ends(tmp_path, "spin", "SPIN", vcpus=2)) as machine:
        machine.expect(r"\[a\] uart: listening")
        machine.open()
        machine.silent("pause a")
        machine.child.send("\x04")
        machine.type("old" * 40)	# more than the device takes
        machine.open()
        machine.says("kill a", "gone")
        machine.child.send("\x04")
        machine.type("lost")
        machine.open()
        machine.silent("start a")
        machine.expect(r"\[a\] uart: listening")
        machine.child.send("\x04")
        machine.type("new")
        assert machine.expect('got "([^"]*)"')[1] == "new"
        machine.child.send("\x14q")
        assert machine.end() == 0


def test_reset(tmp_path):
    """A reset by the monitor: the VM comes up again, in clean memory, paused
    or not; its memory is the same."""
    with Prompt(tmp_path, ends(tmp_path, "spin", "SPIN", vcpus=2),
                vm("a", guest("memtest"), memory=16 * MIB,
                   bootargs="passes=1000")) as machine:
        machine.expect(r"\[a\] ok memory-is-zero-at-first")
        machine.open()
        free = machine.free()
        for paused in (False, True, False):
            machine.expect(r"\[a\] ok pass-1\b")
            if paused:
                machine.silent("pause a")
            machine.silent("reset a")
            machine.expect(r"\[a\] ok memory-is-zero-at-first")
            assert machine.free() == free
        machine.type("reset spin")
        machine.expect(r"\[spin\] spinning")
        machine.type("quit")
        assert machine.end() == 0


@pytest.mark.parametrize("timer", ["virt", "phys"])
def test_pause(timer, tmp_path):
    """A paused VM does nothing and uses no time. Its clock goes on: timers
    that became due fire afterwards, and none fires early."""
    with Prompt(tmp_path, vm("naps", guest("sleeper"), vcpus=3,
                             bootargs=f"seconds=8 timer={timer}"),
                ends(tmp_path, "spin", "SPIN", vcpus=2)) as machine:
        machine.expect(r"\[spin\] spinning")
        machine.open()
        while any(row[2] == "off" for row in machine.table("vcpus")):
            time.sleep(0.05)
        for name in ("naps", "spin"):
            machine.silent(f"pause {name}")
            assert machine.state(name) == "paused"
            before = machine.table(f"vcpus {name}")
            assert all(row[2] == "stopped" for row in before), before
            time.sleep(1.5)
            assert machine.table(f"vcpus {name}") == before
            machine.says(f"regs {name} 0", f"VM {name} vCPU 0", "ESR")
            machine.says(f"pause {name}", f"VM {name} is paused")
            machine.silent(f"resume {name}")
            time.sleep(0.5)
            assert machine.table(f"vcpus {name}") != before
            machine.says(f"resume {name}", "not paused")
        machine.expect(r"\[naps\] \d+ passed, 0 failed", timeout=60)
        worst = [int(us) for us in
                 re.findall(r"worst (\d+) us late", machine.seen)]
        # One that was between two naps is not late for it.
        assert len(worst) == 3 and max(worst) > 1000000, worst
        machine.type("quit")
        assert machine.end() == 0


def test_pause_often(tmp_path):
    """Pausing and resuming at any time loses no vCPU and no interrupt."""
    with Prompt(tmp_path, vm("ipis", guest("gicsmp"), vcpus=4),
                vm("naps", guest("sleeper"), vcpus=4,
                   bootargs="seconds=5 period=700"),
                vm("fp", guest("fp"), vcpus=2, bootargs="rounds=1000"),
                neighbour(bootargs="seconds=5"), timeout=120) as machine:
        machine.expect(r"\[neighbour\] ")
        machine.open()
        names = ["ipis", "naps", "fp", "neighbour"]
        rng = random.Random(2)
        for _ in range(200 if SOAK else 40):
            name = rng.choice(names)
            machine.ask(f"pause {name}\rresume {name}")
        left = set(names)
        while left:
            machine.expect(r"\[(\w+)\] \d+ passed, (\d+) failed", timeout=120)
            assert machine.child.match[2] == "0", machine.child.match[0]
            left.discard(machine.child.match[1])
        machine.child.send("\x04")
        assert machine.end() == 0


def test_linux(tmp_path):
    """Linux is killed while it boots, again and again, and paused; then it
    boots, checks itself and powers off."""
    rng = random.Random(3)
    ramdisk = demo.linux_initramfs(TOP, str(tmp_path / "initramfs.cpio"))
    with Prompt(tmp_path, vm("debian", demo.kernel(TOP), ramdisk=ramdisk,
                             vcpus=2, memory=512 * MIB, bootargs=demo.AUTO),
                ends(tmp_path, "spin", "SPIN", vcpus=2),
                timeout=120) as machine:
        machine.expect(r"\[spin\] spinning")
        machine.open()
        machine.silent("pause spin")
        free = machine.free()
        for _ in range(30 if SOAK else 4):
            time.sleep(rng.uniform(0, 3))
            machine.says("kill debian", "gone")
            machine.silent("start debian")
            assert machine.free() == free
        machine.expect("smp: Brought up")
        machine.silent("pause debian")
        time.sleep(2)
        machine.silent("resume debian")
        machine.expect("LINUX-OK")
        while machine.state("debian") != "stopped":
            time.sleep(0.1)
        for bad in ("BUG", "WARNING", "Call trace", "Unable to handle"):
            assert bad not in machine.seen
        machine.type("quit")
        assert machine.end() == 0


def test_loongarch(tmp_path):
    """On the other architecture: killed at any time, paused and started again,
    everything comes back and memory is zeroed."""
    rng = random.Random(4)
    small = {"memory": 32 * MIB, "vcpus": 2, "autostart": "no"}

    def la(name, image, **props):
        return vm(name, guest(image, "loongarch"), **{**small, **props})

    with Prompt(tmp_path, la("busy", "busy", autostart="yes",
                             bootargs="seconds=1000"),
                la("naps", "sleeper", bootargs="seconds=1000 period=300000"),
                la("fp", "fp", bootargs="rounds=100000000"),
                la("memtest", "memtest", vcpus=1),
                args=("--arch", "loongarch"), timeout=100) as machine:
        machine.expect("busy: second 1 ")
        machine.open()
        free = machine.free()
        for i in range(100 if SOAK else 10):
            for name in ("naps", "fp", "memtest"):
                machine.silent(f"start {name}")
            time.sleep(rng.uniform(0, 0.5))
            if i % 2:
                machine.silent("pause fp")
            for name in ("fp", "memtest", "naps"):
                machine.ask(f"kill {name}")
            assert machine.free() == free, f"round {i}"
        machine.type("start memtest")
        machine.expect(r"\[memtest\] ok memory-is-zero-at-first")
        machine.expect(r"\[memtest\] \d+ passed, 0 failed")
        machine.type("quit")
        assert machine.end() == 0
