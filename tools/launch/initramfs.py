# SPDX-License-Identifier: BSD-2-Clause
#
# The initramfs of the Linux guest: a static BusyBox and the few scripts of
# guest/linux. Needs no rights: device nodes exist only inside the archive.

from launch import cpio
from launch.errors import check_file

DIRECTORIES = ("bin", "dev", "etc", "proc", "sys", "tmp")
SCRIPTS = (("etc/inittab", "inittab", 0o644), ("etc/rc", "rc", 0o755),
           ("etc/selfcheck", "selfcheck", 0o755),
           ("bin/smpcheck", "smpcheck", 0o755),
           ("bin/loadcheck", "loadcheck", 0o755),
           ("etc/profile", "profile", 0o644))


def write_init(path, program):
    """An initramfs at `path` with one static program, which is init."""
    check_file(program, "init")
    with open(path, "wb") as out:
        archive = cpio.Writer(out)
        archive.directory("dev")
        archive.device("dev/console", 5, 1)
        archive.file("init", program, 0o755)
        archive.close()


def write(path, busybox, scripts):
    """An initramfs at `path` from a BusyBox binary and a script folder."""
    check_file(busybox, "BusyBox")
    with open(path, "wb") as out:
        archive = cpio.Writer(out)
        for name in DIRECTORIES:
            archive.directory(name)
        # The kernel opens it for init before devtmpfs is mounted.
        archive.device("dev/console", 5, 1)
        archive.device("dev/null", 1, 3, 0o666)
        archive.file("bin/busybox", busybox, 0o755)
        archive.link("bin/sh", "busybox")
        archive.link("init", "bin/busybox")
        for name, script, mode in SCRIPTS:
            archive.file(name, f"{scripts}/{script}", mode)
        archive.close()
