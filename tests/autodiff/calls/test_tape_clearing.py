# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Gradients that a `cg.ad.Tape` clears before it goes back."""

import numpy as np
import pytest

import cuda_graphs as cg
from tests.autodiff.calls.gradient_kernels import START

f64 = cg.f64


def quadruple_of_closure(x, total):
    @cg.kernel
    def quadruple():
        for i in x:
            total[()] += x[i] * 4

    return quadruple


def quadruple_of_captured_object(x, total):
    class Pair:
        def __init__(self):
            self.x, self.total = x, total

    pair = Pair()

    @cg.kernel
    def quadruple():
        for i in pair.x:
            pair.total[()] += pair.x[i] * 4

    return quadruple


def quadruple_of_self(x, total):
    @cg.data_oriented
    class Pair:
        def __init__(self):
            self.x, self.total = x, total

        @cg.kernel
        def quadruple(self):
            for i in self.x:
                self.total[()] += self.x[i] * 4

    return Pair().quadruple


def quadruple_of_templates(x, total):
    @cg.kernel
    def quadruple(x: cg.template, total: cg.template):
        for i in x:
            total[()] += x[i] * 4

    return lambda: quadruple(x, total)


def quadruple_of_template_object(x, total):
    @cg.kernel
    def quadruple(pair: cg.template):
        for i in pair["x"]:
            pair["total"][()] += pair["x"][i] * 4

    pair = {"x": x, "total": total}
    return lambda: quadruple(pair)


def quadruple_of_arguments(x, total):
    @cg.kernel
    def quadruple(x: cg.types.Tensor, total: cg.types.Tensor):
        for i in x:
            total[()] += x[i] * 4

    return lambda: quadruple(x, total)


def quadruple_of_method_with_its_own_gradient(x, total):
    inner = quadruple_of_arguments(x, total)

    class Pair:
        @cg.ad.grad_replaced
        def quadruple(self):
            inner()

        @cg.ad.grad_for(quadruple)
        def quadruple_back(self):
            for i in range(3):
                x.grad[i] += 4 * total.grad[()]

    return Pair().quadruple


WITH_ARRAYS = [quadruple_of_self, quadruple_of_arguments, quadruple_of_method_with_its_own_gradient]
WITH_FIELDS_ONLY = [
    quadruple_of_closure,
    quadruple_of_captured_object,
    quadruple_of_templates,
    quadruple_of_template_object,
]


@pytest.mark.parametrize(
    ("make", "kind"),
    [(make, cg.field) for make in WITH_FIELDS_ONLY + WITH_ARRAYS]
    + [(make, cg.ndarray) for make in WITH_ARRAYS],
)
def test_each_tape_gives_the_gradient_of_its_own_block(make, kind):
    """The gradient reads no element of `x`: it only writes `x.grad`."""
    x, total = kind(f64, 3, needs_grad=True), kind(f64, (), needs_grad=True)
    x.from_numpy(START)
    quadruple = make(x, total)
    for _ in range(3):
        with cg.ad.Tape(loss=total):
            quadruple()
        np.testing.assert_array_equal(x.grad.to_numpy(), 4)
        assert total[()] == pytest.approx(4 * np.sum(START))


def test_a_tape_clears_the_gradient_of_a_field_that_is_only_compared():
    x, limit, total = (cg.field(f64, n, needs_grad=True) for n in (3, 3, ()))
    x.from_numpy(START)

    @cg.kernel
    def cut():
        for i in x:
            if x[i] > limit[i]:
                total[()] += x[i]

    limit.grad.fill(7)
    with cg.ad.Tape(loss=total):
        cut()
    np.testing.assert_array_equal(limit.grad.to_numpy(), 0)
    np.testing.assert_array_equal(x.grad.to_numpy(), START > 0)


def test_a_tape_keeps_the_gradients_of_calls_through_which_nothing_flows():
    x, y, constant, total = (cg.field(f64, n, needs_grad=True) for n in (3, 3, (), ()))
    quadruple, watched = quadruple_of_closure(x, total), quadruple_of_closure(y, constant)
    y.grad.fill(7)
    with cg.ad.Tape(loss=total):
        cg.ad.no_grad(lambda: watched())()
        quadruple()
    np.testing.assert_array_equal(y.grad.to_numpy(), 7)
    np.testing.assert_array_equal(x.grad.to_numpy(), 4)
