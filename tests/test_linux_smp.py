# SPDX-License-Identifier: BSD-2-Clause
#
# Debian kernels with several vCPUs on two pCPUs: all CPUs, their interrupts,
# hotplug, reboot and power-off; then two Linux VMs and guests of ours at once
# under a load that checks itself. NESTLING_SOAK runs the whole matrix.

import re

import pytest
from harness import MIB, SOAK, Session, guest, run_vms, vm
from test_guests import passed
from test_linux import PROMPT, fixture_ramdisk, kernel

__all__ = ["fixture_ramdisk"]	# for pytest to find it here

TRIXIE, BACKPORTS = "linux-trixie", "linux-backports"
CPUS = (1, 2, 4, 8)
MATRIX = [(name, n) for name in (TRIXIE, BACKPORTS) for n in CPUS] if SOAK \
    else [(BACKPORTS, 1), (BACKPORTS, 2), (TRIXIE, 4), (BACKPORTS, 8)]
ROUNDS = 50 if SOAK else 1
TROUBLE = ("BUG", "WARNING", "Call trace", "misaligned", "soft lockup",
           "rcu: INFO", "Unable to handle", "FAIL", "failed to come online")


def check_boot(session, version, cpus, rounds):
    """A boot to the prompt, with all CPUs, and everything they can do;
    `rounds` of hotplug."""
    session.expect(f"LINUX-UP {re.escape(version)}")
    session.expect(PROMPT)
    session.type(f"smpcheck {cpus} {rounds}")
    session.expect(f"LINUX-SMP OK {cpus} {rounds} |LINUX-SMP BAD[^\n]*",
                   timeout=6000 if SOAK else 600)
    session.expect(PROMPT)


@pytest.mark.parametrize("name, cpus", MATRIX)
def test_smp(name, cpus, ramdisk):
    """All CPUs online with timers and IPIs, hotplug in a loop, a reboot and
    all of it again, power-off."""
    image, version = kernel(name)
    with Session("run", "--kernel", image, "--initrd", ramdisk, "--cpus",
                 str(cpus), "--smp", "2", "--memory", "512M", "--append",
                 "quiet", "--timeout", "14000", timeout=180) as session:
        check_boot(session, version, cpus, ROUNDS)
        session.type("reboot")
        check_boot(session, version, cpus, ROUNDS if SOAK else 0)
        session.type("poweroff")
        assert session.end(120) == 0
        for bad in (*TROUBLE, "LINUX-SMP BAD"):
            assert bad not in session.seen, f"{bad} in Linux's messages"


def test_load(ramdisk, tmp_path):
    """Two Linux VMs, each with two CPUs, and guests of ours on two pCPUs for
    a minute, all of whom check what they do."""
    seconds = 600 if SOAK else 60
    images = {"one": TRIXIE, "two": BACKPORTS}
    own = {"neighbour": {"bootargs": f"seconds={seconds}"},
           "stress": {"bootargs": f"rounds={seconds * 10}", "vcpus": 2},
           "ipi": {"bootargs": f"count={seconds * 5000}", "vcpus": 2}}
    result = run_vms(
        tmp_path, *(vm(name, kernel(image)[0], ramdisk=ramdisk, vcpus=2,
                       memory=256 * MIB,
                       bootargs=f"quiet nestling.load={seconds}")
                    for name, image in images.items()),
        *(vm(name, guest(name), **props) for name, props in own.items()),
        smp=2, timeout=seconds * 6 + 300)
    result.expect(0, one=(0, "off"), two=(0, "off"))
    passed(result, *own)
    for name in images:
        rounds = int(result.has(
            name, r"^LINUX-LOAD OK 2 CPUs (\d+) rounds$")[1])
        assert rounds > 2
        for bad in TROUBLE:
            assert bad not in result.text(name), f"{bad} in VM {name}"
