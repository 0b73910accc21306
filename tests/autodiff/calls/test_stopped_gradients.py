# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: `cg.stop_grad` makes a value a constant to gradients, from its place in the source on."""

import numpy as np
import pytest

import cuda_graphs as cg
from tests.autodiff.calls.gradient_kernels import START

f64, i32 = cg.f64, cg.i32
ndarray = cg.types.ndarray


def gradient(kernel, x, y, *args):
    with cg.ad.Tape(loss=y):
        kernel(x, y, *args)
    return x.grad.to_numpy()


def test_a_stopped_number_is_a_constant_with_its_value(x, y):
    @cg.kernel
    def half_stopped(x: ndarray(f64, 1), y: ndarray(f64, 0)):
        for i in x:
            y[()] += cg.stop_grad(x[i] * x[i]) * x[i]

    np.testing.assert_allclose(gradient(half_stopped, x, y), START**2)
    assert y[()] == pytest.approx(np.sum(START**3))


def test_a_stopped_variable_and_a_stopped_vector(y):
    @cg.kernel
    def normalised(x: ndarray(cg.types.vec(3, f64), 1), y: ndarray(f64, 0)):
        for i in x:
            size = cg.stop_grad(x[i].norm())
            fixed = cg.stop_grad(x[i])
            y[()] += (x[i] / size).dot(fixed)

    x = cg.ndarray(cg.types.vec(3, f64), 1, needs_grad=True)
    x[0] = START
    np.testing.assert_allclose(gradient(normalised, x, y)[0], START / np.linalg.norm(START))


def test_integers_pass_through_it_as_they_are():
    @cg.kernel
    def counted(n: ndarray(i32, 0), k: i32):
        n[()] = cg.stop_grad(k + 1) + cg.stop_grad(2)

    n = cg.ndarray(i32, ())
    counted(n, 4)
    assert n[()] == 7


def test_a_stopped_array_is_stopped_from_there_to_the_end_of_the_block(x, y):
    @cg.kernel
    def in_a_block(x: ndarray(f64, 1), y: ndarray(f64, 0), flag: i32):
        for i in x:
            y[()] += x[i]
            if flag != 0:
                y[()] += 10.0 * x[i]
                cg.stop_grad(x)
                y[()] += 100.0 * x[i]
                for j in range(3):
                    y[()] += 1000.0 * x[j]
            y[()] += 10000.0 * x[i]

    np.testing.assert_allclose(gradient(in_a_block, x, y, 1), 10011)
    assert y[()] == pytest.approx(np.sum(START) * 13111)
    np.testing.assert_allclose(gradient(in_a_block, x, y, 0), 10001)


@cg.func
def twice(a, i):
    return 2.0 * a[i]


@cg.func
def twice_stopped(a, i):
    cg.stop_grad(a)
    return 2.0 * a[i]


def test_functions_that_are_called_in_such_a_block_read_constants_and_stop_nothing_for_their_callers(x, y):
    @cg.kernel
    def calls(x: ndarray(f64, 1), y: ndarray(f64, 0)):
        for i in x:
            y[()] += twice_stopped(x, i) + twice(x, i)
            for _ in range(1):
                cg.stop_grad(x)
                y[()] += twice(x, i)

    np.testing.assert_allclose(gradient(calls, x, y), 2)
    assert y[()] == pytest.approx(6 * np.sum(START))


def test_stopping_one_array_leaves_others(x, y):
    weights = cg.field(f64, 3, needs_grad=True)
    weights.from_numpy(np.array([2.0, 3.0, 4.0]))

    @cg.kernel
    def product(x: ndarray(f64, 1), y: ndarray(f64, 0)):
        for i in x:
            cg.stop_grad(weights)
            y[()] += weights[i] * x[i]

    np.testing.assert_allclose(gradient(product, x, y), [2, 3, 4])
    np.testing.assert_array_equal(weights.grad.to_numpy(), 0)


def test_a_stopped_value_may_be_overwritten_later(x, y):
    """The gradient does not need it, so that in-place steps with it have one."""

    @cg.kernel
    def fixed_point(x: ndarray(f64, 1), y: ndarray(f64, 0)):
        for i in x:
            x[i] = x[i] + cg.stop_grad(cg.sin(x[i]))

    x.grad.fill(3)
    fixed_point.grad(x, y)
    np.testing.assert_allclose(x.grad.to_numpy(), 3)


def test_stop_grad_has_a_meaning_in_kernels_only():
    with pytest.raises(RuntimeError, match=r"cg\.stop_grad has a meaning in kernels only"):
        cg.stop_grad(1.0)
