# SPDX-License-Identifier: BSD-2-Clause
#
# A QEMU that is stopped and looked at from here: its gdb socket for
# breakpoints, registers and memory, its monitor for switching the log. One
# CPU. Reference: gdb manual, "Remote Serial Protocol"; QEMU's qmp-spec.

import json
import os
import socket
import struct
import time

from launch.errors import Mistake

LR = 30			# register number of gdb's aarch64 target
TIMEOUT = 120.0		# seconds for the machine to reach a breakpoint


def _connect(path):
    end = time.monotonic() + 10
    while True:
        line = socket.socket(socket.AF_UNIX)
        line.settimeout(TIMEOUT)
        try:
            line.connect(path)
            return line
        except OSError as error:
            line.close()
            if time.monotonic() > end:
                raise Mistake(f"QEMU did not start: {error}") from None
            time.sleep(0.02)


class Gdb:
    """QEMU's gdb stub."""

    def __init__(self, path):
        self.line = _connect(path)
        self.pending = b""

    def close(self):
        """Leave the machine as it is."""
        self.line.close()

    def _byte(self):
        if not self.pending:
            self.pending = self.line.recv(65536)
            if not self.pending:
                raise Mistake("the machine ended before it got there")
        byte, self.pending = self.pending[:1], self.pending[1:]
        return byte

    def _receive(self):
        while self._byte() != b"$":
            pass
        body = bytearray()
        while (byte := self._byte()) != b"#":
            body += byte
        self._byte()
        self._byte()
        self.line.sendall(b"+")
        return bytes(body)

    def ask(self, text):
        """One packet and its answer."""
        body = text.encode()
        self.line.sendall(b"$%s#%02x" % (body, sum(body) & 0xff))
        return self._receive()

    def registers(self):
        """x0..x30, SP and PC."""
        raw = bytes.fromhex(self.ask("g").decode()[:33 * 16])
        return struct.unpack("<33Q", raw)

    def memory(self, address, size):
        """Bytes at a virtual address as the CPU sees it now."""
        answer = self.ask(f"m{address:x},{size:x}")
        if answer.startswith(b"E"):
            raise Mistake(f"memory at {address:#x} cannot be read")
        return bytes.fromhex(answer.decode())

    def string(self, address):
        """A text that ends with 0."""
        text = b""
        while b"\0" not in text:
            text += self.memory(address + len(text), 16)
        return text.split(b"\0")[0].decode(errors="replace")

    def run_to(self, address):
        """Go on until the instruction at `address` is next; not the one that
        is next already."""
        self.ask(f"Z1,{address:x},4")
        self.ask("c")
        self.ask(f"z1,{address:x},4")


class Monitor:
    """QEMU's monitor, for the commands of people."""

    def __init__(self, path):
        self.line = _connect(path).makefile("rw", encoding="utf-8")
        self.line.readline()		# greeting
        self._execute("qmp_capabilities")

    def close(self):
        """Leave the machine as it is."""
        self.line.close()

    def _execute(self, command, **arguments):
        self.line.write(json.dumps({"execute": command,
                                    "arguments": arguments}) + "\n")
        self.line.flush()
        while True:
            answer = json.loads(self.line.readline() or "{}")
            if not answer:
                raise Mistake("QEMU ended")
            if "event" not in answer:
                return answer.get("return")

    def command(self, text):
        """A monitor command; what it prints."""
        return self._execute("human-monitor-command", **{"command-line": text})


def arguments(folder):
    """QEMU arguments for both, with sockets and the log in `folder`; the
    machine waits for gdb."""
    gdb, qmp, log = (os.path.join(folder, name)
                     for name in ("gdb", "qmp", "log"))
    return ["-S", "-gdb", f"unix:{gdb},server=on,wait=off",
            "-qmp", f"unix:{qmp},server=on,wait=off", "-D", log]
