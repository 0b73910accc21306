# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Heat in a plate that several processes share: each has some rows, and one launch runs until the plate is at rest.

The body of a while node exchanges the rows at the borders, averages the four neighbours of each cell, and reduces the
largest change over all ranks. All ranks have the same reduced value, so all loops end after the same iteration. Each
rank compares its rows with NumPy. The data goes through NCCL on GPUs, one GPU a process, and through MPI without GPUs.

    mpiexec -n 4 python examples/distributed_jacobi.py [--size n] [--tolerance t]
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import cuda_graphs as cg

Grid = cg.Array2[cg.f64]
Number = cg.Array1[cg.f64]


@cg.kernel
def sweep(u: Grid, new: Grid) -> None:
    for i, j in cg.ndrange((1, u.shape[0] - 1), (1, u.shape[1] - 1)):
        new[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])


@cg.kernel
def accept(u: Grid, new: Grid, change: Number) -> None:
    for i, j in cg.ndrange((1, u.shape[0] - 1), (1, u.shape[1] - 1)):
        cg.atomic_max(change[0], abs(new[i, j] - u[i, j]))
        u[i, j] = new[i, j]


def plate(size: int) -> Any:
    """Return the plate at the beginning: its first row is hot."""
    u = np.zeros((size, size))
    u[0] = 1
    return u


def relax(u: Any, tolerance: float) -> tuple[Any, int]:
    """Return the plate at rest and the number of sweeps, by NumPy."""
    sweeps, change = 0, np.inf
    while change > tolerance:
        new = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        change, sweeps = np.abs(new - u[1:-1, 1:-1]).max(), sweeps + 1
        u[1:-1, 1:-1] = new
    return u, sweeps


def exchange(comm: Any, u: cg.NDArray) -> list[tuple[Any, ...]]:
    """Return the calls that give the border rows of this rank to its neighbours, and take theirs."""
    calls: list[tuple[Any, ...]] = []
    if comm.rank > 0:
        calls += [(comm.send, u[1:2], comm.rank - 1), (comm.recv, u[0:1], comm.rank - 1)]
    if comm.rank < comm.size - 1:
        rows = u.shape[0]
        calls += [
            (comm.send, u[rows - 2 : rows - 1], comm.rank + 1),
            (comm.recv, u[rows - 1 : rows], comm.rank + 1),
        ]
    return calls


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--size", type=int, default=34)
    parser.add_argument("--tolerance", type=float, default=1e-4)
    options = parser.parse_args()
    comm = cg.distributed.init()
    borders = np.linspace(1, options.size - 1, comm.size + 1).astype(int)
    first, end = borders[comm.rank], borders[comm.rank + 1]  # the inner rows of this rank
    if end == first:
        raise SystemExit(f"{comm.size} ranks need a plate of at least {comm.size + 2} rows")

    u = cg.array(plate(options.size)[first - 1 : end + 1])
    new, change = cg.zeros(u.shape, cg.f64), cg.array([np.inf], cg.f64)
    graph = cg.GraphDef()
    limit = options.tolerance
    loop = graph.while_loop(lambda change: change[0] > limit, args=(change,), name="sweeps")
    node = loop.body.memset(change, 0.0)
    if comm.size > 1:
        node = node.call(comm.group, *exchange(comm, u))
    node.call(sweep, u, new).call(accept, u, new, change).call(comm.all_reduce, change, None, "max")

    stream = cg.Device().create_stream()
    executable = graph.instantiate()
    executable.launch(stream)
    stream.sync()

    expected, sweeps = relax(plate(options.size), options.tolerance)
    difference = np.abs(u.to_numpy() - expected[first - 1 : end + 1])[1:-1].max()
    done = executable.iterations["sweeps"].iterations
    print(
        f"rank {comm.rank} of {comm.size}: rows {first} to {end - 1}, {done} sweeps in one launch", flush=True
    )
    if difference > 1e-12 or done != sweeps:
        raise SystemExit(f"rank {comm.rank} differs from NumPy by {difference} after {sweeps} sweeps")
    comm.barrier()
    if comm.rank == 0:
        print("NumPy agrees")


if __name__ == "__main__":
    main()
