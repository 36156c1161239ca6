# SPDX-License-Identifier: BSD-2-Clause
#
# LoongArch: guests of ours on the hypervisor, and the hypervisor as a guest of
# itself. What does not depend on the architecture is tested on arm64.

import os
import subprocess

import pytest
from harness import MIB, SOAK, guest, hypervisor, launcher, make_bundle, \
    run_vms, vm
from launch import qemu

ARCH = "loongarch"
PASSED = r"^([1-9][0-9]*) passed, 0 failed$"


def la(name):
    """The path of a LoongArch guest image."""
    return guest(name, ARCH)


def run(folder, *vms, **options):
    """run_vms() on LoongArch."""
    return run_vms(folder, *vms, arch=ARCH, timeout=options.pop("timeout", 120),
                   **options)


def passed(result, *names):
    """Every VM named ended with 0 and says that all its checks passed."""
    result.expect(0, **{name: (0, "exit") for name in names})
    for name in names:
        result.has(name, PASSED)
        if "FAIL" in result.text(name):
            result.complain(f"VM {name} has a FAIL line")
    return result


@pytest.mark.parametrize("status", [0, 3])
def test_hello(status, tmp_path):
    """newlib, arguments, the exit call."""
    result = run(tmp_path, vm("a", la("hello"), bootargs=f"exit={status} x=y"))
    result.expect(status, a=(status, "exit"))
    result.has("a", "^hello: 1 vCPU, 128 MiB at 0, PLV0, timer 100000000 Hz")
    result.has("a", '^hello: argument 2 is "x=y"')
    assert result.qemu_status == (1 if status else 0)


@pytest.mark.parametrize("vcpus, smp", [(1, 1), (2, 1), (4, 2), (2, 3)])
def test_sleeper(vcpus, smp, tmp_path):
    """Timer, sleep and wake on several vCPUs, fewer pCPUs than vCPUs too."""
    passed(run(tmp_path, vm("a", la("sleeper"), vcpus=vcpus,
                            bootargs="seconds=2"), smp=smp), "a")


@pytest.mark.parametrize("walk", ["on", "off"])
@pytest.mark.parametrize("name", ["csrs", "exceptions", "tlb", "fp", "tasks",
                                  "neighbour", "memtest"])
def test_image(name, walk, tmp_path):
    """The images of one vCPU; the guest's page tables walked by the
    hypervisor, and by its own refill handler."""
    passed(run(tmp_path, vm("a", la(name)), append=f"walk={walk}"), "a")


@pytest.mark.parametrize("name, args", [
    ("smp", "rounds=300"), ("fp", None), ("migrate", None), ("memtest", None),
    ("ipi", "count=20000"), ("contend", "ms=300"), ("deadlines", "shots=200")])
def test_image_with_vcpus(name, args, tmp_path):
    """Four vCPUs on two pCPUs."""
    passed(run(tmp_path, vm("a", la(name), vcpus=4,
                            bootargs=None if SOAK else args),
               smp=2, timeout=240), "a")


@pytest.mark.parametrize("name, args", [("ipi", "count=3000"),
                                        ("contend", "ms=100"),
                                        ("deadlines", "shots=100")])
def test_races_on_one_cpu(name, args, tmp_path):
    """Two vCPUs that never run at the same time, and one alone."""
    passed(run(tmp_path, vm("a", la(name), vcpus=2, bootargs=args),
               vm("b", la(name), bootargs=args), smp=1), "a", "b")


@pytest.mark.parametrize("use", ["xf", "lx", "nx"])
def test_user_tasks(use, tmp_path):
    """User tasks whose kernel moves FP registers lazily, with an ASID each or
    one for both; two such VMs on one pCPU."""
    passed(run(tmp_path, vm("own", la("tasks"), bootargs=f"use={use}"),
               vm("same", la("tasks"), bootargs=f"use={use} asid=same"),
               append="slice=200 fpwidth=step"), "own", "same")


def test_tlb_of_a_cpu_left(tmp_path):
    """Entries invalidated on one pCPU are gone on the one it came from."""
    result = run(tmp_path, vm("a", la("tlb"), bootargs="rounds=2000"), smp=2)
    passed(result, "a")
    assert "skip" not in result.text("a").lower(), result.text("a")


def test_vms_do_not_notice_each_other(tmp_path):
    """Guests that use the same addresses, ASIDs, registers and FP registers,
    on two pCPUs."""
    names = ["csrs", "exceptions", "tlb", "fp", "tasks", "neighbour"]
    result = run(tmp_path, *(vm(name, la(name)) for name in names), smp=2,
                 append="slice=300", timeout=240)
    passed(result, *names)


@pytest.mark.parametrize("vcpus, smp", [(1, 1), (2, 2)])
@pytest.mark.parametrize("seed", [1, 2, 3] if SOAK else [1])
def test_hostile(seed, vcpus, smp, tmp_path):
    """Random operations at all levels; the neighbour keeps passing."""
    count = 1000000 if SOAK else 100000
    result = run(tmp_path, vm("hostile", la("hostile"), vcpus=vcpus,
                              bootargs=f"ops={count} seed={seed}"),
                 vm("neighbour", la("neighbour"), bootargs="seconds=10"),
                 smp=smp, timeout=3000 if SOAK else 300)
    result.expect(0, hostile=(0, "exit"))
    result.has("hostile", r"^hostile: done, [0-9]+ operations$")
    passed(result, "neighbour")


def test_window_refused(tmp_path):
    """A guest linked for a window outside the 48-bit addresses."""
    with open(la("hello"), "rb") as f:
        elf = bytearray(f.read())
    elf[24:32] = (0x9000000000200000).to_bytes(8, "little")
    path = tmp_path / "high.elf"
    path.write_bytes(elf)
    result = run(tmp_path, vm("a", str(path)))
    assert result.status == 2
    assert "a: kernel: runs at 0x9000000000200000: code in a direct mapped " \
        "window outside the 48-bit addresses would need LVZ" in result.hyp


def test_memory_above_4g_hole(tmp_path):
    """RAM has a second bank."""
    result = run(tmp_path, vm("a", la("hello"), memory=384 * MIB))
    result.expect(0).has("a", "^hello: 1 vCPU, 384 MiB")


def test_busy_beside_sleeper(tmp_path):
    """VMs that share a pCPU, one always busy, one asleep most of the time."""
    result = run(tmp_path, vm("busy", la("busy"), bootargs="seconds=4"),
                 vm("sleeper", la("sleeper"), bootargs="seconds=2"), smp=1)
    passed(result, "sleeper")
    result.expect(0, busy=(0, "exit"))


@pytest.mark.parametrize("smp, cpus", [(1, 1), (2, 2)])
def test_self_hosting(smp, cpus, tmp_path):
    """The hypervisor runs as a guest of itself. Its guests: 2 vCPUs with
    timers, levels of privilege, TLB, FP registers."""
    inner = tmp_path / "inner.cpio"
    names = ["sleeper", "exceptions", "tlb", "fp", "tasks"]
    make_bundle(inner, [vm(name, la(name), memory=32 * MIB,
                           vcpus=2 if name == "sleeper" else 1)
                        for name in names])
    result = run(tmp_path, vm("outer", hypervisor(ARCH), ramdisk=str(inner),
                              vcpus=cpus, memory=256 * MIB,
                              bootargs="console=lines"),
                 smp=smp, timeout=180)
    result.expect(0, outer=(0, "exit"))
    for name in names:
        result.has("outer", rf"^\[{name}\] [1-9][0-9]* passed, 0 failed$")
    result.says(f"Nestling: {cpus} CPUs, 25")


def test_bare_reference():
    """The images are right by themselves: they run on QEMU's own machine. That
    one sometimes stands still before the first output when the host is busy,
    without any part of the hypervisor in it: so up to four starts."""
    argv = [qemu.BINARY[ARCH], "-M", "virt", "-cpu", "max", "-smp", "2", "-m",
            "512M", "-nodefaults", "-display", "none", "-serial", "stdio",
            "-no-reboot", "-kernel", la("sleeper"), "-append", "seconds=1"]
    for left in (3, 2, 1, 0):
        try:
            done = subprocess.run(argv, capture_output=True, text=True,
                                  check=False, stdin=subprocess.DEVNULL,
                                  timeout=20)
            break
        except subprocess.TimeoutExpired as ended:
            # Once it has begun, it must come to its end.
            if ended.stdout or not left:
                raise
    assert "4 passed, 0 failed" in done.stdout, done.stdout + done.stderr


def test_launcher():
    """tools/nestling run and demo take the architecture."""
    done = launcher("run", "--arch", ARCH, "--kernel", la("hello"),
                    "--append", "exit=7", "--cpus", "2")
    assert done.returncode == 7, done.stdout + done.stderr
    assert "hello: 2 vCPU" in done.stdout


def test_bundle_too_large(tmp_path):
    """QEMU's machine has no room for the bundle: said before it starts."""
    big = tmp_path / "big"
    with open(big, "wb") as out:
        out.truncate(300 * MIB)
    done = launcher("run", "--arch", ARCH, "--kernel", la("hello"), "--initrd",
                    str(big))
    assert done.returncode == 2
    assert "are the most on this machine" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_debug(tmp_path):
    """gdb stops in the hypervisor; its commands show vCPU, CSRs and TLB."""
    (tmp_path / "manifest.dts").write_text(f"""/dts-v1/;
/ {{ compatible = "nestling,manifest"; version = <1>;
    vms {{ first {{ kernel = "{la('hello')}"; }}; }}; }};
""")
    commands = ["hbreak hcall_exit", "continue", "nestling cpus",
                "nestling vcpus", "nestling regs first 0",
                "nestling tlb first 0", "nestling host", "nestling regs no 0"]
    log = tmp_path / "console"
    done = launcher("debug", "--arch", ARCH, str(tmp_path), "--log", str(log),
                    "--gdb-args",
                    "-batch " + " ".join(f"-ex '{c}'" for c in commands))
    text = done.stdout + done.stderr
    assert "pCPU 0: runs first/0, loaded first/0" in text, text
    assert "VM first: VM_RUNNING, 1 vCPUs" in text
    assert "dmw0        0000000000000011" in text
    assert "EENTRY" in text			# QEMU's own registers
    assert "there is no vCPU no 0" in text


def test_file():
    """The stripped file is what QEMU loads; nothing of it is position
    independent, so it has no relocations."""
    out = subprocess.run(["readelf", "-hlrW", hypervisor(ARCH)], text=True,
                         capture_output=True, check=True).stdout
    assert "Entry point address:               0x2000000" in out
    assert "There are no relocations" in out
    assert os.path.getsize(hypervisor(ARCH)) < 1 << 20
