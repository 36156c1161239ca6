# SPDX-License-Identifier: BSD-2-Clause
#
# Plots of the FP benchmark: a PNG per scenario, instructions above, bytes
# below, a group of bars for each mix.

import os

import matplotlib

from measure import fp

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402 pylint: disable=C0413

PANELS = (("switch_instructions", "instructions per switch"),
          ("bytes", "bytes moved per switch"))


def _panel(axes, found, scenario, quantity, label, arch):
    keys = [k for k in found if k[0] == scenario]
    mixes = list(dict.fromkeys(k[1] for k in keys))
    bars = list(dict.fromkeys(k[2:] for k in keys))
    width = 0.85 / len(bars)
    for i, (policy, size) in enumerate(bars):
        heights = [found[scenario, mix, policy, size][quantity]
                   for mix in mixes]
        axes.bar([x + i * width for x in range(len(mixes))], heights, width,
                 label=f"{policy}, {size}")
    axes.set_xticks([x + 0.42 for x in range(len(mixes))],
                    [fp.describe(mix, arch) for mix in mixes], fontsize=8)
    axes.set_ylabel(label)
    axes.set_ylim(bottom=0)


def draw(found, arch, folder):
    """Writes fp-ARCH-SCENARIO.png for every scenario that was measured."""
    for scenario in dict.fromkeys(k[0] for k in found):
        have = [p for p in PANELS if all(
            p[0] in v for k, v in found.items() if k[0] == scenario)]
        figure, panels = pyplot.subplots(len(have), 1, squeeze=False,
                                         figsize=(11, 4 * len(have)))
        panels = panels[:, 0]
        for axes, (quantity, label) in zip(panels, have):
            _panel(axes, found, scenario, quantity, label, arch)
        panels[0].set_title(f"{arch}: scenario {scenario}")
        panels[0].legend(fontsize=8, ncols=3)
        figure.tight_layout()
        figure.savefig(os.path.join(folder, f"fp-{arch}-{scenario}.png"))
        pyplot.close(figure)
