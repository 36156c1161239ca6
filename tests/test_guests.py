# SPDX-License-Identifier: BSD-2-Clause
#
# Our guest images, each a test of its own: it ends with status 0 and its last
# count says that nothing failed. Then several at once, which must not notice
# each other.

import pytest
from harness import MIB, SOAK, guest, run_vms, vm

PASSED = r"^([1-9][0-9]*) passed, 0 failed$"


def passed(result, *names):
    """Every VM named ended with 0 and says that all its checks passed."""
    result.expect(0, **{name: (0, "exit") for name in names})
    for name in names:
        result.has(name, PASSED)
        if "FAIL" in result.text(name):
            result.complain(f"VM {name} has a FAIL line")
    return result


@pytest.mark.parametrize("smp", [1, 2])
@pytest.mark.parametrize("name", [
    "timer", "fp", "sysregs", "isolation", "psci", "idregs", "gicregs",
    "gicbasic", "memtest", "uart", "sleeper", "neighbour"])
def test_image(name, smp, tmp_path):
    """One image in one VM with one vCPU."""
    # With SVE on one pCPU, without on two.
    props = {"idregs": ({"bootargs": "sve=1"}, {"fp-max": "fpsimd"})}
    more = props[name][smp - 1] if name in props else {}
    passed(run_vms(tmp_path, vm("a", guest(name), **more), smp=smp,
                   timeout=120), "a")


@pytest.mark.parametrize("cpu", ["cortex-a55", "cortex-a76", "neoverse-n1",
                                 "neoverse-v1", "neoverse-n2"])
def test_cpu_models(cpu, tmp_path):
    """From the oldest CPU with VHE on: no instruction or register is used that
    it does not have."""
    passed(run_vms(tmp_path, vm("a", guest("sysregs"), vcpus=2), smp=2,
                   timeout=120, extra=["-cpu", cpu]), "a")


@pytest.mark.parametrize("vcpus", [1, 2])
def test_migrate(vcpus, tmp_path):
    """Moves between pCPUs by its own wish, with everything live."""
    passed(run_vms(tmp_path, vm("a", guest("migrate"), vcpus=vcpus), smp=2,
                   timeout=120), "a")


@pytest.mark.parametrize("vcpus", [2, 4, 20])
@pytest.mark.parametrize("name", ["fp", "sysregs", "psci", "smp", "gicsmp"])
def test_image_with_vcpus(name, vcpus, tmp_path):
    """The images that use further vCPUs, also more than the machine has."""
    few = name == "smp" and vcpus > 4 and not SOAK
    passed(run_vms(tmp_path, vm("a", guest(name), vcpus=vcpus,
                                bootargs="rounds=300" if few else None),
                   smp=2, timeout=180), "a")


def switches(result, name):
    """How often the VM's vCPU was switched in, by the hypervisor's count."""
    return int(result.has(name, r"switched in ([0-9]+) times")[1])


@pytest.mark.parametrize("smp", [1, 2])
def test_fp_of_two_vms(smp, tmp_path):
    """FP registers of two VMs on one pCPU, over 10,000 switches."""
    want = 100000 if SOAK else 10000
    result = run_vms(
        tmp_path,
        *(vm(f"v{k}", guest("fp"), affinity=[0],
             bootargs=f"vm={k} switches={want} seconds=800")
          for k in (1, 2)),
        smp=smp, append="slice=100", timeout=900 if SOAK else 180)
    passed(result, "v1", "v2")
    assert all(switches(result, name) >= want for name in ("v1", "v2"))


def test_fp_of_four_vms_on_two(tmp_path):
    """The same with four VMs that may move between two pCPUs, each of which
    has a busy VM too, so that there is always somebody to switch to."""
    fp_vms = [f"v{k}" for k in range(1, 5)]
    result = run_vms(
        tmp_path, *(vm(f"v{k}", guest("fp"),
                       bootargs=f"vm={k} switches=1000 seconds=60")
                    for k in range(1, 5)),
        *(vm(f"busy{cpu}", guest("busy"), affinity=[cpu],
             bootargs="seconds=20") for cpu in (0, 1)),
        smp=2, append="slice=100", timeout=180)
    passed(result, *fp_vms)


def test_sysregs_of_two_vms(tmp_path):
    """System registers of two VMs on one pCPU."""
    result = run_vms(tmp_path, *(vm(f"v{k}", guest("sysregs"),
                                    bootargs=f"vm={k}") for k in (1, 2)),
                     append="slice=200", timeout=120)
    passed(result, "v1", "v2")


@pytest.mark.parametrize("smp", [1, 2])
@pytest.mark.parametrize("seed", [1, 2, 3] if SOAK else [1])
def test_hostile(seed, smp, tmp_path):
    """A million random operations; the neighbour keeps passing its checks."""
    count = 10000000 if SOAK else 1000000
    result = run_vms(
        tmp_path, vm("hostile", guest("hostile"),
                     bootargs=f"ops={count} seed={seed}"),
        vm("neighbour", guest("neighbour"), bootargs="seconds=10"),
        smp=smp, timeout=3000 if SOAK else 400)
    result.expect(0, hostile=(0, "exit"))
    passed(result, "neighbour")


def test_isolation_beside(tmp_path):
    """Touching everything outside its RAM beside a VM that checks its own."""
    result = run_vms(tmp_path, vm("isolation", guest("isolation")),
                     vm("neighbour", guest("neighbour"),
                        bootargs="seconds=5"), timeout=120)
    passed(result, "isolation", "neighbour")


def test_memory_is_zero(tmp_path):
    """Memory comes scrubbed, in VMs of several sizes."""
    vms = [vm(f"v{n}", guest("memtest"), memory=size * MIB)
           for n, size in enumerate((64, 128, 320))]
    passed(run_vms(tmp_path, *vms, smp=2, timeout=180), "v0", "v1", "v2")


def test_many_vms(tmp_path):
    """Thirty-two VMs at once on two pCPUs."""
    vms = [vm(f"v{n}", guest("hello"), memory=32 * MIB) for n in range(32)]
    result = run_vms(tmp_path, *vms, smp=2, timeout=120)
    result.expect(0, **{f"v{n}": (0, "exit") for n in range(32)})


def test_fair(tmp_path):
    """Two busy VMs on one pCPU get about the same, one with three times the
    weight about three times as much."""
    def run(weight):
        result = run_vms(tmp_path,
                         vm("x", guest("busy"), bootargs="seconds=4",
                            weight=weight),
                         vm("y", guest("busy"), bootargs="seconds=4"),
                         timeout=60)
        result.expect(0, x=(0, "exit"), y=(0, "exit"))
        return [int(result.has(v, r"^busy: total ([0-9]+)$")[1])
                for v in ("x", "y")]
    one, other = run(1000)
    assert 0.75 < one / other < 1.33
    one, other = run(3000)
    assert 2.2 < one / other < 4.0


def test_wakes_beside_busy(tmp_path):
    """A VM that sleeps most of the time wakes soon beside one that never
    does."""
    result = run_vms(tmp_path,
                     vm("busy", guest("busy"), bootargs="seconds=5"),
                     vm("sleeper", guest("sleeper"), bootargs="seconds=3"),
                     timeout=60)
    result.expect(0, busy=(0, "exit"))
    passed(result, "sleeper")
    assert int(result.has("sleeper", r"worst (\d+) us late")[1]) < 500000
