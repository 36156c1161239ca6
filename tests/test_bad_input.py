# SPDX-License-Identifier: BSD-2-Clause
#
# Mistakes of users that reach the hypervisor: bundles, manifests, options,
# kernels and machines that are not right. Each must end soon, with one clear
# line that names the thing, and status 2.

import os
import struct

import pytest
from harness import MIB, U64, boot, guest, make_bundle, run_vms, vm
from launch import bundle, cpio, fdt

TIMEOUT = 20


def refused(result, *words):
    """The machine ended with status 2 before any VM ran. Beside the greeting
    there is one hypervisor line, and it has the words."""
    result.expect(2)
    lines = [line for line in result.hyp if not line.startswith("Nestling: ")]
    if len(lines) != 1 or any(word not in lines[0] for word in words):
        result.complain(f"not one line with {words}")
    if result.vms:
        result.complain("a VM ran")


def pack(path, root, files=()):
    """A bundle from a manifest tree (or bytes) and (name, bytes) pairs."""
    with open(path, "wb") as out:
        archive = cpio.Writer(out)
        if root is not None:
            archive.data(bundle.MANIFEST, root if isinstance(root, bytes)
                         else fdt.write(root))
        for name, content in files:
            archive.data(name, content)
        archive.close()
    return path


def hello():
    """The bytes of a kernel that would work."""
    with open(guest("hello"), "rb") as source:
        return source.read()


def manifest(*props, name="a", extra_nodes=()):
    """A manifest with one VM of these properties."""
    return fdt.Node("", [("compatible", bundle.COMPATIBLE), ("version", 1)],
                    [fdt.Node("vms", (), [fdt.Node(name, props)]),
                     *extra_nodes])


# --- bundles ------------------------------------------------------------------

def test_no_initrd():
    """No bundle at all."""
    refused(boot(None, timeout=TIMEOUT), "bundle")


@pytest.mark.parametrize("damage, words", [
    (lambda b: b"", ["bundle"]),
    (lambda b: b[:50], ["bundle"]),
    (lambda b: b[:110], ["bundle", "file name"]),
    (lambda b: b[:3000], ["bundle", "cut off"]),
    (lambda b: b[:-124], ["bundle", "trailer"]),
    (lambda b: b"garbage " * 1000, ["bundle", "cpio"]),
    (lambda b: b"\x1f\x8b\x08" + bytes(500), ["bundle", "cpio"]),
    (lambda b: b"070707" + b[6:], ["bundle", "cpio"]),
    (lambda b: b[:14] + b"x" + b[15:], ["bundle", "header"]),
    (lambda b: b[:54] + b"ffffffff" + b[62:], ["bundle", "cut off"]),
    (lambda b: b[:94] + b"ffffffff" + b[102:], ["bundle", "file name"]),
    (lambda b: b[:94] + b"00000000" + b[102:], ["bundle", "file name"]),
], ids=["empty", "short", "header-only", "cut", "no-trailer", "garbage", "gzip",
        "odc", "digit", "size", "name-size", "name-zero"])
def test_broken_bundle(damage, words, tmp_path):
    """Archives that are cut off, garbage, or lie about their sizes."""
    path = tmp_path / "b.cpio"
    make_bundle(path, [vm("a", guest("hello"))])
    path.write_bytes(damage(path.read_bytes()))
    refused(boot(str(path), timeout=TIMEOUT), *words)


def test_bundle_without_manifest(tmp_path):
    """Files but no manifest."""
    path = pack(tmp_path / "b", None, [("k", hello())])
    refused(boot(path, timeout=TIMEOUT), "manifest.dtb")


def test_bundle_same_name(tmp_path):
    """Two files of one name."""
    path = pack(tmp_path / "b", manifest(("kernel", "k")),
                [("k", hello()), ("k", hello())])
    refused(boot(path, timeout=TIMEOUT), "bundle", "same name")


def test_bundle_of_many_files(tmp_path):
    """More files than a bundle can have."""
    path = pack(tmp_path / "b", manifest(("kernel", "k")),
                [("k", hello())] + [(f"f{n}", b"") for n in range(1100)])
    refused(boot(path, timeout=TIMEOUT), "bundle", "1024")


@pytest.mark.parametrize("name", ["../k", "/k", "dir/k", "k/", "K"])
def test_other_file_name(name, tmp_path):
    """Names are compared as they are: there are no directories to climb."""
    path = pack(tmp_path / "b", manifest(("kernel", "k")), [(name, hello())])
    refused(boot(path, timeout=TIMEOUT), "/vms/a", "file k is not in the")


# --- manifests ----------------------------------------------------------------

@pytest.mark.parametrize("root, words", [
    (b"", ["manifest.dtb"]),
    (b"no tree", ["manifest.dtb"]),
    (fdt.write(manifest(("kernel", "k")))[:-40], ["manifest.dtb"]),
    (bytes.fromhex("d00dfeed") + b"\xff" * 100, ["manifest.dtb"]),
    (fdt.Node("", [("version", 1)]), ["compatible"]),
    (fdt.Node("", [("compatible", "linux"), ("version", 1)]), ["compatible"]),
    (fdt.Node("", [("compatible", "nestling,manifest")]), ["version"]),
    (fdt.Node("", [("compatible", "nestling,manifest"), ("version", 2)]),
     ["version", "2"]),
    (fdt.Node("", [("compatible", "nestling,manifest"), ("version", "1")]),
     ["version", "2"][:1]),
    (fdt.Node("", [("compatible", "nestling,manifest"), ("version", 1)]),
     ["/vms", "missing"]),
    (fdt.Node("", [("compatible", "nestling,manifest"), ("version", 1)],
              [fdt.Node("vms")]), ["/vms"]),
    (fdt.Node("", [("compatible", "nestling,manifest"), ("version", 1),
                   ("colour", "red")], [fdt.Node("vms")]), ["colour"]),
    (fdt.Node("", [("compatible", "nestling,manifest"), ("version", 1)],
              [fdt.Node("vms", [("colour", "red")])]), ["/vms", "colour"]),
    (manifest(("kernel", "k"), extra_nodes=[fdt.Node("disks")]), ["/disks"]),
    (manifest(("kernel", "k"), name="Big"), ["/vms/Big", "name"]),
    (manifest(("kernel", "k"), name="x" * 32), ["/vms/xxx", "name"]),
    (manifest(("kernel", "k"), name="a b"), ["/vms/a b", "name"]),
    (manifest(("kernel", "k"), name="a@1"), ["/vms/a@1", "name"]),
    (fdt.Node("", [("compatible", "nestling,manifest"), ("version", 1)],
              [fdt.Node("vms", (), [fdt.Node("a", [("kernel", "k")]),
                                    fdt.Node("a", [("kernel", "k")])])]),
     ["/vms/a", "twice"]),
    (fdt.Node("", [("compatible", "nestling,manifest"), ("version", 1)],
              [fdt.Node("vms", (), [fdt.Node(f"v{n}", [("kernel", "k")])
                                    for n in range(65)])]),
     ["/vms", "64"]),
    (fdt.Node("", [("compatible", "nestling,manifest"), ("version", 1)],
              [fdt.Node("vms", (), [fdt.Node("a", [("kernel", "k")],
                                             [fdt.Node("cpu")])])]),
     ["/vms/a/cpu"]),
], ids=["empty", "text", "cut", "header", "no-compatible", "other-compatible",
        "no-version", "version-2", "version-type", "no-vms", "no-vm",
        "top-property", "vms-property", "top-node", "name-case", "name-long",
        "name-space", "name-at", "same-name", "65-vms", "sub-node"])
def test_broken_manifest(root, words, tmp_path):
    """Manifests that are none, of another version, or of a wrong shape."""
    path = pack(tmp_path / "b", root, [("k", hello())])
    refused(boot(path, timeout=TIMEOUT), *words)


@pytest.mark.parametrize("prop, value, words", [
    ("colour", "red", ["unknown"]),
    ("kernal", "k", ["unknown"]),
    ("kernel", "nofile", ["nofile"]),
    ("kernel", "empty", ["empty"]),
    ("kernel", 1, ["string"]),
    ("kernel", b"k", ["string"]),
    ("kernel", ["k", "k"], ["string"]),
    ("kernel", b"", ["string"]),
    ("ramdisk", "nofile", ["nofile"]),
    ("dtb", "nofile", ["nofile"]),
    ("dtb", "empty", ["empty"]),
    ("format", "zip", ["zip", "flat"]),
    ("format", 3, ["string"]),
    ("load-offset", 0x80000, ["flat"]),
    ("load-offset", U64(0x80000), ["32-bit"]),
    ("bootargs", 1, ["string"]),
    ("vcpus", 0, ["0", "1..32"]),
    ("vcpus", 33, ["33", "1..32"]),
    ("vcpus", 0xffffffff, ["4294967295"]),
    ("vcpus", "three", ["32-bit"]),
    ("vcpus", U64(1), ["32-bit"]),
    ("memory", U64(0), ["2 MiB"]),
    ("memory", U64(3 * MIB), ["2 MiB"]),
    ("memory", U64(128 * MIB + 1), ["2 MiB"]),
    ("memory", 128 * MIB, ["64-bit"]),
    ("memory", "128M", ["64-bit"]),
    ("memory", U64(1 << 62), ["memory"]),
    ("memory", U64((1 << 64) - 2 * MIB), ["memory"]),
    ("weight", 0, ["0", "1..10000"]),
    ("weight", 10001, ["10001"]),
    ("weight", U64(1), ["32-bit"]),
    ("rt-budget", 1000, ["rt-period"]),
    ("rt-budget", 0, ["0", "1.."]),
    ("rt-period", 0, ["0", "1.."]),
    ("rt-budget", "a third", ["32-bit"]),
    ("affinity", [0, 2], ["pCPU 2"]),
    ("affinity", [0xffffffff], ["pCPU"]),
    ("affinity", b"", ["list"]),
    ("affinity", b"\0\0\0", ["list"]),
    ("autostart", "maybe", ["maybe", "yes"]),
    ("autostart", 1, ["string"]),
    ("hypercalls", "some", ["some", "none"]),
])
def test_bad_property(prop, value, words, tmp_path):
    """A property that is unknown, of the wrong type, or out of range."""
    props = [] if prop == "kernel" else [("kernel", "k")]
    path = pack(tmp_path / "b", manifest(*props, (prop, value)),
                [("k", hello()), ("empty", b"")])
    refused(boot(path, timeout=TIMEOUT, smp=2), "/vms/a", prop, *words)


@pytest.mark.parametrize("budget, period, words", [
    (None, 1000, ["rt-budget", "rt-period"]),
    (1001, 1000, ["rt-budget", "1001", "1000"]),
    (0xffffffff, 1, ["rt-budget", "4294967295"]),
])
def test_bad_real_time(budget, period, words, tmp_path):
    """A budget without a period, or more than the period."""
    props = [("rt-period", period)]
    if budget:
        props.append(("rt-budget", budget))
    path = pack(tmp_path / "b", manifest(("kernel", "k"), *props),
                [("k", hello())])
    refused(boot(path, timeout=TIMEOUT), "/vms/a", *words)


def test_too_much_real_time(tmp_path):
    """Budgets that each fit, but not together; no VM runs."""
    vms = [vm(f"v{n}", guest("hello"), rt_budget=4000, rt_period=10000)
           for n in range(3)]
    refused(run_vms(tmp_path, *vms, timeout=TIMEOUT), "VM v2", "rt-budget")


def test_second_vm_is_bad(tmp_path):
    """One VM that cannot start: none runs, not even those before it."""
    path = pack(tmp_path / "b", fdt.Node(
        "", [("compatible", bundle.COMPATIBLE), ("version", 1)],
        [fdt.Node("vms", (), [fdt.Node("good", [("kernel", "k")]),
                              fdt.Node("bad", [("kernel", "t")])])]),
                [("k", hello()), ("t", b"text\n" * 100)])
    refused(boot(path, timeout=TIMEOUT, smp=2), "bad: kernel")


def test_nothing_starts(tmp_path):
    """No VM starts by itself: nobody could ever start one."""
    result = run_vms(tmp_path, vm("a", guest("hello"), autostart="no"),
                     timeout=TIMEOUT)
    refused(result, "manifest", "autostart")


def test_no_kernel(tmp_path):
    """A VM without a kernel."""
    path = pack(tmp_path / "b", manifest(("vcpus", 1)))
    refused(boot(path, timeout=TIMEOUT), "/vms/a", "kernel", "missing")


def test_property_twice(tmp_path):
    """dtc would refuse it, the hypervisor must too."""
    path = pack(tmp_path / "b", manifest(("kernel", "k"), ("vcpus", 1),
                                         ("vcpus", 2)), [("k", hello())])
    refused(boot(path, timeout=TIMEOUT), "/vms/a", "vcpus", "twice")


@pytest.mark.parametrize("sizes", [(1024,), (300, 300), (64,) * 12])
def test_too_much_memory(sizes, tmp_path):
    """VMs that ask for more memory than the machine of 512 MiB has."""
    vms = [vm(f"v{n}", guest("hello"), memory=size * MIB)
           for n, size in enumerate(sizes)]
    result = run_vms(tmp_path, *vms, memory=512 * MIB, timeout=TIMEOUT)
    refused(result, "VM v", "memory", "free")


# --- options ------------------------------------------------------------------

@pytest.mark.parametrize("append, words", [
    ("colour=red", ["colour=red"]),
    ("loglevel", ["loglevel"]),
    ("log", ["log"]),
    ("log=", ["log="]),
    ("log=loud", ["log=loud", "debug"]),
    ("LOG=info", ["LOG"]),
    ("fp=sometimes", ["fp=sometimes", "eager"]),
    ("slice=0", ["slice=0"]),
    ("slice=fast", ["slice=fast"]),
    ("slice=99999999999999999999", ["slice="]),
    ("seed=-1", ["seed=-1"]),
    ("console=none", ["console=none", "keys"]),
    ("log=info  x=1", ["x=1"]),
    ("=", ["="]),
    ("a" * 1500, ["aaaa"]),
])
def test_bad_option(append, words, tmp_path):
    """An option that is unknown or has a bad value."""
    result = run_vms(tmp_path, vm("a", guest("hello")), append=append,
                     timeout=TIMEOUT)
    refused(result, "option", *words)


# --- kernels ------------------------------------------------------------------

def elf(machine=183, bits=2, order=1, kind=2, entry=0x40080000,
        segments=((0x40080000, 0x40080000, 4096, 4096),), phoff=64, phnum=None,
        phentsize=56):
    """An ELF file; segments are (vaddr, paddr, file size, memory size)."""
    number = len(segments) if phnum is None else phnum
    head = struct.pack("<4s5B7xHHIQQQIHHHHHH", b"\x7fELF", bits, order, 1, 0,
                       0, kind, machine, 1, entry, phoff, 0, 0, 64, phentsize,
                       number, 0, 0, 0)
    table = b"".join(struct.pack("<IIQQQQQQ", 1, 7, 4096, va, pa, fs, ms, 4096)
                     for va, pa, fs, ms in segments)
    return (head + table).ljust(4096, b"\0") + bytes(4096)


def image(offset=0x80000, size=0x10000, flags=0xa, length=4096,
          magic=b"ARM\x64"):
    """A Linux Image of endless loops with this header."""
    head = struct.pack("<IIQQQ24x4sI", 0x14000000, 0x14000000, offset, size,
                       flags, magic, 0)
    return head + struct.pack("<I", 0x14000000) * ((length - 64) // 4)


RAM = 0x40000000


@pytest.mark.parametrize("content", [
    b"#!/bin/sh\necho this is a text file\n" * 100,
    b"x",
    bytes(8192),
    b"\x7fELF",
    elf(machine=62),
    elf(machine=40),
    elf(bits=1),
    elf(order=2),
    elf(kind=1),
    elf(kind=3, entry=RAM - 4),
    elf(segments=()),
    elf(phoff=1 << 40),
    elf(phoff=(1 << 64) - 8),
    elf(phnum=0xffff),
    elf(phentsize=8),
    elf(segments=((0x1000, 0x1000, 4096, 4096),)),
    elf(segments=((RAM, RAM, 4096, 1 << 40),)),
    elf(segments=((RAM, RAM, 4096, (1 << 64) - 4096),)),
    elf(segments=((1 << 63, (1 << 64) - 4096, 4096, 8192),)),
    elf(segments=((RAM + 128 * MIB - 4096, RAM + 128 * MIB - 4096, 4096,
                   8192),)),
    elf(segments=((RAM, RAM, 1 << 30, 1 << 30),)),
    elf(segments=((RAM, RAM, 4096, 100),)),
    elf(segments=((RAM, RAM, 4096, 8192), (RAM + 4096, RAM + 4096, 64, 64))),
    elf(entry=0x1000),
    elf(entry=RAM + 128 * MIB),
    image()[:60],
    image(flags=0xb),
    image(size=1 << 40),
    image(size=(1 << 64) - 4096),
    image(offset=(1 << 64) - 4096),
    image(offset=128 * MIB),
    image(offset=3),
    image(magic=b"ARM\x65"),
    b"\x1f\x8b\x08" + bytes(4096),
], ids=["text", "one-byte", "zeros", "elf-4-bytes", "elf-x86", "elf-arm32",
        "elf-32", "elf-big-endian", "elf-object", "elf-pie-entry",
        "elf-nothing", "elf-phoff", "elf-phoff-wrap", "elf-phnum",
        "elf-phentsize", "elf-below-ram", "elf-huge", "elf-size-wrap",
        "elf-address-wrap", "elf-across-end", "elf-file-short",
        "elf-memsz-small", "elf-overlap", "elf-entry-low", "elf-entry-high",
        "image-cut", "image-big-endian", "image-huge", "image-size-wrap",
        "image-offset-wrap", "image-offset-high", "image-odd", "image-magic",
        "gzip"])
def test_bad_kernel(content, tmp_path):
    """Kernels of a format, machine or place that cannot be."""
    path = pack(tmp_path / "b", manifest(("kernel", "k")), [("k", content)])
    refused(boot(path, timeout=TIMEOUT), "a: kernel")


@pytest.mark.parametrize("form, content", [
    ("image", "elf"), ("elf", "image"), ("image", "text"), ("elf", "text"),
    ("flat", ""),
])
def test_format_is_not_what_it_says(form, content, tmp_path):
    """A kernel of another format than the manifest says."""
    data = {"elf": hello(), "image": image(), "text": b"text " * 99, "": b""}
    path = pack(tmp_path / "b", manifest(("kernel", "k"), ("format", form)),
                [("k", data[content])])
    refused(boot(path, timeout=TIMEOUT), "a: kernel")


@pytest.mark.parametrize("offset", [128 * MIB, 128 * MIB - 4, 0xfffffffc, 2])
def test_flat_offset(offset, tmp_path):
    """A flat kernel that would lie outside RAM, or not on an instruction."""
    path = pack(tmp_path / "b", manifest(("kernel", "k"), ("format", "flat"),
                                         ("load-offset", offset)),
                [("k", bytes(64))])
    refused(boot(path, timeout=TIMEOUT), "a: kernel")


def test_flat_too_big(tmp_path):
    """A flat kernel bigger than the VM's RAM."""
    path = pack(tmp_path / "b", manifest(("kernel", "k"), ("format", "flat"),
                                         ("memory", U64(2 * MIB))),
                [("k", bytes(3 * MIB))])
    refused(boot(path, timeout=TIMEOUT), "a: kernel")


def test_ramdisk_too_big(tmp_path):
    """A ramdisk that does not fit beside the kernel."""
    path = pack(tmp_path / "b", manifest(("kernel", "k"), ("ramdisk", "r"),
                                         ("memory", U64(16 * MIB))),
                [("k", hello()), ("r", bytes(16 * MIB))])
    refused(boot(path, timeout=TIMEOUT), "a: ramdisk")


def test_no_place_for_the_dtb(tmp_path):
    """A kernel at the end of RAM, where the device tree would be."""
    path = pack(tmp_path / "b", manifest(("kernel", "k"), ("format", "flat"),
                                         ("memory", U64(2 * MIB)),
                                         ("load-offset", 2 * MIB - 64)),
                [("k", bytes(64))])
    refused(boot(path, timeout=TIMEOUT), "a: ", "device tree", "fit")


def test_dtb_too_big(tmp_path):
    """A device tree, and a command line, that do not fit."""
    tree = fdt.write(fdt.Node("", [("filler", bytes(1900 * 1024))]))
    path = pack(tmp_path / "b", manifest(("kernel", "k"), ("dtb", "d"),
                                         ("format", "flat"),
                                         ("memory", U64(2 * MIB))),
                [("k", bytes(64)), ("d", tree)])
    refused(boot(path, timeout=TIMEOUT), "a: ", "device tree", "fit")
    path = pack(tmp_path / "c", manifest(("kernel", "k"),
                                         ("bootargs", "x" * 3 * MIB)),
                [("k", hello())])
    refused(boot(path, timeout=TIMEOUT), "a: dtb", "bootargs", "2 MiB")


@pytest.mark.parametrize("content", [
    b"not a device tree" * 10, bytes.fromhex("d00dfeed") + b"\xff" * 100,
    fdt.write(fdt.Node("", [("model", "x")]))[:-8], bytes(3 * MIB)],
    ids=["text", "header", "cut", "zeros"])
def test_bad_guest_dtb(content, tmp_path):
    """A device tree for the guest that is none, or too big."""
    path = pack(tmp_path / "b", manifest(("kernel", "k"), ("dtb", "d")),
                [("k", hello()), ("d", content)])
    refused(boot(path, timeout=TIMEOUT), "a: dtb")


# --- machines -----------------------------------------------------------------

@pytest.mark.parametrize("cpu", ["cortex-a53", "cortex-a57", "cortex-a72"])
def test_cpu_without_vhe(cpu, tmp_path):
    """CPUs on which E2H cannot be set."""
    result = run_vms(tmp_path, vm("a", guest("hello")), timeout=TIMEOUT,
                     extra=["-cpu", cpu])
    refused(result, "VHE")


def test_gicv2(tmp_path):
    """A machine with the old interrupt controller."""
    result = run_vms(tmp_path, vm("a", guest("hello")), timeout=TIMEOUT,
                     extra=["-M", "gic-version=2"])
    refused(result, "GICv3")


def test_started_at_el1(tmp_path):
    """A machine without EL2: there is no way to be a hypervisor."""
    result = run_vms(tmp_path, vm("a", guest("hello")), timeout=TIMEOUT,
                     extra=["-M", "virtualization=off"])
    refused(result, "EL2")


def test_little_memory(tmp_path):
    """A machine with less memory than the hypervisor and its bundle need."""
    path = os.path.join(tmp_path, "b.cpio")
    make_bundle(path, [vm("a", guest("hello"))])
    refused(boot(path, timeout=TIMEOUT, memory=64 * MIB), "memory")
