# SPDX-License-Identifier: BSD-2-Clause
#
# The Promela model of block, wake and kick, searched exhaustively by spin, and
# the same model with one planted mistake at a time, each of which must be
# found. The long form has more interrupts, which takes minutes.

import pathlib
import re
import subprocess

import pytest

import harness

MODEL = pathlib.Path(__file__).resolve().parent / "models" / "wake.pml"

CLEAN = ["EVENTS=1", "EVENTS=0 PAUSE RESUME"]
LONG = ["EVENTS=2", "EVENTS=1 PAUSE", "EVENTS=1 PAUSE RESUME"]

PLANTED = [
    "EVENTS=1 PLANT_KICK_FIRST",        # IPI before the work bit
    "EVENTS=1 PLANT_LEVEL_LATE",        # wakes before the interrupt pends
    "EVENTS=1 PLANT_LOOK_FIRST",        # looks for work, then sleeps
    "EVENTS=1 PLANT_IDLE_AFTER_LOOK",   # looks at others, then says idle
    "EVENTS=2 PLANT_CLEAR_LATE",        # clears a request after serving it
    "EVENTS=2 PLANT_ONE_SLEEPER",       # two sent to one CPU that sleeps
    "EVENTS=0 PAUSE RESUME PLANT_STOP_NO_LOOK",  # stops, resumed meanwhile
]


def search(directory, config):
    """Runs spin's verifier on the model; its report."""
    defines = ["-D" + word for word in config.split()]
    subprocess.run(["spin", "-a", *defines, MODEL], cwd=directory, check=True,
                   timeout=60, stdout=subprocess.DEVNULL)
    subprocess.run(["gcc", "-O2", "-w", "-DSAFETY", "-DCOLLAPSE",
                    "-DMEMLIM=8000", "-o", "pan", "pan.c"], cwd=directory,
                   check=True, timeout=120)
    r = subprocess.run(["./pan", "-m200000"], cwd=directory, check=False,
                       timeout=3000 if harness.SOAK else 240,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       text=True)
    # Without one of these it was no complete search.
    for word in ("max search depth too small", "out of memory",
                 "Search not completed"):
        if "errors: 0" in r.stdout:
            assert word not in r.stdout, r.stdout
    return r.stdout


@pytest.mark.parametrize("config", CLEAN + (LONG if harness.SOAK else []))
def test_no_wakeup_is_lost(tmp_path, config):
    report = search(tmp_path, config)
    assert "errors: 0" in report, report
    stored = re.search(r"([0-9.e+]+) states, stored", report)
    assert stored and float(stored.group(1)) > 100000, report


@pytest.mark.parametrize("config", PLANTED)
def test_planted_mistake_is_found(tmp_path, config):
    report = search(tmp_path, config)
    assert "assertion violated" in report, report
