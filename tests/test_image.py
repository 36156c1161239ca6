# SPDX-License-Identifier: BSD-2-Clause
#
# Where kernels, ramdisks and device trees are put, and what the CPU looks like
# at a guest's first instruction. The guest prints what it found and overwrites
# all memory that its header claims; device tree and ramdisk must survive it.

import re

import pytest
from harness import MIB, mini, run_vms, vm

RAM = 0x40000000
BLOCK = 2 * MIB
SPAN = 16 * MIB
FNV_BASIS, FNV_PRIME = 0xcbf29ce484222325, 0x100000001b3


def fnv(data):
    """The checksum that the guest computes."""
    value = FNV_BASIS
    for byte in data:
        value = (value ^ byte) * FNV_PRIME & (1 << 64) - 1
    return value


def found(result):
    """The numbers that the guest printed, checked for sanity."""
    result.expect(0, a=(0, "exit"))
    values = {name: int(number, 16) for name, number in
              re.findall(r"^([a-z-]+)=(0x[0-9a-f]{16})$", result.text("a"),
                         re.M)}
    assert values["others"] == 0, "x1..x3 must be 0"
    assert values["daif"] == 15 and values["mmu"] == 0 and values["el"] == 1
    result.has("a", "^intact$")
    return values


def apart(values, memory, kernel):
    """Kernel, tree and ramdisk lie in RAM and do not overlap."""
    spans = sorted([kernel, (values["dtb"], values["dtb-end"]),
                    (values["initrd"] or RAM, values["initrd-end"] or RAM)])
    assert spans[0][0] >= RAM and spans[-1][1] <= RAM + memory
    for (_, end), (start, _) in zip(spans, spans[1:]):
        assert end <= start, f"{spans} overlap"


@pytest.mark.parametrize("offset", [0, 0x80000])
@pytest.mark.parametrize("flags", [2, 10])
def test_image(offset, flags, tmp_path):
    """Linux Images: base 2 MiB aligned, text_offset honoured, image_size (far
    beyond the file) kept free, tree and ramdisk as Linux wants them."""
    kernel = mini(tmp_path, "place", f"SPAN={SPAN:#x}",
                  f"IMAGE_FLAGS={flags}", f"TEXT_OFFSET={offset:#x}",
                  f"IMAGE_SIZE={SPAN:#x}")
    disk = bytes(range(256)) * 300 + b"odd"
    (tmp_path / "disk").write_bytes(disk)
    result = run_vms(tmp_path, vm("a", kernel, bootargs="one two=3",
                                  ramdisk=str(tmp_path / "disk")))
    values = found(result)
    entry = values["entry"]
    assert entry % BLOCK == offset
    assert values["dtb"] % 8 == 0
    assert values["dtb"] // BLOCK == (values["dtb-end"] - 1) // BLOCK
    assert values["initrd-end"] - values["initrd"] == len(disk)
    assert values["initrd"] % 4096 == 0
    assert values["disk-sum"] == fnv(disk)
    apart(values, 128 * MIB, (entry, entry + SPAN))
    result.has("a", "^bootargs=one two=3$")


@pytest.mark.parametrize("size", [0, 0x80000])
def test_old_image(size, tmp_path):
    """A kernel of before 3.17 has no image_size and lies at 0x80000."""
    kernel = mini(tmp_path, "place", "SPAN=0", "IMAGE_FLAGS=0",
                  "TEXT_OFFSET=0x80000", f"IMAGE_SIZE={size}")
    values = found(run_vms(tmp_path, vm("a", kernel)))
    assert values["entry"] == RAM + 0x80000


@pytest.mark.parametrize("offset", [None, 0, 0x80000, 0x123000, 64 * MIB])
def test_flat(offset, tmp_path):
    """Flat kernels: at 0x80000 or where the manifest says; the tree lies above
    everything the guest may use behind its image."""
    kernel = mini(tmp_path, "place", f"SPAN={SPAN:#x}")
    props = {} if offset is None else {"load_offset": offset}
    values = found(run_vms(tmp_path, vm("a", kernel, format="flat", **props)))
    want = RAM + (0x80000 if offset is None else offset)
    assert values["entry"] == want
    apart(values, 128 * MIB, (want, want + SPAN))


def test_without_everything(tmp_path):
    """No ramdisk and no boot arguments: no properties either, BT-03."""
    kernel = mini(tmp_path, "place", "SPAN=0")
    result = run_vms(tmp_path, vm("a", kernel, format="flat"))
    assert found(result)["initrd"] == 0
    result.has("a", r"^bootargs=\(none\)$")


def test_empty_ramdisk(tmp_path):
    """A ramdisk of 0 bytes is none."""
    (tmp_path / "disk").write_bytes(b"")
    kernel = mini(tmp_path, "place", "SPAN=0")
    result = run_vms(tmp_path, vm("a", kernel, format="flat",
                                  ramdisk=str(tmp_path / "disk")))
    assert found(result)["initrd"] == found(result)["initrd-end"]


@pytest.mark.parametrize("length", [1, 100, 1000, 1900])
def test_bootargs(length, tmp_path):
    """Boot arguments arrive whole, long ones too."""
    text = ("argument " * 300)[:length - 1] + "#"
    kernel = mini(tmp_path, "place", "SPAN=0")
    result = run_vms(tmp_path, vm("a", kernel, format="flat", bootargs=text))
    found(result)
    result.has("a", f"^bootargs={re.escape(text)}$")


@pytest.mark.parametrize("size", [2, 4, 128, 256])
def test_small_memory(size, tmp_path):
    """The smallest VM that can hold a kernel and its tree, and others."""
    kernel = mini(tmp_path, "place", "SPAN=0")
    values = found(run_vms(tmp_path, vm("a", kernel, format="flat",
                                        memory=size * MIB)))
    assert values["dtb-end"] <= RAM + size * MIB


def test_bss_does_not_fit(tmp_path):
    """The header claims more memory than the VM has: refused, BT-02."""
    kernel = mini(tmp_path, "place", "SPAN=0", "IMAGE_FLAGS=10",
                  "TEXT_OFFSET=0", f"IMAGE_SIZE={129 * MIB}")
    result = run_vms(tmp_path, vm("a", kernel))
    result.expect(2).says("a: kernel")


def test_own_device_tree(tmp_path):
    """A device tree of the user's own reaches the guest, with the ramdisk and
    the boot arguments written into it or left as they are."""
    source = tmp_path / "own.dts"
    source.write_text(
        "/dts-v1/; / { #address-cells = <2>; #size-cells = <2>;\n"
        "chosen { bootargs = \"from the tree\"; }; };")
    from launch import bundle  # pylint: disable=import-outside-toplevel
    (tmp_path / "own.dtb").write_bytes(bundle.compile_dts(str(source)))
    kernel = mini(tmp_path, "place", "SPAN=0")
    result = run_vms(tmp_path, vm("a", kernel, format="flat",
                                  dtb=str(tmp_path / "own.dtb")))
    found(result)
    result.has("a", "^bootargs=from the tree$")
