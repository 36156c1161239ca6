# SPDX-License-Identifier: BSD-2-Clause
#
# The static checks of our own can fail: each is run on a small tree with one
# planted offence, and on the same tree without it.

import pathlib
import subprocess
import sys

import pytest

TOP = pathlib.Path(__file__).resolve().parent.parent
ARCHES = {"arm64": "aarch64-linux-gnu-gcc",
          "loongarch": "loongarch64-linux-gnu-gcc"}

HEADERS = {
    "core/arch.h": "void arch_ok(void);\nextern const int arch_data;\n"
                   "/* void arch_secret(void); */\n",
    "core/host.h": "void host_ok(void);\n",
    "core/page.h": "", "core/print.h": "",
    "core/freestanding/string.h": "int strcmp(const char *, const char *);\n",
    "arch/arm64/sysreg.h": "",
    "arch/loongarch/sysreg.h": "",
}
CORE = ("void arch_ok(void); extern const int arch_data; int core_secret;\n"
        "int host_ok(void) { arch_ok(); return arch_data; }\n")
ARCH = ("int host_ok(void); int arch_secret; const int arch_data = 1;\n"
        "void arch_ok(void) { host_ok(); }\n")


def compile_object(root, arch, source, text):
    obj = root / "build" / arch / "obj" / pathlib.Path(source).with_suffix(".o")
    obj.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([ARCHES[arch], "-O2", "-ffreestanding", "-x",
                    "assembler" if source.endswith(".S") else "c", "-c", "-o",
                    obj, "-"], input=text, text=True, check=True)


def check(tool, root, arch):
    r = subprocess.run([sys.executable, TOP / "tools" / tool, "--arch", arch,
                        "--root", root], stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True, timeout=60,
                       check=False)
    return r.returncode, r.stdout


@pytest.fixture(params=ARCHES)
def tree(request, tmp_path):
    arch = request.param
    for name, text in HEADERS.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    compile_object(tmp_path, arch, "core/a.c", CORE)
    compile_object(tmp_path, arch, f"arch/{arch}/b.c", ARCH)
    return tmp_path, arch


def test_clean(tree):
    for tool in ("layers", "fpcheck"):
        assert check(tool, *tree) == (0, "")


def test_layers_core_symbol(tree):
    root, arch = tree
    compile_object(root, arch, "core/c.c",
                   "extern int arch_secret; int f(void) "
                   "{ return arch_secret; }\n")
    status, out = check("layers", root, arch)
    assert status == 1
    assert f"arch_secret of {arch} is not in core/arch.h" in out


def test_layers_arch_symbol(tree):
    root, arch = tree
    compile_object(root, arch, f"arch/{arch}/c.c",
                   "extern int core_secret; int f(void) "
                   "{ return core_secret; }\n")
    status, out = check("layers", root, arch)
    assert status == 1
    assert "core_secret of core is not in core/host.h" in out


def test_layers_string_recursion(tree):
    root, arch = tree
    compile_object(root, arch, "core/freestanding/string.c",
                   "void *memset(void *, int, unsigned long);\n"
                   "void f(char *p, long n) { memset(p, 0, n); }\n")
    status, out = check("layers", root, arch)
    assert status == 1
    assert "calls memset" in out


@pytest.mark.parametrize("source,message", [
    ("#if defined(__aarch64__)\n#endif\n", "condition on an architecture"),
    ("# ifdef __loongarch64\n#endif\n", "condition on an architecture"),
    ("#if 0\n#elif CONFIG_ARM64\n#endif\n", "condition on an architecture"),
    ('#include "sysreg.h"\n', "private header sysreg.h"),
    ("#include <../arch/arm64/sysreg.h>\n", "private header"),
    ("void f(void)\n{\n\t__asm__ volatile(\"nop\");\n}\n", "assembly"),
])
def test_layers_source(tree, source, message):
    root, arch = tree
    bad = root / "core" / "bad.c"
    bad.write_text("/* comment\n * __asm__( #if arm64 */\n" + source)
    status, out = check("layers", root, arch)
    assert status == 1
    assert message in out and "core/bad.c:" in out
    bad.write_text("/* comment\n * __asm__( #if arm64 */\n")
    assert check("layers", root, arch) == (0, "")


FP_C = {
    # What a compiler does to a structure copy, and plain arithmetic.
    "copy": "struct s { long a[8]; };\n"
            "void f(struct s *a, struct s *b) { *a = *b; }\n",
    "float": "double f(double a, double b) { return a + b; }\n",
}


def test_fpcheck_c(tree):
    root, arch = tree
    places = [f"arch/{arch}/c.c", "core/c.c", "libfdt/c.c"]
    for name, text in FP_C.items():
        for place in places:
            compile_object(root, arch, place, text)
        status, out = check("fpcheck", root, arch)
        assert status == 1
        for place in places:
            assert f"{place[:-2]}.o: f: " in out, name


INSTRUCTIONS = {
    "arm64": ["str q31, [x0]", "ldr b0, [x1]", "str h3, [x0]",
              "mov v5.16b, v6.16b", "ld1 {v0.4s}, [x0]",
              "fmov d9, x0", "scvtf s12, w3",
              ".arch armv9-a\n ptrue p7.b", "str z30, [x0]"],
    "loongarch": ["fld.d $f31, $r4, 0", "fadd.s $fa0, $ft1, $fs2",
                  "vld $vr0, $r4, 0", "xvst $xr31, $r4, 0",
                  "movgr2cf $fcc1, $r4", "movfcsr2gr $r4, $fcsr0"],
}
HARMLESS = {
    "arm64": ["b4:\n b b4", "d0:\n cbz x1, d0", "mrs x0, s3_4_c2_c2_0",
              "mov x0, #0xd3", "ldr x1, [sp, #8]", "dmb ish", ".word 0x1e604000",
              "adr x3, s1\ns1:"],
    "loongarch": ["st.d $fp, $sp, 0", "f0:\n b f0", "or $s1, $t2, $a3"],
}


def test_fpcheck_registers(tree):
    root, arch = tree
    text = "f:\n" + "".join(f" {i}\n" for i in INSTRUCTIONS[arch])
    compile_object(root, arch, f"arch/{arch}/entry.S", text)
    status, out = check("fpcheck", root, arch)
    assert (status, out.count("\n")) == (1, len(INSTRUCTIONS[arch])), out
    # Only fp.S of the architecture is exempt.
    compile_object(root, arch, f"arch/{arch}/entry.S", " nop\n")
    compile_object(root, arch, f"arch/{arch}/fp.S", text)
    assert check("fpcheck", root, arch) == (0, "")
    compile_object(root, arch, "core/fp.S", text)
    assert check("fpcheck", root, arch)[0] == 1


def test_fpcheck_harmless(tree):
    root, arch = tree
    compile_object(root, arch, f"arch/{arch}/entry.S",
                   "".join(f" {i}\n" for i in HARMLESS[arch]))
    assert check("fpcheck", root, arch) == (0, "")


def test_no_objects(tmp_path):
    for tool in ("layers", "fpcheck"):
        status, out = check(tool, tmp_path, "arm64")
        assert status == 1 and "build first" in out
