# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A net hangs from its corners: how a large program passes many arrays and one configuration.

All arrays are in nested frozen dataclasses, which are one argument. Another frozen dataclass selects code, as a
template: `cg.static` reads it when compiling, so code that a configuration does not choose costs nothing. Equal
configurations share their code, and a call with an unchanged one does nothing for it.

Two configurations move the net: by explicit steps, and by larger implicit ones, whose linear system a loop on the
device solves by conjugate gradients. In the end both nets must hang in the same place, and the corners must carry the
weight.

    python examples/hanging_net.py [knots]
"""

import sys
from dataclasses import dataclass

import numpy as np

import cuda_graphs as cg

vec3 = cg.vec3[cg.f64]
Vectors = cg.Array1[vec3]
Numbers = cg.Array1[cg.f64]
Indices = cg.Array1[cg.i32]
Scalar = cg.Array0[cg.f64]
Count = cg.Array0[cg.i32]


@dataclass(frozen=True)
class Knots:
    place: Vectors
    speed: Vectors
    force: Vectors
    change: Vectors  # of the speed in a step
    mass: Numbers
    is_fixed: Indices


@dataclass(frozen=True)
class Ropes:
    first: Indices
    second: Indices
    length: Numbers  # without load
    stiffness: Numbers
    direction: Vectors  # from the first knot to the second one, of length 1
    tension: Numbers  # divided by the present length


@dataclass(frozen=True)
class Solver:
    rest: Vectors
    search: Vectors
    product: Vectors
    norm: Scalar
    rounds: Count
    go: Count


@dataclass(frozen=True)
class Net:
    knots: Knots
    ropes: Ropes
    solver: Solver


@dataclass(frozen=True)
class Air:
    drag: float = 4.0  # kg / s
    wind: tuple[float, float, float] | None = None  # m / s; None: no code for wind


@dataclass(frozen=True)
class Config:
    is_implicit: bool
    gravity: float = 9.81
    air: Air | None = Air()
    tolerance: float = 1e-8  # of the linear solver


@cg.func
def load(knots: Knots, i: cg.i32, config: cg.template) -> vec3:
    """Return the force on a knot without that of the ropes."""
    force = vec3(0.0, 0.0, -config.gravity * knots.mass[i])
    if cg.static(config.air is not None):
        speed = knots.speed[i]
        if cg.static(config.air.wind is not None):
            speed -= vec3(*config.air.wind)
        force -= config.air.drag * knots.mass[i] * speed
    return force


@cg.func
def stretch(net: Net, rope: cg.i32) -> None:
    """Find the tension of a rope, and pull the knots at its ends. A slack rope does not pull."""
    ropes, knots = net.ropes, net.knots
    a, b = ropes.first[rope], ropes.second[rope]
    gap = knots.place[b] - knots.place[a]
    length = gap.norm()
    ropes.direction[rope] = gap / length
    pull = ropes.stiffness[rope] * max(length - ropes.length[rope], 0.0)
    ropes.tension[rope] = pull / length
    knots.force[a] += pull * gap / length
    knots.force[b] -= pull * gap / length


@cg.func
def add_product(net: Net, of: Vectors, rope: cg.i32) -> None:
    """Add the product of the stiffness matrix of a rope and a vector."""
    ropes, product = net.ropes, net.solver.product
    a, b = ropes.first[rope], ropes.second[rope]
    apart = of[b] - of[a]
    along = ropes.direction[rope].dot(apart) * ropes.direction[rope]
    stiffness = ropes.stiffness[rope] if ropes.tension[rope] > 0.0 else 0.0
    force = stiffness * along + ropes.tension[rope] * (apart - along)
    product[b] += force
    product[a] -= force


@cg.kernel(graph=True, default_float=cg.f64)
def step(net: Net, dt: cg.f64, config: cg.template) -> None:
    knots, ropes, solver = net.knots, net.ropes, net.solver
    for i in knots.force:
        knots.force[i] = load(knots, i, config)
    for rope in ropes.length:
        stretch(net, rope)
    if cg.static(config.is_implicit):
        for i in knots.place:
            solver.product[i] = vec3(0.0)
        for rope in ropes.length:
            add_product(net, knots.speed, rope)
        start = 0.0
        for i in knots.place:
            rest = dt * (knots.force[i] - dt * solver.product[i])
            if knots.is_fixed[i] == 1:
                rest = vec3(0.0)
            solver.rest[i] = rest
            solver.search[i] = rest
            knots.change[i] = vec3(0.0)
            start += rest.norm_sqr()
        solver.norm[()] = start
        solver.rounds[()] = 0
        solver.go[()] = 1 if start > 0.0 else 0
        while cg.graph_do_while(solver.go):
            for i in knots.place:
                solver.product[i] = vec3(0.0)
            for rope in ropes.length:
                add_product(net, solver.search, rope)
            curvature = 0.0
            for i in knots.place:
                free = 0.0 if knots.is_fixed[i] == 1 else 1.0
                product = free * (knots.mass[i] * solver.search[i] + dt * dt * solver.product[i])
                solver.product[i] = product
                curvature += solver.search[i].dot(product)
            size = solver.norm[()] / curvature
            left = 0.0
            for i in knots.place:
                knots.change[i] += size * solver.search[i]
                solver.rest[i] -= size * solver.product[i]
                left += solver.rest[i].norm_sqr()
            turn = left / solver.norm[()]
            for i in knots.place:
                solver.search[i] = solver.rest[i] + turn * solver.search[i]
            solver.norm[()] = left
            solver.rounds[()] += 1
            solver.go[()] = 1 if left > config.tolerance**2 * start else 0
    else:
        for i in knots.place:
            knots.change[i] = dt / knots.mass[i] * knots.force[i]
    for i in knots.place:
        if knots.is_fixed[i] == 0:
            knots.speed[i] += knots.change[i]
            knots.place[i] += dt * knots.speed[i]


def square(side: int) -> Net:
    """Return a flat net of side * side knots, 0.1 m apart, whose corners are fixed."""
    x, y = (each.ravel() for each in np.meshgrid(np.arange(side), np.arange(side), indexing="ij"))
    number = np.arange(side * side).reshape(side, side)
    first = np.concatenate([number[:-1].ravel(), number[:, :-1].ravel()])
    second = np.concatenate([number[1:].ravel(), number[:, 1:].ravel()])
    is_fixed = np.isin(x, (0, side - 1)) & np.isin(y, (0, side - 1))
    place, speed, force, change, rest, search, product = (cg.zeros(side * side, vec3) for _ in range(7))
    place.from_numpy(0.1 * np.stack([x, y, 0 * x], axis=-1))
    mass = cg.full(side * side, 0.02, cg.f64)
    knots = Knots(place, speed, force, change, mass, cg.array(is_fixed.astype("i4")))
    count = len(first)
    ropes = Ropes(
        cg.array(first.astype("i4")), cg.array(second.astype("i4")),
        cg.full(count, 0.1, cg.f64), cg.full(count, 200.0, cg.f64),
        cg.zeros(count, vec3), cg.zeros(count, cg.f64),
    )  # fmt: skip
    norm, rounds, go = cg.zeros((), cg.f64), cg.zeros((), cg.i32), cg.zeros((), cg.i32)
    return Net(knots, ropes, Solver(rest, search, product, norm, rounds, go))


def on_host(x: object) -> np.ndarray:
    assert isinstance(x, cg.NDArray)
    return x.to_numpy()


def main() -> None:
    side = int(sys.argv[1]) if len(sys.argv) > 1 else 12
    places = {}
    for config, dt, steps in (
        (Config(is_implicit=False), 1e-3, 12_000),
        (Config(is_implicit=True), 2e-2, 600),
    ):
        net = square(side)
        for _ in range(steps):
            step(net, dt, config)
        corners = on_host(net.knots.is_fixed) == 1
        force, mass = on_host(net.knots.force), on_host(net.knots.mass)
        carried, weight = -force[corners, 2].sum(), config.gravity * mass.sum()
        kind = f"implicit, {net.solver.rounds[()]} rounds a step" if config.is_implicit else "explicit"
        print(f"{steps} steps of {dt} s, {kind}: the corners carry {carried:.4f} N of {weight:.4f} N")
        assert abs(carried - weight) < 1e-3 * weight
        places[config] = on_host(net.knots.place)
    apart = np.abs(places[Config(is_implicit=False)] - places[Config(is_implicit=True)]).max()
    print(f"both nets hang {-places[Config(True)][:, 2].min():.3f} m deep, at most {apart:.1e} m apart")
    print(step)  # two configurations, two specialisations
    assert apart < 1e-3


if __name__ == "__main__":
    main()
