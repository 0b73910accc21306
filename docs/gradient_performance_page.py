# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Writes gradient-performance.md from figures/gradients_*.json.

benchmarks/gradients.py wrote these files on the machines that the page names. `.ci/gpu gradients` measures a GPU again;
put its files into figures/ and run `python docs/gradient_performance_page.py`.
"""

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FIGURES = HERE / "figures"
OURS, PEER = "cuda_graphs", "Quadrants"

SHOWN = {"figures": "medians", "least": "the best of all turns, because the machine had other work"}

# Title of a part -> name of its file.
MACHINES = {"On a GPU": "gradients_h200", "On the CPU": "gradients_host"}

HEAD = """# Performance of gradients

This page compares [gradients](guide/gradients.md) with the gradients of Quadrants. Both run in one session, in turns,
each in its own process, which has checked its gradients first. Times are in microseconds for a call and its
synchronisation.

"Sine steps" is `v = sin(v) + 0.1`, 32 times for each of 4096 numbers. The gradient is that of their sum, and its loop
needs a stack. If the bound of the loop is read from memory, the capacity of the stacks depends on the value there.
"Springs" is a complete simulation: 100 steps of a net, with atomics, then the gradients of all steps.

The last columns are the bytes of the stacks in a call of cuda_graphs, and the target of cuda_graphs: on the CPU 0.6
times the time of Quadrants in the same run.
"""

PART = """
## {title}

{machine}; {shown}.

{table}
"""

TAIL = """
Measured by `python benchmarks/gradients.py`; [what is inside the
clock](../benchmarks/README.md#gradientspy-gradients-beside-those-of-quadrants).

## Reasons for the differences

* Stacks hold values but no adjoints: one register per stack is enough for those. The capacities are parameters of the
  launch. If numbers and shapes determine them, nothing is uploaded, launched or waited for before the gradient.
* Neighbouring threads have neighbouring elements of a stack. On the CPU neighbouring iterations run as lanes of
  vectors, and sines and cosines of f32 are vector functions.
* A gradient adds to an element that only one iteration accesses with a load and a store, without an atomic.
* A tape fills each gradient with zeros once, and the backward pass does not wait.
"""


def cell(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.1f}" if value < 100 else f"{value:.0f}"


def table(document: dict[str, Any]) -> str:
    """Return the table of a document, with one line per row."""
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
