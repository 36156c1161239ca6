# SPDX-License-Identifier: BSD-2-Clause
#
# Commands for gdb on the hypervisor, read by `tools/nestling debug`:
#
#     nestling cpus            what every pCPU does
#     nestling vcpus           every VM and vCPU
#     nestling regs VM VCPU    a vCPU's general and system registers
#     nestling tlb VM VCPU     LoongArch: the guest's TLB; arm64: its stage 2
#     nestling host            registers of the CPU gdb is at, as QEMU has them
#
# They only read memory, so a vCPU that is loaded shows what it had when it was
# last put away, as far as its registers live in hardware meanwhile.

import gdb  # pylint: disable=import-error


def _number(value):
    return int(value.cast(gdb.lookup_type("unsigned long")))


def _vms():
    for i in range(int(gdb.parse_and_eval("nr_vms"))):
        yield gdb.parse_and_eval(f"vms[{i}]").dereference()


def _vcpus(vm):
    for i in range(int(vm["nr_vcpus"])):
        if _number(vm["vcpus"][i]):
            yield vm["vcpus"][i].dereference()


def _name(vm):
    return vm["cfg"]["name"].string()


def _who(pointer):
    """"VM/vCPU" of a struct vcpu pointer."""
    if not _number(pointer):
        return "-"
    return f"{_name(pointer['vm'])}/{int(pointer['id'])}"


def _find(arg):
    words = arg.split()
    if len(words) != 2:
        raise gdb.GdbError("wanted: VM VCPU")
    for vm in _vms():
        if _name(vm) == words[0]:
            for vcpu in _vcpus(vm):
                if int(vcpu["id"]) == int(words[1], 0):
                    return vcpu
    raise gdb.GdbError(f"there is no vCPU {arg}")


def _table(pairs, columns=3):
    """Prints (name, number) pairs."""
    cells = [f"{name:<12}{value:016x}" for name, value in pairs]
    for at in range(0, len(cells), columns):
        print("  ".join(cells[at:at + columns]))


def _fields(struct):
    """(name, number) of a structure's numbers, arrays taken apart."""
    for field in struct.type.fields():
        value, code = struct[field.name], field.type.strip_typedefs().code
        if code == gdb.TYPE_CODE_ARRAY:
            low, high = field.type.range()
            for i in range(low, high + 1):
                yield f"{field.name}{i}", _number(value[i])
        elif code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_BOOL):
            yield field.name, _number(value)


def _has(struct, name):
    return any(f.name == name for f in struct.type.fields())


class Nestling(gdb.Command):
    """What the hypervisor and its guests are doing."""

    def __init__(self):
        super().__init__("nestling", gdb.COMMAND_DATA, prefix=True)


class Cpus(gdb.Command):
    """What every pCPU does: vCPU that runs, is loaded, owns the FP unit."""

    def __init__(self):
        super().__init__("nestling cpus", gdb.COMMAND_DATA)

    def invoke(self, _arg, _tty):
        """Print the table."""
        for i in range(int(gdb.parse_and_eval("nr_cpus"))):
            cpu = gdb.parse_and_eval(f"cpus[{i}]")
            if not _number(cpu):
                continue
            print(f"pCPU {i}: runs {_who(cpu['curr'])}, "
                  f"loaded {_who(cpu['loaded'])}, "
                  f"FP {_who(cpu['fp_owner'])}, work {int(cpu['work']):#x}, "
                  f"{int(cpu['switches'])} switches")


class Vcpus(gdb.Command):
    """Every VM and vCPU: state, where it is loaded, PC, exits."""

    def __init__(self):
        super().__init__("nestling vcpus", gdb.COMMAND_DATA)

    def invoke(self, _arg, _tty):
        """Print the table."""
        for vm in _vms():
            print(f"VM {_name(vm)}: {vm['state']}, "
                  f"{int(vm['nr_vcpus'])} vCPUs")
            for v in _vcpus(vm):
                at = int(v["loaded_on"])
                where = "nowhere" if at == 0xffffffff else f"on pCPU {at}"
                print(f"  vCPU {int(v['id'])}: {v['state']}, loaded {where}, "
                      f"pc {_number(v['arch']['regs']['pc']):#x}, "
                      f"{int(v['stats']['exits'])} exits, "
                      f"requests {int(v['req']):#x}")


class Regs(gdb.Command):
    """Registers of a vCPU: nestling regs VM VCPU."""

    def __init__(self):
        super().__init__("nestling regs", gdb.COMMAND_DATA)

    def invoke(self, arg, _tty):
        """Print them all."""
        arch = _find(arg)["arch"]
        _table(_fields(arch["regs"]))
        print()
        _table(_fields(arch["csr" if _has(arch, "csr") else "el1"]))


class Tlb(gdb.Command):
    """Translation of a vCPU: nestling tlb VM VCPU."""

    def __init__(self):
        super().__init__("nestling tlb", gdb.COMMAND_DATA)

    def invoke(self, arg, _tty):
        """Print what there is on this architecture."""
        vcpu = _find(arg)
        if _has(vcpu["arch"], "mem"):
            self._guest_tlb(vcpu["arch"]["mem"]["vtlb"].dereference())
        else:
            _table(pair for pair in _fields(vcpu["vm"]["arch"]["s2"])
                   if pair[1])

    @staticmethod
    def _guest_tlb(vtlb):
        entries = vtlb["e"]
        low, high = entries.type.range()
        for i in range(low, high + 1):
            fields = dict(_fields(entries[i]))
            if any(fields.values()):
                print(f"{i:5}: " + " ".join(f"{name} {value:x}" for
                                            name, value in fields.items()))


class Host(gdb.Command):
    """Registers of the current CPU as QEMU has them, CSRs too."""

    def __init__(self):
        super().__init__("nestling host", gdb.COMMAND_DATA)

    def invoke(self, _arg, _tty):
        """Ask QEMU's monitor."""
        gdb.execute("monitor info registers")


for command in (Nestling, Cpus, Vcpus, Regs, Tlb, Host):
    command()
