# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Writes performance.md from figures/graph_calls.json, and figures/growth.svg from figures/growth.json.

The two files are what the benchmarks wrote on the machine that the page names. `.ci/gpu bench growth` takes new ones;
put them into figures/ and run `python docs/performance_page.py`.
"""

import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
FIGURES = HERE / "figures"

HEAD = """# Performance

What the calls of a graph cost on the host, beside cuda.core and beside bare calls of the driver from C, all in one run
and in turns. Microseconds, medians; {machine}.

Bare calls are made twice: by a C++ program of its own, and from C in the process in which the others run, since what a
call of the driver costs depends on the process. They are the limit for everything that is not smarter than the driver.
The last column is cuda_graphs divided by cuda.core. "-" is what was not measured, or is not there.

"""

TAIL = """
Measured by `python benchmarks/graph_calls.py --driver cuda`;
[what is inside the clock](../benchmarks/README.md#graph_callspy-rows-beside-cudacore).

## How cost grows

Chains of 10 to 100,000 nodes on the same machine. Along the dotted lines cost is proportional to the number of nodes.
The exponent is fitted from 1000 nodes on; that it is a little above 1 is the memory of the machine: graphs that large
are not in its caches any more, for anybody.

![Cost of building, instantiating, updating, launching and reading graphs over their size](figures/growth.svg)

Measured and drawn by `python benchmarks/growth.py --driver cuda --draw growth.svg`.

## The host driver

It is made for tests, not for speed, but calls are cheap on it as well: the same benchmark runs with `--driver host`.
"""


def cell(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}" if value < 100 else f"{value:.0f}"


def ratio(ours: float | None, peer: float | None) -> str:
    return "-" if ours is None or peer is None else f"{ours / peer:.2f}"


def performance_page() -> str:
    document = json.loads((FIGURES / "graph_calls.json").read_text())
    lines = [
        "| call | cuda_graphs | cuda.core | C, same process | C++ program | ratio |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for row, values in document["figures"].items():
        cells = [cell(values[name]) for name in ("cuda_graphs", "cuda.core", "C, same process", "raw C")]
        cells.append(ratio(values["cuda_graphs"], values["cuda.core"]))
        lines.append(f"| {row} | {' | '.join(cells)} |")
    return HEAD.format(machine=document["machine"]) + "\n".join(lines) + "\n" + TAIL


def main() -> None:
    (HERE / "performance.md").write_text(performance_page())
    growth = HERE.parent / "benchmarks/growth.py"
    drawing = ["--from", FIGURES / "growth.json", "--draw", FIGURES / "growth.svg"]
    subprocess.run([sys.executable, growth, *drawing], check=True)


if __name__ == "__main__":
    main()
