# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Strong and weak scaling of examples/distributed_cg.py: conjugate gradients on a 3-D grid that ranks share by slabs.

    python benchmarks/distributed_scaling.py [--ranks 1 2 4] [--size 128] [--tolerance 1e-6] [--json out.json]

It starts itself by mpiexec for each number of ranks. Strong scaling: a cube of `size` points along each edge. Weak
scaling: `size` layers for each rank. Contestants beside the one launch of the example: the same loop on the host in
PyTorch with torch.distributed, and in CuPy (NumPy without GPUs) with mpi4py, whose messages go through the host. Rows
are microseconds of an iteration on rank 0.
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
from distributed import close_torch
from statistic import Figures
from timing import measure, show, write

import cuda_graphs as cg

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))
from distributed_cg import build

METHODS = ("one launch", "torch.distributed, host loop", "MPI and CuPy, host loop")


class Slab:
    """The part of a right side that belongs to this rank, with a layer of zeros before and behind it."""

    def __init__(self, comm: Any, shape: tuple[int, int, int]) -> None:
        borders = np.linspace(0, shape[0], comm.size + 1).astype(int)
        layers = int(borders[comm.rank + 1] - borders[comm.rank])
        rng = np.random.default_rng([1, comm.rank])
        self.right = rng.standard_normal((layers, *shape[1:]))
        self.before = comm.rank - 1 if comm.rank > 0 else None
        self.behind = comm.rank + 1 if comm.rank + 1 < comm.size else None


def negative_laplacian(p: Any, q: Any) -> None:
    """Set q to the negative Laplacian of p, for arrays of any library. The values around the grid are 0."""
    inner = p[1:-1]
    q[:] = 6.0 * inner - p[:-2] - p[2:]
    q[:, 1:] -= inner[:, :-1]
    q[:, :-1] -= inner[:, 1:]
    q[:, :, 1:] -= inner[:, :, :-1]
    q[:, :, :-1] -= inner[:, :, 1:]


def host_loop(
    padded: Any, total: Callable[[Any], float], halo: Callable[[Any], None], iterations: int
) -> None:
    """Run the iterations with operators of an array library, whose sums and layers the functions exchange.

    Args:
        padded: The right side with its two layers.
        total: Returns the sum of an array over all ranks.
        halo: Fills the first and the last layer.
    """
    p, r = padded.copy() if hasattr(padded, "copy") else padded.clone(), padded[1:-1]
    r = r + 0.0
    x, q = r * 0.0, r * 0.0
    old = total(r * r)
    for _ in range(iterations):
        halo(p)
        negative_laplacian(p, q)
        step = old / total(p[1:-1] * q)
        x += step * p[1:-1]
        r -= step * q
        new = total(r * r)
        p[1:-1] *= new / old
        p[1:-1] += r
        old = new


class Rig:
    """The problem of this rank. All ranks call the methods in the same order.

    Args:
        comm: The communicator.
        slab: The part of this rank.
        tolerance: The norm of the residual at the end, relative to that of the right side.
    """

    def __init__(self, comm: Any, slab: Slab, tolerance: float) -> None:
        self.comm, self.slab, self.tolerance = comm, slab, tolerance
        self.iterations = 0  # of the one launch; the loops on the host run as many

    def one_launch(self) -> float:
        executable, _ = build(self.comm, self.slab.right, self.tolerance)
        stream = cg.Device().create_stream()
        executable.upload(stream)
        stream.sync()
        self.comm.barrier()
        begin = time.perf_counter_ns()
        executable.launch(stream)
        stream.sync()
        took = time.perf_counter_ns() - begin
        self.iterations = executable.iterations["iterations"].iterations
        return took / self.iterations / 1e3

    def timed(
        self, padded: Any, total: Callable[[Any], float], halo: Callable[[Any], None]
    ) -> Callable[[], float]:
        """Return a contestant: microseconds of an iteration of `host_loop`."""

        def turn() -> float:
            self.comm.barrier()
            begin = time.perf_counter_ns()
            host_loop(padded, total, halo, self.iterations)
            return (time.perf_counter_ns() - begin) / self.iterations / 1e3

        return turn

    def padded(self) -> Any:
        return np.pad(self.slab.right, ((1, 1), (0, 0), (0, 0)))

    def by_torch(self) -> Callable[[], float] | None:
        if cg.driver_info().kind == "host" or find_spec("torch") is None:
            return None
        torch = import_module("torch")
        group, device = torch.distributed, f"cuda:{cg.Device().device_id}"
        if not group.is_initialized():
            os.environ.setdefault("MASTER_ADDR", "localhost")
            os.environ.setdefault("MASTER_PORT", "29512")
            torch.cuda.set_device(cg.Device().device_id)
            group.init_process_group("nccl", rank=self.comm.rank, world_size=self.comm.size)

        def total(values: Any) -> float:
            found = values.sum()
            group.all_reduce(found)
            return float(found.item())

        def halo(p: Any) -> None:
            messages = []
            for other, sent, received in ((self.slab.before, p[1], p[0]), (self.slab.behind, p[-2], p[-1])):
                if other is not None:
                    messages.append(group.P2POp(group.isend, sent, other))
                    messages.append(group.P2POp(group.irecv, received, other))
            for each in group.batch_isend_irecv(messages) if messages else ():
                each.wait()

        return self.timed(torch.from_numpy(self.padded()).to(device), total, halo)

    def by_mpi(self) -> Callable[[], float] | None:
        library = np if cg.driver_info().kind == "host" else self.cupy()
        if library is None:
            return None
        comm = import_module("mpi4py.MPI").COMM_WORLD

        def on_host(values: Any) -> Any:
            return values if library is np else library.asnumpy(values)

        def total(values: Any) -> float:
            return float(comm.allreduce(float(values.sum())))

        def halo(p: Any) -> None:
            for other, sent, received in ((self.slab.before, 1, 0), (self.slab.behind, -2, -1)):
                if other is not None:
                    found = np.empty(p.shape[1:])
                    comm.Sendrecv(np.ascontiguousarray(on_host(p[sent])), other, 0, found, other, 0)
                    p[received] = library.asarray(found)

        return self.timed(library.asarray(self.padded()), total, halo)

    def cupy(self) -> Any:
        if find_spec("cupy") is None:
            return None
        found = import_module("cupy")
        found.cuda.Device(cg.Device().device_id).use()
        return found


def figures_of_this_rank(size: int, tolerance: float, turns: int) -> Figures:
    comm = cg.distributed.init()
    found: Figures = {}
    for kind, layers in (("strong", size), ("weak", size * comm.size)):
        rig = Rig(comm, Slab(comm, (layers, size, size)), tolerance)
        contestants = dict(zip(METHODS, (rig.one_launch, rig.by_torch(), rig.by_mpi()), strict=True))
        found[f"{kind}, {comm.size} ranks, {layers} x {size} x {size}"] = measure(contestants, turns)
        if comm.rank == 0:
            print(f"{kind}, {comm.size} ranks: {rig.iterations} iterations", flush=True)
    close_torch()
    return found


def run_ranks(count: int, options: argparse.Namespace) -> Figures:
    """Return the figures of rank 0 of `count` ranks."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "figures.json")
        words = ["--size", options.size, "--tolerance", options.tolerance, "--turns", options.turns]
        program = [sys.executable, __file__, *words, "--rank-file", path]
        subprocess.run(["mpiexec", "-n", str(count), *map(str, program)], check=True)
        return dict(json.loads(path.read_text()))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--size", type=int, default=128, help="points along an edge")
    parser.add_argument("--tolerance", type=float, default=1e-6)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument("--rank-file", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rank_file is not None:
        found = figures_of_this_rank(options.size, options.tolerance, options.turns)
        if cg.distributed.init().rank == 0:
            options.rank_file.write_text(json.dumps(found))
        return
    figures: Figures = {}
    for count in options.ranks:
        figures |= run_ranks(count, options)
    show("an iteration", figures)
    write(options.json, {"machine": machine(), "figures": figures})


if __name__ == "__main__":
    main()
