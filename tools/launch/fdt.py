# SPDX-License-Identifier: BSD-2-Clause
#
# Flattened device trees, as far as manifests need them: a tree of nodes with
# byte-string properties, written and read in version 17 of the format
# (Devicetree Specification 0.4, chapter 5). Nothing is checked here beyond the
# format itself, so the tests can make trees that dtc would refuse.

import struct

MAGIC = 0xd00dfeed
BEGIN_NODE, END_NODE, PROP, NOP, END = 1, 2, 3, 4, 9
HEADER = struct.Struct(">10I")


class FdtError(Exception):
    """The bytes are not a device tree."""


class U64(int):
    """An integer that is written as two cells."""


def encode(value):
    """A property value: str, int (one cell), U64, bytes or a list of them."""
    if value is None:
        return b""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode() + b"\0"
    if isinstance(value, U64):
        return struct.pack(">Q", value)
    if isinstance(value, int):
        return struct.pack(">I", value)
    return b"".join(encode(v) for v in value)


class Node:
    """One node: `props` is a list of (name, bytes), `children` of nodes."""

    def __init__(self, name, props=(), children=()):
        self.name = name
        self.props = [(n, encode(v)) for n, v in props]
        self.children = list(children)

    def get(self, name):
        """The bytes of a property, or None."""
        return next((v for n, v in self.props if n == name), None)

    def text(self, name):
        """A property that is one string, or None when it is not."""
        value = self.get(name)
        if not value or value[-1] or b"\0" in value[:-1]:
            return None
        return value[:-1].decode("utf-8", "surrogateescape")

    def child(self, name):
        """The child of that name, or None."""
        return next((c for c in self.children if c.name == name), None)


def _pad(data):
    return data + bytes(-len(data) % 4)


def write(root):
    """The device tree blob of a tree."""
    strings, offsets, words = bytearray(), {}, []

    def intern(name):
        if name not in offsets:
            offsets[name] = len(strings)
            strings.extend(name.encode() + b"\0")
        return offsets[name]

    def emit(node):
        words.append(struct.pack(">I", BEGIN_NODE))
        words.append(_pad(node.name.encode() + b"\0"))
        for name, value in node.props:
            words.append(struct.pack(">3I", PROP, len(value), intern(name)))
            words.append(_pad(value))
        for child in node.children:
            emit(child)
        words.append(struct.pack(">I", END_NODE))

    emit(root)
    body = b"".join(words) + struct.pack(">I", END)
    reserve = HEADER.size
    start = reserve + 16
    head = HEADER.pack(MAGIC, start + len(body) + len(strings), start,
                       start + len(body), reserve, 17, 16, 0, len(strings),
                       len(body))
    return head + bytes(16) + body + bytes(strings)


def _name(blob, at):
    end = blob.index(b"\0", at)
    return blob[at:end].decode("utf-8", "surrogateescape"), end + 1


def _parse(blob, at, strings):
    """The node whose BEGIN_NODE token is at `at`, and where it ends."""
    name, at = _name(blob, at + 4)
    node = Node(name)
    at += -at % 4
    while True:
        token = struct.unpack_from(">I", blob, at)[0]
        if token == BEGIN_NODE:
            child, at = _parse(blob, at, strings)
            node.children.append(child)
        elif token == PROP:
            size, offset = struct.unpack_from(">2I", blob, at + 4)
            at += 12
            if at + size > len(blob):
                raise FdtError("a property is cut off")
            node.props.append((_name(blob, strings + offset)[0],
                               blob[at:at + size]))
            at += size + -size % 4
        elif token == END_NODE:
            return node, at + 4
        elif token == NOP:
            at += 4
        else:
            raise FdtError(f"unknown token {token:#x}")


def read(blob):
    """The root node of a device tree blob."""
    try:
        head = HEADER.unpack_from(blob)
        if head[0] != MAGIC:
            raise FdtError("not a device tree blob")
        return _parse(blob, head[2], head[3])[0]
    except (struct.error, ValueError, RecursionError) as error:
        raise FdtError("a broken device tree blob") from error
