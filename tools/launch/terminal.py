# SPDX-License-Identifier: BSD-2-Clause
#
# The user's side of the console: standard input and output. On a terminal the
# input is raw, so every key reaches the guest, Ctrl-C too; Ctrl-] leaves. A
# pipe, a file or /dev/null works as well. Invariant: the terminal is put back
# as it was when the `with` block ends, however it ends.

import os
import signal
import sys
import termios

from launch.errors import LEFT

LEAVE_KEY = 0x1d	# Ctrl-]
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Left(Exception):
    """The user or a signal ended the session; `status` is the exit status."""

    def __init__(self, status):
        super().__init__()
        self.status = status


def _on_signal(number, _frame):
    raise Left(LEFT if number == signal.SIGINT else 128 + number)


def has_terminal():
    """Is standard input a terminal that this process may read now?"""
    try:
        return os.tcgetpgrp(0) == os.getpgrp()
    except OSError:
        return False


class Terminal:
    """Standard input as the `source` and output as the sink of a Machine."""

    def __init__(self):
        self.raw = has_terminal()
        self._saved = None
        self._handlers = {}
        # Reading a terminal from the background would only stop us.
        self.usable = self.raw or not os.isatty(0)

    def __enter__(self):
        self._handlers = {s: signal.signal(s, _on_signal) for s in SIGNALS}
        if self.raw:
            self._saved = termios.tcgetattr(0)
            mode = termios.tcgetattr(0)
            mode[0] &= ~(termios.BRKINT | termios.ICRNL | termios.INLCR |
                         termios.IGNCR | termios.INPCK | termios.ISTRIP |
                         termios.IXON)
            # The hypervisor ends all its lines with CR LF by itself.
            mode[1] &= ~termios.OPOST
            mode[3] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN |
                         termios.ISIG)
            mode[6][termios.VMIN], mode[6][termios.VTIME] = 1, 0
            termios.tcsetattr(0, termios.TCSADRAIN, mode)
        return self

    def __exit__(self, *_):
        if self._saved:
            termios.tcsetattr(0, termios.TCSADRAIN, self._saved)
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def fileno(self):
        """Standard input."""
        return 0

    def read(self):
        """What was typed, or None at the end of input."""
        try:
            data = os.read(0, 4096)
        except OSError:
            return None
        if self.raw and LEAVE_KEY in data:
            raise Left(LEFT)
        return data or None

    def write(self, data):
        """Show output."""
        try:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            raise Left(128 + signal.SIGPIPE) from None
