# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: forward mode gives the same on all targets, and central differences."""

from dataclasses import dataclass

import numpy as np
import pytest

from cuda_graphs.compiler.language.signature import specialise
from cuda_graphs.compiler.pipeline import lower
from tests.autodiff.compiler.gradient_rig import differences, flat_of, floats, ints, zeros
from tests.compiler.rig import Grad, Structures, cg, compare

f64, i32 = cg.f64, cg.i32
ndarray = cg.types.ndarray


def wanders(x: ndarray(f64, 1), n: ndarray(i32, 1), y: ndarray(f64, 0)):
    for i in x:
        v, w = x[i], f64(1.0)
        for j in range(n[i]):
            if v > 0.9:
                v, w = cg.sqrt(v), v * w
                continue
            v = v * v + 0.4 + 0.1 * j
            if v > 1.5:
                break
        while w * v < 3.0:
            w = w * 1.25 + 0.1 * v
        y[()] += cg.select(v < w, v, w) * max(w, v)


def sums_and_overwrites(x: ndarray(f64, 1), n: ndarray(i32, 1), y: ndarray(f64, 0)):
    total = f64(0.0)
    for i in x:
        total += x[i] * x[i]
    for i in x:
        x[i] = x[i] / cg.sqrt(total)
        x[i] = cg.exp(x[i])
    for i in x:
        y[()] += x[i] * n[i]


@pytest.mark.parametrize("function", [wanders, sums_and_overwrites])
def test_all_targets_compute_the_derivative_along_a_direction(function):
    arguments = {"x": floats(0.3, 0.7, 1.1), "n": ints(2, 5, 9), "y": zeros()}
    direction = np.array([1.0, -2.0, 0.5])
    program, _ = lower(function, specialise(function, arguments), verify_ir=True, mode="forward")
    flat = flat_of(arguments) | {"x.dual": direction, "y.dual": np.zeros(())}
    found, _ = compare(program, flat, exact=False)
    wanted = differences(function, {"y": 1.0}, "x", **arguments)
    np.testing.assert_allclose(found["y.dual"], wanted @ direction, rtol=1e-6)


@dataclass
class Spring:
    at: cg.types.vec(2, f64)
    stiffness: f64
    fixed: i32

    def energy(self, other):
        return 0.5 * self.stiffness * (self.at - other).norm_sqr()


def energies(x: ndarray(Spring, 1), y: ndarray(f64, 0)):
    for i in x:
        x[i].at = x[i].at * x[i].stiffness
    for i in x:
        if x[i].fixed == 0:
            y[()] += x[i].energy(x[(i + 1) % len(x)].at)


@pytest.mark.parametrize("layout", ["soa", "aos"])
def test_derivatives_flow_through_members_of_structures(layout):
    random, springs = np.random.default_rng(2), Structures.zeros(Spring, layout, 4)
    for name in ("at", "stiffness"):
        springs.members[name] = Grad(random.random(springs.members[name].shape))
    arguments = {"x": springs, "y": zeros()}
    program, _ = lower(energies, specialise(energies, arguments), verify_ir=True, mode="forward")
    flat = flat_of(arguments)
    paths = ("x.at", "x.stiffness")
    directions = {f"{path}.dual": random.random(flat[path].shape) for path in paths}
    found, _ = compare(program, flat | directions | {"y.dual": np.zeros(())}, exact=False)
    slopes = [
        differences(energies, {"y": 1.0}, path, **arguments) * directions[f"{path}.dual"] for path in paths
    ]
    np.testing.assert_allclose(found["y.dual"], sum(each.sum() for each in slopes), rtol=1e-6)


def test_constant_that_is_stored_has_the_dual_0():
    def stores(x: ndarray(f64, 1), y: ndarray(f64, 1)):
        for i in x:
            y[i] = x[i] * x[i]
            y[i] += 3.0 * x[i]

    arguments = {"x": floats(0.3, 0.7), "y": zeros(2)}
    flat = flat_of(arguments) | {"x.dual": np.ones(2), "y.dual": np.full(2, 7.0)}
    program, _ = lower(stores, specialise(stores, arguments), verify_ir=True, mode="constant")
    found, _ = compare(program, flat, exact=False)
    np.testing.assert_array_equal(found["y.dual"], 0)
    np.testing.assert_allclose(found["y"], [0.99, 2.59])
