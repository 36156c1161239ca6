# SPDX-License-Identifier: BSD-2-Clause
#
# The hypervisor under gdb: QEMU stopped at its first instruction, its gdb
# socket private to this session, and gdb-multiarch with the symbols where QEMU
# puts the image and with the commands of gdb.py. The console goes to a file,
# since gdb has the terminal.

import os
import signal
import struct
import subprocess

from launch import qemu
from launch.errors import Mistake, one_line
from launch.session import say

COMMANDS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gdb.py")
RAM_BASE = {"arm64": 0x40000000}	# of machines that load a raw Image
BOOT_STUB = 0x1000	# QEMU keeps offsets below this for its own code


def load_address(image, arch):
    """Where QEMU puts the image. An ELF file goes where it is linked, a raw
    Image to RAM base + the header's text_offset."""
    if arch not in RAM_BASE:
        return link_address(image)
    with open(image, "rb") as source:
        head = source.read(64)
    offset = struct.unpack_from("<Q", head, 8)[0]
    return RAM_BASE[arch] + offset + (0x200000 if offset < BOOT_STUB else 0)


def link_address(elf):
    """The lowest address that the ELF file's segments load at."""
    with open(elf, "rb") as source:
        head = source.read(64)
        phoff, = struct.unpack_from("<Q", head, 32)
        size, number = struct.unpack_from("<2H", head, 54)
        source.seek(phoff)
        table = source.read(size * number)
    loads = [struct.unpack_from("<Q", table, at + 16)[0]
             for at in range(0, size * number, size)
             if struct.unpack_from("<I", table, at)[0] == 1]
    if not loads:
        raise Mistake(f"{one_line(elf)} has nothing to load")
    return min(loads)


def gdb_command(image, socket, arch, extra):
    """gdb with the symbols in place and the target connected."""
    elf = image + ".elf"
    slide = load_address(image, arch) - link_address(elf)
    symbols = ["-ex", f"symbol-file -o {slide:#x} {elf}"] if slide else [elf]
    return ["gdb-multiarch", "-q", "-iex", "set confirm off", *symbols,
            "-ex", f"target remote {socket}", "-x", COMMANDS, *extra]


def run(options, folder, gdb_args):
    """gdb in the foreground; its exit status."""
    qemu.check_version(options.arch)
    socket = os.path.join(folder, "gdb.sock")
    argv = qemu.command(options.kernel, options.bundle, options.smp,
                        options.memory, options.append, options.arch,
                        ["-S", "-gdb", f"unix:{socket},server=on,wait=off",
                         *options.extra])
    argv[argv.index("-serial") + 1] = f"file:{options.log}"
    say(f"the console is written to {options.log}")
    # Ctrl-C belongs to gdb, which stops the machine with it.
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with qemu.Machine(argv) as machine:
            machine.wait_for(socket)
            return subprocess.run(
                gdb_command(options.kernel, socket, options.arch, gdb_args),
                check=False, restore_signals=True,
                preexec_fn=lambda: signal.signal(signal.SIGINT,
                                                 signal.SIG_DFL)).returncode
    except FileNotFoundError:
        raise Mistake("gdb-multiarch: not found") from None
    finally:
        signal.signal(signal.SIGINT, handler)
