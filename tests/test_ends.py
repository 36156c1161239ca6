# SPDX-License-Identifier: BSD-2-Clause
#
# How VMs end: every way out of a guest gives the documented status of the VM
# and of the machine, and QEMU's own status agrees.

import pytest
from harness import guest, mini, run_vms, vm


def ends(folder, *defines):
    """A mini guest that ends in one way."""
    return mini(folder, "ends", *defines, f'NAME="{defines[0]}"')


@pytest.mark.parametrize("argument, status", [
    ("0", 0), ("1", 1), ("3", 3), ("119", 119), ("255", 255), ("256", 0),
    ("0x1ff", 255), ("-1", 255), ("0xffffffff00000004ull", 4)])
def test_exit(argument, status, tmp_path):
    """The exit call: the low 8 bits of its argument."""
    kernel = ends(tmp_path, f"STATUS={argument}")
    result = run_vms(tmp_path, vm("a", kernel, format="flat"))
    result.expect(status, a=(status, "exit"))
    assert result.qemu_status == (1 if status else 0)


@pytest.mark.parametrize("status", [0, 3])
def test_exit_of_main(status, tmp_path):
    """What main returns in an image of ours."""
    result = run_vms(tmp_path, vm("a", guest("hello"),
                                  bootargs=f"exit={status}"))
    result.expect(status, a=(status, "exit"))
    result.has("a", "^hello: 1 vCPU, 128 MiB at 0x40000000, EL1")


def test_off(tmp_path):
    """PSCI SYSTEM_OFF."""
    result = run_vms(tmp_path, vm("a", ends(tmp_path, "OFF"), format="flat"))
    result.expect(0, a=(0, "off"))


def test_several(tmp_path):
    """The machine ends with the first status other than 0 in the order of the
    manifest, whoever ended first."""
    late = ends(tmp_path, "STATUS=7")
    result = run_vms(tmp_path,
                     vm("zero", ends(tmp_path, "OFF"), format="flat"),
                     vm("slow", guest("hello"), bootargs="exit=4"),
                     vm("fast", late, format="flat"))
    result.expect(4, zero=(0, "off"), slow=(4, "exit"), fast=(7, "exit"))


def test_not_started(tmp_path):
    """A VM with autostart = "no" does not run and does not count."""
    result = run_vms(tmp_path,
                     vm("a", ends(tmp_path, "STATUS=7"), format="flat",
                        autostart="no"),
                     vm("b", guest("hello")))
    result.expect(0, b=(0, "exit"))
    assert "a" not in result.vms
    assert not result.text("a").strip()


def test_refused_hypercalls(tmp_path):
    """hypercalls = "none": every call is unknown, exit included."""
    result = run_vms(tmp_path, vm("a", ends(tmp_path, "REFUSED"),
                                  format="flat", hypercalls="none"))
    result.expect(0, a=(0, "off"))
    result.has("a", "^refused$")


@pytest.mark.parametrize("how", ["UNDEFINED", "JUMP", "WRITE"])
def test_crash(how, tmp_path):
    """A guest without vectors that cannot be fetched takes exceptions for
    ever, for an undefined instruction, a jump to nowhere or writes to every
    address. It is stopped alone: a VM beside it goes on and ends."""
    result = run_vms(tmp_path, vm("crash", ends(tmp_path, how), format="flat"),
                     vm("good", guest("hello"), bootargs="exit=3"),
                     timeout=30)
    result.expect(120, crash=(120, "fault"), good=(3, "exit"))
