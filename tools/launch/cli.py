# SPDX-License-Identifier: BSD-2-Clause
#
# The commands of tools/nestling. Each ends with an exit status: the guests'
# own, 2 for a user's mistake, 122 when the status record and QEMU disagree,
# 124 on a timeout, 130 when the user left.

import argparse
import os
import re
import shlex
import sys
import tempfile

from launch import bundle, debug, demo, qemu, session
from launch.errors import LEFT, USAGE, Mistake, check_file, one_line
from launch.terminal import has_terminal

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
SUFFIX = {"K": 10, "M": 20, "G": 30}
KEEP_FREE = 256 << 20	# host memory beside guests and bundle
MEMORY_STEP = 256 << 20
DEMO_TIMEOUT = 180.0	# seconds, without a terminal
STATUS_TEXT = """exit status: the guest's own (exit call: its value & 255;
power-off: 0; stopped for a fault: 120), 121 hypervisor panic, 2 a mistake in
the command, the manifest or the machine, 122 no believable status, 124 timeout,
130 left with Ctrl-]"""


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line."""

    def error(self, message):
        raise Mistake(f"{one_line(message)} (see {self.prog} --help)")


def size(text):
    """Bytes of "512M" or the like."""
    match = re.fullmatch(r"([1-9][0-9]{0,9})([KMG])", text)
    if not match:
        raise argparse.ArgumentTypeError(
            f"{one_line(text)!r} is not a size such as 512M or 1G")
    return int(match[1]) << SUFFIX[match[2]]


def _number(what, low, high):
    def parse(text):
        try:
            value = int(text, 0)
        except ValueError:
            value = None
        if value is None or not low <= value <= high:
            raise argparse.ArgumentTypeError(
                f"{one_line(text)!r} is not {what} from {low} to {high}")
        return value
    return parse


count = _number("a number", 1, 512)
offset = _number("an offset", 0, 0xffffffff)


def seconds(text):
    """A positive number of seconds."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e9:
        raise argparse.ArgumentTypeError(
            f"{one_line(text)!r} is not a positive number of seconds")
    return value


def arguments(text):
    """QEMU arguments, quoted as for a shell."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def hypervisor(arch):
    """The hypervisor image of this tree."""
    path = os.path.join(TOP, "build", arch, "nestling")
    if not os.path.isfile(path):
        raise Mistake(f"{one_line(path)} is not there: run make first")
    return path


def prepare(args, root, files, folder, **more):
    """The bundle of a manifest in `folder` and the options of a session."""
    path = os.path.join(folder, "bundle.cpio")
    kernel = hypervisor(args.arch)
    bundle.write(path, root, files)
    qemu.check_bundle(kernel, path, args.arch)
    need = bundle.memory(root) + os.path.getsize(path) + KEEP_FREE
    memory = args.host_memory or -(-need // MEMORY_STEP) * MEMORY_STEP
    return session.Options(
        kernel=kernel, bundle=path, smp=args.smp, memory=memory,
        append=args.hyp_append or "", arch=args.arch, extra=args.qemu_args,
        timeout=args.timeout, log=args.log, **more)


def scratch():
    """A folder for the time of one session."""
    return tempfile.TemporaryDirectory(prefix="nestling-")


def cmd_run(args):
    """A user's own guest: one VM made from the command line."""
    files, names = {}, {}
    for prop, path in (("kernel", args.kernel), ("ramdisk", args.initrd),
                       ("dtb", args.dtb)):
        if path is None:
            continue
        check_file(path, prop)
        name = os.path.basename(path)
        if name == bundle.MANIFEST:
            raise Mistake(f"{prop} {one_line(path)}: a guest file cannot be "
                          f"called {name}")
        if name in files and not os.path.samefile(path, files[name]):
            name = f"{prop}-{name}"
        files[name], names[prop] = path, name
    if args.load_offset is not None and args.format != "flat":
        raise Mistake("--load-offset is only for --format flat")
    if args.smp is None:
        args.smp = min(args.cpus, 8)
    props = {
        **names, "format": args.format, "load-offset": args.load_offset,
        "bootargs": args.append, "vcpus": args.cpus,
        "memory": args.memory and bundle.fdt.U64(args.memory),
        "fp": args.fp, "fpwidth": args.fpwidth, "fp-max": args.fp_max,
        "sve-vl": args.sve_vl,
    }
    root = bundle.manifest([(args.name, props)])
    with scratch() as folder:
        return session.run(prepare(args, root, files, folder,
                                   kut=args.kut or args.format == "flat"))


def cmd_start(args):
    """The VMs of a manifest file."""
    root, folder = bundle.load(args.manifest)
    files = bundle.find_files(root, folder)
    with scratch() as temporary:
        return session.run(prepare(args, root, files, temporary))


def cmd_demo(args):
    """The demonstration; without a terminal a self-check."""
    interactive = has_terminal() and not args.auto
    with scratch() as folder:
        root, files = demo.vms(TOP, args.arch, folder, interactive)
        options = prepare(args, root, files, folder)
        if interactive:
            status = session.run(options)
            return 0 if status == LEFT else status
        options.timeout = options.timeout or DEMO_TIMEOUT
        options.append = f"console=lines {options.append}"
        options.proof = demo.PROOF[args.arch]
        return session.run(options)


def cmd_debug(args):
    """The VMs of a manifest, or the demonstration, under gdb."""
    with scratch() as folder:
        if args.manifest:
            root, where = bundle.load(args.manifest)
            files = bundle.find_files(root, where)
        else:
            root, files = demo.vms(TOP, args.arch, folder, False)
        options = prepare(args, root, files, folder)
        options.log = options.log or os.path.join(
            TOP, "build", args.arch, "debug-console.log")
        return debug.run(options, folder, args.gdb_args)


def cmd_bundle(args):
    """Only make the bundle."""
    root, folder = bundle.load(args.manifest)
    bundle.write(args.output, root, bundle.find_files(root, folder))
    return 0


def cmd_initramfs(args):
    """The BusyBox initramfs of the demonstration, for guests of your own."""
    try:
        demo.linux_initramfs(TOP, args.output)
    except OSError as error:
        raise Mistake(f"{one_line(args.output)}: {error.strerror}") from None
    return 0


def _machine_options(parser, smp):
    parser.add_argument("--smp", type=count, default=smp, metavar="N",
                        help="physical CPUs of the machine")
    parser.add_argument("--host-memory", type=size, metavar="SIZE",
                        help="memory of the machine (default: enough)")
    parser.add_argument("--timeout", type=seconds, metavar="S",
                        help="end after S seconds with status 124")
    parser.add_argument("--hyp-append", metavar="OPTS",
                        help="hypervisor options, such as 'log=debug'")
    parser.add_argument("--arch", choices=qemu.ARCHES, default="arm64")
    parser.add_argument("--qemu-args", type=arguments, default=[],
                        metavar="ARGS", help="more arguments for QEMU")
    parser.add_argument("--log", metavar="FILE",
                        help="also write the raw console to FILE")


def _run_parser(commands):
    run = commands.add_parser("run", help="run one guest of your own",
                              epilog=STATUS_TEXT, allow_abbrev=False)
    run.add_argument("--kernel", required=True, metavar="FILE")
    run.add_argument("--initrd", metavar="FILE")
    run.add_argument("--dtb", metavar="FILE",
                     help="use this device tree, not the generated one")
    run.add_argument("--format", choices=["image", "elf", "flat"],
                     help="of the kernel; only flat must be said")
    run.add_argument("--load-offset", type=offset, metavar="N",
                     help="of a flat kernel in RAM (default 0x80000)")
    run.add_argument("--cpus", type=count, default=1, metavar="N",
                     help="virtual CPUs (default 1)")
    run.add_argument("--memory", type=size, metavar="SIZE",
                     help="guest memory (default 128M)")
    run.add_argument("--append", metavar="TEXT", help="guest command line")
    run.add_argument("--name", default="guest", help="of the VM")
    run.add_argument("--fp", metavar="POLICY",
                     help="when FP registers are moved: eager, lazy, owner")
    run.add_argument("--fpwidth", metavar="WIDTH",
                     help="how much of them at once: step, max, adaptive")
    run.add_argument("--fp-max", metavar="TYPE",
                     help="widest FP type of the VM: fpsimd, sve; scalar, "
                     "lsx, lasx (default: the machine's)")
    run.add_argument("--sve-vl", type=count, metavar="BITS",
                     help="longest SVE vector of the VM")
    run.add_argument("--kut", action="store_true",
                     help="the status is in a line 'EXIT: STATUS=n', as "
                     "kvm-unit-tests print it (flat kernels: by itself)")
    _machine_options(run, None)
    run.set_defaults(call=cmd_run)


def parser():
    """The whole command line."""
    top = Parser(prog="tools/nestling", allow_abbrev=False,
                 epilog=STATUS_TEXT, description="Runs guests on Nestling.")
    commands = top.add_subparsers(required=True, metavar="COMMAND",
                                  dest="command")
    _run_parser(commands)
    start = commands.add_parser("start", help="run the VMs of a manifest",
                                epilog=STATUS_TEXT, allow_abbrev=False)
    start.add_argument("manifest", metavar="MANIFEST",
                       help=".dts or .dtb file, or a directory with "
                       "manifest.dts; file names in it are relative to it")
    _machine_options(start, 2)
    start.set_defaults(call=cmd_start)
    show = commands.add_parser("demo", help="Debian and two small guests "
                               "(loongarch: small guests only)",
                               epilog=STATUS_TEXT, allow_abbrev=False)
    show.add_argument("--auto", action="store_true",
                      help="self-check and power-off, as without a terminal")
    _machine_options(show, 2)
    show.set_defaults(call=cmd_demo)
    gdb = commands.add_parser("debug", help="the hypervisor under gdb",
                              allow_abbrev=False)
    gdb.add_argument("manifest", metavar="MANIFEST", nargs="?",
                     help="as for start (default: what demo runs)")
    gdb.add_argument("--gdb-args", type=arguments, default=[], metavar="ARGS",
                     help="more arguments for gdb")
    _machine_options(gdb, 1)
    gdb.set_defaults(call=cmd_debug)
    rootfs = commands.add_parser("initramfs", allow_abbrev=False,
                                 help="make a BusyBox initramfs for Linux")
    rootfs.add_argument("-o", "--output", required=True, metavar="FILE")
    rootfs.set_defaults(call=cmd_initramfs)
    make = commands.add_parser("bundle", help="only make the bundle",
                               allow_abbrev=False)
    make.add_argument("manifest", metavar="MANIFEST")
    make.add_argument("-o", "--output", required=True, metavar="FILE")
    make.set_defaults(call=cmd_bundle)
    return top


def main(argv):
    """Run one command; the exit status."""
    try:
        args = parser().parse_args(argv)
        return args.call(args)
    except Mistake as error:
        print(f"nestling: {error}", file=sys.stderr)
        return USAGE
