# SPDX-License-Identifier: BSD-2-Clause
#
# The benchmark: every row is measured and none is over its ceiling; the results
# have their documented form; and the two ways in which it can complain do so.

import importlib.machinery
import importlib.util
import json
import os
import subprocess

import pytest
from harness import TOP, run_vms, vm
from measure import loongarch, rows

KEYS = {"name", "value", "unit", "options"}
OPTIONS = {"run", "vms", "vcpus", "memory", "smp", "append"}


def bench(*args):
    """Run tools/bench to its end."""
    return subprocess.run([os.path.join(TOP, "tools/bench"), *args],
                          capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=600)


@pytest.fixture(scope="module", name="measured")
def fixture_measured(tmp_path_factory):
    """(finished process, results): measured twice, against the ceilings and
    against one that no hypervisor can keep."""
    path = tmp_path_factory.mktemp("bench") / "results.json"
    done = bench("--ceilings", "--ceiling", "console_line=1",
                 "--check-repeat", "--json", str(path))
    assert path.is_file(), done.stderr
    return done, json.loads(path.read_text(encoding="utf-8"))


def complaints(done):
    """The lines in which the bench says what is wrong."""
    return [line for line in done.stderr.splitlines()
            if not line.endswith(" ...")]


def test_ceilings(measured):
    """No row is over its ceiling, no exit depends on memory or other VMs, and
    a second measurement gives the same; only the planted excess is named."""
    done, results = measured
    value = next(r["value"] for r in results if r["name"] == "console_line")
    assert complaints(done) == [
        f"bench: console_line: {value:,} instructions, ceiling 1"]
    assert done.returncode == 1


def test_results(measured):
    """The form of the JSON file."""
    _, results = measured
    seen = set()
    for one in results:
        assert set(one) == KEYS and set(one["options"]) == OPTIONS
        assert one["unit"] == "instructions"
        assert isinstance(one["value"], (int, float)) and one["value"] >= 0
        seen.add((one["name"], one["options"]["run"]))
    assert len(seen) == len(results)
    assert {name for name, _ in seen} == {row.name for row in rows.ROWS}
    assert all((name, run) in seen for run in rows.SAME_RUNS
               for name in rows.SAME)


def test_table(measured):
    """Every row is in the table, with what the peers need."""
    table = {line.split()[0]: line for line in
             reversed(measured[0].stdout.splitlines()) if line}
    for row in rows.ROWS:
        assert row.name in table
        for peer in (row.xen, row.kvm612, row.kvm73):
            assert peer is None or f"{peer:,}" in table[row.name]


def test_cost_is_seen(measured):
    """What is dearer is measured as dearer: FP instructions as such, a switch
    against a call, memory to clear."""
    value = {(r["name"], r["options"]["run"]): r["value"] for r in measured[1]}
    cost = {row.name: value[row.name, row.run] for row in rows.ROWS}
    assert cost["fp_touch_hot"] == 2
    assert cost["vcpu_pingpong+fp01"] - cost["vcpu_pingpong"] >= 4
    assert cost["hcall_version"] < cost["yield_alone"] < cost["vm_switch"]
    assert cost["boot"] < cost["boot_1g"]
    assert cost["console_line"] < cost["console_line_prefix"]


def script(name):
    """A script of tools/ as a module."""
    loader = importlib.machinery.SourceFileLoader(
        name, os.path.join(TOP, "tools", name))
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


def change(results, name, run, value):
    """The results with one number changed."""
    return [{**r, "value": value} if r["name"] == name
            and r["options"]["run"] == run else r for r in results]


def test_difference(measured):
    """A second measurement that differs is noticed."""
    again = change(measured[1], "self_sgi", "ubench", 1)
    lines = script("bench").differences(measured[1], again)
    assert len(lines) == 1 and lines[0].startswith("self_sgi (ubench): ")
    assert not script("bench").differences(measured[1], measured[1])


def test_dependence(measured):
    """An exit that is 2 % dearer with more VMs is noticed."""
    base = next(r["value"] for r in measured[1] if r["name"] == "vcpu_pingpong")
    more = change(measured[1], "vcpu_pingpong", "many", int(base * 1.02) + 1)
    lines = script("bench").excesses(more, {})
    assert len(lines) == 1 and "vcpu_pingpong" in lines[0]
    assert "many" in lines[0]


@pytest.mark.parametrize("args, word", [
    (["--ceiling", "hypercal=1"], "hypercal=1"),
    (["--ceiling", "boot"], "boot"), (["--nosuch"], "--nosuch")])
def test_mistakes(args, word):
    """A mistake on the command line."""
    done = bench(*args)
    assert done.returncode == 2
    assert word in done.stderr


def test_unknown_option(tmp_path):
    """The hypervisor's own complaint reaches the user."""
    done = bench("--append", "nosuch=1", "--json", str(tmp_path / "x"))
    assert done.returncode == 2
    assert "nosuch" in done.stderr
    assert not (tmp_path / "x").exists()


def test_documented():
    """docs/measurements.md explains every row (a "+fp" form by its root) and
    gives the peers' numbers as the table has them."""
    with open(os.path.join(TOP, "docs/measurements.md"),
              encoding="utf-8") as source:
        text = source.read()
    tables = [line for line in text.splitlines() if line.startswith("| `")]
    for row in rows.ROWS:
        root, plus, _ = row.name.partition("+")
        assert plus or any(f"`{root}`" in line.split("|")[1]
                           for line in tables), row.name
    for line in tables:
        cells = [cell.strip().strip("`") for cell in line.split("|")[1:-1]]
        row = rows.by_name(cells[0])
        if len(cells) == 5:
            peers = [f"{n:,}" if n is not None else "-"
                     for n in (row.xen, row.kvm612, row.kvm73)]
            assert cells[1:] == [row.line, *peers]


def test_anywhere(tmp_path):
    """The image does not depend on where it is loaded: other hypervisors have
    places of their own for it."""
    result = run_vms(tmp_path, vm("a", os.path.join(
        TOP, "build/arm64/guest/ubench-short.bin"), format="flat", vcpus=2,
        load_offset=0x1234000))
    result.expect(0, a=(0, "off")).has("a", "^UBENCH DONE$")
    lines = [line.split()[1] for line in result.output["a"]
             if line.startswith("UB ")]
    assert tuple(lines) == rows.RUNS["ubench"].lines


def test_loongarch(tmp_path):
    """The rows of the other architecture: all measured, none over its ceiling,
    twice the same; what must be dearer is."""
    path = tmp_path / "results.json"
    done = bench("--arch", "loongarch", "--ceilings", "--check-repeat",
                 "--ceiling", "yield_alone=1", "--json", str(path))
    results = json.loads(path.read_text(encoding="utf-8"))
    value = {r["name"]: r["value"] for r in results}
    assert complaints(done) == [
        f"bench: yield_alone: {value['yield_alone']:,} instructions, ceiling 1"]
    assert done.returncode == 1
    assert set(value) == {row.name for row in loongarch.ROWS}
    assert value["csr_read"] < value["iocsr_read"] < value["mmio_read"]
    assert value["tlb_refill_hit"] * 10 < value["tlb_refill_walk"]
    assert value["timer"] < value["timer_idle"]


def profile(*args):
    """Run tools/profile to its end."""
    return subprocess.run([os.path.join(TOP, "tools/profile"), *args],
                          capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=120)


def counts(text):
    """(instructions in the first line, their sum by function, names)."""
    lines = text.splitlines()
    table = [line.split() for line in lines[2:-1]]
    return (int(lines[0].split(": ")[1].split()[0]),
            sum(int(cells[0]) for cells in table),
            {cells[-1] for cells in table})


def test_profile(measured):
    """A profile's parts are its whole, which is what the bench measures and
    the guest's loop; and it names the functions on the way."""
    done = profile("hypercall")
    assert done.returncode == 0, done.stderr
    whole, parts, names = counts(done.stdout)
    assert whole == parts
    assert {"exit_handle", "guest_enter", "(guest)"} <= names
    value = next(r["value"] for r in measured[1] if r["name"] == "hypercall")
    assert value < whole < value + 20


def test_profile_mistake():
    """A row that there is not."""
    done = profile("nosuch")
    assert done.returncode == 2
    assert done.stderr.startswith("profile: row nosuch: ")
