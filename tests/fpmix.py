# SPDX-License-Identifier: BSD-2-Clause
#
# VMs that check their FP registers, of all widths and policies beside each
# other on two pCPUs, moving, preempted often. For tests and for tools/mutants.

from harness import MIB, guest, run_vms, vm


def image(arch, name, args="", bits=256, **props):
    """A VM that checks its widest registers."""
    if arch == "arm64":
        return vm(name, guest("sve"), bootargs=f"bits={bits} {args}",
                  memory=16 * MIB, **{"sve-vl": bits, **props})
    return vm(name, guest("fp", arch), bootargs=args, memory=16 * MIB, **props)


MIXED = {
    "arm64": [("wide", {"bits": 2048, "args": "pcpus=2"}),
              ("short", {"bits": 128, "args": "pcpus=2", "fp": "lazy"}),
              ("step", {"fpwidth": "step", "args": "pcpus=2"}),
              ("adapt", {"fpwidth": "adaptive", "fp": "eager"}),
              ("own", {"fpwidth": "adaptive", "args": "narrow=40 pcpus=2"})],
    "loongarch": [("lasx", {"args": "pcpus=2"}),
                  ("scalar", {"fp-max": "scalar", "args": "units=1 pcpus=2"}),
                  ("lsx", {"fp-max": "lsx", "args": "units=2", "fp": "lazy"}),
                  ("step", {"fpwidth": "step", "args": "pcpus=2"}),
                  ("adapt", {"fpwidth": "adaptive", "fp": "eager"})],
}


def run_mixed(folder, arch, rounds, timeout, kernel=None):
    """Boot them; the result, and the names of the VMs."""
    vms = []
    for k, (name, props) in enumerate(MIXED[arch]):
        props = dict(props)
        args = f"vm={k} rounds={rounds} {props.pop('args', '')}"
        vms.append(image(arch, name, args, vcpus=2, **props))
    if arch == "arm64":
        vms.append(vm("simd", guest("fp"), bootargs=f"vm=99 rounds={rounds}",
                      vcpus=2, memory=16 * MIB, **{"fp-max": "fpsimd"}))
    result = run_vms(folder, *vms, append="slice=200", smp=2, arch=arch,
                     kernel=kernel, timeout=timeout)
    return result, [one[0] for one in vms]
