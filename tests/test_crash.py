# SPDX-License-Identifier: BSD-2-Clause
#
# What a failure of the hypervisor itself looks like: the boot option crash=
# makes each kind, the dump must name it and the machine end with status 121.

import pytest

from harness import guest, run_vms, vm

STATUS_PANIC = 121


@pytest.mark.parametrize("how, says", [
    ("assert", "assertion failed: options.crash"),
    ("fault", "exception at EL2 (data abort)"),
    ("stack", "exception at EL2 (data abort)"),
])
def test_dump(how, says, tmp_path):
    """Registers, stack, callers; the boot stack has a guard page."""
    result = run_vms(tmp_path, vm("a", guest("hello")), append=f"crash={how}")
    result.expect(STATUS_PANIC)
    assert result.qemu_status == 1
    text = "\n".join(result.hyp)
    assert "panic: " in text and says in text
    assert "called from " in text
    if how != "assert":
        assert "registers at the fault" in text and "x30 " in text
