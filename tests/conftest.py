# SPDX-License-Identifier: BSD-2-Clause
#
# pytest set-up: makes tools/launch importable and says at the start what the
# tests run on. Tests run one after the other, each with one QEMU at a time.

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "tools"))

import harness  # noqa: E402  pylint: disable=wrong-import-position


def pytest_report_header():
    """What is tested, and in which form."""
    form = "long" if harness.SOAK else "short"
    return f"nestling: {harness.HYPERVISOR}, {form} forms"
