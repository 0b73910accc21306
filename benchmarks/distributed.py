# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The cost of an iteration "scale an array, sum it over all ranks, decide", over message size, ranks and method.

    python benchmarks/distributed.py [--ranks 1 2 4] [--sizes 1 1024 65536] [--json out.json] [--draw picture.svg]

It starts itself by mpiexec for each number of ranks. Methods: a call and a wait in each iteration; the same by mpi4py on
the host driver, or by torch.distributed on GPUs; the launch of a graph in each iteration; and one launch of a while
node.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from contestants import machine
from statistic import Figures
from timing import measure, show, write

import cuda_graphs as cg

Floats = cg.Array1[cg.f64]
METHODS = ("library, host loop", "call and wait", "graph and wait", "while node")


@cg.kernel
def scale(x: Floats, left: cg.Array1[cg.i64], factor: float) -> None:
    for i in x:
        x[i] *= factor
    for _ in range(1):
        left[0] -= 1


class Rig:
    """The arrays and graphs of this rank for one size. All ranks call the methods in the same order."""

    def __init__(self, comm: Any, size: int, iterations: int) -> None:
        self.comm, self.iterations = comm, iterations
        self.factor = 1 / comm.size  # keeps the sum as it is
        self.x, self.left = cg.ones(size, cg.f64), cg.array([iterations], cg.i64)
        self.stream = cg.Device().create_stream()
        one = cg.GraphDef()
        one.call(scale, self.x, self.left, self.factor).call(comm.all_reduce, self.x)
        self.step = one.instantiate()
        whole = cg.GraphDef()
        loop = whole.while_loop(lambda x, left: x[0] > 0 and left[0] > 0, args=(self.x, self.left))
        loop.body.call(scale, self.x, self.left, self.factor).call(comm.all_reduce, self.x)
        self.loop = whole.instantiate()

    def timed(self, run: Callable[[], None]) -> Callable[[], float]:
        """Return a contestant: microseconds of an iteration, from a barrier to the end of this rank."""

        def turn() -> float:
            self.left[0] = self.iterations
            cg.Device().sync()
            self.comm.barrier()
            begin = time.perf_counter_ns()
            run()
            return (time.perf_counter_ns() - begin) / self.iterations / 1e3

        return turn

    def call_and_wait(self) -> None:
        for _ in range(self.iterations):
            scale(self.x, self.left, self.factor)
            self.comm.all_reduce(self.x)
            if not self.x[0] > 0:
                break

    def graph_and_wait(self) -> None:
        for _ in range(self.iterations):
            self.step.launch(self.stream)
            self.stream.sync()
            if not self.x[0] > 0:
                break

    def while_node(self) -> None:
        self.loop.launch(self.stream)
        self.stream.sync()

    def library(self) -> Callable[[], None] | None:
        """Return the loop on the host by mpi4py or torch.distributed; None without PyTorch on GPUs."""
        if cg.driver_info().kind == "host":
            return self.by_mpi4py(import_module("mpi4py.MPI"))
        return None if find_spec("torch") is None else self.by_torch(import_module("torch"))

    def by_mpi4py(self, mpi: Any) -> Callable[[], None]:
        x = np.ones(self.x.shape)

        def run() -> None:
            for _ in range(self.iterations):
                np.multiply(x, self.factor, out=x)
                mpi.COMM_WORLD.Allreduce(mpi.IN_PLACE, x)
                if not x[0] > 0:
                    break

        return run

    def by_torch(self, torch: Any) -> Callable[[], None]:
        group = torch.distributed
        if not group.is_initialized():
            os.environ.setdefault("MASTER_ADDR", "localhost")
            os.environ.setdefault("MASTER_PORT", "29511")
            group.init_process_group("nccl", rank=self.comm.rank, world_size=self.comm.size)
        x = torch.ones(self.x.shape, dtype=torch.float64, device=f"cuda:{torch.cuda.current_device()}")

        def run() -> None:
            for _ in range(self.iterations):
                x.mul_(self.factor)
                group.all_reduce(x)
                if not x[0].item() > 0:
                    break

        return run


def figures_of_this_rank(sizes: list[int], iterations: int, turns: int) -> Figures:
    comm, found = cg.distributed.init(), {}
    for size in sizes:
        rig = Rig(comm, size, iterations)
        library = rig.library()
        runs = (library, rig.call_and_wait, rig.graph_and_wait, rig.while_node)
        contestants = {
            name: None if run is None else rig.timed(run) for name, run in zip(METHODS, runs, strict=True)
        }
        found[f"{comm.size} ranks, {size} floats"] = measure(contestants, turns)
    return found


def run_ranks(count: int, options: argparse.Namespace) -> Figures:
    """Return the figures of rank 0 of `count` ranks."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "figures.json")
        words = ["--sizes", *options.sizes, "--iterations", options.iterations, "--turns", options.turns]
        program = [sys.executable, __file__, *words, "--rank-file", path]
        subprocess.run(["mpiexec", "-n", str(count), *map(str, program)], check=True)
        return dict(json.loads(path.read_text()))


def draw(figures: Figures, path: Path) -> None:
    """Write a picture: time of an iteration over message size, a panel for each number of ranks."""
    from matplotlib import pyplot, rcParams

    rcParams.update({"svg.hashsalt": "distributed", "svg.fonttype": "none"})
    rows: dict[int, dict[int, Any]] = {}
    for name, row in figures.items():
        ranks, size = (int(part.split()[0]) for part in name.split(", "))
        rows.setdefault(ranks, {})[8 * size] = row
    figure, axes = pyplot.subplots(1, len(rows), sharey=True, squeeze=False, figsize=(3 * len(rows), 3.2))
    for panel, (ranks, by_size) in zip(axes[0], rows.items(), strict=True):
        for method in METHODS:
            points = [(size, row[method]["median"]) for size, row in by_size.items() if row[method] is not None]
            panel.loglog([size for size, _ in points], [time for _, time in points], "o-", label=method)
        panel.set_title(f"{ranks} ranks")
        panel.set_xlabel("bytes")
    axes[0][0].set_ylabel("microseconds of an iteration")
    axes[0][-1].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1, 1024, 65536], help="numbers of floats of a rank")
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument("--draw", type=Path, help="write the picture here")
    parser.add_argument("--rank-file", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rank_file is not None:
        found = figures_of_this_rank(options.sizes, options.iterations, options.turns)
        if cg.distributed.init().rank == 0:
            options.rank_file.write_text(json.dumps(found))
        return
    figures: Figures = {}
    for count in options.ranks:
        figures |= run_ranks(count, options)
    show("an iteration", figures)
    write(options.json, {"machine": machine(), "figures": figures})
    if options.draw is not None:
        draw(figures, options.draw)


if __name__ == "__main__":
    main()
