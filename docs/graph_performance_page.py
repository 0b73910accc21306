# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Writes graph-performance.md and its pictures from figures/graph_kernels_*.json and figures/loop_lowerings_*.json.

The files are what benchmarks/graph_kernels.py and benchmarks/loop_lowerings.py wrote on the machines that the page
names. `.ci/gpu graph_kernels` takes new ones of a GPU; put them into figures/ and run `python -m
docs.graph_performance_page`.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.statistic import cell, number, value, values, verdict
from docs.figures_text import LEGEND, markdown

HERE = Path(__file__).parent
FIGURES = HERE / "figures"

# Title of a part -> its file.
MACHINES = {"On a GPU": "graph_kernels_h200", "On the CPU": "graph_kernels_host"}
LOWERINGS = {"GPU": "loop_lowerings_h200", "CPU": "loop_lowerings_host"}
AUTO, BARE = "auto", "bare CUDA C++"
ROWS = "2 tasks, "  # of the table of lowerings

HEAD = """# Performance of graphs

Calls of [graph kernels](guide/graph-kernels.md) and their loops, beside graph kernels of Quadrants, graphs of Warp,
PyTorch and cuda.core, and bare calls of the driver from C. All contestants take turns in one run, each in a process of
its own. Microseconds. A contestant without a column was not installed on that machine or does not run there; the
reasons are in the files. The C++ program recorded medians only.

{legend}

The last column is the bar that cuda_graphs has to reach, in its first column or the one that is named, and whether it
missed that.

A task adds 1 to 1024 floats. A loop (`while cg.graph_do_while(left):`) has two tasks in its body: that one, and one
that counts down. "cuda_graphs" is the default lowering; the columns beside it are lowerings that were requested.
"C, graph" and "C, bare kernels" are a C++ program with the same calls of the driver and its own kernels.
"""

PART = """
## {title}

{machine}.

{table}

![Bars of the time that each contestant takes in each row](figures/{file}.svg)
"""

TAIL = """
Measured and drawn by `python benchmarks/graph_kernels.py`; [what is inside the
clock](../benchmarks/README.md#graph_kernelspy-graph-kernels-beside-graphs-of-others).

## Lowerings of a loop on the CPU

{lowerings}, two cores, without other work, medians of 21 turns. A loop has 1 to 20 tasks, each
of which adds 1 to 2^8 to 2^26 floats. The picture shows the time of each
[lowering](guide/graph-kernels.md#how-control-flow-is-lowered) in parts of the time of `loop="auto"`. The dashed line is
the bar. Where all lines are above it, "auto" takes at most 1.05 times as long as the best lowering.

![Lines of the time of an iteration over the length of the arrays](figures/loop_lowerings_host.svg)

Measured and drawn by `python benchmarks/loop_lowerings.py --rounds 21`.

## Lowerings of a loop on a GPU

{gpu}. The same loops as on the CPU, and the picture as above, with medians. The bare loop is a cooperative kernel in
CUDA C++ with the grid of the resident loop, a barrier after each task, and the counter in a register. Microseconds of
an iteration:

{gpu_table}

![Lines of the time of an iteration over the length of the arrays](figures/loop_lowerings_h200.svg)

Measured and drawn by `python benchmarks/loop_lowerings.py --driver cuda`.

## Reasons for the differences

* C code compares the arguments of a call with the parameters of the nodes. A call with the same arguments is one
  launch. Otherwise the call sets the nodes that use a changed argument, in the executable graph. It does not wait for
  the last launch, and copies nothing.
* The grid is computed from the extents of the call, and a loop reads its bounds itself. No additional task computes
  them.
* The tasks of a loop, and on a GPU light tasks that follow each other, become one launch if possible. Its threads stay,
  and wait for each other between tasks ([how control flow is
  lowered](guide/graph-kernels.md#how-control-flow-is-lowered)).
* The last task of a body sets the condition of its while node, so a body of two tasks has two nodes.
"""


def bar_text(name: str, bar: float, said: str) -> str:
    variant = name.removeprefix("cuda_graphs").replace(", ", " ")
    return f"{bar:g}{variant}" + ("" if said == "met" else f" ({said})")


def table(document: dict[str, Any]) -> str:
    """A line a row; contestants that are absent from all rows are left out."""
    figures = document["figures"]
    columns = [name for name in next(iter(figures.values())) if any(row[name] for row in figures.values())]
    lines = []
    for title, row in figures.items():
        bars = document["bars"].get(title, {}).items()
        wanted = "; ".join(bar_text(name, bar, verdict(values(row[name]), bar)) for name, bar in bars)
        lines.append([title, *(cell(row[name]) for name in columns), wanted or "-"])
    return markdown(["", *columns, "to reach"], lines)


def taken() -> dict[str, str]:
    """Return the parts that have figures: title -> name of the file."""
    return {title: file for title, file in MACHINES.items() if (FIGURES / f"{file}.json").exists()}


def graph_performance_page() -> str:
    parts = []
    for title, file in taken().items():
        document = json.loads((FIGURES / f"{file}.json").read_text())
        parts.append(PART.format(title=title, machine=document["machine"], file=file, table=table(document)))
    gpu, cpu = (json.loads((FIGURES / f"{file}.json").read_text()) for file in LOWERINGS.values())
    tail = TAIL.format(
        lowerings=cpu["machine"], gpu=gpu["machine"], gpu_table=lowerings_table(gpu["figures"])
    )
    return HEAD.format(legend=LEGEND) + "".join(parts) + tail


def lowerings_table(figures: dict[str, Any]) -> str:
    """Return the table of the lowerings of the loop of two tasks, and of `auto` divided by the bare loop."""
    chosen = {title.removeprefix(ROWS): row for title, row in figures.items() if title.startswith(ROWS)}
    columns = list(next(iter(chosen.values())))
    lines = [
        [title, *(cell(row[name]) for name in columns), number(value(row[AUTO]) / value(row[BARE]))]
        for title, row in chosen.items()
    ]
    return markdown(["", *columns, f"{AUTO} / bare"], lines)


def main() -> None:
    (HERE / "graph-performance.md").write_text(graph_performance_page())
    for file in taken().values():
        draw("graph_kernels.py", file)
    draw("loop_lowerings.py", LOWERINGS["CPU"])
    draw("loop_lowerings.py", LOWERINGS["GPU"])


def draw(program: str, file: str, *options: str) -> None:
    """Draw the picture of a file of figures with the program that took them."""
    drawing = ["--from", FIGURES / f"{file}.json", "--draw", FIGURES / f"{file}.svg"]
    subprocess.run([sys.executable, HERE.parent / "benchmarks" / program, *drawing, *options], check=True)


if __name__ == "__main__":
    main()
