# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The lowerings of a loop in a graph kernel over the length of its arrays and the number of its tasks.

    python benchmarks/loop_lowerings.py [--driver host|cuda] [--rounds 5] [--tasks 1,2,20] [--lengths 8,12,26]
                                        [--json FILE] [--draw FILE] [--statistic best]
    python benchmarks/loop_lowerings.py --from FILE --draw FILE

Microseconds of an iteration: a call with many iterations and its synchronisation, divided by their number. Each task
adds 1 to each float of one array. The lowerings take turns. The bar of `auto` is 1.05 times the best of the others.
The picture shows medians, or the best turns with --statistic best, for machines that have other work.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from time import perf_counter_ns
from typing import Any

from contestants import machine
from statistic import STATISTICS, Record, best_other, ratio_cell, ratios, verdict
from timing import measure, show, warm_up, write

import cuda_graphs as cg

AUTO, BAR = "auto", 1.05
LOWERINGS = (AUTO, "resident", "conditional", "host")
TASKS = (1, 2, 5, 10, 20)
LENGTHS = tuple(range(8, 27, 3))  # exponents of 2
TURN_US, MOST = 3000, 100_000  # of a turn: microseconds, and iterations

array_type, count_type = cg.types.ndarray(cg.f32, 1), cg.types.ndarray(cg.i32, 0)


def count_down(tasks: cg.template, x: array_type, left: count_type):
    while cg.graph_while(left[()] > 0):
        for _ in cg.static(range(tasks)):
            for i in x:
                x[i] = x[i] + 1.0
        left[()] -= 1


def once(kernel: Any, tasks: int, x: Any, left: Any, rounds: int) -> float:
    """Return microseconds of a call with so many iterations."""
    left.fill(rounds)
    cg.Device().sync()
    begin = perf_counter_ns()
    kernel(tasks, x, left)
    cg.Device().sync()
    return (perf_counter_ns() - begin) / 1e3


def contestant(lowering: str, tasks: int, x: Any, left: Any) -> Callable[[], float] | None:
    """Return a turn of a lowering, or None if the kernel cannot have it."""
    # Fused tasks would be one task.
    kernel = cg.kernel(count_down, graph=True, loop=lowering, fuse=False)
    try:
        once(kernel, tasks, x, left, 2)
    except cg.CompileResidentError as reason:
        print(f"absent: {lowering}, {tasks} tasks: {reason}")
        return None

    def iterations_of_a_turn(known: int) -> int:
        """Return them from the time of `known` ones: the best of three, as other work may interrupt a call."""
        took = min(once(kernel, tasks, x, left, known) for _ in range(3))
        return max(1, min(MOST, int(known * TURN_US / took)))

    rounds = iterations_of_a_turn(iterations_of_a_turn(1))
    return lambda: once(kernel, tasks, x, left, rounds) / rounds


def row(tasks: int, exponent: int, rounds: int) -> dict[str, Record | None]:
    """Return the figures of all lowerings."""
    x, left = cg.zeros(1 << exponent, cg.f32), cg.ndarray(cg.i32, ())
    return measure({name: contestant(name, tasks, x, left) for name in LOWERINGS}, rounds)


def take(options: argparse.Namespace) -> dict[str, Any]:
    cg.use_driver(options.driver)
    cg.Device().set_current()
    warm_up()
    document: dict[str, Any] = {"machine": machine(), "figures": {}}
    for tasks in numbers(options.tasks):
        for exponent in numbers(options.lengths):
            document["figures"][f"{tasks} tasks, 2^{exponent} floats"] = row(tasks, exponent, options.rounds)
            write(options.json, document)
    return document


def numbers(text: str) -> list[int]:
    return [int(each) for each in text.split(",")]


def verdicts(figures: dict[str, dict[str, Record | None]]) -> list[str]:
    """Return a line for each row: `auto` divided by the best of the others, and whether it meets the bar."""
    lines = []
    for title, found in figures.items():
        others = [one for name, one in found.items() if name != AUTO]
        compared = {
            name: None if part is None else 1 / part for name, part in best_other(others, found[AUTO]).items()
        }
        lines.append(f"bar: {title}: auto / best {ratio_cell(compared)} <= {BAR}: {verdict(compared, BAR)}")
    return lines


def draw(document: dict[str, Any], path: Path, statistic: str) -> None:
    """Draw a panel per number of tasks: a line per lowering, in parts of `auto`."""
    from matplotlib import rcParams
    from matplotlib.figure import Figure

    rcParams.update({"svg.hashsalt": "loop_lowerings", "svg.fonttype": "none"})
    panels: dict[str, list[tuple[str, dict[str, Record | None]]]] = {}
    for title, found in document["figures"].items():
        tasks, length = title.split(", ")
        panels.setdefault(tasks, []).append((length.removesuffix(" floats"), found))
    figure = Figure(figsize=(3.0 * len(panels), 2.8), layout="constrained")
    figure.suptitle(document["machine"], fontsize=8, color="0.4")
    for axes, (tasks, rows) in zip(figure.subplots(1, len(panels), squeeze=False).flat, panels.items()):
        for name in LOWERINGS:
            parts = [ratios(found[name], found[AUTO])[statistic] for _, found in rows]
            axes.plot(
                [length for length, _ in rows],
                [part or float("nan") for part in parts],
                "o-",
                markersize=3,
                label=name,
            )
        axes.axhline(1 / BAR, color="black", linestyle="--", linewidth=0.8)
        axes.set_yscale("log")
        axes.tick_params(labelsize=6.5)
        axes.set_title(tasks, fontsize=8.5)
        axes.legend(fontsize=6)
    figure.supylabel(f"time of an iteration ({statistic}), in parts of auto", fontsize=8)
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--driver", choices=("host", "cuda"), default="host")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tasks", default=",".join(map(str, TASKS)), help="numbers of tasks of an iteration")
    parser.add_argument("--lengths", default=",".join(map(str, LENGTHS)), help="exponents of 2")
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument(
        "--from", dest="taken", type=Path, help="take figures from this file, measure nothing"
    )
    parser.add_argument("--draw", type=Path, help="write a picture here")
    parser.add_argument("--statistic", choices=STATISTICS, default=STATISTICS[0], help="of the picture")
    options = parser.parse_args()
    document = json.loads(options.taken.read_text()) if options.taken else take(options)
    show(document["machine"], document["figures"])
    print("\n".join(verdicts(document["figures"])))
    if options.draw:
        draw(document, options.draw, options.statistic)


if __name__ == "__main__":
    main()
