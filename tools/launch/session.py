# SPDX-License-Identifier: BSD-2-Clause
#
# One session: QEMU with the hypervisor and a bundle, the console on the user's
# terminal or pipes, and at its end the exit status worked out of the status
# records, QEMU's own status and, for guests of kvm-unit-tests, their output.

import dataclasses
import re
import sys
import time

from launch import qemu, status
from launch.errors import DISAGREE, TIMEOUT, Mistake, one_line
from launch.terminal import Left, Terminal, has_terminal

KUT_LINE = re.compile(rb"(?m)^EXIT: STATUS=([0-9]{1,3})\r?$")
KUT_TAIL = 4096		# how much of the output the line is looked for in


@dataclasses.dataclass
class Options:
    """What a session needs; `memory` in bytes, `timeout` in seconds."""

    kernel: str
    bundle: str
    smp: int = 1
    memory: int = 512 << 20
    append: str = ""
    arch: str = "arm64"
    extra: list = dataclasses.field(default_factory=list)
    timeout: float = None
    log: str = None
    kut: bool = False
    proof: bytes = None		# status 1 unless the output has this


def say(text):
    """A line of the launcher's own, apart from the console's output."""
    print(f"nestling: {text}", file=sys.stderr, flush=True)


class Console:
    """The sink: log, decoder, terminal, and the tail for the kut status."""

    def __init__(self, terminal, log, proof):
        self.terminal = terminal
        self.log = log
        self.decoder = status.Decoder()
        self.tail = b""
        self.proof = proof
        self.proven = proof is None

    def feed(self, data):
        """Take output of QEMU."""
        if self.log:
            self.log.write(data)
            self.log.flush()
        text = self.decoder.feed(data)
        self.tail += text
        self.proven = self.proven or self.proof in self.tail
        self.tail = self.tail[-KUT_TAIL:]
        if text:
            self.terminal.write(text)


def _open_log(path):
    if path is None:
        return None
    try:
        return open(path, "wb")
    except OSError as error:
        raise Mistake(f"log {one_line(path)}: {error.strerror}") from None


def _verdict(console, qemu_status, options):
    decoder = console.decoder
    wrong = decoder.finish(qemu_status)
    if wrong:
        say(wrong)
        return DISAGREE
    for name, (number, reason) in decoder.vms.items():
        if number:
            say(f"VM {name} ended with status {number} ({reason})")
    found = KUT_LINE.findall(console.tail)
    if options.kut and decoder.status == 0 and found:
        return int(found[-1]) >> 1 & 0xff
    if decoder.status == 0 and not console.proven:
        say(f"the output lacks {options.proof.decode()}")
        return 1
    return decoder.status


def run(options):
    """Run a session to its end; the exit status."""
    qemu.check_version(options.arch)
    argv = qemu.command(options.kernel, options.bundle, options.smp,
                        options.memory, options.append, options.arch,
                        options.extra)
    log = _open_log(options.log)
    deadline = options.timeout and time.monotonic() + options.timeout
    if has_terminal():
        say("Ctrl-] ends the machine; all other keys go to it")
    try:
        with Terminal() as terminal, qemu.Machine(argv) as machine:
            console = Console(terminal, log, options.proof)
            source = terminal if terminal.usable else None
            qemu_status = machine.pump(console.feed, source, deadline)
    except Left as left:
        say("ended by you")
        return left.status
    finally:
        if log:
            log.close()
    if qemu_status is None:
        say(f"no end after {options.timeout:g} s")
        return TIMEOUT
    return _verdict(console, qemu_status, options)
