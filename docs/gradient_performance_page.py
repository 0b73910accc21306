# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Writes gradient-performance.md from figures/gradients_*.json.

The files are what benchmarks/gradients.py wrote on the machines that the page names. `.ci/gpu gradients` takes new ones
of a GPU; put them into figures/ and run `python docs/gradient_performance_page.py`.
"""

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FIGURES = HERE / "figures"
OURS, PEER = "cuda_graphs", "Quadrants"

SHOWN = {"figures": "medians", "least": "the best of all turns, since the machine had other work"}

# Title of a part -> its file.
MACHINES = {"On a GPU": "gradients_h200", "On the CPU": "gradients_host"}

HEAD = """# Performance of gradients

What [gradients](guide/gradients.md) cost beside those of Quadrants: in one run, in turns, each in a process of its own
that has checked its gradients first. Microseconds for a call and its synchronisation.

"Sine steps" is `v = sin(v) + 0.1`, 32 times for each of 4096 numbers, whose sum is differentiated: a loop that needs a
stack. Where its bound is read from memory, how large the stacks become depends on what is there. "Springs" is a
simulation end to end: 100 steps of a net, with atomics, then back through all of them.

The last columns are the bytes of the stacks of a call of cuda_graphs, and what it has to reach: on the CPU 0.6 times
what Quadrants takes in the same run.
"""

PART = """
## {title}

{machine}; {shown}.

{table}
"""

TAIL = """
Measured by `python benchmarks/gradients.py`;
[what is inside the clock](../benchmarks/README.md#gradientspy-gradients-beside-those-of-quadrants).

## What makes the difference

* Stacks hold values and no adjoints: of these one register is enough. Their sizes are parameters of the launch, so
  where numbers and shapes say them nothing is uploaded, launched or waited for before the gradient.
* Neighbouring threads have neighbouring elements of a stack. On the CPU iterations run side by side in the lanes of
  vectors, and sines and cosines of f32 are functions of vectors.
* What a gradient adds to an element that only one iteration touches is a load and a store, no atomic.
* A tape fills each gradient with zeros once, and goes back without waiting.
"""


def cell(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.1f}" if value < 100 else f"{value:.0f}"


def table(document: dict[str, Any]) -> str:
    """A line a row."""
    lines = [f"| | {OURS} | {PEER} | ours / theirs | stacks | to reach |", "|---|--:|--:|--:|--:|--:|"]
    for row, values in document[document["shown"]].items():
        ours, theirs, bar = values[OURS], values[PEER], document["bars"].get(row)
        ratio = "-" if ours is None or theirs is None else f"{ours / theirs:.2f}"
        wanted = "-" if bar is None else cell(bar) + ("" if ours is not None and ours <= bar else " (missed)")
        bytes_ = document["stacks"].get(row, {}).get(OURS) or "-"
        lines.append(f"| {row} | {cell(ours)} | {cell(theirs)} | {ratio} | {bytes_} | {wanted} |")
    return "\n".join(lines)


def gradient_performance_page() -> str:
    parts = []
    for title, file in MACHINES.items():
        document = json.loads((FIGURES / f"{file}.json").read_text())
        shown = SHOWN[document["shown"]]
        parts.append(
            PART.format(title=title, machine=document["machine"], shown=shown, table=table(document))
        )
    return HEAD + "".join(parts) + TAIL


if __name__ == "__main__":
    (HERE / "gradient-performance.md").write_text(gradient_performance_page())
