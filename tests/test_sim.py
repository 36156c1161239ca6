# SPDX-License-Identifier: BSD-2-Clause
#
# The scheduler in the simulator: random scenarios of several classes, each
# with the properties that docs/scheduler.md promises for it; and the same with
# one mistake planted in a copy of the sources, which a property must notice.

import pathlib
import re
import shutil
import subprocess

import pytest

import harness

TOP = pathlib.Path(__file__).resolve().parent.parent
CORE = ["sched", "wake", "fair", "rt", "balance", "runq", "account", "timer"]

# Scenarios per class in the short form.
CLASSES = {"hogs": 300, "groups": 250, "overlap": 150, "mixed": 200,
           "wake": 150, "churn": 400, "rt": 200}

# What is planted: file, text, replacement, class, properties that may notice.
PLANTED = {
    "weights-ignored": (
        "runq.c", "e->vtime + runq_virtual(ticks, e->par.weight)",
        "e->vtime + runq_virtual(ticks, 1000)", "hogs", "share"),
    "turn-never-ends": (
        "sched.c", "	return yes || balance_wanted(c, now);",
        "	return false;", "churn", "starvation"),
    "no-balancing": (
        "balance.c", "	d = furthest_behind(c, now);",
        "	d = furthest_behind(c, now) ? NULL : NULL;", "hogs", "share"),
    "no-kick-of-idle": (
        "balance.c", "	if (!fair_can_give(c))\n		return;",
        "	if (c)\n		return;", "churn", "conservation"),
    "kick-not-passed-on": (
        "sched.c", "	if (v && was_idle)\n", "	if (v && was_idle && !v)\n",
        "churn", "conservation"),
    "budget-too-large": (
        "rt.c", "e->budget += (int64_t)e->par.rt_budget;",
        "e->budget += 4 * (int64_t)e->par.rt_budget;", "rt", "budget"),
    "budget-too-small": (
        "rt.c", "e->budget += (int64_t)e->par.rt_budget;",
        "e->budget += (int64_t)e->par.rt_budget * 3 / 4;", "rt", "deadline"),
    "long-first-request": (
        "wake.c", "sched_request(e, sched_grain());",
        "sched_request(e, 8 * sched_slice);", "wake", "wake"),
    "waiting-not-booked": (
        "account.c", "		e->wait += dt;", "		e->wait += 0;", "mixed",
        "accounting"),
    "stays-queued": (
        "sched.c", "	runq_remove(&c->rq, e);\n	account_state(v, VCPU_RUNNING",
        "	account_state(v, VCPU_RUNNING", "hogs", "structure|panic"),
}


def build(directory, plant=None):
    """Compiles the simulator in @directory, from a copy of core/."""
    core = directory / "core"
    shutil.copytree(TOP / "core", core)
    if plant:
        name, old, new = plant
        text = (core / name).read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{name} has not one '{old}'"
        (core / name).write_text(text.replace(old, new), encoding="utf-8")
    program = directory / "sim"
    sources = sorted((TOP / "tests" / "sim").glob("*.c"))
    sources += [core / f"{name}.c" for name in CORE]
    subprocess.run(["gcc", "-std=gnu23", "-O2", "-g", "-Wall", "-Wextra",
                    "-Werror", "-iquote", core,
                    "-I" + str(TOP / "tests" / "sim" / "include"),
                    "-I" + str(TOP / "abi"), *sources, "-lm", "-o", program],
                   check=True, timeout=300)
    return program


def run(program, name, first, count):
    return subprocess.run([program, name, str(first), str(count)], check=False,
                          timeout=3000 if harness.SOAK else 300, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


@pytest.fixture(scope="module")
def simulator(tmp_path_factory):
    return build(tmp_path_factory.mktemp("sim"))


@pytest.mark.parametrize("name", CLASSES)
def test_properties_hold(simulator, name):
    count = CLASSES[name] * (10 if harness.SOAK else 1)
    r = run(simulator, name, 0, count)
    assert r.returncode == 0, r.stdout
    assert f"{name}: {count} scenarios" in r.stdout, r.stdout
    print(r.stdout.strip())


@pytest.mark.parametrize("name", PLANTED)
def test_planted_mistake_is_noticed(tmp_path, name):
    file, old, new, klass, properties = PLANTED[name]
    r = run(build(tmp_path, (file, old, new)), klass, 0, CLASSES[klass])
    assert r.returncode == 1, f"not noticed: {r.stdout}"
    assert re.search(rf"^FAIL {klass} \d+ at \d+: ({properties})\b", r.stdout,
                     re.M), r.stdout
