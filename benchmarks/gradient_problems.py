# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The problems of gradients.py: 32 sine steps of 4096 numbers, and 100 steps of a net of springs.

The expected gradients are formulas and differences in NumPy, in f64."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

NUMBERS, STEPS = 4096, 32
SIDE, TIMES = 32, 100  # side of the net; time steps
STIFFNESS, DAMPING, DT = 40.0, 0.995, 0.01


@dataclass(frozen=True)
class Row:
    """One row of the table.

    what   name of the peer's function that prepares the row
    calls  number of calls in a turn; the benchmark waits for each
    bars   driver -> target of cuda_graphs in microseconds
    ratio  driver -> target of cuda_graphs as a fraction of the time of Quadrants
    """

    what: str
    calls: int = 20
    bars: dict[str, float] = field(default_factory=dict)
    ratio: dict[str, float] = field(default_factory=dict)


HALF = {"host": 0.6}
ROWS = {
    "gradient, 4096 x 32 sine steps, bound known": Row("known", bars={"cuda": 25.0}, ratio=HALF),
    "gradient, 4096 x 32 sine steps, bound from a field": Row("read", ratio=HALF),
    "the kernel itself, bound known": Row("forward"),
    "100 steps of 1024 masses and 1984 springs, with a tape": Row("springs", calls=1),
}


def starts() -> np.ndarray:
    return np.linspace(0, 1, NUMBERS, dtype=np.float32)


def sine_slopes() -> np.ndarray:
    """Return the gradient of the sum of the results."""
    v, slope = starts().astype(np.float64), np.ones(NUMBERS)
    for _ in range(STEPS):
        v, slope = np.sin(v) + 0.1, slope * np.cos(v)
    return slope


@dataclass(frozen=True)
class Net:
    """Return masses in a square, slightly short springs between neighbours, and initial velocities."""

    places: np.ndarray
    velocities: np.ndarray
    left: np.ndarray
    right: np.ndarray
    rest: np.ndarray


def net() -> Net:
    number = np.arange(SIDE * SIDE, dtype=np.int32).reshape(SIDE, SIDE)
    pairs = [(number[:, :-1], number[:, 1:]), (number[:-1], number[1:])]
    left, right = (np.concatenate([pair[side].ravel() for pair in pairs]) for side in (0, 1))
    places = np.stack(np.meshgrid(np.arange(SIDE), np.arange(SIDE), indexing="ij"), -1).reshape(-1, 2)
    places = places.astype(np.float32)
    velocities = 0.5 * np.sin(places[:, ::-1] * 0.7).astype(np.float32)
    lengths = np.linalg.norm(places[right] - places[left], axis=1)
    return Net(places, velocities, left, right, (0.95 * lengths).astype(np.float32))


def loss_of(made: Net, velocities: np.ndarray) -> float:
    """Return half the sum of the squares of the final positions."""
    x, v = made.places.astype(np.float64), velocities
    for _ in range(TIMES):
        d = x[made.right] - x[made.left]
        length = np.linalg.norm(d, axis=1)
        force = d * (STIFFNESS * (length - made.rest) / length)[:, None]
        total = np.zeros_like(x)
        np.add.at(total, made.left, force)
        np.subtract.at(total, made.right, force)
        v = v * DAMPING + total * DT
        x = x + v * DT
    return 0.5 * float(np.sum(x * x))


def slope_along(made: Net, direction: np.ndarray, step: float = 1e-4) -> float:
    """Return the derivative of the loss in a direction of the initial velocities, as a central difference."""
    v = made.velocities.astype(np.float64)
    return (loss_of(made, v + step * direction) - loss_of(made, v - step * direction)) / (2 * step)
