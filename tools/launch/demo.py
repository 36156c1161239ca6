# SPDX-License-Identifier: BSD-2-Clause
#
# The demonstration that `make run` shows: a Debian kernel with a BusyBox shell,
# and small guests of ours beside it on the same CPUs. Without a terminal the
# Linux VM checks itself and powers off. On LoongArch, where Linux needs what
# this hypervisor does not have, the small guests alone.

import os

from launch import bundle, fdt, initramfs
from launch.errors import Mistake, one_line

KERNELS = ("linux-backports", "linux-trixie")	# the newer one first
AUTO = "nestling.auto"
# What the output must have: guest/linux/selfcheck, a count of checks.
PROOF = {"arm64": b"LINUX-OK", "loongarch": b" passed, 0 failed"}


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


def _guests(top, arch, *names):
    """{file name: path} of images of ours."""
    folder = os.path.join(top, "build", arch, "guest")
    return {f"{name}.elf": _need(os.path.join(folder, f"{name}.elf"), "guest")
            for name in names}


def _small(top, arch):
    """Guests of ours alone."""
    root = bundle.manifest([
        ("hello", {"kernel": "hello.elf"}),
        ("busy", {"kernel": "busy.elf", "bootargs": "seconds=10"}),
        ("sleeper", {"kernel": "sleeper.elf"})])
    return root, _guests(top, arch, "hello", "busy", "sleeper")


def vms(top, arch, folder, interactive):
    """The manifest and the files of the demonstration."""
    if arch == "loongarch":
        return _small(top, arch)
    files = {
        "Image": kernel(top),
        "initramfs.cpio": linux_initramfs(
            top, os.path.join(folder, "initramfs.cpio")),
        **_guests(top, arch, "hello", "busy"),
    }
    linux = {"kernel": "Image", "ramdisk": "initramfs.cpio",
             "bootargs": "quiet" if interactive else f"quiet {AUTO}",
             "memory": fdt.U64(512 << 20)}
    root = bundle.manifest([
        ("debian", linux),
        ("hello", {"kernel": "hello.elf"}),
        ("busy", {"kernel": "busy.elf", "bootargs": "seconds=10"})])
    return root, files
