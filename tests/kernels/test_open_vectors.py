# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of vectors without a type: functions keep their components, and everywhere else they are default floats."""

from typing import Any

import numpy as np
import pytest

import cuda_graphs as cg

open3: Any = cg.types.vec(3, None)
THIRD = 1.0 / 3.0


@cg.func
def doubled(v: open3) -> open3:
    return v + v


@cg.kernel
def double_all(x: cg.Array1[cg.types.vec(3, cg.f64)], n: cg.Array1[cg.types.vec(3, cg.i64)]) -> None:
    for i in x:
        x[i], n[i] = doubled(x[i]), doubled(n[i])


def test_functions_keep_the_components():
    x, n = (
        cg.array([[THIRD] * 3], cg.types.vec(3, cg.f64)),
        cg.array([[2**40 + 1] * 3], cg.types.vec(3, cg.i64)),
    )
    double_all(x, n)
    assert x[0].tolist() == [2 * THIRD] * 3
    assert n[0].tolist() == [2**41 + 2] * 3


def test_functions_refuse_another_shape():
    @cg.kernel
    def run(x: cg.Array1[cg.vec2]) -> None:
        x[0] = doubled(x[0])

    with pytest.raises(cg.CompileError, match="shape"):
        run(cg.zeros(1, cg.vec2))


@pytest.mark.parametrize(("default", "bits"), [(cg.f32, np.float32), (cg.f64, np.float64)])
def test_parameters_variables_and_values_are_default_floats(default, bits):
    @cg.kernel(default_float=default)
    def run(v: open3, out: cg.Array1[cg.f64]) -> None:
        w: open3 = 2 * v
        out[0], out[1], out[2] = v[0], w[0], open3(1.0 / 3.0)[1]

    out = cg.zeros(3, cg.f64)
    run((THIRD, 0, 0), out)
    third = bits(1) / bits(3)
    assert out.to_numpy().tolist() == [third, 2 * third, third]


def test_elements_are_f32():
    assert cg.zeros(2, open3).dtype is cg.f32
    assert (cg.types.mat(2, 3, None).shape, repr(open3[cg.i32])) == ((2, 3), "vec(3, i32)")
