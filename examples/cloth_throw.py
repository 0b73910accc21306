# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""How must a cloth be thrown so that it lands on a target behind a ball? The gradient of the distance finds the speed.

The cloth is a grid of points with springs between neighbours. It flies, touches the ball and slides over it. All steps
overwrite the same two arrays. The tape keeps a few states, and computes the others again on the way back.

    python examples/cloth_throw.py [--rounds 15] [--states 8]
"""

import argparse
from typing import Any

import numpy as np

import cuda_graphs as cg

N = 12  # points along each side
GAP = 0.05  # metres between neighbours
STEPS, DT = 150, 4e-3
SPRING, DAMPING, GRAVITY = 800.0, 0.4, 9.8  # per unit of mass
BALL, RADIUS, PUSH = (0.5, 0.1, -0.9), 0.35, 4000.0
TARGET = (1.0, 0.15, -0.9)
LONGEST, SHIFT = 0.5, 1e-5  # metres a second: the longest step; that of the central differences
NEIGHBOURS = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]

Point = cg.vec3[cg.f64]
Points = cg.Array2[Point]
One = cg.Array0[Point]


@cg.kernel(default_float=cg.f64)
def throw(x: Points, v: Points, speed: One) -> None:
    for i, j in x:
        x[i, j] = GAP * cg.vector(i, j, 0.0)
        v[i, j] = speed[()]


@cg.kernel(default_float=cg.f64)
def pull(x: Points, v: Points) -> None:
    """Change the speeds by the forces of the springs, of the ball and of gravity."""
    for i, j in x:
        force = -DAMPING * v[i, j] - cg.vector(0.0, 0.0, GRAVITY)
        for di, dj in cg.static(NEIGHBOURS):
            if 0 <= i + di < N and 0 <= j + dj < N:
                way = x[i + di, j + dj] - x[i, j]
                length = way.norm()
                force += SPRING * (1.0 - GAP * cg.sqrt(float(di * di + dj * dj)) / length) * way
        out = x[i, j] - cg.vector(*BALL)
        depth = RADIUS - out.norm()
        if depth > 0:
            force += PUSH * depth * out.normalized()
        v[i, j] += DT * force


@cg.kernel(default_float=cg.f64)
def move(x: Points, v: Points) -> None:
    for i, j in x:
        x[i, j] += DT * v[i, j]


@cg.kernel(default_float=cg.f64)
def miss(x: Points, centre: One, distance: cg.Array0[cg.f64]) -> None:
    """Compute the squared distance of the cloth's centre from the target, in square metres."""
    centre[()] = Point(0.0)
    for i, j in x:
        centre[()] += x[i, j] / (N * N)
    distance[()] = (centre[()] - cg.vector(*TARGET)).norm_sqr()


class Cloth:
    def __init__(self) -> None:
        self.x, self.v = (cg.ndarray(Point, (N, N), needs_grad=True) for _ in range(2))
        self.speed, self.centre = (cg.ndarray(Point, (), needs_grad=True) for _ in range(2))
        self.distance = cg.ndarray(cg.f64, (), needs_grad=True)

    def fly(self, speed: np.ndarray) -> None:
        """Throw the cloth, and compute how far from the target it lands."""
        self.speed.from_numpy(speed)
        throw(self.x, self.v, self.speed)
        for _ in range(STEPS):
            pull(self.x, self.v)
            move(self.x, self.v)
        miss(self.x, self.centre, self.distance)

    def measure(self, speed: np.ndarray) -> float:
        self.fly(speed)
        return float(self.distance[()])

    def learn(self, speed: np.ndarray, states: int) -> tuple[float, np.ndarray, Any]:
        """Return the distance, its gradient, and the counts of the tape."""
        with cg.ad.Tape(loss=self.distance, max_states=states) as tape:
            self.fly(speed)
        return self.distance[()], self.speed.grad.to_numpy(), tape.stats


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--states", type=int, default=8, help="copies of the cloth that the tape may keep")
    options = parser.parse_args()

    cloth, speed = Cloth(), np.array([1.0, 0.0, 1.0])
    _, gradient, stats = cloth.learn(speed, options.states)
    steps = SHIFT * np.eye(3)
    expected = [(cloth.measure(speed + e) - cloth.measure(speed - e)) / (2 * SHIFT) for e in steps]
    error = np.abs(gradient - expected).max()
    print(f"gradient {gradient.round(4)}, central differences differ by {error:.0e}")
    print(f"{stats.steps} calls, {stats.forward_steps} with repeats; {stats.most_bytes} bytes of states")
    assert error < 1e-7

    first = cloth.measure(speed)
    for round_ in range(options.rounds):
        distance, gradient, _ = cloth.learn(speed, options.states)
        step = distance / (gradient @ gradient) * gradient  # of Polyak, for a least distance of 0
        speed -= step * min(1, LONGEST / np.linalg.norm(step))
        print(f"round {round_:2}: {100 * distance**0.5:6.2f} cm from the target")
    last = cloth.measure(speed)
    print(
        f"thrown with {speed.round(2)} m/s it lands {100 * last**0.5:.2f} cm away, {100 * first**0.5:.0f} cm at first"
    )
    assert last < 0.01 * first


main()
