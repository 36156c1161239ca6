# SPDX-License-Identifier: BSD-2-Clause
#
# A machine whose monitor is asked from a test: tools/nestling on a pseudo
# terminal with the prompt open.

import os
import re

from harness import Session
from launch import fdt

ANSWER = re.compile(r"^nestling: (.*?)\r*$", re.M)
FREE = re.compile(r"(\d+) free, \d+ used")


def _value(value):
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, fdt.U64):
        return f"/bits/ 64 <{int(value)}>"
    if isinstance(value, list):
        return "<" + " ".join(str(v) for v in value) + ">"
    return f"<{value}>"


def write_manifest(folder, vms):
    """manifest.dts with these results of harness.vm()."""
    nodes = []
    for name, props in vms:
        lines = "".join(f"\t\t{prop} = {_value(value)};\n"
                        for prop, value in props.items())
        nodes.append(f"\t{name} {{\n{lines}\t}};\n")
    with open(os.path.join(folder, "manifest.dts"), "w",
              encoding="ascii") as out:
        out.write('/dts-v1/;\n/ { compatible = "nestling,manifest"; '
                  f'version = <1>; vms {{\n{"".join(nodes)}}}; }};\n')


class Prompt(Session):
    """A machine with the VMs; ask() after the first open()."""

    def __init__(self, folder, *vms, timeout=60, args=()):
        write_manifest(folder, vms)
        super().__init__("start", str(folder), "--timeout", str(timeout * 3),
                         *args, timeout=timeout)
        self.asked = 0

    def open(self):
        """Open the prompt; it works once a VM has said something."""
        self.child.send("\x14:")
        self.expect("nestling> ")

    def ask(self, line):
        """The hypervisor's lines from this command until it is done. Lines of
        VMs may come in between, so a command that is none marks the end."""
        self.asked += 1
        self.type(f"{line}\r#{self.asked}")
        self.expect(f"there is no command '#{self.asked}'")
        answer = ANSWER.findall(self.child.before)
        return [text for text in answer if text]

    def says(self, line, *words):
        """As ask(); one line of the answer has all the words."""
        answer = self.ask(line)
        assert any(all(word in text for word in words) for text in answer), \
            f"{line}: {words} not in {answer}"

    def silent(self, line):
        """As ask(); there is no answer."""
        answer = self.ask(line)
        assert not answer, f"{line}: {answer}"

    def free(self):
        """Free pages of the machine."""
        answer = "\n".join(self.ask("mem"))
        return int(FREE.search(answer)[1])

    def table(self, line):
        """The table that a command shows, as rows of words."""
        return [row.split() for row in self.ask(line)[1:]]

    def state(self, name):
        """State of a VM in the list."""
        for row in self.ask("vms")[1:]:
            words = re.sub(r"^[* ]\d+", "", row).split()
            if words[0] == name:
                return "never ran" if words[1] == "never" else words[1]
        raise AssertionError(f"no VM {name}")
