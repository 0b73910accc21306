# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Lattice Boltzmann in a periodic box, D2Q9 and D3Q19: streaming and collision (BGK) in one pass over the populations.

lattice_d2q9.py and lattice_d3q19.py have the sizes. Populations are `f[k, i]` of population k and cell i; a lattice of
N x N (x N) cells is one axis. The result is all populations. The flow begins as a shear wave.

Array libraries have one version for both lattices, and compilers of kernels one for each.
"""

from functools import partial

import numpy as np

from .arrays import cupy_run, jax_run, numpy_result, torch_run
from .kits import Kit, Run, Work

TOLERANCE = 1e-5
FLOAT = 4
OMEGA = 1.6  # rate of relaxation
SPEED = 0.05  # of the wave, in cells a step

Lattice = tuple[tuple[int, ...], ...]


def velocities(axes: int) -> Lattice:
    """Return the directions of D2Q9 or D3Q19: those with at most two components that are not 0."""
    every = [tuple(each - 1 for each in at) for at in np.ndindex(*(3,) * axes)]
    return tuple(
        sorted((each for each in every if np.abs(each).sum() <= 2), key=lambda each: np.abs(each).sum())
    )


def weights(axes: int) -> tuple[float, ...]:
    """Return the weight of each direction, by its length."""
    of_length = {2: (4 / 9, 1 / 9, 1 / 36), 3: (1 / 3, 1 / 18, 1 / 36)}[axes]
    return tuple(of_length[int(np.abs(each).sum())] for each in velocities(axes))


def data(axes, n, steps):
    """A wave of speeds along the first axis, which depends on the last one; the density is 1."""
    wave = SPEED * np.sin(2 * np.pi * np.arange(n) / n)
    first = np.broadcast_to(wave, (n,) * axes).ravel()
    f = np.stack([
        w * (1 + 3 * c[0] * first + 4.5 * (c[0] * first) ** 2 - 1.5 * first**2)
        for c, w in zip(velocities(axes), weights(axes))
    ])  # fmt: skip
    return {"f": f.astype("f4"), "n": n, "steps": steps}


def work(axes, n, steps):
    """Each population is read and written once a step."""
    return Work(bytes=2 * FLOAT * len(velocities(axes)) * n**axes * steps)


def step(axes, n, xp, f):
    """Return the populations after a step, in any array library."""
    c, w = velocities(axes), weights(axes)
    box = (n,) * axes
    f = [xp.roll(f[k].reshape(box), c[k], tuple(range(axes))) for k in range(len(c))]
    rho = sum(f[1:], f[0])
    u = [sum(f[k] * c[k][d] for k in range(len(c)) if c[k][d]) / rho for d in range(axes)]
    square = 1.5 * sum(each * each for each in u)
    found = []
    for k in range(len(c)):
        along = 3.0 * sum((c[k][d] * u[d] for d in range(axes) if c[k][d]), 0.0 * rho)
        balance = w[k] * rho * (1.0 + along + 0.5 * along * along - square)
        found.append((f[k] + OMEGA * (balance - f[k])).reshape(-1))
    return (xp.stack(found),)


def truth(axes, f, n, steps):
    return numpy_result(partial(step, axes, n), [f], steps)[0]


def pairs_run(kit: Kit, f, steps, advance) -> Run:
    """Return a run of `advance(source, target)`, which swaps two arrays after each step; steps are even."""
    one, other = kit.put(f), kit.put(f)

    def call():
        for _ in range(steps // 2):
            advance(one, other)
            advance(other, one)

    return Run(lambda: kit.write(one, f), call, lambda: kit.get(one))


# https://github.com/cupy/cupy/tree/main/examples (array operations)
def with_cupy(axes, kit: Kit, f, n, steps) -> Run:
    return cupy_run(kit, partial(step, axes, n), [f], steps)


# https://docs.jax.dev/en/latest/_autosummary/jax.lax.fori_loop.html
def with_jax(axes, kit: Kit, f, n, steps) -> Run:
    return jax_run(kit, partial(step, axes, n), [f], steps)


# https://docs.pytorch.org/tutorials/intermediate/torch_compile_tutorial.html
def with_torch(axes, kit: Kit, f, n, steps) -> Run:
    return torch_run(kit, partial(step, axes, n), [f], steps)
