# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Lattice Boltzmann in two dimensions, D2Q9 (lattice.py): our version, and those of compilers of kernels."""

from functools import partial

import numpy as np

from . import lattice
from .kits import Kit, Run
from .lattice import OMEGA, TOLERANCE, pairs_run

__all__ = ["TOLERANCE"]

AXES = 2
SIZES = {
    "small": {"n": 64, "steps": 100},
    "medium": {"n": 512, "steps": 40},
    "large": {"n": 2048, "steps": 20},
}
C, W = lattice.velocities(AXES), lattice.weights(AXES)
Q = len(C)

data, truth = partial(lattice.data, AXES), partial(lattice.truth, AXES)
with_cupy, with_jax, with_torch = (
    partial(each, AXES) for each in (lattice.with_cupy, lattice.with_jax, lattice.with_torch)
)


def work(done, n, steps):
    return lattice.work(AXES, n, steps)


def smallest(done, parameters):
    return parameters | {"n": 4}


def with_cuda_graphs(kit: Kit, f, n, steps) -> Run:
    import cuda_graphs as cg

    populations, count = cg.types.ndarray(cg.f32, 2), cg.types.ndarray(cg.i32, 0)

    @cg.func
    def advance(f, g, n):
        for i, j in cg.ndrange(n, n):
            up, down = cg.select(i > 0, i - 1, n - 1), cg.select(i < n - 1, i + 1, 0)
            left, right = cg.select(j > 0, j - 1, n - 1), cg.select(j < n - 1, j + 1, 0)
            rows, columns = (down, i, up), (right, j, left)
            own = [f[k, rows[C[k][0] + 1] * n + columns[C[k][1] + 1]] for k in cg.static(range(Q))]
            rho = sum(own)
            u = sum(own[k] * C[k][0] for k in cg.static(range(Q)) if C[k][0]) / rho
            v = sum(own[k] * C[k][1] for k in cg.static(range(Q)) if C[k][1]) / rho
            square = 1.5 * (u * u + v * v)
            for k in cg.static(range(Q)):
                along = 3.0 * (C[k][0] * u + C[k][1] * v)
                balance = W[k] * rho * (1.0 + along + 0.5 * along * along - square)
                g[k, i * n + j] = own[k] + OMEGA * (balance - own[k])

    @cg.kernel(graph=True)
    def flow(f: populations, g: populations, n: cg.i32, left: count):
        while cg.graph_while(left[()] > 0):
            advance(f, g, n)
            advance(g, f, n)
            left[()] -= 2

    one, other, left = kit.put(f), kit.put(f), cg.ndarray(cg.i32, ())

    def reset():
        one.from_numpy(f)
        left.fill(steps)

    return Run(reset, lambda: flow(one, other, n, left), lambda: kit.get(one))


# https://numba.readthedocs.io/en/stable/user/parallel.html
def with_numba(kit: Kit, f, n, steps) -> Run:
    from numba import njit, prange

    c, w, omega = np.array(C), np.array(W, "f4"), np.float32(OMEGA)
    one, three, half, more = (np.float32(each) for each in (1, 3, 0.5, 1.5))

    @njit(parallel=True)
    def advance(f, g):
        for i in prange(n):
            for j in range(n):
                own = np.empty(Q, np.float32)
                rho, u, v = np.float32(0), np.float32(0), np.float32(0)
                for k in range(Q):
                    row, column = i - c[k, 0], j - c[k, 1]
                    row = row + n if row < 0 else (row - n if row >= n else row)
                    column = column + n if column < 0 else (column - n if column >= n else column)
                    own[k] = f[k, row * n + column]
                    rho += own[k]
                    u += own[k] * np.float32(c[k, 0])
                    v += own[k] * np.float32(c[k, 1])
                u /= rho
                v /= rho
                square = more * (u * u + v * v)
                for k in range(Q):
                    along = three * (np.float32(c[k, 0]) * u + np.float32(c[k, 1]) * v)
                    balance = w[k] * rho * (one + along + half * along * along - square)
                    g[k, i * n + j] = own[k] + omega * (balance - own[k])

    return pairs_run(kit, f, steps, advance)


# https://numba.readthedocs.io/en/stable/cuda/examples.html (the heat equation)
def with_numba_cuda(kit: Kit, f, n, steps) -> Run:
    from numba import cuda, float32

    c, w, omega = np.array(C, "i4"), np.array(W, "f4"), np.float32(OMEGA)
    one, three, half, more = (np.float32(each) for each in (1, 3, 0.5, 1.5))

    @cuda.jit
    def advance_at(f, g, n):
        j, i = cuda.grid(2)
        if i < n and j < n:
            own = cuda.local.array(Q, float32)
            rho, u, v = np.float32(0), np.float32(0), np.float32(0)
            for k in range(Q):
                own[k] = f[k, (i - c[k, 0] + n) % n * n + (j - c[k, 1] + n) % n]
                rho += own[k]
                u += own[k] * np.float32(c[k, 0])
                v += own[k] * np.float32(c[k, 1])
            u /= rho
            v /= rho
            square = more * (u * u + v * v)
            for k in range(Q):
                along = three * (np.float32(c[k, 0]) * u + np.float32(c[k, 1]) * v)
                balance = w[k] * rho * (one + along + half * along * along - square)
                g[k, i * n + j] = own[k] + omega * (balance - own[k])

    grid, block = ((n + 63) // 64, (n + 3) // 4), (64, 4)
    return pairs_run(
        kit, f, steps, lambda source, target: advance_at[grid, block](source, target, np.int32(n))
    )


# https://github.com/NVIDIA/warp/blob/main/warp/examples/core/example_wave.py
def with_warp(kit: Kit, f, n, steps) -> Run:
    import warp as wp

    populations = wp.array2d(dtype=wp.float32)
    cells = wp.types.vector(length=Q, dtype=wp.float32)
    rows, columns = (wp.types.vector(length=Q, dtype=wp.int32)(*(each[d] for each in C)) for d in range(2))
    w = cells(*W)
    omega = wp.constant(wp.float32(OMEGA))

    @wp.kernel
    def advance_at(f: populations, g: populations, n: wp.int32):
        i, j = wp.tid()
        own = cells()
        rho = wp.float32(0.0)
        u = wp.float32(0.0)
        v = wp.float32(0.0)
        for k in range(wp.static(Q)):
            row = i - rows[k]
            column = j - columns[k]
            if row < 0:
                row += n
            if row >= n:
                row -= n
            if column < 0:
                column += n
            if column >= n:
                column -= n
            own[k] = f[k, row * n + column]
            rho += own[k]
            u += own[k] * float(rows[k])
            v += own[k] * float(columns[k])
        u = u / rho
        v = v / rho
        square = 1.5 * (u * u + v * v)
        for k in range(wp.static(Q)):
            along = 3.0 * (float(rows[k]) * u + float(columns[k]) * v)
            balance = w[k] * rho * (1.0 + along + 0.5 * along * along - square)
            g[k, i * n + j] = own[k] + omega * (balance - own[k])

    one, other = kit.put(f), kit.put(f)
    wp.load_module(device=kit.device)
    with wp.ScopedCapture(device=kit.device) as capture:
        for source, target in ((one, other), (other, one)) * (steps // 2):
            wp.launch(advance_at, (n, n), inputs=[source, target, n], device=kit.device)
    return Run(lambda: kit.write(one, f), partial(wp.capture_launch, capture.graph), lambda: kit.get(one))


# https://genesis-embodied-ai.github.io/quadrants/user_guide/getting_started.html
def with_quadrants(kit: Kit, f, n, steps) -> Run:
    import quadrants as qd

    populations = qd.types.ndarray(qd.f32, 2)

    @qd.kernel
    def advance(f: populations, g: populations, n: qd.i32):
        for i, j in qd.ndrange(n, n):
            own = qd.Vector([0.0] * Q)
            rho, u, v = 0.0, 0.0, 0.0
            for k in qd.static(range(Q)):
                row, column = (i - C[k][0] + n) % n, (j - C[k][1] + n) % n
                own[k] = f[k, row * n + column]
                rho += own[k]
                u += own[k] * C[k][0]
                v += own[k] * C[k][1]
            u /= rho
            v /= rho
            square = 1.5 * (u * u + v * v)
            for k in qd.static(range(Q)):
                along = 3.0 * (C[k][0] * u + C[k][1] * v)
                balance = W[k] * rho * (1.0 + along + 0.5 * along * along - square)
                g[k, i * n + j] = own[k] + OMEGA * (balance - own[k])

    return pairs_run(kit, f, steps, lambda source, target: advance(source, target, n))
