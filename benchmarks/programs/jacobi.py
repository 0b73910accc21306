# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Jacobi's iteration in two dimensions until no point changes by more than a tolerance.

A plate has the temperature 1 at one side and 0 at the others. The result is the plate. Sweeps go in pairs, from u to v and
back; the change is that of the second sweep. A run at most repeats `pairs` pairs.
"""

from functools import partial

import numpy as np

from .kits import Array, Kit, Run, Work

SIZES = {
    "small": {"n": 128, "tolerance": 1e-4, "pairs": 500},
    "medium": {"n": 1024, "tolerance": 5e-4, "pairs": 200},
    "large": {"n": 4096, "tolerance": 2.5e-3, "pairs": 100},
}
TOLERANCE = 1e-5
FLOAT = 4


def data(n, tolerance, pairs):
    plate = np.zeros((n, n), "f4")
    plate[0] = 1.0
    return {"plate": plate, "tolerance": np.float32(tolerance), "pairs": pairs}


def sweep(u: Array) -> Array:
    v = u.copy()
    v[1:-1, 1:-1] = np.float32(0.25) * (((u[:-2, 1:-1] + u[2:, 1:-1]) + u[1:-1, :-2]) + u[1:-1, 2:])
    return v


def truth(plate, tolerance, pairs):
    u = plate
    for _ in range(pairs):
        v = sweep(u)
        u = sweep(v)
        if np.abs(u - v).max() <= tolerance:
            break
    return u


def work(done, n, tolerance, pairs):
    """Each sweep reads one plate and writes the other."""
    return Work(bytes=2 * 2 * FLOAT * n * n * done)


def smallest(done, parameters):
    return parameters | {"n": 4, "tolerance": -1.0, "pairs": done}


def with_cuda_graphs(kit: Kit, plate, tolerance, pairs) -> Run:
    import cuda_graphs as cg

    grid = cg.types.ndarray(cg.f32, 2)
    number, count = cg.types.ndarray(cg.f32, 0), cg.types.ndarray(cg.i32, 0)

    @cg.kernel(graph=True)
    def solve(u: grid, v: grid, change: number, left: count, tolerance: cg.f32):
        while cg.graph_while(change[()] > tolerance and left[()] > 0):
            for i, j in cg.ndrange((1, u.shape[0] - 1), (1, u.shape[1] - 1)):
                v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
            change[()] = 0.0
            left[()] -= 1
            for i, j in cg.ndrange((1, u.shape[0] - 1), (1, u.shape[1] - 1)):
                u[i, j] = 0.25 * (v[i - 1, j] + v[i + 1, j] + v[i, j - 1] + v[i, j + 1])
                cg.atomic_max(change[()], abs(u[i, j] - v[i, j]))

    u, v = kit.put(plate), kit.put(plate)
    change, left = cg.ndarray(cg.f32, ()), cg.ndarray(cg.i32, ())

    def reset():
        u.from_numpy(plate)
        change.fill(np.inf)
        left.fill(pairs)

    return Run(
        reset, lambda: solve(u, v, change, left, tolerance), partial(kit.get, u), lambda: pairs - left[()]
    )


# https://numba.readthedocs.io/en/stable/user/parallel.html (prange and reductions)
def with_numba(kit: Kit, plate, tolerance, pairs) -> Run:
    from numba import njit, prange

    quarter = np.float32(0.25)

    @njit(parallel=True)
    def solve(u, v, tolerance, pairs):
        for _ in range(pairs):
            for i in prange(1, u.shape[0] - 1):
                for j in range(1, u.shape[1] - 1):
                    v[i, j] = quarter * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
            change = np.float32(0)
            for i in prange(1, u.shape[0] - 1):
                most = np.float32(0)
                for j in range(1, u.shape[1] - 1):
                    found = quarter * (v[i - 1, j] + v[i + 1, j] + v[i, j - 1] + v[i, j + 1])
                    most = max(most, abs(found - v[i, j]))
                    u[i, j] = found
                change = max(change, most)
            if change <= tolerance:
                break

    u, v = kit.put(plate), kit.put(plate)
    return Run(lambda: kit.write(u, plate), lambda: solve(u, v, tolerance, pairs), partial(kit.get, u))
