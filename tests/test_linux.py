# SPDX-License-Identifier: BSD-2-Clause
#
# Unmodified Debian kernels with a BusyBox user space, beside a guest of ours.
# One test per kernel types at the shell like a user; another lets the machine
# check itself without anybody typing.

import os
import re
import time

import pytest
from harness import BUILD, MIB, TOP, Session, guest, run_vms, vm
from launch import demo, initramfs

KERNELS = ["linux-trixie", "linux-backports"]
PROMPT = r"debian:[^ ]* # "


def kernel(name):
    """A Debian kernel that `make deps` has fetched, and its release."""
    path = os.path.join(TOP, "build/guests", name)
    with open(os.path.join(path, "version"), encoding="utf-8") as version:
        release = re.match(r"linux-(?:image|binary)-(\S+)", version.read())[1]
    return os.path.join(path, "Image"), release


@pytest.fixture(name="ramdisk", scope="module")
def fixture_ramdisk(tmp_path_factory):
    """The initramfs with BusyBox."""
    path = str(tmp_path_factory.mktemp("linux") / "initramfs.cpio")
    initramfs.write(path, os.path.join(TOP, "build/guests/busybox"),
                    os.path.join(TOP, "guest/linux"))
    return path


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("smp", [1, 2])
def test_self_check(name, smp, ramdisk, tmp_path):
    """Boots, checks its timer, clock and memory, and powers off, with a guest
    of ours beside it all the time."""
    image, version = kernel(name)
    result = run_vms(tmp_path,
                     vm("debian", image, ramdisk=ramdisk, memory=512 * MIB,
                        bootargs=demo.AUTO),
                     vm("hello", guest("hello")), smp=smp, timeout=120)
    result.expect(0, debian=(0, "off"), hello=(0, "exit"))
    result.has("debian", f"^LINUX-UP {re.escape(version)}$")
    result.has("debian", "^LINUX-OK$")
    before, after = map(int, result.has(
        "debian", r"^LINUX-TIMER (\d+) (\d+)$").groups())
    assert after > before
    assert int(result.has("debian", r"^LINUX-CPUS (\d+)$")[1]) == 1
    memory = int(result.has("debian", r"^LINUX-MEMORY (\d+) kB$")[1])
    assert 400 << 10 < memory <= 512 << 10
    for bad in ("BUG", "WARNING", "Call trace", "misaligned", "soft lockup",
                "rcu: INFO", "Unable to handle"):
        assert bad not in result.text("debian"), f"{bad} in Linux's messages"


def timer_count(session):
    """The sum of Linux's timer interrupts, read by typing."""
    session.type("grep arch_timer /proc/interrupts")
    match = session.expect(r"\n[^\n]*?\d+: +(\d+) [^\n]*arch_timer")
    session.expect(PROMPT)
    return int(match[1])


def manifest(folder, image, ramdisk):
    """A manifest with Linux and a guest of ours that keeps a CPU busy."""
    (folder / "manifest.dts").write_text(f"""/dts-v1/;
/ {{
    compatible = "nestling,manifest"; version = <1>;
    vms {{
        debian {{
            kernel = "{image}"; ramdisk = "{ramdisk}";
            memory = /bits/ 64 <{512 * MIB}>;
        }};
        busy {{ kernel = "{guest('busy')}"; bootargs = "seconds=20"; }};
    }};
}};
""")
    return str(folder)


@pytest.mark.parametrize("name", KERNELS)
def test_shell(name, ramdisk, tmp_path):
    """Typed at the shell: commands, timer counts, Ctrl-C, job control, reboot
    and the second boot, power-off."""
    image, version = kernel(name)
    with Session("start", manifest(tmp_path, image, ramdisk), "--timeout",
                 "240", timeout=90) as session:
        session.expect(f"LINUX-UP {re.escape(version)}")
        session.expect(PROMPT)
        session.type("echo $((6 * 7)) answer; uname -r")
        session.expect("\n[^\n]*42 answer")
        session.expect(re.escape(version))
        session.expect(PROMPT)
        session.type("cat /proc/cpuinfo | grep -c ^processor")
        session.expect(r"\n[^\n]*\b1\r")
        session.expect(PROMPT)
        before = timer_count(session)
        session.type("sleep 1; echo slept")
        session.expect("\n[^\n]*slept")
        session.expect(PROMPT)
        assert timer_count(session) > before
        session.type("echo sta''rted; sleep 1000")
        session.expect("started")
        time.sleep(2)	# until sleep is the foreground job
        session.child.send("\x03")
        session.expect(PROMPT)
        session.type("sleep 1000 & jobs; kill %1; echo killed")
        session.expect(r"Running[^\n]*sleep 1000")
        session.expect("\n[^\n]*killed")
        session.type("echo gone > /tmp/mark; reboot")
        session.expect(f"LINUX-UP {re.escape(version)}")
        session.expect(PROMPT)
        session.type("ls /tmp; cut -d. -f1 /proc/uptime; echo second")
        assert "mark" not in session.expect(r"([\s\S]*)\n[^\n]*second\r")[1]
        session.type("poweroff")
        assert session.end(60) == 0
        assert "120 (fault)" not in session.seen


def test_demo(tmp_path):
    """What `make run </dev/null` does."""
    from harness import launcher  # pylint: disable=import-outside-toplevel
    log = tmp_path / "log"
    done = launcher("demo", "--log", str(log), timeout=200)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    for proof in ("[debian] LINUX-OK", "[hello] ", "[busy] busy: total "):
        assert proof in done.stdout
    assert os.path.isfile(os.path.join(BUILD, "nestling.elf"))
