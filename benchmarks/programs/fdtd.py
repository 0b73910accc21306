# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Maxwell's equations in two dimensions by finite differences in time (FDTD): a pulse in a box with metal walls.

A step has two halves on Yee's grid: the magnetic field (hx, hy) from the electric field e, and back. The result is e.
"""

from functools import partial

import numpy as np

from .arrays import cupy_run, jax_run, numpy_result, torch_run
from .kits import Kit, Run, Work

SIZES = {
    "small": {"n": 128, "steps": 100},
    "medium": {"n": 1024, "steps": 40},
    "large": {"n": 4096, "steps": 10},
}
TOLERANCE = 1e-5
FLOAT = 4
COURANT = 0.5  # time step, in cells of the speed of light


def data(n, steps):
    """A pulse of 10 cells beside the middle."""
    at = np.arange(n, dtype="f4")
    row, column = np.exp(-(((at - n / 2) / 10) ** 2)), np.exp(-(((at - n / 3) / 10) ** 2))
    e = np.outer(row, column).astype("f4")
    e[[0, -1]] = e[:, [0, -1]] = 0
    return {"e": e, "steps": steps}


def state_of(e):
    return [e, np.zeros_like(e), np.zeros_like(e)]


def step(xp, e, hx, hy):
    """Return the fields after a step, in any array library. The last row or column of hx and hy is not used."""
    up, right = e[1:] - e[:-1], e[:, 1:] - e[:, :-1]
    hx = hx - COURANT * xp.concatenate([right, 0 * e[:, :1]], 1)
    hy = hy + COURANT * xp.concatenate([up, 0 * e[:1]], 0)
    turn = (hy[1:-1, 1:-1] - hy[:-2, 1:-1]) - (hx[1:-1, 1:-1] - hx[1:-1, :-2])
    inner = xp.concatenate([e[1:-1, :1], e[1:-1, 1:-1] + COURANT * turn, e[1:-1, -1:]], 1)
    return xp.concatenate([e[:1], inner, e[-1:]], 0), hx, hy


def truth(e, steps):
    return numpy_result(step, state_of(e), steps)[0]


def work(done, n, steps):
    """Half a step reads e, and reads and writes hx and hy; the other half reads hx and hy, and reads and writes e."""
    return Work(bytes=9 * FLOAT * n * n * steps)


def smallest(done, parameters):
    return parameters | {"n": 4}


def with_cuda_graphs(kit: Kit, e, steps) -> Run:
    import cuda_graphs as cg

    grid, count = cg.types.ndarray(cg.f32, 2), cg.types.ndarray(cg.i32, 0)

    @cg.kernel(graph=True)
    def propagate(e: grid, hx: grid, hy: grid, left: count):
        while cg.graph_while(left[()] > 0):
            for i, j in cg.ndrange(e.shape[0] - 1, e.shape[1] - 1):
                own, right, below, x, y = e[i, j], e[i, j + 1], e[i + 1, j], hx[i, j], hy[i, j]
                hx[i, j] = x - COURANT * (right - own)
                hy[i, j] = y + COURANT * (below - own)
            for i, j in cg.ndrange((1, e.shape[0] - 1), (1, e.shape[1] - 1)):
                e[i, j] += COURANT * ((hy[i, j] - hy[i - 1, j]) - (hx[i, j] - hx[i, j - 1]))
            left[()] -= 1

    first, left = state_of(e), cg.ndarray(cg.i32, ())
    fields = [kit.put(each) for each in first]

    def reset():
        for field, values in zip(fields, first):
            field.from_numpy(values)
        left.fill(steps)

    return Run(reset, lambda: propagate(*fields, left), lambda: kit.get(fields[0]))


def repeated(kit: Kit, e, steps, halves) -> Run:
    """Return a run of functions of the three fields, one after the other in each step."""
    first = state_of(e)
    fields = [kit.put(each) for each in first]

    def reset():
        for field, values in zip(fields, first):
            kit.write(field, values)

    def call():
        for _ in range(steps):
            for half in halves:
                half(*fields)

    return Run(reset, call, lambda: kit.get(fields[0]))


# https://numba.readthedocs.io/en/stable/user/parallel.html
def with_numba(kit: Kit, e, steps) -> Run:
    from numba import njit, prange

    half = np.float32(COURANT)

    @njit(parallel=True)
    def advance(e, hx, hy):
        for i in prange(e.shape[0] - 1):
            for j in range(e.shape[1] - 1):
                hx[i, j] -= half * (e[i, j + 1] - e[i, j])
                hy[i, j] += half * (e[i + 1, j] - e[i, j])
        for i in prange(1, e.shape[0] - 1):
            for j in range(1, e.shape[1] - 1):
                e[i, j] += half * ((hy[i, j] - hy[i - 1, j]) - (hx[i, j] - hx[i, j - 1]))

    return repeated(kit, e, steps, [advance])


# https://numba.readthedocs.io/en/stable/cuda/examples.html (the heat equation)
def with_numba_cuda(kit: Kit, e, steps) -> Run:
    from numba import cuda

    half = np.float32(COURANT)

    @cuda.jit
    def magnetic(e, hx, hy):
        j, i = cuda.grid(2)
        if i < e.shape[0] - 1 and j < e.shape[1] - 1:
            hx[i, j] -= half * (e[i, j + 1] - e[i, j])
            hy[i, j] += half * (e[i + 1, j] - e[i, j])

    @cuda.jit
    def electric(e, hx, hy):
        j, i = cuda.grid(2)
        if 0 < i < e.shape[0] - 1 and 0 < j < e.shape[1] - 1:
            e[i, j] += half * ((hy[i, j] - hy[i - 1, j]) - (hx[i, j] - hx[i, j - 1]))

    n = e.shape[0]
    grid, block = ((n + 63) // 64, (n + 3) // 4), (64, 4)
    return repeated(kit, e, steps, [magnetic[grid, block], electric[grid, block]])


# https://github.com/NVIDIA/warp/blob/main/warp/examples/core/example_wave.py
def with_warp(kit: Kit, e, steps) -> Run:
    import warp as wp

    grid = wp.array2d(dtype=wp.float32)

    @wp.kernel
    def magnetic(e: grid, hx: grid, hy: grid):
        i, j = wp.tid()
        hx[i, j] = hx[i, j] - wp.static(COURANT) * (e[i, j + 1] - e[i, j])
        hy[i, j] = hy[i, j] + wp.static(COURANT) * (e[i + 1, j] - e[i, j])

    @wp.kernel
    def electric(e: grid, hx: grid, hy: grid):
        row, column = wp.tid()
        i, j = row + 1, column + 1
        turn = (hy[i, j] - hy[i - 1, j]) - (hx[i, j] - hx[i, j - 1])
        e[i, j] = e[i, j] + wp.static(COURANT) * turn

    first = state_of(e)
    fields = [kit.put(each) for each in first]
    n = e.shape[0]
    wp.load_module(device=kit.device)
    with wp.ScopedCapture(device=kit.device) as capture:
        for _ in range(steps):
            wp.launch(magnetic, (n - 1, n - 1), inputs=fields, device=kit.device)
            wp.launch(electric, (n - 2, n - 2), inputs=fields, device=kit.device)

    def reset():
        for field, values in zip(fields, first):
            kit.write(field, values)

    return Run(reset, partial(wp.capture_launch, capture.graph), lambda: kit.get(fields[0]))


# https://genesis-embodied-ai.github.io/quadrants/user_guide/getting_started.html
def with_quadrants(kit: Kit, e, steps) -> Run:
    import quadrants as qd

    grid = qd.types.ndarray(qd.f32, 2)

    @qd.kernel
    def advance(e: grid, hx: grid, hy: grid):
        for i, j in qd.ndrange(e.shape[0] - 1, e.shape[1] - 1):
            hx[i, j] -= COURANT * (e[i, j + 1] - e[i, j])
            hy[i, j] += COURANT * (e[i + 1, j] - e[i, j])
        for i, j in qd.ndrange((1, e.shape[0] - 1), (1, e.shape[1] - 1)):
            e[i, j] += COURANT * ((hy[i, j] - hy[i - 1, j]) - (hx[i, j] - hx[i, j - 1]))

    return repeated(kit, e, steps, [advance])


# https://github.com/cupy/cupy/tree/main/examples (array operations)
def with_cupy(kit: Kit, e, steps) -> Run:
    return cupy_run(kit, step, state_of(e), steps)


# https://docs.jax.dev/en/latest/_autosummary/jax.lax.fori_loop.html
def with_jax(kit: Kit, e, steps) -> Run:
    return jax_run(kit, step, state_of(e), steps)


# https://docs.pytorch.org/tutorials/intermediate/torch_compile_tutorial.html
def with_torch(kit: Kit, e, steps) -> Run:
    return torch_run(kit, step, state_of(e), steps)
