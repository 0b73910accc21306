# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Bodies that attract each other: vectors, functions and a dataclass in kernels. Energy and momentum are conserved."""

import dataclasses

import numpy as np

import cuda_graphs as cg

BODIES = 256
SOFTENING = 0.05  # squared; softens the force between bodies that meet

Values = cg.Array1[cg.f64]
Points = cg.Array2[cg.f64]


@dataclasses.dataclass
class Cloud:
    mass: Values
    place: Points
    speed: Points


@cg.func
def point(rows: Points, i: cg.i32) -> cg.vec3[cg.f64]:
    return cg.vector(rows[i, 0], rows[i, 1], rows[i, 2])


@cg.kernel
def kick(cloud: Cloud, dt: cg.f64) -> None:
    for i in cloud.mass:
        here = point(cloud.place, i)
        pull = cg.vector(cg.f64(0.0), cg.f64(0.0), cg.f64(0.0))
        for j in range(cloud.mass.shape[0]):
            way = point(cloud.place, j) - here
            square = cg.dot(way, way) + SOFTENING
            pull += way * (cloud.mass[j] / (square * cg.sqrt(square)))
        for k in cg.static(range(3)):
            cloud.speed[i, k] += dt * pull[k]


@cg.kernel
def drift(cloud: Cloud, dt: cg.f64) -> None:
    for i, k in cloud.place:
        cloud.place[i, k] += dt * cloud.speed[i, k]


@cg.kernel
def energy(cloud: Cloud) -> cg.f64:
    total = cg.f64(0.0)
    for i in cloud.mass:
        speed = point(cloud.speed, i)
        total += 0.5 * cloud.mass[i] * cg.dot(speed, speed)
        for j in range(i):
            way = point(cloud.place, j) - point(cloud.place, i)
            total -= cloud.mass[i] * cloud.mass[j] / cg.sqrt(cg.dot(way, way) + SOFTENING)
    return total


def main() -> None:
    device = cg.Device()
    device.set_current()
    stream = device.create_stream()
    random = np.random.default_rng(3)
    mass, place, speed = (cg.ndarray(cg.f64, shape) for shape in (BODIES, (BODIES, 3), (BODIES, 3)))
    mass.from_numpy(np.full(BODIES, 1 / BODIES))
    place.from_numpy(random.normal(size=(BODIES, 3)))
    start = random.normal(size=(BODIES, 3)) * 0.3
    speed.from_numpy(start - start.mean(axis=0))
    cloud = Cloud(mass, place, speed)

    g = cg.GraphDef()
    half = g.param("half", cg.f64)
    node = g.call(kick, cloud, half, name="half a kick")
    node = node.call(drift, cloud, g.param("dt", cg.f64), name="drift")
    node.call(kick, cloud, half, name="the other half")
    graph = g.instantiate()

    before = energy(cloud)
    graph.set(dt=0.01, half=0.005)
    for _ in range(100):
        graph.launch(stream)
    stream.sync()
    after = energy(cloud)
    moved = np.abs(speed.to_numpy().mean(axis=0)).max()
    print(f"energy {before:.6f}, after 100 steps {after:.6f}; mean speed {moved:.1e}")
    assert abs(after - before) < 1e-3 * abs(before)
    assert moved < 1e-12


if __name__ == "__main__":
    main()
