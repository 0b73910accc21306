# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Conjugate gradients on several processes: the Poisson equation on a 3-D grid, in one launch on each rank.

Ranks share the grid by slabs, and no matrix is stored. An iteration exchanges the border layers of the search direction
beside the work on the inner points, and sums two dot products over all ranks. The loop on the device ends on all ranks
when the residual is small. Each rank then solves the whole problem alone, with the same functions, and compares.

    mpiexec -n 4 python examples/distributed_cg.py [--size n] [--tolerance t]
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import cuda_graphs as cg

Grid = cg.Array3[cg.f64]
Number = cg.Array1[cg.f64]


@cg.kernel
def apply(p: Grid, q: Grid, i0: int, i1: int, j0: int, j1: int, k0: int, k1: int) -> None:
    """Set q to the negative Laplacian of p. The values around the grid are 0."""
    for i, j, k in cg.ndrange((i0, i1), (j0, j1), (k0, k1)):
        around = p[i - 1, j, k] + p[i + 1, j, k]
        if j > 0:
            around += p[i, j - 1, k]
        if j + 1 < p.shape[1]:
            around += p[i, j + 1, k]
        if k > 0:
            around += p[i, j, k - 1]
        if k + 1 < p.shape[2]:
            around += p[i, j, k + 1]
        q[i, j, k] = 6.0 * p[i, j, k] - around


@cg.kernel
def multiply(p: Grid, q: Grid, total: Number) -> None:
    for i, j, k in cg.ndrange((1, p.shape[0] - 1), p.shape[1], p.shape[2]):
        cg.atomic_add(total[0], p[i, j, k] * q[i, j, k])


@cg.kernel
def advance(x: Grid, r: Grid, p: Grid, q: Grid, curvature: Number, old: Number, new: Number) -> None:
    for i, j, k in cg.ndrange((1, x.shape[0] - 1), x.shape[1], x.shape[2]):
        step = old[0] / curvature[0]
        x[i, j, k] += step * p[i, j, k]
        r[i, j, k] -= step * q[i, j, k]
        cg.atomic_add(new[0], r[i, j, k] * r[i, j, k])


@cg.kernel
def turn(p: Grid, r: Grid, old: Number, new: Number) -> None:
    for i, j, k in cg.ndrange((1, p.shape[0] - 1), p.shape[1], p.shape[2]):
        p[i, j, k] = r[i, j, k] + new[0] / old[0] * p[i, j, k]


def build(comm: Any, right: Any, tolerance: float) -> tuple[Any, Any]:
    """Build the graph that solves for the layers of this rank.

    Args:
        comm: The communicator of the ranks that share the grid.
        right: The right side on the layers of this rank.
        tolerance: The norm of the residual, relative to that of the whole right side.

    Returns:
        The executable, and the array of the solution with a layer before and behind it.
    """
    slab = np.pad(right, ((1, 1), (0, 0), (0, 0)))  # with the layers of the neighbours
    x, q = (cg.zeros(slab.shape, cg.f64) for _ in range(2))
    r, p = cg.array(slab), cg.array(slab)
    old, new, curvature = (cg.zeros(1, cg.f64) for _ in range(3))
    multiply(r, r, old)
    comm.all_reduce(old)
    limit = tolerance**2 * float(old[0])

    graph = cg.GraphDef()
    loop = graph.while_loop(lambda old, limit: old[0] > limit, args=(old, limit), name="iterations")
    node = loop.body.memset(curvature, 0.0).memset(new, 0.0)
    node = node.call(comm.halo(p).overlap, apply, p, q)
    node = node.call(multiply, p, q, curvature).call(comm.all_reduce, curvature)
    node = node.call(advance, x, r, p, q, curvature, old, new).call(comm.all_reduce, new)
    node.call(turn, p, r, old, new).memcpy(old, new)
    return graph.instantiate(), x


def solve(comm: Any, right: Any, tolerance: float) -> tuple[Any, int]:
    """Return the solution on the layers of this rank, and the number of iterations. Arguments as for `build`."""
    executable, x = build(comm, right, tolerance)
    stream = cg.Device().create_stream()
    executable.launch(stream)
    stream.sync()
    return x.to_numpy()[1:-1], executable.iterations["iterations"].iterations


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--size", type=int, default=16)
    parser.add_argument("--tolerance", type=float, default=1e-9)
    options = parser.parse_args()
    comm = cg.distributed.init()
    right = np.random.default_rng(1).standard_normal([options.size] * 3)
    borders = np.linspace(0, options.size, comm.size + 1).astype(int)
    first, end = borders[comm.rank], borders[comm.rank + 1]  # the layers of this rank
    if end == first:
        raise SystemExit(f"{comm.size} ranks need a grid of at least {comm.size} layers")

    x, iterations = solve(comm, right[first:end], options.tolerance)
    alone, expected = solve(comm.split(comm.rank), right, options.tolerance)
    difference = np.abs(x - alone[first:end]).max() / np.abs(alone).max()
    print(
        f"rank {comm.rank} of {comm.size}: layers {first} to {end - 1}, {iterations} iterations in one launch, "
        f"difference from one rank {difference:.1e}",
        flush=True,
    )
    if difference > 100 * options.tolerance or abs(iterations - expected) > 1:
        raise SystemExit(f"rank {comm.rank} differs from one rank, which took {expected} iterations")
    comm.barrier()
    if comm.rank == 0:
        print("one rank agrees")


if __name__ == "__main__":
    main()
