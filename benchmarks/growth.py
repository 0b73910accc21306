# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The growth of graph costs with size: chains of 10 to 100,000 nodes, cuda_graphs beside cuda.core.

    python benchmarks/growth.py [--driver host|cuda] [--most nodes] [--json out.json] [--draw picture.svg]
    python benchmarks/growth.py --from out.json --draw picture.svg

It prints the exponent p of cost ~ nodes**p for each measurement, fitted from 1000 nodes on: 1 is linear, 0 constant.
"""

import argparse
import json
import math
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from contestants import Ours, Rig, core_or_none, machine
from timing import Figures, measure, per_call, warm_up, write

import cuda_graphs as cg

SIZES = (10, 100, 1000, 10_000, 100_000)
DECADES = 10**6.2  # the same for each panel, so that slopes are comparable


def add(rig: Rig, n: int) -> Callable[[], float]:
    kept: list[object] = []
    return per_call(lambda: kept.append(rig.chain(n)), max(1, 1000 // n), kept.clear)


def instantiate(rig: Rig, n: int) -> Callable[[], float]:
    last = rig.chain(n)
    kept: list[object] = []
    return per_call(lambda: kept.append(rig.instantiate(last)), 1, kept.clear)


def launch(rig: Rig, n: int) -> Callable[[], float]:
    graph = rig.instantiate(rig.chain(n))
    return per_call(partial(graph.launch, rig.stream), max(1, 1000 // n), rig.sync)


def read(rig: Rig, n: int) -> Callable[[], float]:
    def run() -> float:
        graph = rig.chain(n).graph
        start = time.perf_counter_ns()
        found = graph.nodes(), graph.edges()
        elapsed = time.perf_counter_ns() - start
        assert (len(found[0]), len(found[1])) == (n, n - 1)
        return elapsed / 1e3

    return run


def neighbours(rig: Rig, n: int) -> Callable[[], float]:
    last = rig.chain(n)
    return per_call(lambda: (set(last.pred), set(last.succ)), 100)


def update(rig: Rig, n: int) -> Callable[[], float]:
    last = rig.chain(n)
    graph, definition = rig.instantiate(last), last.graph
    return per_call(lambda: graph.update(definition), 1)


def check(rig: Rig, n: int) -> Callable[[], float] | None:
    definition = rig.chain(n).graph
    return per_call(definition.check, 1) if hasattr(definition, "check") else None


def write_dot(rig: Rig, n: int) -> Callable[[], float]:
    definition = rig.chain(n).graph
    path = str(Path(gettempdir(), f"growth_{os.getpid()}.dot"))

    def run() -> float:
        start = time.perf_counter_ns()
        definition.debug_dot_print(path)
        elapsed = time.perf_counter_ns() - start
        os.unlink(path)
        return elapsed / 1e3

    return run


WHAT: dict[str, Callable[[Rig, int], Callable[[], float] | None]] = {
    "build": add,
    "instantiate": instantiate,
    "whole-graph update": update,
    "launch call": launch,
    "nodes() + edges()": read,
    "pred and succ of one node": neighbours,
    "check()": check,
    "debug_dot_print()": write_dot,
}


def take(most: int, rounds: int) -> dict[str, Figures]:
    """Return measurement -> nodes -> contestant -> microseconds."""
    ours, core = Ours(), core_or_none()
    document: dict[str, Figures] = {}
    warm_up()
    for what, make in WHAT.items():
        figures = document[what] = {}
        for n in (size for size in SIZES if size <= most):
            contestants = {"cuda_graphs": make(ours, n), "cuda.core": core and make(core, n)}
            figures[str(n)] = measure(contestants, max(3, min(rounds, 30_000 // n)))
            cells = [
                f"{name}: {'absent' if us is None else f'{us:.2f}'}" for name, us in figures[str(n)].items()
            ]
            print(f"{what}, {n} nodes   {'   '.join(cells)}", flush=True)
    return document


def exponent(figures: Figures, name: str) -> float:
    """Return the slope of a line through the logarithms, by least squares."""
    points = [
        (math.log(int(n)), math.log(value))
        for n, each in figures.items()
        if int(n) >= 1000 and (value := each[name]) is not None
    ]
    if len(points) < 2:
        return math.nan
    x0, y0 = (sum(p[i] for p in points) / len(points) for i in (0, 1))
    return sum((x - x0) * (y - y0) for x, y in points) / sum((x - x0) ** 2 for x, _ in points)


def names_of(growth: dict[str, Figures]) -> list[str]:
    """Return the contestants that were present."""
    first = next(iter(next(iter(growth.values())).values()))
    return [name for name, value in first.items() if value is not None]


def draw(document: dict[str, Any], path: Path) -> None:
    """Draw one panel per measurement, with logarithmic axes. The dotted lines show linear growth."""
    from matplotlib import rcParams
    from matplotlib.figure import Figure

    rcParams.update({"svg.hashsalt": "growth", "svg.fonttype": "none"})  # the same figures give the same file
    growth = document["growth"]
    figure = Figure(figsize=(2.3 * len(growth), 3.4), layout="constrained")
    figure.suptitle(document["machine"], fontsize=8, color="0.4")
    for axes, (what, figures) in zip(figure.subplots(1, len(growth)), growth.items()):
        sizes = [int(n) for n in figures]
        for name, colour in zip(names_of(growth), ("tab:blue", "tab:orange")):
            values = [each[name] for each in figures.values()]
            if None in values:  # the contestant lacks this call
                continue
            label = f"{name}: nodes^{exponent(figures, name):.2f}"
            axes.loglog(sizes, values, "o-", markersize=3, linewidth=1.2, color=colour, label=label)
        low = 10 ** math.floor(math.log10(axes.get_ylim()[0]))
        for power in range(-6, 9):
            axes.loglog(sizes, [10.0**power * n for n in sizes], ":", color="0.8", linewidth=0.8, zorder=0)
        axes.set_ylim(low, low * DECADES)
        axes.minorticks_off()
        axes.set_title(what, fontsize=9)
        axes.set_xlabel("nodes", fontsize=8)
        axes.tick_params(labelsize=7)
        axes.legend(fontsize=6.5, frameon=False, loc="upper left")
    figure.axes[0].set_ylabel("microseconds", fontsize=8)
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--driver", default="auto", choices=("auto", "cuda", "host"))
    parser.add_argument("--most", type=int, default=SIZES[-1], help="the largest number of nodes")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument(
        "--from", dest="taken", type=Path, help="take figures from this file, measure nothing"
    )
    parser.add_argument("--draw", type=Path, help="write a picture here")
    arguments = parser.parse_args()
    if arguments.taken:
        document = json.loads(arguments.taken.read_text())
    else:
        cg.use_driver(arguments.driver)
        growth = take(arguments.most, arguments.rounds)
        document = {"machine": machine(), "growth": growth}
        write(arguments.json, document)
    for what, figures in document["growth"].items():
        fitted = [f"{name} {exponent(figures, name):5.2f}" for name in names_of({what: figures})]
        print(f"{what:26} nodes ** {'   '.join(fitted)}")
    if arguments.draw:
        draw(document, arguments.draw)


if __name__ == "__main__":
    main()
