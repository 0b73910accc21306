# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Graphs of light kernels with full edges and with early ones, beside the same graphs of kernels in PTX by hand.

    python benchmarks/early_edges.py [--driver host|cuda] [--sizes n ...] [--rounds turns] [--json out.json]

The sizes are numbers of f32. The chain has 10 kernels, the fork 8 branches. A turn is the mean time of some launches of
one executable, from the first launch to the end of the last one.
"""

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path

SIZES = (1 << 10, 1 << 14, 1 << 18, 1 << 20, 1 << 22)
LENGTHS = {"chain": 10, "fork and join": 8}
BARS = {"chain": 0.8, "fork and join": 1.3}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--driver", choices=["host", "cuda"])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.driver:
        os.environ["CUDA_GRAPHS_DRIVER"] = options.driver
    import early_edges_problem as problem
    from contestants import machine
    from statistic import ratio_cell, ratios
    from timing import measure, show, warm_up, write

    warm_up()
    document = {"machine": machine(), "bars": BARS}
    for shape, length in LENGTHS.items():
        figures = {}
        for n in options.sizes:
            launches = max(1, min(200, (1 << 24) // n))
            stream, runs = problem.contestants(shape, n, length)
            figures[f"n = {n}"] = measure(
                {name: turn(run, stream.sync, launches) for name, run in runs.items()}, options.rounds
            )
        show(f"A {shape} of {length} kernels, a launch", figures)
        for row, each in figures.items():
            early, full, by_hand = (
                each[name] for name in ("ours, early edges", "ours, full edges", "by hand, full edges")
            )
            print(f"{row}: early / full edges {ratio_cell(ratios(early, full))}")
            print(f"{row}: early / by hand {ratio_cell(ratios(early, by_hand))}")
        document[shape] = figures
    print(f"bars: {BARS}")
    write(options.json, document)


def turn(launch: Callable[[], object], wait: Callable[[], object], launches: int) -> Callable[[], float]:
    """Return a contestant: microseconds of a launch, mean of `launches`, with the wait for the last one."""

    def run() -> float:
        start = time.perf_counter_ns()
        for _ in range(launches):
            launch()
        wait()
        return (time.perf_counter_ns() - start) / launches / 1e3

    return run


if __name__ == "__main__":
    main()
