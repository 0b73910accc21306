# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Writes graph-performance.md and its pictures from figures/graph_kernels_*.json.

The files are what benchmarks/graph_kernels.py wrote on the machines that the page names. `.ci/gpu graph_kernels` takes
new ones of a GPU; put them into figures/ and run `python docs/graph_performance_page.py`.
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
    "least": "the best of all turns, since the machine had other work (of C: medians)",
}

# Title of a part -> its file.
MACHINES = {"On a GPU": "graph_kernels_h200", "On the CPU": "graph_kernels_host"}

HEAD = """# Performance of graphs

What calls of [graph kernels](guide/graph-kernels.md) and their loops cost, beside graph kernels of Quadrants, graphs of
Warp, PyTorch and cuda.core, and bare calls of the driver from C: in one run, in turns, each contestant in a process of
its own. Microseconds. "-" is what was not measured, or what somebody has not. Who has no column was not installed on
that machine, or does not run there. The reasons are in the files.

The last column is what cuda_graphs has to reach, in its first column or the one that is named, and whether it missed
that.

A task adds 1 to 1024 floats. A loop (`while cg.graph_do_while(left):`) has two tasks in its body: that one, and one
that counts down. "cuda_graphs" is what a user gets who asks for nothing; columns beside it are lowerings that were
asked for. "C, graph" and "C, bare kernels" are a C++ program with the same calls of the driver and its own kernels.
"""

PART = """
## {title}

{machine}; {shown}.

{table}

![Bars of the time that each contestant takes in each row](figures/{file}.svg)
"""

TAIL = """
Measured and drawn by `python benchmarks/graph_kernels.py`;
[what is inside the clock](../benchmarks/README.md#graph_kernelspy-graph-kernels-beside-graphs-of-others).

## What makes the difference

* Arguments are compared, in C, with what the nodes have. A call with the same ones is one launch. For others, the nodes
  that take what has changed are set, in the executable graph, without waiting for its last launch; nothing is copied.
* A grid is computed from the extents of the call, and bounds of loops are read where the loop is: no task is there only
  for them.
* On a GPU the tasks of a loop, and light ones that follow each other, are one launch where that can be: its threads
  stay, and wait for each other between tasks ([how control flow is lowered](guide/graph-kernels.md#how-control-flow-is-lowered)).
* The condition of a while node is set by the last task of its body, so a body of two tasks has two nodes.
"""


def cell(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}" if value < 100 else f"{value:.0f}"


def table(document: dict[str, Any]) -> str:
    """A line a row; contestants of whom there is no figure at all are left out."""
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
    """The parts of which there are figures."""
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
