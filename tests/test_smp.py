# SPDX-License-Identifier: BSD-2-Clause
#
# Guests with several vCPUs, without icount, which would run them in turns:
# interrupts between vCPUs, sleep against wake-up, contended locks, deadlines,
# shared memory, PSCI races and resets, also with many more vCPUs than CPUs and
# beside other VMs. NESTLING_SOAK makes all of it longer.

import time

import pytest
from harness import SOAK, guest, run_vms, vm
from test_guests import passed


def args(**values):
    """Image arguments; a tuple is (short, long)."""
    return " ".join(f"{name}={value[SOAK] if isinstance(value, tuple) else value}"
                    for name, value in values.items())


def one(folder, name, vcpus, smp=2, timeout=600, **values):
    """Runs one image in one VM; it must pass."""
    return passed(
        run_vms(folder, vm("a", guest(name), vcpus=vcpus,
                           bootargs=args(**values)),
                smp=smp, timeout=timeout * 5 if SOAK else timeout), "a")


@pytest.mark.parametrize("vcpus, smp", [(1, 1), (2, 2), (4, 1), (4, 2),
                                        (8, 2), (32, 2)])
def test_ipi(vcpus, smp, tmp_path):
    """Every SGI of a storm from all to all comes exactly once."""
    one(tmp_path, "ipi", vcpus, smp, count=(100000, 2000000))


@pytest.mark.parametrize("vcpus, smp, rounds, barriers", [
    (2, 2, (100000, 1000000), 500), (2, 1, (100000, 1000000), 500),
    (3, 2, (10000, 100000), 200), (8, 2, (20000, 200000), 200),
    (32, 2, (5000, 100000), 100)])
def test_wake(vcpus, smp, rounds, barriers, tmp_path):
    """No wake-up is lost, whatever wakes and whenever. WFE costs the rest of a
    time slice when the waker is on the same CPU."""
    one(tmp_path, "wake", vcpus, smp, rounds=rounds, barriers=barriers,
        wfe=256 if vcpus > smp else 4)


@pytest.mark.parametrize("vcpus, smp, shots", [
    (1, 1, (1000, 20000)), (1, 2, (1000, 20000)), (4, 2, (500, 5000)),
    (32, 2, (30, 500))])
def test_deadlines(vcpus, smp, shots, tmp_path):
    """Timers come once and never early, on all vCPUs at once."""
    one(tmp_path, "deadlines", vcpus, smp, shots=shots)


def test_deadlines_beside_busy(tmp_path):
    """The same while somebody else always wants the CPU."""
    result = run_vms(
        tmp_path, vm("a", guest("deadlines"), vcpus=2,
                     bootargs=args(shots=(300, 3000))),
        vm("busy", guest("busy"), vcpus=2,
           bootargs=args(seconds=(10, 60))), smp=2, timeout=600)
    result.expect(0, busy=(0, "exit"))
    passed(result, "a")


@pytest.mark.parametrize("vcpus, smp", [(2, 1), (2, 2), (8, 2), (32, 2)])
def test_contend(vcpus, smp, tmp_path):
    """Locks with more vCPUs than CPUs: all get on."""
    one(tmp_path, "contend", vcpus, smp, ms=(1000, 20000))


@pytest.mark.parametrize("vcpus, smp", [(2, 1), (2, 2), (8, 2), (32, 2)])
def test_stress(vcpus, smp, tmp_path):
    """Each vCPU reads what another has written."""
    many = vcpus > 8
    one(tmp_path, "stress", vcpus, smp,
        rounds=(40 if many else 100, 1000), kib=256)


@pytest.mark.parametrize("vcpus, smp", [(3, 1), (3, 2), (8, 2), (20, 2)])
def test_psci_races(vcpus, smp, tmp_path):
    """One of several callers of CPU_ON succeeds; a baton through all."""
    one(tmp_path, "psciraces", vcpus, smp, rounds=(300, 5000),
        laps=(1000 // vcpus, 10000 // vcpus))


def test_psci_off_against_on(tmp_path):
    """CPU_ON until it succeeds against a CPU_OFF, thousands of times."""
    one(tmp_path, "psci", 2, cycles=(5000, 50000))


@pytest.mark.parametrize("vcpus, smp", [(1, 1), (4, 1), (4, 2), (9, 2)])
def test_resets(vcpus, smp, tmp_path):
    """Resets in the middle of everything: each boot finds a fresh machine."""
    until = int(time.time()) + (120 if SOAK else 8)
    result = one(tmp_path, "resets", vcpus, smp, until=until)
    boots = result.text("a").count("ok others-are-off")
    assert boots >= 5, f"only {boots} boots"


@pytest.mark.parametrize("vcpus", [2, 4])
def test_hostile(vcpus, tmp_path):
    """Random operations on several vCPUs; the neighbour is unharmed."""
    result = run_vms(
        tmp_path, vm("hostile", guest("hostile"), vcpus=vcpus,
                     bootargs=args(ops=(1000000, 10000000), seed=vcpus)),
        vm("neighbour", guest("neighbour"), vcpus=2, bootargs="seconds=10"),
        smp=2, timeout=3000 if SOAK else 600)
    result.expect(0, hostile=(0, "exit"))
    result.has("hostile", r"^hostile: done, [1-9][0-9]{6,} operations")
    passed(result, "neighbour")


def test_all_at_once(tmp_path):
    """All of it in VMs beside each other: 26 vCPUs on two CPUs."""
    loads = {"ipi": (4, {"count": (50000, 1000000)}),
             "wake": (4, {"rounds": (2000, 100000), "barriers": 50}),
             "deadlines": (4, {"shots": (100, 2000)}),
             "contend": (4, {"ms": (500, 10000)}),
             "stress": (4, {"rounds": (20, 300)}),
             "psciraces": (4, {"rounds": (50, 2000), "laps": 50}),
             "fp": (2, {"vm": 3, "rounds": (500, 20000)})}
    result = run_vms(
        tmp_path, *(vm(name, guest(name), vcpus=vcpus, bootargs=args(**more))
                    for name, (vcpus, more) in loads.items()),
        smp=2, timeout=3000 if SOAK else 600)
    passed(result, *loads)
