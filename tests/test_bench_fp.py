# SPDX-License-Identifier: BSD-2-Clause
#
# What FP policies and widths promise, in exact instruction counts, bytes and
# counters per switch (tools/bench-fp measures all of them).

import functools

import pytest
from measure import fp

ARCHES = ("arm64", "loongarch")


@functools.cache
def case(arch, mix, policy, width, **more):
    """The numbers of one run, measured once."""
    return fp.measure(fp.Case("test", mix, policy, width, **more), arch)


@pytest.mark.parametrize("arch", ARCHES)
def test_widest_type_saves_traps(arch):
    """A turn that uses narrow and then wide registers: one trap instead of
    two, and much less of a whole switch."""
    part = {"arm64": 0.92, "loongarch": 0.91}[arch]
    step, most = (case(arch, "fx", "owner", width)
                  for width in ("step", "max"))
    assert (step["traps"], step["widens"]) == (2, 1)
    assert (most["traps"], most["widens"]) == (1, 0)
    assert most["saves"] == most["loads"] == 1
    assert most["switch_instructions"] <= part * step["switch_instructions"]


@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize("mix", ["f", "x"])
def test_adaptive_is_as_good_as_the_better(arch, mix):
    """vCPUs that keep a width."""
    step, most, adaptive = (case(arch, mix, "owner", width)
                            for width in ("step", "max", "adaptive"))
    for name, limit in (("switch_instructions", 1.01), ("bytes", 1.05)):
        assert adaptive[name] <= limit * min(step[name], most[name])


@pytest.mark.parametrize("arch,mix", [("arm64", "n+n+n+f"),
                                      ("loongarch", "n+n+n+x")])
def test_owner_moves_nothing_for_others(arch, mix):
    """One VM uses FP, three do not: nothing is ever moved. On arm64 as long
    as the vectors are no longer than 128 bits."""
    found = case(arch, mix, "owner", "adaptive", vms=4)
    assert found["traps"] == found["saves"] == found["loads"] == 0
    lazy = case(arch, mix, "lazy", "adaptive", vms=4)
    assert lazy["saves"] == lazy["loads"] == 0.25


def test_handling_is_cheap():
    """LoongArch: trap, save and load take at most 350 instructions, whatever
    the mix. The guest's own instructions show under the eager policy."""
    def switch(mix, policy):
        return case("loongarch", mix, policy, "max",
                    by="token")["switch_instructions"]
    for mix in ("f", "x", "fx", "flx"):
        own = switch(mix, "eager") - switch("n", "eager")
        assert switch(mix, "owner") - switch("n", "owner") - own <= 350
