# SPDX-License-Identifier: BSD-2-Clause
#
# cpio archives in the "newc" format, written only: the bundle that the
# hypervisor gets as its initrd, and the initramfs of a Linux guest. The same
# input always gives the same bytes: no times, owner root, counted inodes.

import os
import shutil
import stat

MAGIC = b"070701"
LIMIT = 0xffffffff	# sizes are eight hexadecimal digits


class Writer:
    """Writes entries to a binary file object; close() ends the archive."""

    def __init__(self, out):
        self.out = out
        self.at = 0
        self.inode = 0

    def _put(self, data):
        self.out.write(data)
        self.at += len(data)

    def _align(self):
        self._put(bytes(-self.at % 4))

    def _header(self, name, mode, size, rdev=(0, 0)):
        raw = os.fsencode(name) + b"\0"
        if not 0 <= size <= LIMIT:
            raise ValueError(f"{name}: too big for a cpio archive")
        self.inode += 1
        fields = (self.inode, mode, 0, 0, 1, 0, size, 0, 0, *rdev, len(raw), 0)
        self._put(MAGIC + b"".join(b"%08x" % f for f in fields) + raw)
        self._align()

    def data(self, name, content, mode=0o644):
        """A regular file with the bytes given."""
        self._header(name, stat.S_IFREG | mode, len(content))
        self._put(content)
        self._align()

    def file(self, name, path, mode=0o644):
        """A regular file copied from the file system."""
        with open(path, "rb") as source:
            size = os.fstat(source.fileno()).st_size
            self._header(name, stat.S_IFREG | mode, size)
            shutil.copyfileobj(source, self.out, 1 << 20)
            copied = source.tell()
        if copied != size:
            raise ValueError(f"{path}: changed while it was read")
        self.at += size
        self._align()

    def directory(self, name, mode=0o755):
        """A directory; its parent must come first."""
        self._header(name, stat.S_IFDIR | mode, 0)

    def link(self, name, target):
        """A symbolic link."""
        raw = os.fsencode(target)
        self._header(name, stat.S_IFLNK | 0o777, len(raw))
        self._put(raw)
        self._align()

    def device(self, name, major, minor, mode=0o600):
        """A character device node."""
        self._header(name, stat.S_IFCHR | mode, 0, (major, minor))

    def close(self):
        """The trailer that ends the archive."""
        self.inode = -1
        self._header("TRAILER!!!", 0, 0)
