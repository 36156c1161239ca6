# SPDX-License-Identifier: BSD-2-Clause
#
# The FP tests can fail: a few of the hypervisors with a mistake that `make
# mutants` builds, all of them in the long form. Each must be noticed by a guest.

import subprocess

from harness import SOAK, TOP

FEW = ["open-after-flush", "narrow-save-of-wide", "narrow-save-of-lasx"]


def test_mutants_are_caught():
    """The last line counts."""
    done = subprocess.run([f"{TOP}/tools/mutants", *([] if SOAK else FEW)],
                          capture_output=True, text=True, timeout=900,
                          check=False)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stdout + done.stderr
    assert lines[-1] == f"{len(lines) - 1} caught, 0 missed"
    assert len(lines) - 1 >= (36 if SOAK else 4)
