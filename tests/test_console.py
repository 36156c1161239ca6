# SPDX-License-Identifier: BSD-2-Clause
#
# The console of several VMs: prefixes, whole lines, and that no guest can pass
# off output as another VM's, as the hypervisor's or as a status record.

import re

from harness import Session, guest, launcher, mini, run_vms, vm

LINE = re.compile(rb"\[(other|forger)\] [^\x1e]*|nestling: .*|"
                  rb"\x1enestling (vm (other|forger) )?status .*|")


def test_forged_with_several_vms(tmp_path):
    """Every line has the prefix of the VM that wrote it."""
    result = run_vms(tmp_path, vm("other", guest("hello")),
                     vm("forger", mini(tmp_path, "forge"), format="flat"))
    result.expect(5, other=(0, "exit"), forger=(5, "exit"))
    for line in re.split(rb"[\r\n\v\f\x1c\x1d\x85]+", result.raw):
        assert LINE.fullmatch(line), f"{line} has no prefix"
    assert "I am other" not in result.text("other")
    assert "I am other" in result.text("forger")
    assert not any("I am the hypervisor" in line for line in result.hyp)
    assert result.raw.count(b"\x1e") == 3
    result.has("forger", "^unfinished$")
    result.has("forger", "^plain$")


def test_forged_with_focus(tmp_path):
    """The same when the forger has the focus."""
    result = run_vms(tmp_path,
                     vm("forger", mini(tmp_path, "forge"), format="flat"),
                     vm("other", guest("hello")), whole_lines=False)
    result.expect(5, other=(0, "exit"), forger=(5, "exit"))
    for line in re.split(rb"[\r\n\v\f\x1c\x1d]+", result.raw):
        assert LINE.fullmatch(line), f"{line} has no prefix"
    assert "I am other" not in result.text("other")
    assert result.raw.count(b"\x1e") == 3


def test_forged_by_the_only_vm(tmp_path):
    """Without prefixes a guest may print what it likes, but never the byte of
    a status record, and an unfinished line cannot hide the record."""
    result = run_vms(tmp_path,
                     vm("a", mini(tmp_path, "forge"), format="flat"))
    result.expect(5, a=(5, "exit"))
    assert result.raw.count(b"\x1e") == 2
    assert "plain" in result.text("a")
    assert b"\x1b[2K" in result.raw, "terminals need escape sequences"
    assert b"l" * 1000 in result.raw


def test_long_lines(tmp_path):
    """Nothing of a long line is lost when prefixes break it."""
    result = run_vms(tmp_path, vm("other", guest("hello")),
                     vm("forger", mini(tmp_path, "forge"), format="flat"))
    text = "".join(line for line in result.output["forger"]
                   if set(line) == {"l"})
    assert len(text) == 1000


def test_monitor(tmp_path):
    """Ctrl-T and a key: help, list, focus, quit."""
    (tmp_path / "manifest.dts").write_text(f"""/dts-v1/;
/ {{ compatible = "nestling,manifest"; version = <1>; vms {{
    one {{ kernel = "{guest('busy')}"; bootargs = "seconds=100"; }};
    two {{ kernel = "{guest('sleeper')}"; bootargs = "seconds=100"; }};
}}; }};
""")
    with Session("start", str(tmp_path), "--timeout", "60") as session:
        session.expect(r"\[one\] busy: second 1 ")
        session.child.send("\x14?")
        session.expect("nestling: .*this help")
        session.child.send("\x14l")
        session.expect(r"nestling: \*0  one +running .* 1 running")
        session.expect(r"nestling:  1  two +running ")
        session.child.send("\x14n")
        session.expect("nestling: focus on two")
        session.child.send("\x14l")
        session.expect(r"nestling: \*1  two +running")
        session.child.send("\x14~")
        session.expect("nestling: no such command")
        session.child.send("\x14q")
        assert session.end() == 0
    assert "\x1e" not in session.seen


def test_launcher_shows_the_guest():
    """tools/nestling run: the guest's output, and its status."""
    done = launcher("run", "--kernel", guest("hello"), "--append",
                    "exit=3 two", "--memory", "64M", "--name", "x-1",
                    "--timeout", "30")
    assert done.returncode == 3
    assert "hello: 1 vCPU, 64 MiB" in done.stdout
    assert 'argument 2 is "two"' in done.stdout
    assert "VM x-1 ended with status 3 (exit)" in done.stderr


def test_launcher_timeout():
    """A guest that does not end: 124, with what it said before."""
    done = launcher("run", "--kernel", guest("busy"), "--append",
                    "seconds=1000", "--timeout", "8")
    assert done.returncode == 124
    assert "busy: second 1 " in done.stdout


def test_input():
    """What is typed reaches the guest by interrupt, long lines too, and keys
    that mean something to terminals; Ctrl-T twice is one Ctrl-T."""
    with Session("run", "--kernel", guest("uart"), "--append", "echo=1",
                 "--timeout", "60") as session:
        session.expect("uart: listening")
        session.type("hello")
        session.expect('uart: got "hello", 5 bytes')
        session.type("x" * 200)
        session.expect(f'uart: got "{"x" * 200}", 200 bytes')
        session.type("a\x01\x03\x04\x1a\x14\x14b")
        session.expect('uart: got "a\x01\x03\x04\x1a\x14b", 7 bytes')
        for number in range(50):
            session.child.send(f"{number} line\r")
            session.expect(f'uart: got "{number} line"')
        session.type("quit")
        session.expect("passed, 0 failed")
        assert session.end() == 0


def test_input_from_a_pipe():
    """The same with a pipe, typed before the guest listens."""
    done = launcher("run", "--kernel", guest("uart"), "--append", "echo=1",
                    "--timeout", "60", stdin=None, input="\nquit\n")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    assert 'uart: got "quit", 4 bytes' in done.stdout


def test_whole_lines(tmp_path):
    """console=lines: no line of a VM is broken by another VM's, not even when
    it has the focus."""
    vms = [vm(f"v{n}", guest("fp"), bootargs="rounds=50", affinity=[0])
           for n in range(4)]
    result = run_vms(tmp_path, *vms, append="slice=100")
    result.expect(0)
    for name, _ in vms:
        for line in result.output[name]:
            assert re.match(r"ok |fp: vcpu 0 .* loads$|[0-9]+ passed|$", line)
