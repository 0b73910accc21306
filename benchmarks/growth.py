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
from statistic import STATISTICS, Figures, cell, value
from timing import measure, per_call, warm_up, write

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
    """what -> nodes -> contestant -> Record of microseconds"""
    ours, core = Ours(), core_or_none()
    document: dict[str, Figures] = {}
    warm_up()
    for what, make in WHAT.items():
        figures = document[what] = {}
        for n in (size for size in SIZES if size <= most):
            contestants = {"cuda_graphs": make(ours, n), "cuda.core": core and make(core, n)}
            figures[str(n)] = measure(contestants, max(3, min(rounds, 30_000 // n)))
            cells = [
                f"{name}: {'absent' if one is None else cell(one)}" for name, one in figures[str(n)].items()
            ]
            print(f"{what}, {n} nodes   {'   '.join(cells)}", flush=True)
    return document


def exponent(figures: Figures, name: str) -> float:
    """The slope of a line through the logarithms of the medians, by least squares."""
    points = [
        (math.log(int(n)), math.log(median))
        for n, each in figures.items()
        if int(n) >= 1000 and (median := value(each[name])) is not None
    ]
    if len(points) < 2:
        return math.nan
    x0, y0 = (sum(p[i] for p in points) / len(points) for i in (0, 1))
    return sum((x - x0) * (y - y0) for x, y in points) / sum((x - x0) ** 2 for x, _ in points)


def names_of(growth: dict[str, Figures]) -> list[str]:
    """Return the contestants that were present."""
    first = next(iter(next(iter(growth.values())).values()))
    return [name for name, one in first.items() if one is not None]


def draw(document: dict[str, Any], path: Path) -> None:
    """A panel for each thing measured, both axes logarithmic; what is linear in the number of nodes runs along the
    dotted lines. Lines are medians; crosses are best turns, and bands go from quartile to quartile, where recorded."""
    from matplotlib import rcParams
    from matplotlib.figure import Figure

    rcParams.update({"svg.hashsalt": "growth", "svg.fonttype": "none"})  # the same figures give the same file
    growth = document["growth"]
    figure = Figure(figsize=(2.3 * len(growth), 3.4), layout="constrained")
    figure.suptitle(document["machine"], fontsize=8, color="0.4")
    for axes, (what, figures) in zip(figure.subplots(1, len(growth)), growth.items()):
        sizes = [int(n) for n in figures]
        for name, colour in zip(names_of(growth), ("tab:blue", "tab:orange")):
            records = [each[name] for each in figures.values()]
            if None in records:  # the contestant has no such operation
                continue
            label = f"{name}: nodes^{exponent(figures, name):.2f}"
            medians, best = ([value(one, statistic) for one in records] for statistic in STATISTICS)
            axes.loglog(sizes, medians, "o-", markersize=3, linewidth=1.2, color=colour, label=label)
            if None not in best:
                axes.loglog(sizes, best, "x", markersize=3, color=colour)
            if all(one["quartiles"] for one in records):
                axes.fill_between(
                    sizes, *zip(*(one["quartiles"] for one in records)), color=colour, alpha=0.25
                )
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
