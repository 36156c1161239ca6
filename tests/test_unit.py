# SPDX-License-Identifier: BSD-2-Clause
#
# The host unit tests: one case per cmocka program. `make test` builds them to
# build/unit/ from tests/unit/; a source without its program is a failure, so
# that none is forgotten.

import os
import pathlib
import re
import subprocess

import pytest

TOP = pathlib.Path(__file__).resolve().parent.parent
NAMES = sorted(p.stem for p in (TOP / "tests" / "unit").glob("*.c"))


@pytest.mark.parametrize("name", NAMES)
def test_unit(name):
    program = TOP / "build" / "unit" / name
    assert program.exists(), f"{program} is not built: make test builds it"
    env = dict(os.environ, ASAN_OPTIONS="detect_leaks=1",
               UBSAN_OPTIONS="print_stacktrace=1", CMOCKA_MESSAGE_OUTPUT="TAP")
    r = subprocess.run([program], env=env, stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       text=True, errors="replace", timeout=300, check=False)
    if r.returncode != 0:
        pytest.fail(f"{name}: status {r.returncode}\n{r.stdout}", pytrace=False)
    assert re.search(r"^ok \d", r.stdout, re.M), f"no test ran:\n{r.stdout}"
