# SPDX-License-Identifier: BSD-2-Clause
#
# The user guide says what the sources say: its tables of manifest properties,
# hypervisor options, limits and launcher options are compared with the code,
# and its example manifest is a valid one.

import os
import re

from harness import TOP, launcher
from launch import bundle, cli, fdt


def read(path):
    """A file of the tree."""
    with open(os.path.join(TOP, path), encoding="utf-8") as source:
        return source.read()


GUIDE = read("docs/user-guide.md")


def section(title):
    """The text of a section of the guide."""
    return re.search(rf"^## {title}$(.*?)(?=^## |\Z)", GUIDE, re.M | re.S)[1]


def first_column(text):
    """The words in backquotes in the first column of the tables."""
    rows = re.findall(r"^\| (`[^|]*?) \|", text.replace("\\|", "/"), re.M)
    return {word for row in rows for word in re.findall(r"`([^`]+)`", row)}


def table(path):
    """The strings that begin the rows of a const table in C."""
    return set(re.findall(r'^\t\{ "([a-z-]+)",', read(path), re.M))


def test_manifest_properties():
    """Every property of a VM is in the table, and no other."""
    assert first_column(section("Several VMs: the manifest")) == \
        table("core/manifest.c")


def test_options():
    """Every hypervisor option is in the table, and no other."""
    names = {n.rstrip("=") for n in first_column(
        section("Hypervisor options"))}
    assert names == table("core/options.c")


def test_monitor_commands():
    """Every command of the monitor is in the table with its arguments, and no
    other; so are the keys."""
    source = read("core/monitor.c")
    commands = re.findall(r'^\t\{ "([a-z]+)", "([^"]*)", \d', source, re.M)
    documented = first_column(section("Monitor"))
    assert {words.split()[0] for words in documented} == \
        {name for name, _ in commands}
    for name, args in commands:
        for choice in args.split("|"):
            assert f"{name} {choice}".strip() in documented or choice == "all"
    keys = "".join(re.findall(r'^\t\{ "([^"]+)", "[^"]+", "', source, re.M))
    text = section("Console")
    shown = set(re.findall(r"^\| Ctrl-T (.*?) \|", text, re.M))
    for key in set(keys) - set("h12345678"):
        assert any(f"`{key}`" in row for row in shown), key


def test_limits():
    """The numbers of core/limits.h and of other files."""
    text = section("Limits")
    limits = "".join(map(read, ("core/limits.h", "core/console.h",
                                "core/bundle.c", "core/prompt.h")))
    for name, row, less in (("MAX_PCPUS", "physical CPUs", 0),
                            ("MAX_VMS", "VMs in a manifest", 0),
                            ("MAX_VCPUS", "vCPUs of a VM", 0),
                            ("VM_NAME_MAX", "characters of a VM's name", 1),
                            ("ENTRY_LIMIT", "files in a bundle", 0),
                            ("CONSOLE_LINE_MAX", "characters of a console line "
                             "before it is broken, without the focus", 0),
                            ("CONSOLE_INPUT_MAX", "typed characters that wait "
                             "for a guest", 0),
                            ("PROMPT_LINE_MAX", "characters of a monitor "
                             "command", 0),
                            ("PROMPT_AHEAD_MAX", "typed characters that wait "
                             "for a monitor command", 0)):
        number = int(re.search(rf"#define {name}\s+(\d+)", limits)[1])
        assert f"| {row} | {number - less} |" in text


def test_launcher_options():
    """Every option of `run` is in the guide."""
    words = first_column(section("Running a guest"))
    documented = {word.split()[0] for word in words}
    done = launcher("run", "--help")
    offered = set(re.findall(r"^  (--[a-z-]+)", done.stdout, re.M))
    assert offered - {"--arch"} == documented


def test_statuses():
    """The launcher's own statuses."""
    text = section("Exit statuses")
    for number in (cli.USAGE, cli.LEFT, 122, 124):
        assert re.search(rf"^\| {number}[ ,]", text, re.M)


def test_example_manifest(tmp_path):
    """The example compiles and has only properties that exist."""
    source = re.search(r"^    (/dts-v1/;.*?^    \};)$", GUIDE, re.M | re.S)[1]
    path = tmp_path / "example.dts"
    path.write_text(re.sub("^    ", "", source, flags=re.M))
    root = fdt.read(bundle.compile_dts(str(path)))
    assert root.text("compatible") == bundle.COMPATIBLE
    for node in bundle.vm_nodes(root):
        assert {name for name, _ in node.props} <= table("core/manifest.c")
    assert len(bundle.vm_nodes(root)) == 2
