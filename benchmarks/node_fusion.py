# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A chain of 10 light kernels (b = b * 1.01 + c), as nodes, as fused nodes, and as one graph kernel, beside one saxpy.

    python benchmarks/node_fusion.py [--driver host|cuda] [--sizes n ...] [--rounds turns] [--json out.json]

The sizes are numbers of f32. A turn is the mean time of some launches of one executable, from the first launch to the
end of the last one.
"""

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path

SIZES = (1 << 10, 1 << 16, 1 << 20, 1 << 24)
CHAIN = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--driver", choices=["host", "cuda"])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.driver:
        os.environ["CUDA_GRAPHS_DRIVER"] = options.driver
    import node_fusion_problem as problem
    from timing import measure, show, warm_up, write

    warm_up()
    figures = {}
    for n in options.sizes:
        launches = max(1, min(200, (1 << 24) // n))
        stream, runs = problem.contestants(n, CHAIN)
        figures[f"n = {n}"] = measure(
            {name: turn(run, stream.sync, launches) for name, run in runs.items()}, options.rounds
        )
    show(f"A chain of {CHAIN} kernels, a launch", figures)
    write(options.json, json.loads(json.dumps({"figures": figures})))


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
