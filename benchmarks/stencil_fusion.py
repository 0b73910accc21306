# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Loops and stencils of their results, as two tasks and as one in which iterations compute elements again.

    python benchmarks/stencil_fusion.py [--driver host|cuda] [--sizes n ...] [--programs name ...] [--most-again n]
                                        [--rounds turns] [--json out.json]

The sizes are numbers of f32. A turn is the mean time of some launches of ten pairs of loops, from the first launch to
the end of the last one, divided by ten. `--most-again` sets the limit of the work that an iteration does again
(cuda_graphs/compiler/passes/fuse_stencils.py), for programs on its other side. Then no code comes from disk.
"""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

SIZES = (1 << 10, 1 << 14, 1 << 18, 1 << 20, 1 << 22, 1 << 24)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--driver", choices=["host", "cuda"])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--programs", nargs="+")
    parser.add_argument("--most-again", type=int)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.driver:
        os.environ["CUDA_GRAPHS_DRIVER"] = options.driver
    if options.most_again is not None:
        os.environ["CUDA_GRAPHS_CACHE_DIR"] = tempfile.mkdtemp()
        set_limit(options.most_again)
    import stencil_fusion_problem as problem
    from timing import measure, show, warm_up, write

    warm_up()
    figures = {}
    for name in options.programs or problem.PAIR:
        for n in options.sizes:
            stream, runs, tasks = problem.contestants(name, n)
            launches = max(1, min(50, (1 << 22) // n))
            row = f"{name}, n = {n}, {tasks // problem.PAIRS} a pair"
            figures[row] = measure(
                {label: turn(run, stream.sync, launches, problem.PAIRS) for label, run in runs.items()},
                options.rounds,
            )
    show("A loop and a stencil of its results", figures)
    write(options.json, json.loads(json.dumps({"figures": figures})))


def set_limit(most: int) -> None:
    """Set the limits of what iterations compute again, and of their lengths."""
    from cuda_graphs.compiler.codegen.ptx.ptx_target import Ptx
    from cuda_graphs.compiler.codegen.x86.x86_target import X86
    from cuda_graphs.compiler.language.lowerings import FUSIONS
    from cuda_graphs.compiler.passes import fuse_tasks

    Ptx.most_again = X86.most_again = dict.fromkeys(FUSIONS, most)
    fuse_tasks.MOST_LIGHT = 10 * most + fuse_tasks.MOST_LIGHT


def turn(
    launch: Callable[[], object], wait: Callable[[], object], launches: int, pairs: int
) -> Callable[[], float]:
    """Return a contestant: microseconds of a pair, mean of `launches`, with the wait for the last one."""

    def run() -> float:
        start = time.perf_counter_ns()
        for _ in range(launches):
            launch()
        wait()
        return (time.perf_counter_ns() - start) / launches / pairs / 1e3

    return run


if __name__ == "__main__":
    main()
