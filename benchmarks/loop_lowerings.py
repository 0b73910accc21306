# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The lowerings of a loop in a graph kernel over the length of its arrays and the number of its tasks.

    python benchmarks/loop_lowerings.py [--driver host|cuda] [--rounds 5] [--tasks 1,2,20] [--lengths 8,12,26]
                                        [--json FILE] [--draw FILE] [--statistic best]
    python benchmarks/loop_lowerings.py --from FILE --draw FILE

Microseconds of an iteration: a call with many iterations and its synchronisation, divided by their number. Each task
adds 1 to each float of one array. The lowerings take turns. The bar of `auto` is 1.05 times the best of the others,
and on a GPU 1.25 times a bare loop: a cooperative kernel in CUDA C++ with the grid of the resident loop, a barrier
after each task, and the counter in a register.
The picture shows medians, or the best turns with --statistic best, for machines that have other work.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from time import perf_counter_ns
from typing import Any

import numpy as np
from contestants import machine
from statistic import STATISTICS, Record, best_other, ratio_cell, ratios, verdict
from timing import measure, show, warm_up, write

import cuda_graphs as cg

AUTO, BAR = "auto", 1.05
LOWERINGS = (AUTO, "resident", "conditional", "host")
BARE, BARE_BAR = "bare CUDA C++", 1.25
TASKS = (1, 2, 5, 10, 20)
LENGTHS = tuple(range(8, 27, 3))  # exponents of 2
TURN_US, MOST = 3000, 100_000  # of a turn: microseconds, and iterations

BARE_SOURCE = r"""
__device__ void wait_for_all(unsigned* word) {
    __syncthreads();
    if (threadIdx.x == 0 && gridDim.x > 1) {
        unsigned add = blockIdx.x ? 1u : 0x80000000u - (gridDim.x - 1), before, now;
        asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;" : "=r"(before) : "l"(word), "r"(add) : "memory");
        do {
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(word) : "memory");
        } while (!((before ^ now) & 0x80000000u));
    }
    if (gridDim.x > 1) __syncthreads();
}
extern "C" __global__ void __launch_bounds__(1024) bare(float* x, int n, int* left, unsigned* word) {
    int first = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
    int rounds = *left;
    wait_for_all(word);  // all blocks have read it
    for (int round = rounds; round > 0; round--) {
        for (int task = 0; task < TASKS; task++) {
            if (n >= 4 * step) {
                for (int i = first; i < n / 4; i += step) {
                    float4 a = ((float4*)x)[i];
                    ((float4*)x)[i] = make_float4(a.x + 1, a.y + 1, a.z + 1, a.w + 1);
                }
            } else {
                for (int i = first; i < n; i += step) x[i] += 1;
            }
            if (task == TASKS - 1 && first == 0) *left = round - 1;
            wait_for_all(word);
        }
    }
}
"""

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

    return turn(lambda rounds: once(kernel, tasks, x, left, rounds))


def turn(run: Callable[[int], float]) -> Callable[[], float]:
    """Return a turn of about TURN_US: the microseconds of an iteration. `run` returns those of so many iterations."""

    def iterations_of_a_turn(known: int) -> int:
        """Return them from the time of `known` ones: the best of three, as other work may interrupt a call."""
        took = min(run(known) for _ in range(3))
        return max(1, min(MOST, int(known * TURN_US / took)))

    rounds = iterations_of_a_turn(iterations_of_a_turn(1))
    return lambda: run(rounds) / rounds


def bare_contestant(tasks: int, x: Any, left: Any) -> Callable[[], float] | None:
    """Return a turn of the bare loop, or None on the host driver."""
    if cg.driver_info().kind == "host":
        return None
    resident = cg.kernel(count_down, graph=True, loop="resident", fuse=False)
    graph = cg.GraphDef()
    graph.launch(None, resident, tasks, x, left)
    (node,) = graph.nodes()
    options = cg.ProgramOptions(define_macro=("TASKS", str(tasks)))
    kernel = cg.Program(BARE_SOURCE, "c++", options).compile("cubin").get_kernel("bare")
    config = cg.LaunchConfig(grid=node.config.grid, block=1024, is_cooperative=True)
    word, stream = cg.zeros(1, cg.u32), cg.Device().default_stream

    def run(rounds: int) -> float:
        left.fill(rounds)
        cg.Device().sync()
        begin = perf_counter_ns()
        cg.launch(stream, config, kernel, x, np.int32(x.size), left, word)
        cg.Device().sync()
        return (perf_counter_ns() - begin) / 1e3

    return turn(run)


def row(tasks: int, exponent: int, rounds: int) -> dict[str, Record | None]:
    """Return the figures of all lowerings."""
    x, left = cg.zeros(1 << exponent, cg.f32), cg.ndarray(cg.i32, ())
    turns = {name: contestant(name, tasks, x, left) for name in LOWERINGS}
    return measure({**turns, BARE: bare_contestant(tasks, x, left)}, rounds)


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
    """Return lines for each row: `auto` divided by the best of the others and by the bare loop, and the bars."""
    lines = []
    for title, found in figures.items():
        others = [one for name, one in found.items() if name not in (AUTO, BARE)]
        rivals = {"best": (others, BAR), BARE: ([found.get(BARE)], BARE_BAR)}
        for rival, (records, bar) in rivals.items():
            compared = {
                name: None if part is None else 1 / part
                for name, part in best_other(records, found[AUTO]).items()
            }
            if any(part is not None for part in compared.values()):
                lines.append(
                    f"bar: {title}: auto / {rival} {ratio_cell(compared)} <= {bar}: {verdict(compared, bar)}"
                )
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
        for name in (*LOWERINGS, BARE):
            if any(found.get(name) is None for _, found in rows):
                continue
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
        axes.tick_params(axis="x", rotation=60)
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
