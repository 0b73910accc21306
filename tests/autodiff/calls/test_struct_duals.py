# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: derivatives of both modes flow through the members of structures, in either layout, fields and slices too."""

from dataclasses import dataclass

import numpy as np
import pytest

import cuda_graphs as cg

COUNT = 4
LAYOUTS = ["soa", "aos"]
MAKES = [cg.ndarray, cg.field]


@dataclass
class Ends:
    left: cg.i32
    rest: cg.f64


@dataclass
class Spring:
    at: cg.types.vec(2, cg.f64)
    stiffness: cg.f64
    fixed: cg.i32
    ends: Ends

    def energy(self, other):
        return 0.5 * self.stiffness * ((self.at - other).norm_sqr() - self.ends.rest * self.at.x)


SPRINGS = cg.types.ndarray(Spring, ndim=1)
SMALL = np.dtype([("left", "i4"), ("rest", "f8")], align=True)
DTYPE = np.dtype([("at", "f8", 2), ("stiffness", "f8"), ("fixed", "i4"), ("ends", SMALL)], align=True)
FLOATS = {"at": lambda s: s["at"], "stiffness": lambda s: s["stiffness"], "rest": lambda s: s["ends"]["rest"]}


@pytest.fixture(params=LAYOUTS)
def layout(request):
    return request.param


@pytest.fixture(params=MAKES)
def make(request):
    return request.param


def structures(seed, count=COUNT):
    random, found = np.random.default_rng(seed), np.zeros(count, DTYPE)
    for part in FLOATS.values():
        part(found)[...] = random.random(part(found).shape)
    return found


def springs():
    found = structures(5)
    found["fixed"], found["ends"]["left"] = [0, 0, 1, 0], range(COUNT)
    return found


@cg.kernel
def stretch(x: SPRINGS):
    for i in x:
        x[i].at = x[i].at * (1.0 + x[i].stiffness)
        x[i].ends.rest = x[i].ends.rest * x[i].at.y


@cg.kernel
def energies(x: SPRINGS, y: cg.types.ndarray(cg.f64, 0)):
    for i in x:
        p = x[i]
        if p.fixed == 0:
            y[()] += p.energy(x[(i + 1) % x.shape[0]].at)


def energy(given):
    """The energy of stretched springs, by NumPy."""
    at = given["at"] * (1 + given["stiffness"])[:, None]
    rest = given["ends"]["rest"] * at[:, 1]
    change = at - np.roll(at, -1, 0)
    parts = 0.5 * given["stiffness"] * ((change**2).sum(1) - rest * at[:, 0])
    return parts[given["fixed"] == 0].sum()


def slope(given, direction, step=1e-6):
    """The central difference of the energy along a direction."""
    both = []
    for sign in (1, -1):
        moved = given.copy()
        for part in FLOATS.values():
            part(moved)[...] += sign * step * part(direction)
        both.append(energy(moved))
    return (both[0] - both[1]) / (2 * step)


def made(make, layout, **options):
    x, y = make(Spring, COUNT, layout=layout, **options), cg.ndarray(cg.f64, (), **options)
    x.from_numpy(springs())
    return x, y


def run(x, y):
    """Call the kernels, which take a field as a slice of all of it."""
    part = x[:]
    stretch(part)
    energies(part, y)


@pytest.mark.parametrize("options", [{"needs_dual": True}, {"needs_grad": True}], ids=str)
def test_forward_mode_flows_through_members(layout, make, options, device):
    direction = structures(6)
    for _ in range(2):  # the second block begins with duals of 0
        x, y = made(make, layout, **options)
        assert (x.needs_grad, x.needs_dual) == ("needs_grad" in options, True)
        with cg.ad.FwdMode(loss=y, param=x, seed=direction):
            run(x, y)
        assert y[()] == pytest.approx(energy(springs()))
        assert y.dual[()] == pytest.approx(slope(springs(), direction), rel=1e-6)
    for part in FLOATS.values():
        np.testing.assert_array_equal(part(x.dual.to_numpy()), 0)


def test_each_member_has_a_dual_of_its_own(device):
    x, y = made(cg.ndarray, "soa", needs_dual=True)
    direction = np.zeros(COUNT, DTYPE)
    direction["ends"]["rest"] = [1, 2, 3, 4]
    with cg.ad.FwdMode(loss=y, param=x.ends.rest, seed=[1.0, 2.0, 3.0, 4.0]):
        run(x, y)
    assert y.dual[()] == pytest.approx(slope(springs(), direction), rel=1e-6)


def test_structures_may_be_the_loss_and_one_of_several_parameters(layout, device):
    x, _ = made(cg.ndarray, layout, needs_dual=True)
    z = cg.ndarray(Spring, COUNT, needs_dual=True, layout=layout)
    weight = cg.ndarray(cg.f64, (), needs_dual=True)
    weight[()] = 3.0

    @cg.kernel
    def weigh(x: SPRINGS, weight: cg.types.ndarray(cg.f64, 0), z: SPRINGS):
        for i in x:
            z[i].at = weight[()] * x[i].at
            z[i].ends.rest += x[i].stiffness * x[i].ends.rest
            z[i].fixed = x[i].fixed + 1

    direction = structures(8)
    with cg.ad.FwdMode(loss=z, param=[x, weight], seed=[direction, 2.0]):
        weigh(x, weight, z)
    dual, given = z.dual.to_numpy(), springs()
    np.testing.assert_allclose(dual["at"], 3 * direction["at"] + 2 * given["at"])
    rest = direction["stiffness"] * given["ends"]["rest"] + given["stiffness"] * direction["ends"]["rest"]
    np.testing.assert_allclose(dual["ends"]["rest"], rest)
    np.testing.assert_array_equal(dual["stiffness"], 0)
    np.testing.assert_array_equal(z.to_numpy()["fixed"], given["fixed"] + 1)


def test_reverse_mode_and_second_derivatives_flow_through_members(layout, make, device):
    """The gradient, and its derivative along a direction: a product of the Hessian matrix."""
    direction, (x, y) = structures(9), made(make, layout, needs_grad=True)
    with cg.ad.FwdMode(loss=y, param=x, seed=direction), cg.ad.Tape(loss=y):
        energies(x[:], y)

    def plain(given):
        change = given["at"] - np.roll(given["at"], -1, 0)
        parts = 0.5 * given["stiffness"] * ((change**2).sum(1) - given["ends"]["rest"] * given["at"][:, 0])
        return parts[given["fixed"] == 0].sum()

    def difference(function, part, index, step):
        both = []
        for sign in (1, -1):
            moved = springs()
            part(moved)[index] += sign * step
            both.append(function(moved))
        return (both[0] - both[1]) / (2 * step)

    def along(given, step=1e-4):
        both = []
        for sign in (1, -1):
            moved = given.copy()
            for part in FLOATS.values():
                part(moved)[...] += sign * step * part(direction)
            both.append(plain(moved))
        return (both[0] - both[1]) / (2 * step)

    gradient, second = x.grad.to_numpy(), x.grad.dual.to_numpy()
    for name, index in (("at", (0, 0)), ("at", (3, 1)), ("stiffness", (1,)), ("rest", (0,)), ("rest", (2,))):
        part = FLOATS[name]
        assert part(gradient)[index] == pytest.approx(
            difference(plain, part, index, 1e-6), rel=1e-6, abs=1e-9
        )
        assert part(second)[index] == pytest.approx(difference(along, part, index, 1e-4), rel=1e-5, abs=1e-6)


def test_slices_have_the_derivatives_of_their_part(layout, make, device):
    x, y = make(Spring, COUNT + 3, needs_grad=True, layout=layout), cg.ndarray(cg.f64, (), needs_grad=True)
    x[2:-1].from_numpy(springs())
    with cg.ad.Tape(loss=y):
        energies(x[2:-1], y)
    gradient = x.grad.to_numpy()
    np.testing.assert_array_equal(x[2:-1].grad.to_numpy(), gradient[2:-1])
    assert gradient["stiffness"][2:-1].any() and not gradient["stiffness"][[0, 1, -1]].any()
    whole, total = made(cg.ndarray, layout, needs_grad=True)
    with cg.ad.Tape(loss=total):
        energies(whole, total)
    for part in FLOATS.values():
        np.testing.assert_array_equal(part(gradient[2:-1]), part(whole.grad.to_numpy()))
    direction = np.zeros(COUNT + 3, DTYPE)
    direction[2:-1] = structures(6)
    x[2:-1] = springs()
    with cg.ad.FwdMode(loss=y, param=x, seed=direction):
        y.fill(0)
        run(x[2:-1], y)
    assert y.dual[()] == pytest.approx(slope(springs(), direction[2:-1]), rel=1e-6)


@dataclass
class Mixed:
    a: cg.f64
    n: cg.i32
    v: cg.vec2


MIXED = cg.types.ndarray(Mixed, 1)


@cg.kernel
def advance(x: MIXED, z: MIXED):
    for i in x:
        z[i].a = x[i].a * x[i].v.x + 0.1 * x[i].n
        z[i].v = x[i].v * 1.5


@cg.kernel
def measure(x: MIXED, y: cg.types.ndarray(cg.f64, 0)):
    for i in x:
        y[()] += x[i].a * x[i].v.y


@pytest.mark.parametrize("options", [{}, {"max_states": 2}], ids=str)
def test_kernels_that_write_structures_have_gradients(layout, options, device):
    """Members of both sizes of floats and an int, which share the bytes of an element."""
    x, z = (cg.ndarray(Mixed, 3, needs_grad=True, layout=layout) for _ in range(2))
    start, random = np.zeros(3, x.dtype), np.random.default_rng(1)
    start["a"], start["n"], start["v"] = random.random(3), [1, 2, 3], random.random((3, 2))
    x.from_numpy(start)
    z.from_numpy(start)
    y = cg.ndarray(cg.f64, (), needs_grad=True)
    with cg.ad.Tape(loss=y, **options):
        advance(x, z)
        measure(z, y)
    factor = start["a"] * start["v"][:, 0] + 0.1 * start["n"]
    found = x.grad.to_numpy()
    assert y[()] == pytest.approx((factor * 1.5 * start["v"][:, 1]).sum(), rel=1e-6)
    np.testing.assert_allclose(found["a"], start["v"][:, 0] * 1.5 * start["v"][:, 1], rtol=1e-6)
    wanted = np.stack([start["a"] * 1.5 * start["v"][:, 1], factor * 1.5], 1)
    np.testing.assert_allclose(found["v"], wanted, rtol=1e-6)
    with pytest.raises(ValueError, match=r"share memory|overlap but are not the same array"):
        advance.grad(x, x)


@cg.kernel
def descend(x: SPRINGS, gradient: SPRINGS, rate: cg.f64):
    for i in x:
        x[i].at -= rate * gradient[i].at
        x[i].ends.rest -= rate * gradient[i].ends.rest


def test_gradients_are_arrays_of_the_structures(layout, make, device):
    x, y = made(make, layout, needs_grad=True)
    with cg.ad.Tape(loss=y):
        energies(x[:], y)
    gradient, wanted = x.grad.to_numpy(), springs()
    descend(x[:], x.grad, 0.5)
    wanted["at"] -= 0.5 * gradient["at"]
    wanted["ends"]["rest"] -= 0.5 * gradient["ends"]["rest"]
    for name in FLOATS:
        np.testing.assert_allclose(FLOATS[name](x.to_numpy()), FLOATS[name](wanted), rtol=1e-15)
    x.grad.from_numpy(gradient)
    np.testing.assert_array_equal(x.grad.to_numpy(), gradient)
    x.grad.fill(0)
    np.testing.assert_array_equal(x.grad.to_numpy(), np.zeros(COUNT, DTYPE))


def test_a_tape_takes_structured_arrays_of_numpy(device):
    given, y = springs(), cg.ndarray(cg.f64, (), needs_grad=True)
    with cg.ad.Tape(loss=y, validation=True):
        energies(given, y)
    with cg.ad.FwdMode(loss=y, param=cg.ndarray(cg.f64, (), needs_dual=True)):
        energies(given, y)
    assert y.dual[()] == 0


def test_wrong_directions_are_refused(layout, device):
    x, y = made(cg.ndarray, layout, needs_dual=True)
    for seed in (None, np.ones(COUNT), np.zeros(COUNT + 1, DTYPE), np.zeros(COUNT, SMALL), [1.0] * COUNT):
        with pytest.raises(
            TypeError, match=r"seed must be a structured array of NumPy for .*np.zeros\(\(4,\)"
        ):
            cg.ad.FwdMode(loss=y, param=x, seed=seed)
    with pytest.raises(
        ValueError, match="param has no dual: make it with needs_grad=True or needs_dual=True"
    ):
        cg.ad.FwdMode(loss=y, param=cg.ndarray(Spring, 2, layout=layout), seed=np.zeros(2, DTYPE))
    without = cg.ndarray(Spring, 2, layout=layout)
    assert without.grad is None and without.dual is None and without[:1].dual is None
