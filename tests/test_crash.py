# SPDX-License-Identifier: BSD-2-Clause
#
# What a failure of the hypervisor itself looks like: the boot option crash=
# makes each kind, the dump must name it and the machine end with status 121.

import pytest

from harness import guest, run_vms, vm

STATUS_PANIC = 121


@pytest.mark.parametrize("arch, how, says", [
    ("arm64", "assert", "assertion failed: options.crash"),
    ("arm64", "fault", "exception at EL2 (data abort)"),
    ("arm64", "stack", "exception at EL2 (data abort)"),
    ("loongarch", "assert", "assertion failed: options.crash"),
    ("loongarch", "fault", "exception at PLV 0 (address error)"),
    ("loongarch", "stack", "stack overflow on CPU 0"),
])
def test_dump(arch, how, says, tmp_path):
    """Registers, stack, callers. On arm64 the boot stack has a guard page; on
    LoongArch an overflow is found when the CPU is about to sleep."""
    result = run_vms(tmp_path, vm("a", guest("sleeper", arch)), arch=arch,
                     append=f"crash={how}")
    result.expect(STATUS_PANIC)
    assert result.qemu_status == 1
    text = "\n".join(result.hyp)
    assert "panic: " in text and says in text
    assert "called from " in text
    if "exception at" in says:
        assert "registers at the fault" in text
        assert ("x30 " if arch == "arm64" else "r30 ") in text
