# SPDX-License-Identifier: BSD-2-Clause
#
# QEMU: its command line, and one running QEMU with its console on two pipes.
# Invariant: a QEMU started here never outlives its Machine object's `with`
# block, nor this process (the kernel kills it with its parent). Only this
# QEMU is ever signalled, by its own process object.

import ctypes
import os
import re
import selectors
import signal
import subprocess
import time

from launch.errors import Mistake

OLDEST = (10, 0)
PR_SET_PDEATHSIG = 1
BINARY = {"arm64": "qemu-system-aarch64",
          "loongarch": "qemu-system-loongarch64"}
ARCHES = tuple(BINARY)
MACHINE = {
    "arm64": ["-M", "virt,virtualization=on,gic-version=3,dtb-randomness=off",
              "-cpu", "max"],
    "loongarch": ["-M", "virt", "-cpu", "max"],
}
# QEMU's LoongArch machine puts the bundle behind the kernel, in the memory
# that ends here.
BUNDLE_END = {"loongarch": 256 << 20}
FIXED = ["-nodefaults", "-display", "none", "-serial", "stdio",
         "-device", "pvpanic-pci", "-action", "panic=exit-failure",
         "-no-reboot", "-seed", "1"]


def command(kernel, bundle, smp, memory, append="", arch="arm64", extra=()):
    """The argument list. `memory` is in bytes; `extra` comes last, and so
    wins over what stands before it."""
    argv = [BINARY[arch], *MACHINE[arch], "-smp", str(smp),
            "-m", f"{memory >> 20}M", *FIXED, "-kernel", kernel]
    if bundle is not None:
        argv += ["-initrd", bundle]
    if append:
        argv += ["-append", append]
    return argv + list(extra)


def check_bundle(kernel, bundle, arch):
    """A Mistake when the machine has no place for the bundle."""
    end = BUNDLE_END.get(arch)
    # From 32 MiB on the kernel, a gap of four times its file, the bundle.
    start = (32 << 20) + 6 * os.path.getsize(kernel)
    if end and start + os.path.getsize(bundle) > end:
        raise Mistake(f"the guests' files have {os.path.getsize(bundle):,} "
                      f"bytes, {end - start:,} are the most on this machine")


def check_version(arch="arm64"):
    """A Mistake when QEMU is missing or too old."""
    name = BINARY[arch]
    want = ".".join(map(str, OLDEST))
    try:
        out = subprocess.run([name, "--version"], capture_output=True,
                             text=True, check=False).stdout
    except OSError as error:
        raise Mistake(f"{name}: {error.strerror}; QEMU {want} or newer is "
                      "needed") from None
    found = re.search(r"version (\d+)\.(\d+)", out)
    if not found:
        raise Mistake(f"{name} --version does not say a version")
    if (int(found[1]), int(found[2])) < OLDEST:
        raise Mistake(f"{name}: version {found[1]}.{found[2]} is too old, "
                      f"{want} or newer is needed")


def _die_with_parent(parent):
    """In the child: be killed when the launcher dies, however it does."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


class Machine:
    """A running QEMU. Use as a context manager; leaving it ends QEMU."""

    def __init__(self, argv, stderr=None):
        parent = os.getpid()
        try:
            # A session of its own: Ctrl-C on the terminal is the launcher's.
            self.process = subprocess.Popen(
                argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=stderr, bufsize=0, start_new_session=True,
                preexec_fn=lambda: _die_with_parent(parent))
        except OSError as error:
            raise Mistake(f"{argv[0]}: {error.strerror}") from None
        self.pending = b""
        os.set_blocking(self.process.stdin.fileno(), False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """End this QEMU if it still runs."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            try:
                pipe.close()
            except OSError:
                pass

    def wait_for(self, path):
        """Wait until QEMU has made the file `path`, at most 10 s."""
        end = time.monotonic() + 10
        while not os.path.exists(path):
            if self.process.poll() is not None or time.monotonic() > end:
                raise Mistake("QEMU did not start")
            time.sleep(0.02)

    def _write(self):
        """Send what is pending to the console; keep what does not fit."""
        try:
            done = os.write(self.process.stdin.fileno(), self.pending)
            self.pending = self.pending[done:]
        except BlockingIOError:
            pass
        except BrokenPipeError:
            self.pending = b""

    def pump(self, sink, source=None, deadline=None):
        """Carry bytes until QEMU closes its console; its exit status, or
        None when `deadline` (time.monotonic) passed first. `sink(bytes)`
        gets the output; `source` has fileno() and read(), which returns
        bytes to type, or None at the end of input."""
        out = self.process.stdout.fileno()
        while True:
            with selectors.DefaultSelector() as ready:
                ready.register(out, selectors.EVENT_READ)
                if self.pending:
                    ready.register(self.process.stdin, selectors.EVENT_WRITE)
                elif source:
                    # A regular file is always ready, and epoll refuses it.
                    try:
                        ready.register(source.fileno(), selectors.EVENT_READ)
                    except PermissionError:
                        self.pending = source.read() or b""
                        source = source if self.pending else None
                        continue
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left <= 0:
                    return None
                fds = [key.fd for key, _ in ready.select(left)]
            if self.process.stdin.fileno() in fds:
                self._write()
            if source and source.fileno() in fds:
                typed = source.read()
                source = None if typed is None else source
                self.pending += typed or b""
            if out in fds:
                data = os.read(out, 65536)
                if not data:
                    return self._wait(deadline)
                sink(data)

    def _wait(self, deadline):
        left = None if deadline is None else max(
            0.1, deadline - time.monotonic())
        try:
            return self.process.wait(left)
        except subprocess.TimeoutExpired:
            return None
