# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: `max_iterations` ends a loop between tasks, for each lowering of loops."""

import numpy as np
import pytest

import cuda_graphs as cg
from tests.kernels.graph_kernels import array, f32_1d, i32_0d, i32_1d

MOST = 5


def flag(value):
    return array(value, cg.i32)


@pytest.mark.parametrize("wanted", [1, 4, 5, 6, 100])
def test_a_loop_ends_at_its_test_or_at_its_limit(lowering, wanted):
    @cg.kernel(graph=True, loop=lowering)
    def do_loop(x: i32_1d, left: i32_0d):
        while cg.graph_do_while(left, max_iterations=MOST):
            for i in x:
                x[i] += 1
            left[()] -= 1

    @cg.kernel(graph=True, loop=lowering)
    def while_loop(x: i32_1d, left: i32_0d):
        while cg.graph_while(left[()] > 0, max_iterations=5):
            for i in x:
                x[i] += 1
            left[()] -= 1

    for kernel in (do_loop, while_loop):
        x, left = array([0] * 40, cg.i32), flag(wanted)
        for calls in (1, 2):  # the count begins again
            left.fill(wanted)
            kernel(x, left)
            np.testing.assert_array_equal(x.to_numpy(), [calls * min(wanted, MOST)] * 40)
            assert left[()] == max(wanted - MOST, 0)


def test_an_inner_loop_counts_anew_in_each_outer_iteration(lowering):
    @cg.kernel(graph=True, loop=lowering)
    def nested(x: i32_1d, outer: i32_0d, inner: i32_0d):
        while cg.graph_while(outer[()] > 0, max_iterations=4):
            outer[()] -= 1
            while cg.graph_do_while(inner, max_iterations=3):
                for i in x:
                    x[i] += 1

    x = array([0] * 3, cg.i32)
    nested(x, flag(2), flag(1))
    assert x.to_numpy().tolist() == [6] * 3
    nested(x, flag(9), flag(1))
    assert x.to_numpy().tolist() == [6 + 12] * 3


@pytest.mark.parametrize("limit", ["0", "n", "2.0", "True"])
def test_a_limit_is_a_positive_integer_constant(limit):
    kernel = cg.kernel(with_limit(limit), graph=True)
    with pytest.raises(cg.CompileTypeError, match="max_iterations is ") as found:
        kernel.compile(array([0.0] * 3), flag(1), 3)
    assert "integer constant of at least 1" in found.value.remedy


def with_limit(limit):
    def limited(x: f32_1d, go: i32_0d, n: cg.i32):
        while cg.graph_while(go[()] > 0, max_iterations=0):
            for i in x:
                x[i] += 1.0

    def by_argument(x: f32_1d, go: i32_0d, n: cg.i32):
        while cg.graph_while(go[()] > 0, max_iterations=n):
            for i in x:
                x[i] += 1.0

    def by_float(x: f32_1d, go: i32_0d, n: cg.i32):
        while cg.graph_while(go[()] > 0, max_iterations=2.0):
            for i in x:
                x[i] += 1.0

    def by_flag(x: f32_1d, go: i32_0d, n: cg.i32):
        while cg.graph_while(go[()] > 0, max_iterations=True):
            for i in x:
                x[i] += 1.0

    return {"0": limited, "n": by_argument, "2.0": by_float, "True": by_flag}[limit]


def test_branches_have_no_limit():
    @cg.kernel(graph=True)
    def once(x: f32_1d, go: i32_0d):
        if cg.graph_if(go[()] > 0, max_iterations=3):
            for i in x:
                x[i] += 1.0

    with pytest.raises(cg.CompileTypeError, match="graph_if takes one argument"):
        once.compile(array([0.0] * 3), flag(1))
