# SPDX-License-Identifier: BSD-2-Clause
#
# Bundles: a manifest and the files it names in one cpio archive, which QEMU
# hands to the hypervisor as its initrd. The hypervisor alone decides whether a
# manifest is valid; here only what is needed to find the files is read, so
# that every other mistake reaches the hypervisor's own message.

import os
import subprocess

from launch import cpio, fdt
from launch.errors import Mistake, check_file, one_line

MANIFEST = "manifest.dtb"
COMPATIBLE = "nestling,manifest"
VERSION = 1
FILE_PROPERTIES = ("kernel", "ramdisk", "dtb")
DEFAULT_MEMORY = 128 << 20


def manifest(vms):
    """The manifest of a list of (VM name, property dictionary)."""
    nodes = [fdt.Node(name, [(p, v) for p, v in props.items()
                             if v is not None]) for name, props in vms]
    return fdt.Node("", [("compatible", COMPATIBLE), ("version", VERSION)],
                    [fdt.Node("vms", children=nodes)])


def vm_nodes(root):
    """The VM nodes of a manifest tree (none when it is not a manifest)."""
    vms = root.child("vms")
    return vms.children if vms else []


def memory(root):
    """Bytes of guest memory that a manifest asks for, as far as readable."""
    total = 0
    for node in vm_nodes(root):
        raw = node.get("memory")
        total += (int.from_bytes(raw, "big") if raw and len(raw) == 8
                  else DEFAULT_MEMORY)
    return total


def compile_dts(path):
    """The blob that dtc makes of a source file; a Mistake when it refuses."""
    try:
        done = subprocess.run(["dtc", "-qq", "-I", "dts", "-O", "dtb", path],
                              capture_output=True, check=False)
    except FileNotFoundError:
        raise Mistake("dtc: not found; it compiles manifests") from None
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        why = lines[0] if lines else f"dtc failed with {done.returncode}"
        if not why.startswith("Error: " + path):
            why = f"{path}: {why}"
        raise Mistake(one_line(why.removeprefix("Error: ")))
    return done.stdout


def load(path):
    """The manifest in a .dts or .dtb file, or in a directory that has one."""
    if os.path.isdir(path):
        path = os.path.join(path, "manifest.dts")
    check_file(path, "manifest")
    if path.endswith(".dtb"):
        with open(path, "rb") as source:
            blob = source.read()
    else:
        blob = compile_dts(path)
    try:
        return fdt.read(blob), os.path.dirname(path)
    except fdt.FdtError as error:
        raise Mistake(f"manifest {one_line(path)}: {error}") from None


def find_files(root, folder):
    """{name in the bundle: path} of every file that a manifest names."""
    files = {}
    for node in vm_nodes(root):
        for prop in FILE_PROPERTIES:
            name = node.text(prop)
            if not name:
                continue
            where = f"/vms/{one_line(node.name)}: {prop}"
            if name == MANIFEST:
                raise Mistake(f"{where}: {name} is the manifest's own name")
            path = os.path.join(folder, name)
            check_file(path, where)
            files[name] = path
    return files


def write(out_path, root, files):
    """A bundle file with the manifest `root` and `files` (name: path)."""
    try:
        with open(out_path, "wb") as out:
            archive = cpio.Writer(out)
            archive.data(MANIFEST, fdt.write(root))
            for name, path in files.items():
                archive.file(name, path)
            archive.close()
    except (OSError, ValueError) as error:
        text = getattr(error, "strerror", None) or error
        raise Mistake(f"bundle {one_line(out_path)}: {text}") from None
