# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A block of water falls: the moving least squares material point method in one graph kernel, beside NumPy.

Particles carry mass, speed, an affine field of speeds and a volume ratio. Each step moves mass and momentum to a grid,
changes the speeds there, and moves them back (Hu et al., "A Moving Least Squares Material Point Method", 2018). The
four tasks of a step and the loop over the steps are one graph: a call is one launch.

    python examples/fluid_mpm.py [particles] [steps]
"""

import dataclasses
import sys
import time

import numpy as np

import cuda_graphs as cg

GRID = 64
DX = 1 / GRID
DT = 2e-4
VOLUME = (0.5 * DX) ** 2  # of a particle
MASS = 1.0 * VOLUME
STIFFNESS = 400.0
GRAVITY = 9.8
WALL = 3  # cells at each side that hold no water
COMPARED = 50  # steps that NumPy repeats


@dataclasses.dataclass
class Particle:
    place: cg.vec2
    speed: cg.vec2
    affine: cg.mat2
    ratio: cg.f32  # volume over the volume at rest


Particles = cg.Array1[Particle]
Speeds = cg.Array2[cg.vec2]
Masses = cg.Array2[cg.f32]
Count = cg.Array0[cg.i32]


@cg.func
def weights(offset: cg.vec2) -> tuple[cg.vec2, cg.vec2, cg.vec2]:
    """Return the quadratic B-spline at the three nodes around a particle, in each direction."""
    return 0.5 * (1.5 - offset) ** 2, 0.75 - (offset - 1.0) ** 2, 0.5 * (offset - 0.5) ** 2


@cg.kernel(graph=True)
def flow(particles: Particles, speeds: Speeds, masses: Masses, left: Count) -> None:
    while cg.graph_while(left[()] > 0):
        for i, j in masses:
            speeds[i, j] = cg.vec2(0)
            masses[i, j] = 0.0
        for p in particles:
            one = particles[p]
            base = (one.place / DX - 0.5).cast(cg.i32)
            offset = one.place / DX - base.cast(cg.f32)
            w = weights(offset)
            pressure = -DT * 4.0 * STIFFNESS * VOLUME * (one.ratio - 1.0) / (DX * DX)
            push = cg.mat2(pressure, 0.0, 0.0, pressure) + MASS * one.affine
            for i, j in cg.static(cg.ndrange(3, 3)):
                way = (cg.vec2(i, j) - offset) * DX
                weight = w[i].x * w[j].y
                speeds[base.x + i, base.y + j] += weight * (MASS * one.speed + push @ way)
                masses[base.x + i, base.y + j] += weight * MASS
        for i, j in masses:
            if masses[i, j] > 0:
                v = speeds[i, j] / masses[i, j] - cg.vec2(0.0, DT * GRAVITY)
                if (i < WALL and v.x < 0) or (i > GRID - WALL and v.x > 0):
                    v.x = 0.0
                if (j < WALL and v.y < 0) or (j > GRID - WALL and v.y > 0):
                    v.y = 0.0
                speeds[i, j] = v
        for p in particles:
            one = particles[p]
            base = (one.place / DX - 0.5).cast(cg.i32)
            offset = one.place / DX - base.cast(cg.f32)
            w = weights(offset)
            speed, affine = cg.vec2(0.0), cg.mat2(0.0)
            for i, j in cg.static(cg.ndrange(3, 3)):
                v = w[i].x * w[j].y * speeds[base.x + i, base.y + j]
                speed += v
                affine += cg.outer(v, cg.vec2(i, j) - offset) * (4.0 / DX)
            particles[p] = Particle(
                one.place + DT * speed, speed, affine, one.ratio * (1.0 + DT * affine.trace())
            )
        left[()] -= 1


def flow_in_numpy(places: np.ndarray, steps: int) -> np.ndarray:
    """Run the same steps in double precision. Returns the places."""
    x, v = places.astype(float), np.zeros(places.shape)
    c, ratio = np.zeros((len(x), 2, 2)), np.ones(len(x))
    nodes = np.arange(GRID)
    outside = (nodes < WALL, nodes > GRID - WALL)
    for _ in range(steps):
        base = (x / DX - 0.5).astype(int)
        offset = x / DX - base
        w = (0.5 * (1.5 - offset) ** 2, 0.75 - (offset - 1) ** 2, 0.5 * (offset - 0.5) ** 2)
        pressure = -DT * 4 * STIFFNESS * VOLUME * (ratio - 1) / DX**2
        push = pressure[:, None, None] * np.eye(2) + MASS * c
        speeds, masses = np.zeros((GRID, GRID, 2)), np.zeros((GRID, GRID))
        cells = [(i, j, w[i][:, 0] * w[j][:, 1], (*(base + (i, j)).T,)) for i in range(3) for j in range(3)]
        for i, j, weight, at in cells:
            way = ((i, j) - offset) * DX
            np.add.at(speeds, at, weight[:, None] * (MASS * v + np.einsum("pij,pj->pi", push, way)))
            np.add.at(masses, at, weight * MASS)
        filled = masses > 0
        speeds[filled] = speeds[filled] / masses[filled][:, None] - (0, DT * GRAVITY)
        for axis in range(2):
            along = np.moveaxis(speeds[..., axis], axis, 0)
            along[outside[0]] = np.maximum(along[outside[0]], 0)
            along[outside[1]] = np.minimum(along[outside[1]], 0)
        v, c = np.zeros_like(x), np.zeros((len(x), 2, 2))
        for i, j, weight, at in cells:
            part = weight[:, None] * speeds[at]
            v += part
            c += np.einsum("pi,pj->pij", part, (i, j) - offset) * 4 / DX
        x += DT * v
        ratio *= 1 + DT * np.trace(c, axis1=1, axis2=2)
    return x


def main() -> None:
    count, steps = (int(given) for given in [*sys.argv[1:], "3000", "2000"][:2])
    random = np.random.default_rng(7)
    places = random.uniform((0.2, 0.2), (0.6, 0.6), (count, 2)).astype(np.float32)

    particles = cg.ndarray(Particle, count)
    particles.fill(0)
    particles.place.from_numpy(places)
    particles.ratio.fill(1.0)
    speeds, masses = cg.ndarray(cg.vec2, (GRID, GRID)), cg.ndarray(cg.f32, (GRID, GRID))
    left = cg.full((), COMPARED, cg.i32)
    flow(particles, speeds, masses, left)
    error = np.abs(particles.place.to_numpy() - flow_in_numpy(places, COMPARED)).max()
    print(f"{count} particles, after {COMPARED} steps: largest difference to NumPy {error / DX:.1e} cells")

    left[()] = steps
    start = time.perf_counter()
    flow(particles, speeds, masses, left)
    found = particles.to_numpy()["place"]
    seconds = time.perf_counter() - start
    lost = abs(masses.to_numpy().sum() / (count * MASS) - 1)
    print(f"{steps} more steps: {seconds / steps * 1e6:.1f} us each; mass lost {lost:.1e}")
    print(f"mean height {places[:, 1].mean():.3f} before, {found[:, 1].mean():.3f} after")
    assert error < 1e-3 * DX
    assert lost < 1e-4
    assert found.min() > DX
    assert found.max() < 1 - DX


main()
