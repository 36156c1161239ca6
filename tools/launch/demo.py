# SPDX-License-Identifier: BSD-2-Clause
#
# The demonstration that `make run` shows: a Debian kernel with a BusyBox shell,
# and small guests of ours beside it on the same CPUs. Without a terminal the
# Linux VM checks itself and powers off.

import os

from launch import bundle, fdt, initramfs
from launch.errors import Mistake, one_line

KERNELS = ("linux-backports", "linux-trixie")	# the newer one first
AUTO = "nestling.auto"
PROOF = b"LINUX-OK"	# printed by guest/linux/selfcheck


def _need(path, what):
    if not os.path.isfile(path):
        raise Mistake(f"{what} {one_line(path)} is not there: run make first")
    return path


def kernel(top):
    """The newest Debian kernel that `make deps` has fetched."""
    paths = [os.path.join(top, "build/guests", k, "Image") for k in KERNELS]
    return next((p for p in paths if os.path.isfile(p)), None) or \
        _need(paths[0], "Debian kernel")


def linux_initramfs(top, path):
    """Makes the initramfs at `path`, which it returns."""
    busybox = _need(os.path.join(top, "build/guests/busybox"), "BusyBox")
    initramfs.write(path, busybox, os.path.join(top, "guest/linux"))
    return path


def vms(top, arch, folder, interactive):
    """The manifest and the files of the demonstration."""
    guests = os.path.join(top, "build", arch, "guest")
    files = {
        "Image": kernel(top),
        "initramfs.cpio": linux_initramfs(
            top, os.path.join(folder, "initramfs.cpio")),
        "hello.elf": _need(os.path.join(guests, "hello.elf"), "guest"),
        "busy.elf": _need(os.path.join(guests, "busy.elf"), "guest"),
    }
    linux = {"kernel": "Image", "ramdisk": "initramfs.cpio",
             "bootargs": "quiet" if interactive else f"quiet {AUTO}",
             "memory": fdt.U64(512 << 20)}
    root = bundle.manifest([
        ("debian", linux),
        ("hello", {"kernel": "hello.elf"}),
        ("busy", {"kernel": "busy.elf", "bootargs": "seconds=10"})])
    return root, files
