# SPDX-License-Identifier: BSD-2-Clause
#
# tools/nestling debug: gdb has the hypervisor's symbols at the right addresses,
# stops in it, and sees its data.

from harness import guest, launcher

MANIFEST = """/dts-v1/;
/ {{
    compatible = "nestling,manifest"; version = <1>;
    vms {{ first {{ kernel = "{kernel}"; bootargs = "exit=3"; }}; }};
}};
"""


def test_debug(tmp_path):
    """Breakpoints in C functions, a backtrace, a structure, and the end."""
    (tmp_path / "manifest.dts").write_text(
        MANIFEST.format(kernel=guest("hello")))
    log = tmp_path / "console"
    commands = ["hbreak host_main", "continue", "break vm_run", "continue",
                "print vm->cfg->name", "backtrace", "delete", "continue"]
    done = launcher("debug", str(tmp_path), "--log", str(log), "--gdb-args",
                    "-batch " + " ".join(f"-ex '{c}'" for c in commands))
    assert "host_main (tree=" in done.stdout, done.stdout + done.stderr
    assert '"first"' in done.stdout
    assert "in start_vms" in done.stdout
    text = log.read_bytes()
    assert b"\x1enestling vm first status 3 reason exit" in text
    assert b"\x1enestling status 3" in text
