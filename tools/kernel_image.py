#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
#
# Turns a distribution's arm64 vmlinuz into the plain Image that a boot loader
# starts: the file may be an Image already, compressed, or an EFI program that
# carries a compressed Image (the header is in Linux's zboot-header.S).

import struct
import subprocess
import sys

UNPACK = {
    "gzip": ["gzip", "-dc"],
    "xz": ["xz", "-dc"],
    "lzma": ["xz", "--format=lzma", "-dc"],
    "zstd": ["zstd", "-dcq"],
}
MAGIC = {b"\x1f\x8b": "gzip", b"\xfd7zXZ\0": "xz", b"\x28\xb5\x2f\xfd": "zstd"}


def is_image(data):
    return data[56:60] == b"ARM\x64"


def unpack(kind, data):
    """The unpacked data; the packer may complain about padding after it."""
    if kind not in UNPACK:
        raise ValueError(f"unknown compression {kind!r}")
    return subprocess.run(UNPACK[kind], input=data, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False).stdout


def plain_image(data):
    """Return (Image, how it was packed)."""
    if is_image(data):
        return data, "plain"
    if data[:2] == b"MZ" and data[4:8] == b"zimg":
        offset, size = struct.unpack_from("<II", data, 8)
        kind = data[24:56].split(b"\0")[0].decode("ascii", "replace")
        return unpack(kind, data[offset:offset + size]), f"EFI, {kind}"
    for magic, kind in MAGIC.items():
        if data.startswith(magic):
            return unpack(kind, data), kind
    raise ValueError("neither an Image nor a packed one")


def main():
    source, target = sys.argv[1:3]
    with open(source, "rb") as f:
        data = f.read()
    try:
        image, how = plain_image(data)
        if not is_image(image):
            raise ValueError("no arm64 Image in it")
    except (ValueError, OSError, struct.error) as e:
        sys.exit(f"nestling: {source}: {e}")
    with open(target, "wb") as f:
        f.write(image)
    if how != "plain":
        print(f"nestling: kernel unpacked ({how}): {len(image)} bytes",
              file=sys.stderr)


main()
