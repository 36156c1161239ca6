# SPDX-License-Identifier: BSD-2-Clause
#
# The Promela models of block, wake and kick and of FP ownership, searched
# exhaustively by spin, and the same models with one planted mistake at a time,
# each of which must be found. The long form of the first has more interrupts,
# which takes minutes.

import pathlib
import re
import subprocess

import pytest

import harness

MODELS = pathlib.Path(__file__).resolve().parent / "models"

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


def search(directory, config, model="wake.pml"):
    """Runs spin's verifier on the model; its report."""
    defines = ["-D" + word for word in config.split()]
    subprocess.run(["spin", "-a", *defines, MODELS / model], cwd=directory, check=True,
                   timeout=60, stdout=subprocess.DEVNULL)
    subprocess.run(["gcc", "-O2", "-w", "-DSAFETY", "-DCOLLAPSE",
                    "-DMEMLIM=8000", "-o", "pan", "pan.c"], cwd=directory,
                   check=True, timeout=120)
    r = subprocess.run(["./pan", "-m2000000"], cwd=directory, check=False,
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


FP_PLANTED = [
    "RECORD_FIRST",     # "in memory" before it is
    "FLUSH_WHOEVER",    # saves whatever is live as the one asked for
    "NO_RECOMPUTE",     # leaves the unit open after a save for another pCPU
    "NO_BRING",         # does not fetch registers from another pCPU
    "WAIT_DEAF",        # does not answer calls while it waits for one
    "RESET_LIVE",       # resets a vCPU whose registers are live somewhere
]


@pytest.mark.parametrize("config", ["LAZY", "OWNER", "OWNER LONG"])
def test_fp_registers_are_never_stale(tmp_path, config):
    report = search(tmp_path, config, "fp.pml")
    assert "errors: 0" in report, report
    stored = re.search(r"([0-9.e+]+) states, stored", report)
    assert stored and float(stored.group(1)) > 100000, report


@pytest.mark.parametrize("plant", FP_PLANTED)
def test_planted_fp_mistake_is_found(tmp_path, plant):
    report = search(tmp_path, f"OWNER PLANT_{plant}", "fp.pml")
    assert "assertion violated" in report or "invalid end state" in report, \
        report
