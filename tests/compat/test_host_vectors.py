# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of vectors and matrices on the host: they compute with the numbers of Python, and compare by components."""

import json

import numpy as np
import pytest

import cuda_graphs.compat.quadrants as qd

V, W = qd.Vector([0.1, 0.2]), qd.Vector([1, 2**31 - 1])
WIDE = qd.Vector([1, 2**40])


def test_components_without_a_dtype_are_the_numbers_of_python():
    assert (V[0], (V + 0.2)[0], V.norm_sqr()) == (0.1, 0.1 + 0.2, 0.1**2 + 0.2**2)
    assert ((W + 1)[1], (W * 3)[1], qd.Matrix([[2**40]])[0, 0]) == (2**31, 3 * (2**31 - 1), 2**40)
    assert (V.to_numpy().dtype, W.to_numpy().dtype) == (np.float64, np.int64)
    assert qd.Vector([0.1, 0.2], dt=qd.f32).to_numpy().dtype == qd.math.vec2(1).to_numpy().dtype == np.float32


def test_components_in_kernels_have_the_types_of_literals():
    vector = qd.Vector([0.1, 0.2])

    @qd.kernel
    def first() -> qd.f64:
        return vector[0]

    @qd.kernel
    def sum_of_integers() -> qd.i64:
        return W[0] + W[1]

    @qd.kernel
    def large() -> qd.i64:
        return WIDE[1]

    @qd.kernel
    def of_argument(v: qd.types.vector(2, qd.f64)) -> qd.f64:
        return v[0]

    assert (first(), sum_of_integers()) == (np.float32(0.1), -(2**31))
    assert (large(), of_argument(vector)) == (2**40, 0.1)
    vector[0] = 0.3
    assert first() == np.float32(0.3)


@pytest.mark.parametrize("make", [qd.Vector.field, qd.Vector.ndarray], ids=["field", "array"])
def test_components_of_elements_are_numbers_of_python(make):
    x, count = make(2, qd.f32, shape=2), make(2, qd.i32, shape=1)
    x[0], count[0] = [0.1, 2], [2**31 - 1, 5]
    rounded = float(np.float32(0.1))
    assert json.dumps([x[0].x, x[0][1], count[0][0]]) == json.dumps([rounded, 2.0, 2**31 - 1])
    assert (x[0].norm_sqr(), (count[0] + 1).to_list()) == (rounded**2 + 4, [2**31, 6])
    x[1] = x[0] * 2
    assert x.to_numpy()[1].tolist() == [2 * rounded, 4]


def test_comparisons_compare_components():
    m = qd.Matrix([[1, 2], [3, 4]])
    assert (V == [0.1, 5]).to_list() == [True, False]
    assert (qd.Vector([0.1, 5]) != V).to_list() == (V > 0.15).to_list() == [False, True]
    assert (
        (m == m.transpose()).to_list() == (m == [[1, 3], [2, 4]]).to_list() == [[True, False], [False, True]]
    )
    assert ((m == 2).any(), all(V == V), 2 in W, 1 in W) == (True, True, False, True)


def test_equality_is_true_for_equal_vectors_and_inequality_for_others():
    assert V == [0.1, 0.2]
    assert not V == [0.1, 5]  # noqa: SIM201
    assert V != [0.1, 5]
    assert not V != [0.1, 0.2]  # noqa: SIM202
    assert {qd.Vector([1, 2]): 3}[qd.Vector([1, 2])] == 3
    assert V in [W, V]


def test_vectors_are_of_the_classes_of_their_dimensions():
    vector, matrix = V * 2, qd.Matrix([[1, 2]])
    assert [isinstance(each, qd.Vector) for each in (vector, matrix, 3, [1])] == [True, False, False, False]
    assert [isinstance(each, qd.Matrix) for each in (vector, matrix, 3, [1])] == [True, True, False, False]


def test_text_of_vectors_is_that_of_their_components():
    assert f"{qd.Vector([1.5, 2])} {[qd.Vector([1, 2])]}" == "[1.5 2. ] [[1 2]]"
    assert isinstance(V.entries, np.ndarray)


def test_only_numbers_make_vectors():
    for parts in ("ab", [None, 1], 3):
        with pytest.raises(TypeError, match="a vector or matrix is made of a list of numbers"):
            qd.Vector(parts)


def test_members_that_are_no_components_cannot_be_set():
    v = qd.Vector([1, 2])
    v.y, v.xy = 5, [3, 4]
    assert v.to_list() == [3, 4]
    with pytest.raises(AttributeError, match="2 components or rows has no member 'z' to set"):
        v.z = 3


def test_round_takes_vectors():
    assert qd.round(qd.Vector([1.5, 2.5, -0.4])).to_list() == [2, 2, 0]
    assert (qd.round(2.5), qd.math.round(3.7)) == (2, 4)

    @qd.kernel
    def rounded(v: qd.math.vec2) -> qd.math.vec2:
        return qd.round(v)

    assert rounded([1.6, -2.3]).to_list() == [2, -2]


def test_numbers_of_the_host_have_the_wider_type():
    found = [qd.max(1, 2.0), qd.max(3, 2.0), qd.min(1, 2), qd.max(1, 5, 2.5), qd.min(True, False)]
    assert [(each, type(each)) for each in found] == [
        (2.0, float), (3.0, float), (1, int), (5.0, float), (False, bool)
    ]  # fmt: skip
    assert qd.max(qd.Vector([1, 5]), 2, qd.Vector([3, 0])).to_list() == [3, 5]


@pytest.mark.parametrize("value", [3, 2.5])
def test_diagonals_keep_the_type_of_their_number(value):
    found = qd.Matrix.diag(2, value).to_list()
    assert found == [[value, 0], [0, value]] and type(found[0][0]) is type(value)


def test_determinants_and_inverses_are_exact_where_their_numbers_are():
    m = qd.Matrix([[1, 2], [3, 4]])
    assert (m.determinant(), m.inverse().to_list()) == (-2, [[-2, 1], [1.5, -0.5]])
    assert qd.Matrix([[4.0]]).inverse().to_list() == [[0.25]]
    assert qd.Matrix([[1, 2], [2, 4]]).inverse().to_list() == [[np.inf, -np.inf], [-np.inf, np.inf]]
    assert qd.math.mat2([[1, 2], [3, 4]]).inverse().to_numpy().dtype == np.float32
    with pytest.raises(
        ValueError, match=r"a square matrix has a determinant and an inverse, not one of shape \(1, 2\)"
    ):
        qd.Matrix([[1, 2]]).determinant()


@pytest.mark.parametrize("n", [3, 4, 12])
def test_inverses_agree_with_numpy(n):
    numbers = np.random.default_rng(n).uniform(-1, 1, (n, n))
    m = qd.Matrix(numbers)
    assert np.allclose(m.inverse(), np.linalg.inv(numbers), rtol=1e-10)
    assert m.determinant() == pytest.approx(np.linalg.det(numbers), rel=1e-12)
