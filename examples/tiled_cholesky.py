# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Cholesky factorisation by tiles: four kernels in program order, and a graph whose edges follow from the data.

The three nested loops of the textbook call a kernel for each tile. A task flow finds which of these calls depend on one
another; the others run side by side. No line of the program says so.

python examples/tiled_cholesky.py [tiles in a row] [rows of a tile]
"""

import sys

import numpy as np

import cuda_graphs as cg

tile_type = cg.Array2[cg.f64]


@cg.kernel
def factor(a: tile_type) -> None:
    """a = L of a = L L^T."""
    for _ in range(1):
        for j in range(a.shape[0]):
            for k in range(j):
                for i in range(j, a.shape[0]):
                    a[i, j] = a[i, j] - a[i, k] * a[j, k]
            pivot = cg.sqrt(a[j, j])
            for i in range(j, a.shape[0]):
                a[i, j] = a[i, j] / pivot


@cg.kernel
def solve(b: tile_type, a: tile_type) -> None:
    """b = b L^-T for the factor L in a."""
    for row in range(b.shape[0]):
        for j in range(a.shape[0]):
            value = b[row, j]
            for k in range(j):
                value = value - b[row, k] * a[j, k]
            b[row, j] = value / a[j, j]


@cg.kernel
def subtract_product(c: tile_type, a: tile_type, b: tile_type) -> None:
    """c -= a b^T"""
    for i, j in cg.ndrange(c.shape[0], c.shape[1]):
        value = c[i, j]
        for k in range(a.shape[1]):
            value = value - a[i, k] * b[j, k]
        c[i, j] = value


@cg.kernel
def subtract_square(c: tile_type, a: tile_type) -> None:
    """c -= a a^T"""
    for i, j in cg.ndrange(c.shape[0], c.shape[1]):
        value = c[i, j]
        for k in range(a.shape[1]):
            value = value - a[i, k] * a[j, k]
        c[i, j] = value


n = int(sys.argv[1]) if len(sys.argv) > 1 else 6
size = int(sys.argv[2]) if len(sys.argv) > 2 else 32

device = cg.Device()  # GPU 0, or the CPU if there is no GPU
device.set_current()
stream = device.create_stream()

rng = np.random.default_rng(1)
given = rng.standard_normal((n * size, n * size))
given = given @ given.T + n * size * np.eye(n * size)


def tile(i: int, j: int) -> cg.NDArray:
    """Return a tile of the matrix as an array of the device."""
    array = cg.ndarray(cg.f64, (size, size))
    array.from_numpy(given[i * size : (i + 1) * size, j * size : (j + 1) * size].copy())
    return array


tiles = {(i, j): tile(i, j) for i in range(n) for j in range(i + 1)}

definition = cg.GraphDef()
calls = []
with definition.task_flow() as tf:
    for k in range(n):
        calls.append(tf.call(factor, tiles[k, k]))
        for i in range(k + 1, n):
            calls.append(tf.call(solve, tiles[i, k], tiles[k, k]))
        for i in range(k + 1, n):
            for j in range(k + 1, i):
                calls.append(tf.call(subtract_product, tiles[i, j], tiles[i, k], tiles[j, k]))
            calls.append(tf.call(subtract_square, tiles[i, i], tiles[i, k]))
assert not definition.check()

definition.instantiate().launch(stream)
stream.sync()

found = np.zeros_like(given)
for (i, j), part in tiles.items():
    found[i * size : (i + 1) * size, j * size : (j + 1) * size] = part.to_numpy()
found = np.tril(found)
assert np.allclose(found, np.linalg.cholesky(given)), abs(found - np.linalg.cholesky(given)).max()

depth: dict[cg.GraphNode, int] = {}
for call in calls:  # in program order: what comes before a call is here already
    depth[call] = 1 + max((depth[before] for before in call.pred), default=0)
steps = max(depth.values())
edges = len(definition.edges())
print(f"{n} x {n} tiles on the {cg.driver_info().kind} driver: {len(calls)} calls, {edges} edges")
print(f"longest chain: {steps} calls, so {len(calls) / steps:.1f} calls side by side; NumPy agrees")
