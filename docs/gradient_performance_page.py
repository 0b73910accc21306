# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Writes gradient-performance.md from figures/gradients_*.json.

The files are what benchmarks/gradients.py wrote on the machines that the page names. `.ci/gpu gradients` takes new ones
of a GPU; put them into figures/ and run `python -m docs.gradient_performance_page`.
"""

import json
from pathlib import Path
from typing import Any

from benchmarks.statistic import cell, ratio_cell, ratios, values, verdict
from docs.figures_text import LEGEND, markdown

HERE = Path(__file__).parent
FIGURES = HERE / "figures"
OURS, PEER = "cuda_graphs", "Quadrants"

# Title of a part -> its file.
MACHINES = {"On a GPU": "gradients_h200", "On the CPU": "gradients_host"}

HEAD = """# Performance of gradients

[Gradients](guide/gradients.md) beside those of Quadrants. The two take turns in one run; each has a process of its own
and has checked its gradients. Microseconds for a call and its synchronisation.

{legend}

"Sine steps" is `v = sin(v) + 0.1`, 32 times for each of 4096 numbers. The gradient is that of their sum, and its loop
needs a stack. If the bound of the loop is read from memory, the capacity of the stacks depends on the value there.
"Springs" is a complete simulation: 100 steps of a net, with atomics, then the gradients of all steps.

The last columns are the bytes of the stacks of a call of cuda_graphs, and the bar that it has to reach: microseconds on
the GPU, a ratio to Quadrants on the CPU.
"""

PART = """
## {title}

{machine}.

{table}
"""

TAIL = """
Measured by `python benchmarks/gradients.py`; [what is inside the
clock](../benchmarks/README.md#gradientspy-gradients-beside-those-of-quadrants).

## Reasons for the differences

* Stacks hold values and no adjoints: of these one register is enough. Their sizes are parameters of the launch, so
  where numbers and shapes say them nothing is uploaded, launched or waited for before the gradient.
* Neighbouring threads have neighbouring elements of a stack. On the CPU iterations run side by side in the lanes of
  vectors, and sines and cosines of f32 are functions of vectors.
* An addition of a gradient to an element of one iteration only is a load and a store, not an atomic.
* A tape fills each gradient with zeros once, and goes back without waiting.
"""


def bar_cell(document: dict[str, Any], row: str) -> str:
    """Returns the bar of a row and whether cuda_graphs misses it."""
    ours, theirs = (document["figures"][row].get(name) for name in (OURS, PEER))
    for bars, compared in (("bars", values(ours)), ("ratio_bars", ratios(ours, theirs))):
        if (bar := document[bars].get(row)) is not None:
            said = verdict(compared, bar)
            return f"{bar:g}" if said == "met" else f"{bar:g} ({said})"
    return "-"


def table(document: dict[str, Any]) -> str:
    """A line a row."""
    lines = []
    for row, found in document["figures"].items():
        compared = ratio_cell(ratios(found[OURS], found[PEER]))
        stacks = str(document["stacks"].get(row, {}).get(OURS) or "-")
        lines.append(
            [row, cell(found[OURS], 1), cell(found[PEER], 1), compared, stacks, bar_cell(document, row)]
        )
    return markdown(["", OURS, PEER, "ours / theirs", "stacks", "to reach"], lines)


def gradient_performance_page() -> str:
    parts = []
    for title, file in MACHINES.items():
        document = json.loads((FIGURES / f"{file}.json").read_text())
        parts.append(PART.format(title=title, machine=document["machine"], table=table(document)))
    return HEAD.format(legend=LEGEND) + "".join(parts) + TAIL


if __name__ == "__main__":
    (HERE / "gradient-performance.md").write_text(gradient_performance_page())
