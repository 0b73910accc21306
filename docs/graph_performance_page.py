# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Writes graph-performance.md and its pictures from figures/graph_kernels_*.json.

benchmarks/graph_kernels.py wrote these files on the machines that the page names. `.ci/gpu graph_kernels` measures a
GPU again; put its files into figures/ and run `python docs/graph_performance_page.py`.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FIGURES = HERE / "figures"

SHOWN = {
    "figures": "medians",
    "least": "the best of all turns, because the machine had other work (C: medians)",
}

# Title of a part -> name of its file.
MACHINES = {"On a GPU": "graph_kernels_h200", "On the CPU": "graph_kernels_host"}

HEAD = """# Performance of graphs

This page compares calls of [graph kernels](guide/graph-kernels.md) and their loops with graph kernels of Quadrants,
with graphs of Warp, PyTorch and cuda.core, and with bare driver calls from C. All contestants run in one session, in
turns, each in its own process. Times are in microseconds. "-" means that a time was not measured, or that the
contestant does not have the feature. A contestant without a column was not installed on that machine, or does not run
there. The JSON files give the reasons.

The last column is the target of cuda_graphs, for its first column or for the column that is named. It also shows
whether the target was missed.

A task adds 1 to 1024 floats. A loop (`while cg.graph_do_while(left):`) has two tasks in its body: one such task, and
one that counts down. The column "cuda_graphs" uses the default options; the columns beside it request a lowering. "C,
graph" and "C, bare kernels" are a C++ program with the same driver calls and its own kernels.
"""

PART = """
## {title}

{machine}; {shown}.

{table}

![Bars of the time that each contestant takes in each row](figures/{file}.svg)
"""

TAIL = """
Measured and drawn by `python benchmarks/graph_kernels.py`; [what is inside the
clock](../benchmarks/README.md#graph_kernelspy-graph-kernels-beside-graphs-of-others).

## Reasons for the differences

* C code compares the arguments of a call with the parameters of the nodes. A call with the same arguments is one
  launch. Otherwise the call sets the nodes that use a changed argument, in the executable graph. It does not wait for
  the last launch, and copies nothing.
* The grid is computed from the extents of the call, and a loop reads its bounds itself. No additional task computes
  them.
* On a GPU the tasks of a loop, and light tasks that follow each other, become one launch if possible. Its threads stay,
  and wait for each other between tasks ([how control flow is
  lowered](guide/graph-kernels.md#how-control-flow-is-lowered)).
* The last task of a body sets the condition of its while node, so a body of two tasks has two nodes.
"""


def cell(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}" if value < 100 else f"{value:.0f}"


def table(document: dict[str, Any]) -> str:
    """Return a table with one line per row; contestants without any figure have no column."""
    figures = document[document["shown"]]
    columns = [
        name for name in next(iter(figures.values())) if any(v[name] is not None for v in figures.values())
    ]
    lines = ["| " + " | ".join(["", *columns, "to reach"]) + " |", "|---" + "|--:" * (len(columns) + 1) + "|"]
    for row, values in figures.items():
        bars = document["bars"].get(row, {}).items()
        wanted = "; ".join(
            f"{bar:g}"
            + name.removeprefix("cuda_graphs").replace(", ", " ")
            + ("" if values[name] is not None and values[name] <= bar else " (missed)")
            for name, bar in bars
        )
        lines.append("| " + " | ".join([row, *(cell(values[c]) for c in columns), wanted or "-"]) + " |")
    return "\n".join(lines)


def taken() -> dict[str, str]:
    """Return the parts that have figures: title -> name of the file."""
    return {title: file for title, file in MACHINES.items() if (FIGURES / f"{file}.json").exists()}


def graph_performance_page() -> str:
    parts = []
    for title, file in taken().items():
        document = json.loads((FIGURES / f"{file}.json").read_text())
        shown = SHOWN[document["shown"]]
        parts.append(
            PART.format(
                title=title, machine=document["machine"], shown=shown, file=file, table=table(document)
            )
        )
    return HEAD + "".join(parts) + TAIL


def main() -> None:
    (HERE / "graph-performance.md").write_text(graph_performance_page())
    for file in taken().values():
        drawing = ["--from", FIGURES / f"{file}.json", "--draw", FIGURES / f"{file}.svg"]
        subprocess.run([sys.executable, HERE.parent / "benchmarks/graph_kernels.py", *drawing], check=True)


if __name__ == "__main__":
    main()
