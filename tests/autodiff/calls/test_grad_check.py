# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: `Tape(grad_check=[...])` accepts gradients that agree with differences and refuses others."""

import dataclasses

import numpy as np
import pytest

import cuda_graphs as cg
from tests.autodiff.calls.gradient_kernels import START, array, sines, squares, weighted

f64 = cg.f64
ndarray = cg.types.ndarray


@dataclasses.dataclass
class Part:
    tag: cg.i64
    v: cg.types.vec(2, f64)


@dataclasses.dataclass
class Mass:
    id: cg.i64
    m: f64
    part: Part
    flag: cg.i32
    at: cg.types.vec(2, f64)


@dataclasses.dataclass
class Coarse:
    id: cg.i32
    v: cg.f32


MASSES = cg.types.ndarray(Mass, ndim=1)


@cg.kernel
def energy(masses: MASSES, y: ndarray(f64, 0)):
    for i in range(masses.shape[0]):
        if masses[i].id < 0:
            y[()] += masses[i].m * masses[i].at.x * masses[i].part.v.y + masses[i].at.y ** 3


def masses_of(layout, make):
    made = make(Mass, 3, needs_grad=True, layout=layout)
    values = np.zeros(3, made.dtype)
    values["id"], values["part"]["tag"], values["flag"] = (
        -1,
        2**63 - 1,
        7,
    )  # as floats: NaN, and a tiny number
    values["m"], values["at"], values["part"]["v"] = START, [[0.4, 0.9]] * 3, [[0.5, 1.5]] * 3
    made.from_numpy(values)
    return made, values


@pytest.fixture(params=["soa", "aos"])
def layout(request):
    return request.param


def test_whole_arrays_of_structures_are_checked(layout, y):
    masses, values = masses_of(layout, cg.ndarray)
    with cg.ad.Tape(loss=y, grad_check=[masses]):
        energy(masses, y)
    np.testing.assert_array_equal(masses.to_numpy(), values)
    found = masses.grad.to_numpy()
    np.testing.assert_allclose(found["m"], 0.4 * 1.5)
    np.testing.assert_allclose(found["at"], np.stack([1.5 * START, np.full(3, 3 * 0.81)], axis=1))
    np.testing.assert_allclose(found["part"]["v"], np.stack([np.zeros(3), 0.4 * START], axis=1))


@pytest.mark.parametrize("wrong", ["m", "at", "v"])
def test_a_wrong_gradient_of_a_member_fails_the_check(layout, y, wrong):
    masses, values = masses_of(layout, cg.ndarray)

    @cg.ad.grad_replaced
    def measured(masses, y):
        energy(masses, y)

    @cg.ad.grad_for(measured)
    def measured_back(masses, y):
        energy.grad(masses, y)
        slopes = masses.grad.to_numpy()
        (slopes["part"] if wrong == "v" else slopes)[wrong] += 1.0
        masses.grad.from_numpy(slopes)

    name = f"member '{wrong}' of " + ("member 'part' of " if wrong == "v" else "")
    with (
        pytest.raises(
            cg.ad.GradientCheckError, match=f"gradient of {name}<StructArray Mass .*number 1 of grad_check"
        ),
        cg.ad.Tape(loss=y, grad_check=[y, masses]),
    ):
        measured(masses, y)
    np.testing.assert_array_equal(masses.to_numpy(), values)


def test_fields_of_structures_are_checked(layout, y):
    masses, values = masses_of(layout, cg.field)

    @cg.kernel
    def total(y: ndarray(f64, 0)):
        for i in range(3):
            y[()] += masses[i].m * masses[i].at.x * masses[i].part.v.y

    with cg.ad.Tape(loss=y, grad_check=[masses]):
        total(y)
    np.testing.assert_array_equal(masses.to_numpy(), values)
    np.testing.assert_allclose(masses.grad.to_numpy()["m"], 0.4 * 1.5)


def test_right_gradients_pass_the_check_and_arrays_are_as_before(x, y):
    z = array(np.zeros(3))
    with cg.ad.Tape(loss=y, grad_check=[x]):
        sines(x, z)
        squares(z, y)
    np.testing.assert_allclose(x.grad.to_numpy(), np.sin(2 * START))
    np.testing.assert_array_equal(x.to_numpy(), START)
    np.testing.assert_allclose(z.to_numpy(), np.sin(START))
    assert y[()] == pytest.approx(np.sum(np.sin(START) ** 2))


@pytest.mark.parametrize("kind", [cg.ndarray, cg.field])
@pytest.mark.parametrize("shape", [(), 1, (1, 1)])
@pytest.mark.parametrize("element", [f64, cg.types.vec(2, f64)], ids=str)
def test_arrays_of_any_number_of_dimensions_are_checked(kind, shape, element):
    number, total = kind(element, shape, needs_grad=True), kind(f64, (), needs_grad=True)
    number.fill(3.0)

    @cg.kernel
    def square(number: cg.types.Tensor, total: cg.types.Tensor, zeros: cg.template):
        part = number[zeros]
        total[()] += cg.dot(part, part) if cg.static(element != f64) else part * part

    with cg.ad.Tape(loss=total, grad_check=[number]):
        square(number, total, (0,) * number.ndim)
    np.testing.assert_allclose(number.grad.to_numpy(), 6.0)
    np.testing.assert_array_equal(number.to_numpy(), 3.0)


def test_a_wrong_gradient_fails_the_check(x, y):
    @cg.ad.grad_replaced
    def squared(x, y):
        squares(x, y)

    @cg.ad.grad_for(squared)
    def half_of_it(x, y):
        for i in range(3):
            x.grad[i] = x[i]

    with (
        pytest.raises(cg.ad.GradientCheckError, match="number 0 of grad_check: along a random direction"),
        cg.ad.Tape(loss=y, grad_check=[x]),
    ):
        squared(x, y)
    np.testing.assert_array_equal(x.to_numpy(), START)
    assert y[()] == pytest.approx(np.sum(START**2))


def test_the_check_repeats_what_the_host_writes_between_calls(x, y):
    @cg.kernel
    def shift(x: ndarray(f64, 1), n: ndarray(f64, 1), z: ndarray(f64, 1)):
        for i in x:
            z[i] = x[i] + n[i]

    n, one, other = cg.ndarray(f64, 3), array(np.zeros(3)), array(np.zeros(3))
    with cg.ad.Tape(loss=y, grad_check=[x]):
        n.fill(2)
        shift(x, n, one)
        n.fill(5)
        shift(x, n, other)
        squares(one, y)
        squares(other, y)
    np.testing.assert_allclose(x.grad.to_numpy(), 2 * (2 * START + 7))
    np.testing.assert_array_equal(n.to_numpy(), 5)


def test_the_check_finds_what_was_overwritten(x, y):
    n = cg.ndarray(f64, 3)

    def overwrites():
        with cg.ad.Tape(loss=y, grad_check=[x]):
            for factor in (2.0, 5.0):
                n.fill(factor)
                weighted(n, x, y)  # whose gradient reads the array as it is in the end

    with pytest.raises(cg.ad.GradientCheckError):
        overwrites()


def test_the_check_sees_fields_vectors_and_functions(y):
    at = cg.field(cg.types.vec(2, f64), 2, needs_grad=True)
    at.from_numpy(np.array([[0.3, 0.4], [1.0, -2.0]]))

    @cg.kernel
    def lengths(y: ndarray(f64, 0)):
        for i in at:
            y[()] += at[i].norm()

    @cg.ad.grad_replaced
    def twice(y):
        lengths(y)
        lengths(y)

    @cg.ad.grad_for(twice)
    def twice_back(y):
        lengths.grad(y)
        lengths.grad(y)

    with cg.ad.Tape(loss=y, grad_check=[at], clear_gradients=True):
        twice(y)
    np.testing.assert_allclose(at.grad.to_numpy()[0], [1.2, 1.6])


def test_the_host_may_not_write_to_what_is_checked(x, y):
    def writes():
        with cg.ad.Tape(loss=y, grad_check=[x]):
            squares(x, y)
            x.fill(1)
            squares(x, y)

    with pytest.raises(ValueError, match="the host wrote to"):
        writes()


@pytest.mark.parametrize(
    ("arrays", "kind", "words"),
    [
        (lambda: [cg.ndarray(cg.f32, 3, needs_grad=True)], TypeError, "of f64, for accurate differences"),
        (lambda: [np.zeros(3)], TypeError, "of f64, for accurate differences"),
        (lambda: [cg.ndarray(f64, 3)], ValueError, "has no gradient"),
        (
            lambda: [cg.ndarray(Coarse, 3, needs_grad=True)],
            TypeError,
            "of f64.* not member 'v' of <StructArray Coarse",
        ),
        (lambda: [cg.ndarray(Mass, 3)], ValueError, "<StructArray Mass .* has no gradient"),
        (lambda: cg.ndarray(f64, 3, needs_grad=True), TypeError, "a list of arrays"),
    ],
)
def test_grad_check_takes_only_arrays_of_f64_with_a_gradient(arrays, kind, words, y):
    with pytest.raises(kind, match=words):
        cg.ad.Tape(loss=y, grad_check=arrays())


def test_a_check_needs_a_loss_and_clear_gradients(x, y):
    with pytest.raises(ValueError, match="a Tape with a loss and clear_gradients=True"):
        cg.ad.Tape(grad_check=[x])
    with pytest.raises(ValueError, match="a Tape with a loss and clear_gradients=True"):
        cg.ad.Tape(loss=y, clear_gradients=False, grad_check=[x])
