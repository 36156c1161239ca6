# SPDX-License-Identifier: BSD-2-Clause
#
# What the system tests stand on: make a bundle, boot the hypervisor on QEMU,
# take the console apart, compare. run_vms() is the whole of it for most tests;
# Session is a launcher on a pseudo terminal for those that type. A QEMU never
# outlives the call that started it.

import dataclasses
import os
import re
import subprocess
import sys
import time

import pexpect
import pytest
from launch import bundle, fdt, qemu, status

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ARCH = os.environ.get("NESTLING_ARCH", "arm64")
BUILD = os.path.join(TOP, "build", ARCH)
SOAK = bool(os.environ.get("NESTLING_SOAK"))
MIB = 1 << 20
U64 = fdt.U64
PREFIX = re.compile(r"\[([a-z0-9_-]{1,31})\] ?(.*)")
OUR_LINE = "nestling: "


def hypervisor(arch=ARCH):
    """The path of the hypervisor image."""
    return os.path.join(TOP, "build", arch, "nestling")


HYPERVISOR = hypervisor()


def guest(name, arch=ARCH):
    """The path of a guest image built from guest/NAME.c."""
    path = os.path.join(TOP, "build", arch, "guest", name + ".elf")
    assert os.path.isfile(path), f"guest image {path} was not built"
    return path


@dataclasses.dataclass
class Result:
    """How a machine ended. `status` is None without a status record."""

    status: int
    vms: dict		# VM name: (status, reason)
    output: dict	# VM name: its console lines
    hyp: list		# the hypervisor's own lines, without "nestling: "
    qemu_status: int	# None: it had to be stopped
    seconds: float
    raw: bytes
    wrong: str		# what the decoder did not believe, or None

    def text(self, name):
        """All of a VM's console output."""
        return "\n".join(self.output.get(name, []))

    def tail(self, lines=40):
        """The end of the console, for messages."""
        text = self.raw.decode("utf-8", "backslashreplace")
        return "\n".join(text.splitlines()[-lines:])

    def complain(self, why):
        """Fail the test with the end of the console."""
        pytest.fail(f"{why} (after {self.seconds:.1f} s)\n"
                    f"--- last lines of the console ---\n{self.tail()}",
                    pytrace=False)

    def expect(self, machine=0, **vms):
        """The machine's status and of the VMs named (status, reason)."""
        if self.wrong:
            self.complain(self.wrong)
        if self.status != machine:
            self.complain(f"status {self.status}, expected {machine}")
        for name, want in vms.items():
            have = self.vms.get(name.replace("_", "-"))
            if have != want:
                self.complain(f"VM {name} ended with {have}, not {want}")
        return self

    def has(self, name, pattern):
        """The first match of a regular expression in a VM's output."""
        found = re.search(pattern, self.text(name), re.M)
        if not found:
            self.complain(f"VM {name} did not print {pattern!r}")
        return found

    def says(self, *words):
        """The first hypervisor line that has all the words."""
        for line in self.hyp:
            if all(word in line for word in words):
                return line
        return self.complain(f"no hypervisor line with {words}")


def split_console(text, names):
    """(VM name: lines, hypervisor lines) of a console's text."""
    output, ours = {name: [] for name in names}, []
    for line in text.decode("utf-8", "backslashreplace").split("\n"):
        line = line.rstrip("\r")
        match = PREFIX.match(line)
        if line.startswith(OUR_LINE):
            ours.append(line[len(OUR_LINE):])
        elif len(names) == 1:
            output[names[0]].append(line)
        elif match and match[1] in output:
            output[match[1]].append(match[2])
        elif line:
            output.setdefault("", []).append(line)
    return output, ours


def vm(name, kernel, **props):
    """A VM for run_vms(). Property names with _ for -; files by path; sizes
    in bytes."""
    props = {key.replace("_", "-"): value for key, value in props.items()}
    if isinstance(props.get("memory"), int):
        props["memory"] = U64(props["memory"])
    return name, {"kernel": kernel, **props}


def make_bundle(path, vms):
    """A bundle of vm() results: each file gets a name of its own."""
    files, nodes = {}, []
    for name, props in vms:
        props = dict(props)
        for prop in bundle.FILE_PROPERTIES:
            source = props.get(prop)
            if isinstance(source, str):
                props[prop] = f"{name}-{os.path.basename(source)}"
                files[props[prop]] = source
        nodes.append((name, props))
    root = bundle.manifest(nodes)
    bundle.write(path, root, files)
    return bundle.memory(root)


def boot(initrd, names=("guest",), *, append="", smp=1, memory=512 * MIB,
         timeout=60, extra=(), typed=None, kernel=None, arch=ARCH):
    """Boot the hypervisor with a bundle file (None: without) to its end."""
    argv = qemu.command(kernel or hypervisor(arch), initrd, smp, memory,
                        append, arch, extra)
    decoder, text, raw = status.Decoder(), bytearray(), bytearray()

    def sink(data):
        raw.extend(data)
        text.extend(decoder.feed(data))

    begin = time.monotonic()
    with qemu.Machine(argv, stderr=subprocess.STDOUT) as machine:
        machine.pending = typed or b""
        ended = machine.pump(sink, None, begin + timeout)
    output, ours = split_console(bytes(text), list(names))
    result = Result(decoder.status, decoder.vms, output, ours, ended,
                    time.monotonic() - begin, bytes(raw), None)
    if ended is None:
        result.complain(f"no end after {timeout} s")
    result.wrong = decoder.finish(ended)
    return result


def run_vms(folder, *vms, memory=None, append="", whole_lines=True,
            **options):
    """Boot the VMs, files in `folder` (a tmp_path); see boot(). Unless
    `whole_lines` is off, no VM's line is broken by another's."""
    if whole_lines and "console=" not in append:
        append = f"console=lines {append}"
    path = os.path.join(folder, "bundle.cpio")
    need = make_bundle(path, vms) + os.path.getsize(path) + 256 * MIB
    memory = memory or -(-need // (256 * MIB)) * 256 * MIB
    return boot(path, [name for name, _ in vms], memory=memory,
                append=append, **options)


def launcher(*args, **options):
    """Run tools/nestling to its end without a terminal."""
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run([os.path.join(TOP, "tools/nestling"), *args],
                          capture_output=True, text=True, check=False,
                          timeout=options.pop("timeout", 120), **options)


class Session:
    """tools/nestling on a pseudo terminal, for tests that type."""

    def __init__(self, *args, timeout=60):
        self.child = pexpect.spawn(
            os.path.join(TOP, "tools/nestling"), list(args), timeout=timeout,
            encoding="utf-8", codec_errors="backslashreplace",
            dimensions=(40, 200), echo=False)
        self.child.delaybeforesend = None
        self.seen = ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # Ctrl-] lets the launcher end its QEMU by itself; then make sure.
        if self.child.isalive():
            self.child.send("\x1d")
            try:
                self.child.expect(pexpect.EOF, timeout=10)
            except pexpect.TIMEOUT:
                pass
        self.child.close(force=True)

    def expect(self, pattern, timeout=-1):
        """Wait for a regular expression; its match."""
        try:
            self.child.expect(pattern, timeout=timeout)
        except (pexpect.TIMEOUT, pexpect.EOF) as error:
            tail = "\n".join((self.seen + (self.child.before or "")
                              ).splitlines()[-40:])
            pytest.fail(f"{pattern!r} did not come ({type(error).__name__})\n"
                        f"--- last lines ---\n{tail}", pytrace=False)
        self.seen += self.child.before + self.child.after
        return self.child.match

    def type(self, line):
        """Type one line."""
        self.child.send(line + "\r")

    def end(self, timeout=60):
        """Wait for the launcher's end; its exit status."""
        try:
            self.child.expect(pexpect.EOF, timeout=timeout)
        except pexpect.TIMEOUT:
            pytest.fail("the launcher did not end\n--- last lines ---\n" +
                        "\n".join(self.child.before.splitlines()[-40:]),
                        pytrace=False)
        self.seen += self.child.before
        self.child.close()
        return self.child.exitstatus


def cross(*args, arch=ARCH):
    """Run the cross compiler; fails the test when it fails."""
    prefix = {"arm64": "aarch64-linux-gnu-",
              "loongarch": "loongarch64-linux-gnu-"}[arch]
    done = subprocess.run([prefix + args[0], *args[1:]], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, f"{args}: {done.stderr}"


def mini(folder, name, *defines):
    """Builds tests/mini/NAME.c with -D options; the path of the raw binary.
    It is a Linux Image when IMAGE_FLAGS is among them, else flat."""
    here = os.path.join(TOP, "tests/mini")
    count = len(os.listdir(folder))
    elf = os.path.join(folder, f"{name}{count}.elf")
    out = os.path.join(folder, f"{name}{count}.bin")
    cross("gcc", "-std=gnu23", "-Wall", "-Wextra", "-Werror", "-O2",
          "-ffreestanding", "-fpie", "-mgeneral-regs-only", "-mstrict-align",
          "-fno-stack-protector", "-nostdlib", "-static", "-Wl,--build-id=none",
          "-Wl,--no-warn-rwx-segments", "-T", f"{here}/mini.ld",
          *(f"-D{d}" for d in defines), f"{here}/start.S",
          f"{here}/{name}.c", "-o", elf)
    cross("objcopy", "-O", "binary", elf, out)
    return out


if sys.version_info < (3, 11):
    pytest.exit("the tests need Python 3.11 or newer", 2)
