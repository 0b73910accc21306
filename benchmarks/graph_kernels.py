# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Graph kernels beside those of Quadrants, and graphs of Warp, PyTorch, cuda.core and C: calls, chains, and loops.

    python benchmarks/graph_kernels.py [--driver host|cuda] [--rounds 9] [--only loop,call] [--peers Quadrants,Warp]
                                       [--python Quadrants=/venv/bin/python] [--json FILE] [--draw FILE]
    python benchmarks/graph_kernels.py --from FILE --draw FILE

Contestants take turns. Each is a separate process (graph_contestant.py), and has checked its result before the clock
runs. A peer is absent if it is not installed, does not support a row, or computes a wrong result; the reason is
printed. Bars are the targets of cuda_graphs on the reference machine of the project.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from operator import methodcaller
from pathlib import Path
from typing import Any

from contestants import machine
from graph_calls import raw_figures
from graph_contestant import GraphContestant
from graph_problems import CALL, CONDITIONAL, ITERATION, LOOP, OURS, RESIDENT, ROWS, SYNC
from kernels import Reasons, interpreters, take_turns, those_who_come, with_absent
from statistic import Figures, Record, cell, number, values, verdict
from timing import show, warm_up, write

import cuda_graphs as cg

LOOPS = (LOOP, ITERATION)
CHAINS = (CALL, SYNC)

# Column -> (module in peers/, variant, ways of the rows that it has)
CONTESTANTS = {
    OURS: ("graphs_with_cuda_graphs", "", CHAINS + LOOPS),
    CONDITIONAL: ("graphs_with_cuda_graphs", "conditional", LOOPS),
    RESIDENT: ("graphs_with_cuda_graphs", "resident", CHAINS + LOOPS),
    "cuda_graphs, host": ("graphs_with_cuda_graphs", "host", LOOPS),
    "Quadrants": ("graphs_with_quadrants", "", CHAINS + LOOPS),
    "Warp": ("graphs_with_warp", "", CHAINS + LOOPS),
    "PyTorch": ("graphs_with_torch", "", CHAINS),
    "cuda.core": ("graphs_with_cuda_core", "", CHAINS + LOOPS),
}

# Row -> column -> row of the C++ program, on the same driver.
RAW = {
    f"{n} tasks + sync": {
        "C, graph": f"graph + sync, {n} tasks of 1024 floats",
        "C, bare kernels": f"bare kernels + sync, {n} tasks of 1024 floats",
    }
    for n in (10, 100)
} | {"loop of 2 tasks, an iteration": {"C, graph": "while node, one iteration of 2 tasks of 1024 floats"}}

RAW_COLUMNS = ("C, graph", "C, bare kernels")


def runs(rows: list[str], there: dict[str, GraphContestant], rounds: int, reasons: Reasons) -> Figures:
    """Times every contestant in every row that it is able to do."""
    figures: Figures = {}
    for row in rows:
        able = [name for name in there if ROWS[row].way in CONTESTANTS[name][2]]
        figures[row] = take_turns(row, there, able, methodcaller("take", row), rounds, reasons)
    return figures


def add_raw(figures: Figures, raw: dict[str, Record | None]) -> None:
    """Adds the columns of the C++ program."""
    for row, found in figures.items():
        for column in RAW_COLUMNS:
            found[column] = raw.get(RAW.get(row, {}).get(column, ""))


def bars(driver: str, rows: list[str]) -> dict[str, dict[str, float]]:
    """Return row -> contestant -> target in microseconds."""
    return {row: ROWS[row].bars[driver] for row in rows if driver in ROWS[row].bars}


def verdicts(document: dict[str, Any]) -> list[str]:
    """Return a line for each bar."""
    lines = []
    for row, wanted in document["bars"].items():
        for name, bar in wanted.items():
            found = document["figures"][row].get(name)
            lines.append(f"bar: {row}, {name}: <= {bar:g}: {cell(found)}, {verdict(values(found), bar)}")
    return lines


COLOURS = {
    OURS: "tab:blue",
    CONDITIONAL: "tab:cyan",
    RESIDENT: "navy",
    "cuda_graphs, host": "lightsteelblue",
    "Quadrants": "tab:orange",
    "Warp": "tab:green",
    "PyTorch": "tab:red",
    "cuda.core": "tab:olive",
    "C, graph": "0.45",
    "C, bare kernels": "0.7",
}


def draw_row(axes: Any, there: dict[str, Record]) -> None:
    """Bars are medians; a dot is the best turn, a thin line goes from quartile to quartile."""
    names = list(there)[::-1]
    medians = [there[name]["median"] for name in names]
    axes.barh(names, medians, color=[COLOURS[name] for name in names], height=0.7)
    for at, name in enumerate(names):
        best, quartiles = there[name]["best"], there[name]["quartiles"]
        if best is not None:
            axes.plot([best], [at], "o", color="black", markersize=2)
        if quartiles is not None:
            axes.plot(quartiles, [at, at], "-", color="black", linewidth=0.7)
        axes.text(
            max([medians[at], *(quartiles or [])]), at, f"  {number(medians[at])}", va="center", fontsize=6.5
        )
    drawn = [each for name in names for each in values(there[name]).values() if each is not None]
    axes.set_xscale("log")
    axes.set_xlim(min(drawn) / 3, max(drawn) * 6)


def draw(document: dict[str, Any], path: Path) -> None:
    """Draw one panel per row and one bar per contestant; a dashed line is the target of cuda_graphs."""
    from matplotlib import rcParams
    from matplotlib.figure import Figure

    rcParams.update({"svg.hashsalt": "graph_kernels", "svg.fonttype": "none"})
    figures = document["figures"]
    columns = 3
    lines = math.ceil(len(figures) / columns)
    figure = Figure(figsize=(4.6 * columns, 1.75 * lines + 0.4), layout="constrained")
    figure.suptitle(document["machine"], fontsize=8, color="0.4")
    panels = figure.subplots(lines, columns, squeeze=False).flat
    for (row, found), axes in zip(figures.items(), panels):
        draw_row(axes, {name: one for name, one in found.items() if one is not None})
        for name, bar in document["bars"].get(row, {}).items():
            axes.axvline(bar, color=COLOURS[name], linestyle="--", linewidth=0.9)
        axes.minorticks_off()
        axes.tick_params(labelsize=6.5)
        axes.set_title(row, fontsize=8.5)
    for axes in panels:
        axes.set_visible(False)
    figure.supxlabel("microseconds: bars are medians, dots best turns, lines quartiles", fontsize=8)
    figure.savefig(path, metadata={"Date": None})


def take(options: argparse.Namespace) -> dict[str, Any]:
    cg.use_driver(options.driver)
    cg.Device().set_current()
    pythons = interpreters(options.python)
    wanted = options.peers.split(",") if options.peers else list(CONTESTANTS)
    columns = {
        name: GraphContestant(module, options.driver, pythons.get(name, sys.executable), variant)
        for name, (module, variant, _) in CONTESTANTS.items()
        if name.startswith(OURS) or name in wanted
    }
    chosen = [row for row in ROWS if any(part in row for part in options.only.split(","))]
    reasons: Reasons = {}
    there = those_who_come(columns, reasons)
    warm_up()
    figures = with_absent(runs(chosen, there, options.rounds, reasons), columns)
    for contestant in columns.values():
        contestant.end()
    if not options.peers:
        add_raw(figures, raw_figures(cg.driver_info().path))
    for what, reason in reasons.items():
        print(f"absent: {what}: {reason}")
    return {
        "machine": machine(),
        "figures": figures,
        "bars": bars(options.driver, chosen),
        "absent": reasons,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--driver", choices=("host", "cuda"), default="host")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default="", help="rows that contain one of these, separated by commas")
    parser.add_argument(
        "--peers", default="", help="columns beside ours, separated by commas; all and C by default"
    )
    parser.add_argument(
        "--python", default="", help="interpreters of columns: Quadrants=/venv/bin/python,..."
    )
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument(
        "--from", dest="taken", type=Path, help="take figures from this file, measure nothing"
    )
    parser.add_argument("--draw", type=Path, help="write a picture here")
    options = parser.parse_args()
    document = json.loads(options.taken.read_text()) if options.taken else take(options)
    show(document["machine"], document["figures"])
    print("\n".join(verdicts(document)))
    if not options.taken:
        write(options.json, document)
    if options.draw:
        draw(document, options.draw)


if __name__ == "__main__":
    main()
