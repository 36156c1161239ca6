# SPDX-License-Identifier: BSD-2-Clause
#
# The launcher by itself: mistakes on its command line, the status it works out,
# time limit, signals, terminal. A script stands in for QEMU here, so that every
# end of a machine can be played, the impossible ones too.

import os
import signal
import subprocess
import time

import pytest
from harness import TOP, Session, launcher
from launch import qemu

NESTLING = os.path.join(TOP, "tools/nestling")
VERSION = "QEMU emulator version 10.0.13"


@pytest.fixture(name="kernel")
def fixture_kernel(tmp_path):
    """Some file to name as the guest's kernel."""
    path = tmp_path / "kernel.bin"
    path.write_bytes(bytes(64))
    return str(path)


@pytest.fixture(name="fake_qemu")
def fixture_fake_qemu(tmp_path):
    """fake_qemu(script, version): an environment in which QEMU is a script.
    The script's arguments are QEMU's; it must not read its own file."""
    folder = tmp_path / "bin"
    folder.mkdir()

    def make(script, version=VERSION):
        path = folder / "qemu-system-aarch64"
        path.write_text("#!/bin/sh\nif [ \"$1\" = --version ]; then\n"
                        f"echo '{version}'; exit 0; fi\n{script}\n")
        path.chmod(0o755)
        return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    return make


def one_line(done, *words):
    """A mistake: status 2 and exactly one line, which has the words."""
    assert done.returncode == 2, done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) == 1 and not done.stdout, done.stderr
    assert lines[0].startswith("nestling: ")
    for word in words:
        assert word in lines[0]


@pytest.mark.parametrize("args, words", [
    ([], ["COMMAND"]),
    (["walk"], ["walk"]),
    (["run"], ["--kernel"]),
    (["run", "--kernel", "/no/such"], ["kernel", "/no/such", "no such file"]),
    (["run", "--kernel", "/etc"], ["kernel /etc", "not a regular file"]),
    (["run", "--kernel", "K", "--initrd", "/no/rd"], ["ramdisk /no/rd"]),
    (["run", "--kernel", "K", "--dtb", "/no/dtb"], ["dtb /no/dtb"]),
    (["run", "--kernel", "K", "--format", "zip"], ["--format", "zip"]),
    (["run", "--kernel", "K", "--load-offset", "0"], ["--load-offset"]),
    (["run", "--kernel", "K", "--load-offset", "-1"], ["--load-offset"]),
    (["run", "--kernel", "K", "--cpus", "0"], ["--cpus", "'0'"]),
    (["run", "--kernel", "K", "--cpus", "two"], ["--cpus", "'two'"]),
    (["run", "--kernel", "K", "--smp", "0"], ["--smp"]),
    (["run", "--kernel", "K", "--memory", "512"], ["--memory", "'512'"]),
    (["run", "--kernel", "K", "--memory", "5x"], ["--memory", "'5x'"]),
    (["run", "--kernel", "K", "--memory", "0M"], ["--memory"]),
    (["run", "--kernel", "K", "--host-memory", "-1G"], ["--host-memory"]),
    (["run", "--kernel", "K", "--timeout", "0"], ["--timeout"]),
    (["run", "--kernel", "K", "--timeout", "nan"], ["--timeout"]),
    (["run", "--kernel", "K", "--arch", "vax"], ["--arch", "vax"]),
    (["run", "--kernel", "K", "--qemu-args", "'"], ["--qemu-args"]),
    (["run", "--kernel", "K", "--colour"], ["--colour"]),
    (["run", "--kernel", "a\nb"], ["a\\nb"]),
    (["run", "--kernel", "K", "--log", "/no/log"], ["log /no/log"]),
    (["start"], ["MANIFEST"]),
    (["start", "/no/such.dts"], ["/no/such.dts"]),
    (["bundle", "/no/such.dts", "-o", "/tmp/x"], ["/no/such.dts"]),
    (["bundle", "x.dts"], ["--output"]),
])
def test_mistake(args, words, kernel):
    """A user's mistake is one line that names the thing, status 2."""
    args = [kernel if a == "K" else a for a in args]
    one_line(launcher(*args), *words)


def test_mistake_file_called_manifest(tmp_path):
    """A guest file must not take the manifest's place."""
    path = tmp_path / "manifest.dtb"
    path.write_bytes(b"x")
    one_line(launcher("run", "--kernel", str(path)), "manifest.dtb")


@pytest.mark.parametrize("text, words", [
    ("nonsense", ["m.dts"]),
    ("/dts-v1/; / { vms { a { kernel = \"nofile\"; }; }; };",
     ["/vms/a", "kernel", "nofile"]),
    ("/dts-v1/; / { vms { a { kernel = \"m.dts\"; ramdisk = \"r\"; }; }; };",
     ["/vms/a", "ramdisk", "no such file"]),
    ("/dts-v1/; / { vms { a { kernel = \"manifest.dtb\"; }; }; };",
     ["manifest.dtb"]),
    ("/dts-v1/; / { vms { a { }; a { }; }; };", ["m.dts"]),
])
def test_mistake_manifest(text, words, tmp_path):
    """Mistakes in a manifest's source that stop the bundle maker."""
    path = tmp_path / "m.dts"
    path.write_text(text)
    one_line(launcher("bundle", str(path), "-o", str(tmp_path / "b")), *words)


def test_mistake_manifest_not_a_blob(tmp_path):
    """A .dtb file that is none, and one that is cut off."""
    path = tmp_path / "m.dtb"
    path.write_bytes(b"not a device tree")
    one_line(launcher("start", str(path)), "m.dtb")
    path.write_bytes(b"\xd0\x0d\xfe\xed" + bytes(36))
    one_line(launcher("start", str(path)), "m.dtb")


def test_bundle(tmp_path):
    """A bundle is a cpio archive that cpio itself can unpack, and repeats
    exactly; the manifest is what dtc made."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/kernel").write_bytes(b"kernel, 21 bytes long")
    (tmp_path / "disk").write_bytes(b"")
    (tmp_path / "manifest.dts").write_text(
        "/dts-v1/; / { compatible = \"nestling,manifest\"; version = <1>;\n"
        "vms { a { kernel = \"sub/kernel\"; ramdisk = \"disk\"; };\n"
        "b { kernel = \"sub/kernel\"; }; }; };")
    outs = [tmp_path / "1.cpio", tmp_path / "2.cpio"]
    for out in outs:
        done = launcher("bundle", str(tmp_path), "-o", str(out))
        assert done.returncode == 0, done.stderr
    assert outs[0].read_bytes() == outs[1].read_bytes()
    there = tmp_path / "there"
    there.mkdir()
    (there / "sub").mkdir()
    with open(outs[0], "rb") as archive:
        done = subprocess.run(["cpio", "-i", "--quiet"], stdin=archive,
                              cwd=there, capture_output=True, check=False)
    assert done.returncode == 0 and not done.stderr
    assert (there / "sub/kernel").read_bytes() == b"kernel, 21 bytes long"
    assert (there / "disk").read_bytes() == b""
    source = subprocess.run(["dtc", "-I", "dtb", there / "manifest.dtb"],
                            capture_output=True, text=True, check=False)
    assert 'ramdisk = "disk"' in source.stdout


@pytest.mark.parametrize("version, words", [
    ("QEMU emulator version 9.2.4", ["9.2", "too old", "10.0"]),
    ("something else", ["version"]),
])
def test_qemu_version(version, words, kernel, fake_qemu):
    """A QEMU that is too old is named with the version needed."""
    env = fake_qemu("exit 1", version)
    one_line(launcher("run", "--kernel", kernel, env=env), *words)


def test_qemu_missing(kernel, tmp_path):
    """No QEMU at all."""
    folder = tmp_path / "few"
    folder.mkdir()
    for tool in ("sh", "python3", "readlink", "dirname", "env", "bash"):
        (folder / tool).symlink_to(f"/usr/bin/{tool}")
    env = {**os.environ, "PATH": str(folder)}
    one_line(launcher("run", "--kernel", kernel, env=env),
             "qemu-system-aarch64", "10.0")


GOOD = r"\036nestling vm guest status 0 reason off\n"


@pytest.mark.parametrize("console, qemu, want, words", [
    # What a machine says when all is well.
    (r"hi\n" + GOOD + r"\036nestling status 0\n", 0, 0, []),
    (r"\036nestling vm guest status 3 reason exit\n\036nestling status 3\n",
     1, 3, ["guest", "3", "exit"]),
    (r"\036nestling vm a status 120 reason fault\n\036nestling status 120\n",
     1, 120, ["fault"]),
    (r"\036nestling status 2\n", 1, 2, []),
    (r"\036nestling status 255\n", 1, 255, []),
    (r"hi\r\n\036nestling status 0\r\n", 0, 0, []),
    # QEMU's own status must fit.
    (r"\036nestling status 0\n", 1, 122, ["QEMU ended with 1"]),
    (r"\036nestling status 7\n", 0, 122, ["QEMU ended with 0"]),
    (r"\036nestling status 0\n", 7, 122, ["QEMU ended with 7"]),
    # No record, and everything that only looks like one.
    ("", 0, 122, ["without a status record"]),
    (r"hi\n", 0, 122, ["without a status record"]),
    (r"nestling status 0\n", 0, 122, ["without a status record"]),
    (r" \036nestling status 0\n", 0, 122, ["inside a line"]),
    (r"\036nestling status 0", 0, 122, ["cut off"]),
    (r"\036nestling status 256\n", 1, 122, ["256"]),
    (r"\036nestling status 00\n", 0, 122, ["not a status record"]),
    (r"\036nestling status -1\n", 1, 122, ["not a status record"]),
    (r"\036nestling status 0 \n", 0, 122, ["not a status record"]),
    (r"\036nestling  status 0\n", 0, 122, ["not a status record"]),
    (r"\036nestling status 0\r\r\n", 0, 122, ["not a status record"]),
    (r"\036Nestling status 0\n", 0, 122, ["not a status record"]),
    (r"\036\036nestling status 0\n", 0, 122, ["not a status record"]),
    (r"\036nestling vm guest status 0 reason cake\n\036nestling status 0\n",
     0, 122, ["cake"]),
    (r"\036nestling vm Guest status 0 reason off\n\036nestling status 0\n",
     0, 122, ["Guest"]),
    # A VM that was started again: its last end counts.
    (r"\036nestling vm guest status 3 reason exit\n" + GOOD +
     r"\036nestling status 0\n", 0, 0, []),
    (r"\036nestling status 0\n\036nestling status 0\n", 0, 122,
     ["after the last"]),
    (r"\036nestling status 0\n" + GOOD, 0, 122, ["after the last"]),
    (r"\036nestling status 0\nhello\n", 0, 122, ["after the last"]),
])
def test_status(console, qemu, want, words, kernel, fake_qemu):
    """The exit status of every way in which a machine can end."""
    env = fake_qemu(f"printf '{console}'\nexit {qemu}")
    done = launcher("run", "--kernel", kernel, env=env)
    assert done.returncode == want, done.stderr
    assert all(word in done.stderr for word in words), done.stderr
    assert "\x1e" not in done.stdout


def test_long_record(kernel, fake_qemu):
    """A record without an end does not fill the memory."""
    env = fake_qemu("printf '\\036'\nhead -c 1000000 /dev/zero | tr '\\0' x")
    done = launcher("run", "--kernel", kernel, env=env)
    assert done.returncode == 122
    assert "without an end" in done.stderr


@pytest.mark.parametrize("line, status, args, want", [
    ("EXIT: STATUS=1", 0, ["--kut"], 0),
    ("EXIT: STATUS=3", 0, ["--kut"], 1),
    ("EXIT: STATUS=155", 0, ["--kut"], 77),
    ("EXIT: STATUS=3", 0, ["--format", "flat"], 1),
    ("EXIT: STATUS=3", 0, [], 0),
    ("EXIT: STATUS=3", 120, ["--kut"], 120),
    ("see EXIT: STATUS=3", 0, ["--kut"], 0),
    ("EXIT: STATUS=3x", 0, ["--kut"], 0),
])
def test_kut(line, status, args, want, kernel, fake_qemu):
    """Guests of kvm-unit-tests say their status in a line."""
    env = fake_qemu(f"printf '{line}\\r\\n\\036nestling status {status}\\n'\n"
                    f"[ {status} = 0 ]")
    done = launcher("run", "--kernel", kernel, *args, env=env)
    assert done.returncode == want, done.stderr


def test_arguments(kernel, fake_qemu):
    """What reaches QEMU; semihosting never does."""
    env = fake_qemu("printf '%s\\n' \"$@\"\nprintf '\\036nestling status 0\\n'")
    done = launcher("run", "--kernel", kernel, "--cpus", "3", "--memory",
                    "512M", "--hyp-append", "log=debug fp=eager",
                    "--qemu-args", "-d 'int,mmu'", env=env)
    words = done.stdout.splitlines()
    assert done.returncode == 0
    assert words[words.index("-smp") + 1] == "3"
    assert words[words.index("-append") + 1] == "log=debug fp=eager"
    assert words[words.index("-m") + 1] == "1024M"
    assert words[-2:] == ["-d", "int,mmu"]
    assert not any("semihosting" in word for word in words)


def test_input(kernel, fake_qemu):
    """A pipe's bytes reach the console, all of them and in order."""
    env = fake_qemu("head -c 300000 | md5sum\n"
                    "printf '\\036nestling status 0\\n'")
    text = "".join(f"{n} line\n" for n in range(30000))[:300000]
    text += "x" * (300000 - len(text))
    done = launcher("run", "--kernel", kernel, env=env, stdin=None, input=text)
    want = subprocess.run(["md5sum"], input=text, capture_output=True,
                          text=True, check=True).stdout
    assert done.returncode == 0
    assert done.stdout == want


def test_log(kernel, fake_qemu, tmp_path):
    """The log has the raw console, records included."""
    env = fake_qemu("printf 'a\\n\\036nestling status 0\\n'")
    log = tmp_path / "log"
    done = launcher("run", "--kernel", kernel, "--log", str(log), env=env)
    assert done.stdout == "a\n"
    assert log.read_bytes() == b"a\n\x1enestling status 0\n"


def test_machine():
    """All bytes get through a slow pipe, and QEMU ends with the block."""
    data, got = os.urandom(300000), bytearray()
    with qemu.Machine(["head", "-c", str(len(data))]) as machine:
        machine.pending = data
        assert machine.pump(got.extend, None, time.monotonic() + 30) == 0
    assert bytes(got) == data
    with qemu.Machine(["sleep", "1000"]) as machine:
        assert machine.pump(got.extend, None, time.monotonic() + 0.1) is None
    assert machine.process.poll() == -signal.SIGKILL


def gone(pid, limit=5):
    """Has the process ended within the limit (seconds)?"""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
            if stat.read().rsplit(")", 1)[1].split()[0] == "Z":
                return True
        time.sleep(0.05)
    return False


def test_timeout(kernel, fake_qemu, tmp_path):
    """A machine that does not end: status 124, and QEMU is gone."""
    env = fake_qemu(f"echo $$ > {tmp_path}/pid\nexec sleep 1000")
    done = launcher("run", "--kernel", kernel, "--timeout", "1", env=env)
    assert done.returncode == 124
    assert "1 s" in done.stderr
    assert gone(int((tmp_path / "pid").read_text()))


@pytest.mark.parametrize("number, want", [
    (signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129),
    (signal.SIGKILL, -9)])
def test_signal(number, want, kernel, fake_qemu, tmp_path):
    """However the launcher is ended, it leaves no QEMU behind."""
    env = fake_qemu(f"echo $$ > {tmp_path}/pid.new\n"
                    f"mv {tmp_path}/pid.new {tmp_path}/pid\nexec sleep 1000")
    env["TMPDIR"] = str(tmp_path)	# what SIGKILL leaves behind
    with subprocess.Popen([NESTLING, "run", "--kernel", kernel], env=env,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as child:
        end = time.monotonic() + 20
        while not (tmp_path / "pid").exists() and time.monotonic() < end:
            time.sleep(0.05)
        child.send_signal(number)
        assert child.wait(20) == want
    assert gone(int((tmp_path / "pid").read_text()))


def test_terminal(kernel, fake_qemu, monkeypatch, tmp_path):
    """On a terminal every key goes to the machine, Ctrl-C too, and Ctrl-]
    leaves; records are not shown."""
    env = fake_qemu(f"echo $$ > {tmp_path}/pid\n"
                    "printf 'up\\r\\n\\036nestling vm a status 0 reason off\\n"
                    "go> '\nexec cat")
    monkeypatch.setenv("PATH", env["PATH"])
    with Session("run", "--kernel", kernel) as session:
        session.expect("Ctrl-\\]")
        session.expect("up\r\ngo> ")
        session.child.send("a\x03\x1a\x14b")
        session.expect("a\x03\x1a\x14b")
        session.child.send("\x1d")
        assert session.end() == 130
        assert "\x1e" not in session.seen
    assert gone(int((tmp_path / "pid").read_text()))


def test_terminal_restored(kernel, fake_qemu, monkeypatch):
    """The terminal is as it was after the end."""
    env = fake_qemu("printf '\\036nestling status 0\\n'")
    monkeypatch.setenv("PATH", env["PATH"])
    script = f"stty -a > /dev/null; a=$(stty -g); {NESTLING} run --kernel " \
        f"{kernel}; [ \"$a\" = \"$(stty -g)\" ] && echo restored"
    done = subprocess.run(
        ["python3", "-c", "import pty, sys; sys.exit("
         "pty.spawn(['sh', '-c', sys.argv[1]]))", script],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        timeout=60)
    assert "restored" in done.stdout, done.stdout + done.stderr
