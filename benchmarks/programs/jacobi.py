# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Jacobi's iteration in two dimensions until no point changes by more than a tolerance.

A plate has the temperature 1 at one side and 0 at the others. The result is the plate. Sweeps go in pairs, from u to v
and back; the change is that of the second sweep. A run repeats at most `pairs` pairs.
"""

from functools import partial

import numpy as np

from .arrays import jax_call
from .kits import Array, Kit, Run, Work

SIZES = {
    "small": {"n": 128, "tolerance": 5e-4, "pairs": 1000},
    "medium": {"n": 1024, "tolerance": 1e-3, "pairs": 1000},
    "large": {"n": 4096, "tolerance": 5e-3, "pairs": 1000},
}
TOLERANCE = 1e-5
FLOAT = 4


def data(n, tolerance, pairs):
    plate = np.zeros((n, n), "f4")
    plate[0] = 1.0
    return {"plate": plate, "tolerance": np.float32(tolerance), "pairs": pairs}


def inner(u):
    """Return the inner points of a plate after a sweep, in any array library."""
    return 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])


def sweep(u: Array) -> Array:
    v = u.copy()
    v[1:-1, 1:-1] = inner(u)
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
                found = 0.25 * (v[i - 1, j] + v[i + 1, j] + v[i, j - 1] + v[i, j + 1])
                cg.atomic_max(change[()], abs(found - v[i, j]))
                u[i, j] = found

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


# https://numba.readthedocs.io/en/stable/cuda/examples.html (the heat equation)
def with_numba_cuda(kit: Kit, plate, tolerance, pairs) -> Run:
    from numba import cuda

    quarter = np.float32(0.25)

    @cuda.jit
    def forth(u, v, change):
        j, i = cuda.grid(2)
        if i == 0 and j == 0:
            change[0] = 0
        if 0 < i < u.shape[0] - 1 and 0 < j < u.shape[1] - 1:
            v[i, j] = quarter * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])

    @cuda.jit
    def back(u, v, change):
        j, i = cuda.grid(2)
        if 0 < i < u.shape[0] - 1 and 0 < j < u.shape[1] - 1:
            found = quarter * (v[i - 1, j] + v[i + 1, j] + v[i, j - 1] + v[i, j + 1])
            cuda.atomic.max(change, 0, abs(found - v[i, j]))
            u[i, j] = found

    u, v, change = kit.put(plate), kit.put(plate), kit.put(np.zeros(1, "f4"))
    n = plate.shape[0]
    grid, block = ((n + 63) // 64, (n + 3) // 4), (64, 4)

    def call():
        for _ in range(pairs):
            forth[grid, block](u, v, change)
            back[grid, block](u, v, change)
            if change.copy_to_host()[0] <= tolerance:
                break

    return Run(lambda: kit.write(u, plate), call, partial(kit.get, u))


# https://github.com/NVIDIA/warp/blob/main/warp/examples/core/example_wave.py, and wp.capture_while of its manual
def with_warp(kit: Kit, plate, tolerance, pairs) -> Run:
    import warp as wp

    grid, vector, flag = wp.array2d(dtype=wp.float32), wp.array(dtype=wp.float32), wp.array(dtype=wp.int32)

    @wp.kernel
    def forth(u: grid, v: grid, change: vector):
        i, j = wp.tid()
        if i == 0 and j == 0:
            change[0] = 0.0
        if i > 0 and j > 0 and i < u.shape[0] - 1 and j < u.shape[1] - 1:
            v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])

    @wp.kernel
    def back(u: grid, v: grid, change: vector):
        i, j = wp.tid()
        if i > 0 and j > 0 and i < u.shape[0] - 1 and j < u.shape[1] - 1:
            found = 0.25 * (v[i - 1, j] + v[i + 1, j] + v[i, j - 1] + v[i, j + 1])
            wp.atomic_max(change, 0, wp.abs(found - v[i, j]))
            u[i, j] = found

    @wp.kernel
    def decide(change: vector, left: flag, go: flag, tolerance: wp.float32):
        left[0] = left[0] - 1
        go[0] = 0
        if change[0] > tolerance and left[0] > 0:
            go[0] = 1

    u, v, change = kit.put(plate), kit.put(plate), kit.put(np.zeros(1, "f4"))
    left, go = kit.put(np.zeros(1, "i4")), kit.put(np.zeros(1, "i4"))

    def pair():
        wp.launch(forth, plate.shape, inputs=[u, v, change], device=kit.device)
        wp.launch(back, plate.shape, inputs=[u, v, change], device=kit.device)
        wp.launch(decide, 1, inputs=[change, left, go, float(tolerance)], device=kit.device)

    wp.load_module(device=kit.device)
    with wp.ScopedCapture(device=kit.device) as capture:
        wp.capture_while(go, pair)

    def reset():
        kit.write(u, plate)
        left.fill_(pairs)
        go.fill_(1)

    return Run(reset, partial(wp.capture_launch, capture.graph), partial(kit.get, u))


# https://genesis-embodied-ai.github.io/quadrants/user_guide/graph.html (graph.do_while)
def with_quadrants(kit: Kit, plate, tolerance, pairs) -> Run:
    import quadrants as qd

    grid, number, count = (
        qd.types.ndarray(qd.f32, 2),
        qd.types.ndarray(qd.f32, 0),
        qd.types.ndarray(qd.i32, 0),
    )

    @qd.kernel(graph=True)
    def solve(u: grid, v: grid, change: number, left: count, go: count, tolerance: qd.f32):
        while qd.graph.do_while(go):
            for i, j in qd.ndrange((1, u.shape[0] - 1), (1, u.shape[1] - 1)):
                v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
            for _ in range(1):
                change[()] = 0.0
                left[()] -= 1
            for i, j in qd.ndrange((1, u.shape[0] - 1), (1, u.shape[1] - 1)):
                found = 0.25 * (v[i - 1, j] + v[i + 1, j] + v[i, j - 1] + v[i, j + 1])
                qd.atomic_max(change[()], abs(found - v[i, j]))
                u[i, j] = found
            for _ in range(1):
                go[()] = 1 if change[()] > tolerance and left[()] > 0 else 0

    u, v = kit.put(plate), kit.put(plate)
    change, left, go = qd.ndarray(qd.f32, ()), qd.ndarray(qd.i32, ()), qd.ndarray(qd.i32, ())

    def reset():
        u.from_numpy(plate)
        left.fill(pairs)
        go.fill(1)

    return Run(reset, lambda: solve(u, v, change, left, go, tolerance), partial(kit.get, u))


# https://github.com/cupy/cupy/blob/main/examples/cg/cg.py (array operations, and a test by the host)
def with_cupy(kit: Kit, plate, tolerance, pairs) -> Run:
    import cupy

    u, v = kit.put(plate), kit.put(plate)

    def call():
        for _ in range(pairs):
            v[1:-1, 1:-1] = inner(u)
            u[1:-1, 1:-1] = inner(v)
            if float(cupy.abs(u - v).max()) <= tolerance:
                break

    return Run(lambda: kit.write(u, plate), call, partial(kit.get, u))


# https://docs.jax.dev/en/latest/_autosummary/jax.lax.while_loop.html
def with_jax(kit: Kit, plate, tolerance, pairs) -> Run:
    import jax
    import jax.numpy as jnp

    def pair(state):
        u, v, _, left = state
        v = v.at[1:-1, 1:-1].set(inner(u))
        found = inner(v)
        change = jnp.abs(found - v[1:-1, 1:-1]).max()
        return u.at[1:-1, 1:-1].set(found), v, change, left - 1

    @jax.jit
    def solve(state, fixed):
        return jax.lax.while_loop(lambda now: (now[2] > tolerance) & (now[3] > 0), pair, state)

    return jax_call(kit, solve, (plate, plate, np.float32(np.inf), np.int32(pairs)), ())


# https://docs.pytorch.org/tutorials/intermediate/torch_compile_tutorial.html
def with_torch(kit: Kit, plate, tolerance, pairs) -> Run:
    import torch

    @torch.compile(dynamic=False)
    def pair(u, v):
        v[1:-1, 1:-1] = inner(u)
        found = inner(v)
        change = (found - v[1:-1, 1:-1]).abs().amax()
        u[1:-1, 1:-1] = found
        return change

    u, v = kit.put(plate), kit.put(plate)

    def call():
        with torch.no_grad():
            for _ in range(pairs):
                if pair(u, v).item() <= tolerance:
                    break

    return Run(lambda: kit.write(u, plate), call, partial(kit.get, u))
