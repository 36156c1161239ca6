# SPDX-License-Identifier: BSD-2-Clause
#
# Where instructions go: the addresses that QEMU's log lists, one an
# instruction, cut into the rounds of a row and counted by function.

import bisect
import collections
import re

TRACE = re.compile(rb"Trace \d+: \S+ \[[0-9a-f]+/([0-9a-f]+)/")
TEXT = re.compile(r"\s\.text\S*\s+0x([0-9a-f]+)\s+0x([0-9a-f]+)\s+(\S+\.o)$")
GUEST = "(guest)"


def read(path):
    """The instruction addresses in a QEMU log, in order."""
    with open(path, "rb") as log:
        return [int(match[1], 16) for match in map(TRACE.match, log) if match]


class Symbols:
    """Functions of the hypervisor where it runs: `slide` is added to what the
    symbol file says."""

    def __init__(self, path, slide):
        self.at, self.names = [], []
        with open(path, encoding="ascii") as table:
            for line in table:
                value, kind, name = line.split()
                # $x, $d: mapping symbols; __x: of the linker script.
                if kind in "tTwW" and name[0] != "$" and name[:2] != "__":
                    self.at.append(int(value, 16) + slide)
                    self.names.append(name)
                if name == "__text_end":
                    self.end = int(value, 16) + slide

    def function(self, address):
        """(name, start) of the function at an address."""
        if not self.at[0] <= address < self.end:
            return GUEST, 0
        i = bisect.bisect_right(self.at, address) - 1
        return self.names[i], self.at[i]


class Files(Symbols):
    """The same for source files, by the linker's map."""

    def __init__(self, path, slide):
        # A long section name has a line of its own.
        with open(path, encoding="utf-8") as file:
            text = re.sub(r"(\n \.text\S+)\n\s+", r"\1 ", file.read())
        found = sorted((int(m[1], 16) + slide, int(m[2], 16),
                        m[3].partition("/obj/")[2].removesuffix(".o"))
                       for m in map(TEXT.match, text.split("\n"))
                       if m and int(m[1], 16) and int(m[2], 16))
        self.at = [at for at, _, _ in found]
        self.names = [name for _, _, name in found]
        self.end = found[-1][0] + found[-1][1]


def rounds(addresses, count):
    """The trace cut at the first instruction that is in it `count` times:
    what lies between two of them is one round. Empty when there is none."""
    seen = collections.Counter(addresses)
    mark = next((a for a in addresses if seen[a] == count), None)
    if mark is None:
        return []
    at = [i for i, a in enumerate(addresses) if a == mark]
    return [addresses[i:j] for i, j in zip(at, at[1:])]


def typical(parts):
    """The round of median length."""
    return sorted(parts, key=len)[len(parts) // 2]


def runs(addresses, symbols):
    """The trace as a list of [function, instructions without leaving it,
    whether they begin at its first one]."""
    out, last = [], None
    for address in addresses:
        name, start = symbols.function(address)
        if name != last or (address == start and name != GUEST):
            out.append([name, 0, address == start])
        out[-1][1] += 1
        last = name
    return out
