# SPDX-License-Identifier: BSD-2-Clause
#
# The hypervisor started by a boot loader, as on a board: Debian's U-Boot at EL2
# on the same QEMU machine, hypervisor and bundle in RAM where the test put
# them, and the command a user would type. U-Boot hands over its own copy of the
# device tree, moves the bundle, and leaves the CPU as it likes.

import os
import time

import pexpect
import pytest
from harness import ARCH, HYPERVISOR, MIB, guest, make_bundle, vm
from launch import qemu, status

UBOOT = "/usr/lib/u-boot/qemu_arm64/u-boot.bin"
PROMPT = b"\n=> "
BUNDLE_AT = 0x50000000
LIMIT = 60		# seconds, for all of it


class Loader:
    """U-Boot on its serial line. Leaving the context ends QEMU."""

    def __init__(self, image_at, bundle, smp):
        kernel, initrd = (
            f"loader,file={path},addr={at:#x},force-raw=on"
            for path, at in ((HYPERVISOR, image_at), (bundle, BUNDLE_AT)))
        argv = qemu.command(HYPERVISOR, None, smp, 1024 * MIB, "", ARCH)
        where = argv.index("-kernel")
        argv[where:where + 2] = ["-bios", UBOOT, "-device", kernel,
                                 "-device", initrd]
        self.end = time.monotonic() + LIMIT
        self.child = pexpect.spawn(argv[0], argv[1:], timeout=LIMIT)
        self.child.delaybeforesend = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.close(force=True)

    def expect(self, what):
        """Wait for a text or for the end; what came before it."""
        try:
            self.child.expect(what, max(1, self.end - time.monotonic()))
        except (pexpect.TIMEOUT, pexpect.EOF):
            tail = self.child.before.decode("utf-8", "backslashreplace")
            pytest.fail(f"{what} did not come\n--- last lines ---\n" +
                        "\n".join(tail.splitlines()[-30:]), pytrace=False)
        return self.child.before

    def type(self, line):
        """A command for U-Boot."""
        self.child.send(line + "\r")

    def prompt(self):
        """Stop U-Boot's own start-up."""
        self.expect(b"Hit any key")
        self.type("")
        self.expect(PROMPT)

    def finish(self):
        """(decoder, text) when the machine has ended."""
        decoder = status.Decoder()
        # The pseudo terminal has added carriage returns.
        output = self.expect(pexpect.EOF).replace(b"\r\n", b"\n")
        # What U-Boot prints last does not concern the decoder.
        begin = output.index(b"Starting kernel ...")
        text = decoder.feed(output[begin:])
        self.child.close()
        wrong = decoder.finish(self.child.exitstatus)
        assert wrong is None, f"{wrong}\n{output[begin:]!r}"
        return decoder, text.decode("utf-8", "backslashreplace")


def start(folder, *, exit_status, image_at=0x48000000, smp=1, options=None):
    """Boot hello with U-Boot; (decoder, text)."""
    assert os.path.isfile(UBOOT), f"{UBOOT} is not there"
    bundle = os.path.join(folder, "bundle.cpio")
    make_bundle(bundle, [vm("a", guest("hello"),
                            bootargs=f"exit={exit_status}")])
    with Loader(image_at, bundle, smp) as loader:
        loader.prompt()
        if options is not None:
            loader.type(f"setenv bootargs '{options}'")
            loader.expect(PROMPT)
        loader.type(f"booti {image_at:#x} {BUNDLE_AT:#x}:"
                    f"{os.path.getsize(bundle):x} $fdtcontroladdr")
        return loader.finish()


# 2 MiB aligned: run where it is; else U-Boot moves it to where the header
# wants it; the last one is near the end of RAM that U-Boot leaves free.
@pytest.mark.parametrize("image_at", [0x48000000, 0x48080000, 0x60200000])
def test_hello(image_at, tmp_path):
    """A guest runs, and its status is the machine's."""
    decoder, text = start(tmp_path, exit_status=0, image_at=image_at)
    assert decoder.status == 0
    assert decoder.vms == {"a": (0, "exit")}
    assert "hello: 1 vCPU, 128 MiB at 0x40000000, EL1" in text


def test_status(tmp_path):
    """A status other than 0 ends QEMU by the panic device, two CPUs come up."""
    decoder, text = start(tmp_path, exit_status=3, smp=2)
    assert decoder.status == 3
    assert decoder.vms == {"a": (3, "exit")}
    assert "2 CPUs" in text


def test_bootargs(tmp_path):
    """What U-Boot puts into /chosen/bootargs are the hypervisor's options."""
    decoder, text = start(tmp_path, exit_status=0, options="log=info nosuch=1")
    assert decoder.status == 2
    assert decoder.vms == {}
    assert "nestling: unknown option nosuch" in text
