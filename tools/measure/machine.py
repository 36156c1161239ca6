# SPDX-License-Identifier: BSD-2-Clause
#
# The machine that is measured: one CPU, and with icount one tick of its counter
# an instruction, so that every result is the same in every run and on every
# host. sleep=off: time does not wait while nothing runs.

import os
import subprocess
import tempfile
import time

from launch import bundle, demo, initramfs, qemu, status
from launch.errors import Mistake, one_line
from measure import rows

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
ICOUNT = ["-icount", "shift=0,sleep=off"]
KEEP_FREE = 256 << 20
LINUX = "Image"		# as the image of a VM: the Debian kernel
LIMIT = 60.0		# seconds one run may take


def image(name, arch="arm64", short=False):
    """The path of a benchmark image, flat if there is one; `short`: with few
    samples."""
    path = os.path.join(TOP, "build", arch, "guest",
                        name + ("-short" if short else ""))
    for suffix in (".bin", ".elf"):
        if os.path.isfile(path + suffix):
            return path + suffix
    raise Mistake(f"{one_line(path)}.elf is not there: run make first")


def elf(name, arch="arm64", short=False):
    """The ELF file of a benchmark image."""
    return image(name, arch, short).removesuffix(".bin") + ".elf"


def hypervisor(arch="arm64"):
    """The path of the hypervisor image."""
    path = os.path.join(TOP, "build", arch, "nestling")
    if not os.path.isfile(path):
        raise Mistake(f"{one_line(path)} is not there: run make first")
    return path


def symbol(elf, name):
    """The address of a symbol of an ELF file."""
    out = subprocess.run(["nm", elf], capture_output=True, text=True,
                         check=False).stdout
    for line in out.splitlines():
        if line.split()[-1] == name:
            return int(line.split()[0], 16)
    raise Mistake(f"{one_line(elf)} has no symbol {name}")


def _linux(files, props, folder, arch):
    """A Debian kernel whose init is a program of ours, props["init"]."""
    files[LINUX] = demo.kernel(TOP)
    files["init.cpio"] = os.path.join(folder, "init.cpio")
    program = os.path.join(TOP, "build", arch, "guest", props.pop("init"))
    initramfs.write_init(files["init.cpio"], program)
    props["ramdisk"] = "init.cpio"


def command(run, folder, append="", arch="arm64", short=False, smp=None):
    """QEMU's command line for a run, its bundle made in `folder`; with `smp`
    CPUs, that many without icount."""
    files, nodes = {}, []
    for name, kernel, props in run.vms:
        props = {"kernel": kernel, **props}
        if kernel == LINUX:
            _linux(files, props, folder, arch)
        else:
            files[kernel] = image(kernel, arch, short)
            if files[kernel].endswith(".bin"):
                props["format"] = "flat"
        if "memory" in props:
            props["memory"] = bundle.fdt.U64(props["memory"])
        nodes.append((name, props))
    root = bundle.manifest(nodes)
    path = os.path.join(folder, "bundle.cpio")
    bundle.write(path, root, files)
    memory = bundle.memory(root) + KEEP_FREE
    return qemu.command(hypervisor(arch), path, smp or 1, memory,
                        f"{run.append} {append}".strip(), arch,
                        [] if smp else ICOUNT)


def _values(text, many):
    """{line name: median} of VM "a", in order."""
    prefix, found = b"[a] " if many else b"", {}
    for line in text.split(b"\n"):
        words = line.removeprefix(prefix).split()
        if line.startswith(prefix + b"UB ") and len(words) == 14:
            found[words[1].decode()] = int(words[5])
    return found


def output(run, append="", arch="arm64", smp=None):
    """Run it to its end; what it printed. A Mistake when it did not end as it
    should."""
    decoder, text = status.Decoder(), bytearray()
    with tempfile.TemporaryDirectory(prefix="nestling-") as folder:
        argv = command(run, folder, append, arch, smp=smp)
        with qemu.Machine(argv) as machine:
            ended = machine.pump(lambda data: text.extend(decoder.feed(data)),
                                 None, time.monotonic() + LIMIT)
    tail = text[-200:].decode(errors="replace")
    if ended is None:
        raise Mistake(f"no end after {LIMIT:g} s: {one_line(tail)}")
    wrong = decoder.finish(ended)
    if wrong or decoder.status:
        raise Mistake(f"{wrong or f'status {decoder.status}'}: "
                      f"{one_line(tail)}")
    return bytes(text).replace(b"\r", b"")


def measure(run, append="", arch="arm64"):
    """{line name: median} of a run. A Mistake when rows are missing."""
    found = _values(output(run, append, arch), len(run.vms) > 1)
    if tuple(found) != run.lines:
        missing = [line for line in run.lines if line not in found]
        raise Mistake(f"rows are missing: {' '.join(missing)}")
    return found
