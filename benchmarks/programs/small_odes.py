# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Many small systems of differential equations: predators and prey (Lotka-Volterra), each with its own parameters.

Each system takes steps of the classical Runge-Kutta method. The result is both populations of each system.
"""

import numpy as np

from .arrays import cupy_run, jax_run, numpy_result, torch_run
from .kits import Kit, Run, Work

SIZES = {
    "small": {"n": 1000, "steps": 100},
    "medium": {"n": 10_000, "steps": 200},
    "large": {"n": 100_000, "steps": 500},
}
TOLERANCE = 1e-4
DT = 0.01
OPERATIONS = 4 * 6 + 3 * 4 + 2 * 7  # of a step: four slopes, three stages, and the sums


def data(n, steps):
    random = np.random.default_rng(6)
    rates = random.uniform(0.5, 1.5, (4, n)).astype("f4")
    return {"state": random.uniform(0.5, 2.0, (2, n)).astype("f4"), "rates": rates, "steps": steps}


def step(xp, state, rates):
    """Return the populations after a step, in any array library."""

    def slope(s):
        prey, predators = s[0], s[1]
        return xp.stack([prey * (rates[0] - rates[1] * predators), predators * (rates[2] * prey - rates[3])])

    one = slope(state)
    two = slope(state + 0.5 * DT * one)
    three = slope(state + 0.5 * DT * two)
    four = slope(state + DT * three)
    return (state + DT / 6 * (one + 2 * two + 2 * three + four),)


def truth(state, rates, steps):
    """Computed in double precision."""
    return numpy_result(step, [state.astype("f8")], steps, [rates.astype("f8")])[0].astype("f4")


def work(done, n, steps):
    return Work(flops=OPERATIONS * n * steps)


def smallest(done, parameters):
    return parameters | {"n": 1, "steps": 1}


def with_cuda_graphs(kit: Kit, state, rates, steps) -> Run:
    import cuda_graphs as cg

    table = cg.types.ndarray(cg.f32, 2)

    @cg.func
    def slope(s: cg.vec2, a: cg.f32, b: cg.f32, c: cg.f32, d: cg.f32) -> cg.vec2:
        return cg.vec2(s.x * (a - b * s.y), s.y * (c * s.x - d))

    @cg.kernel
    def solve(state: table, rates: table, steps: cg.i32):
        for i in range(state.shape[1]):
            a, b, c, d = rates[0, i], rates[1, i], rates[2, i], rates[3, i]
            s = cg.vec2(state[0, i], state[1, i])
            for _ in range(steps):
                one = slope(s, a, b, c, d)
                two = slope(s + 0.5 * DT * one, a, b, c, d)
                three = slope(s + 0.5 * DT * two, a, b, c, d)
                four = slope(s + DT * three, a, b, c, d)
                s += DT / 6 * (one + 2.0 * two + 2.0 * three + four)
            state[0, i] = s.x
            state[1, i] = s.y

    return called(kit, state, rates, steps, solve)


def called(kit: Kit, state, rates, steps, solve) -> Run:
    """Return a run of a function that changes the state."""
    now, fixed = kit.put(state), kit.put(rates)
    return Run(lambda: kit.write(now, state), lambda: solve(now, fixed, steps), lambda: kit.get(now))


def scalar_steps(jit):
    """Return a function for Numba and Numba-CUDA, compiled by `jit`: the populations of one system after its steps."""
    dt, half, sixth, two_ = np.float32(DT), np.float32(0.5 * DT), np.float32(DT / 6), np.float32(2)

    @jit
    def advance(x, y, a, b, c, d, steps):
        for _ in range(steps):
            x1, y1 = x * (a - b * y), y * (c * x - d)
            u, w = x + half * x1, y + half * y1
            x2, y2 = u * (a - b * w), w * (c * u - d)
            u, w = x + half * x2, y + half * y2
            x3, y3 = u * (a - b * w), w * (c * u - d)
            u, w = x + dt * x3, y + dt * y3
            x4, y4 = u * (a - b * w), w * (c * u - d)
            x += sixth * (x1 + two_ * x2 + two_ * x3 + x4)
            y += sixth * (y1 + two_ * y2 + two_ * y3 + y4)
        return x, y

    return advance


# https://numba.readthedocs.io/en/stable/user/parallel.html
def with_numba(kit: Kit, state, rates, steps) -> Run:
    from numba import njit, prange

    advance = scalar_steps(njit)

    @njit(parallel=True)
    def solve(s, r, steps):
        for i in prange(s.shape[1]):
            s[0, i], s[1, i] = advance(s[0, i], s[1, i], r[0, i], r[1, i], r[2, i], r[3, i], steps)

    return called(kit, state, rates, steps, solve)


# https://numba.readthedocs.io/en/stable/cuda/examples.html (the heat equation)
def with_numba_cuda(kit: Kit, state, rates, steps) -> Run:
    from numba import cuda

    advance = scalar_steps(cuda.jit(device=True))

    @cuda.jit
    def solve_at(s, r, steps):
        i = cuda.grid(1)
        if i < s.shape[1]:
            s[0, i], s[1, i] = advance(s[0, i], s[1, i], r[0, i], r[1, i], r[2, i], r[3, i], steps)

    blocks = (state.shape[1] + 127) // 128
    return called(kit, state, rates, steps, solve_at[blocks, 128])


# https://github.com/NVIDIA/warp/blob/main/warp/examples/core/example_nvdb.py has kernels with loops of this sort
def with_warp(kit: Kit, state, rates, steps) -> Run:
    import warp as wp

    table = wp.array2d(dtype=wp.float32)

    @wp.func
    def slope(s: wp.vec2, r: wp.vec4):
        return wp.vec2(s[0] * (r[0] - r[1] * s[1]), s[1] * (r[2] * s[0] - r[3]))

    @wp.kernel
    def solve_at(state: table, rates: table, steps: int):
        i = wp.tid()
        r = wp.vec4(rates[0, i], rates[1, i], rates[2, i], rates[3, i])
        s = wp.vec2(state[0, i], state[1, i])
        for _ in range(steps):
            one = slope(s, r)
            two = slope(s + wp.static(0.5 * DT) * one, r)
            three = slope(s + wp.static(0.5 * DT) * two, r)
            four = slope(s + wp.static(DT) * three, r)
            s = s + wp.static(DT / 6.0) * (one + 2.0 * two + 2.0 * three + four)
        state[0, i] = s[0]
        state[1, i] = s[1]

    def solve(now, fixed, steps):
        wp.launch(solve_at, now.shape[1], inputs=[now, fixed, steps], device=kit.device)

    return called(kit, state, rates, steps, solve)


# https://genesis-embodied-ai.github.io/quadrants/user_guide/getting_started.html
def with_quadrants(kit: Kit, state, rates, steps) -> Run:
    import quadrants as qd

    table = qd.types.ndarray(qd.f32, 2)

    @qd.func
    def slope(s, a, b, c, d):
        return qd.Vector([s[0] * (a - b * s[1]), s[1] * (c * s[0] - d)])

    @qd.kernel
    def solve(state: table, rates: table, steps: qd.i32):
        for i in range(state.shape[1]):
            a, b, c, d = rates[0, i], rates[1, i], rates[2, i], rates[3, i]
            s = qd.Vector([state[0, i], state[1, i]])
            for _ in range(steps):
                one = slope(s, a, b, c, d)
                two = slope(s + 0.5 * DT * one, a, b, c, d)
                three = slope(s + 0.5 * DT * two, a, b, c, d)
                four = slope(s + DT * three, a, b, c, d)
                s += DT / 6 * (one + 2.0 * two + 2.0 * three + four)
            state[0, i] = s[0]
            state[1, i] = s[1]

    return called(kit, state, rates, steps, solve)


# https://github.com/cupy/cupy/tree/main/examples (array operations)
def with_cupy(kit: Kit, state, rates, steps) -> Run:
    return cupy_run(kit, step, [state], steps, [rates])


# https://docs.jax.dev/en/latest/_autosummary/jax.lax.fori_loop.html
def with_jax(kit: Kit, state, rates, steps) -> Run:
    return jax_run(kit, step, [state], steps, [rates])


# https://docs.pytorch.org/tutorials/intermediate/torch_compile_tutorial.html
def with_torch(kit: Kit, state, rates, steps) -> Run:
    return torch_run(kit, step, [state], steps, [rates])
