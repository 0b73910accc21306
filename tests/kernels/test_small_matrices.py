# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: operations on small vectors and matrices round as their formulas in NumPy, and keep the type of floats."""

from functools import reduce

import numpy as np
import pytest

import cuda_graphs as cg

COUNT = 500
SIZES = [1, 2, 3, 4]
FLOATS = [cg.f16, cg.f32, cg.f64]


def cofactors(m, i, j):
    """Return the cofactors of an element of matrices (count, n, n), with the rows and columns around it in order."""
    last = m.shape[1] - 1
    minors = np.roll(m, (-1 - i, -1 - j), axis=(1, 2))[:, :last, :last]
    return -det(minors) if last % 2 and (i + j) % 2 else det(minors)


def det(m):
    """Return the determinants of matrices (count, n, n), by expansion along the first column."""
    if m.shape[1] == 1:
        return m[:, 0, 0]
    return reduce(np.add, [m[:, i, 0] * cofactors(m, i, 0) for i in range(m.shape[1])])


def computed(m, vectors, scalar):
    """Return the inverses (count, n, n), and the determinant, 1 / norm and the normalised vector (count, 5)."""
    n = m.shape[1]
    matrix, vector = cg.mat(n, n, scalar), cg.vec(3, scalar)

    @cg.kernel
    def compute(
        x: cg.Array1[matrix],
        y: cg.Array1[vector],
        inverses: cg.Array1[matrix],
        numbers: cg.Array2[scalar],
    ):
        for i in x:
            inverses[i] = x[i].inverse()
            numbers[i, 0] = x[i].determinant()
            numbers[i, 1] = y[i].norm_inv()
            normal = y[i].normalized()
            for j in cg.static(range(3)):
                numbers[i, 2 + j] = normal[j]

    inverses, numbers = cg.zeros(len(m), dtype=matrix), cg.zeros((len(m), 5), dtype=scalar)
    compute(cg.array(m, dtype=matrix), cg.array(vectors, dtype=vector), inverses, numbers)
    return inverses.to_numpy(), numbers.to_numpy()


@pytest.mark.parametrize("scalar", FLOATS, ids=str)
@pytest.mark.parametrize("n", SIZES)
def test_bits_are_those_of_the_formulas(n, scalar):
    rng = np.random.default_rng(11)
    m = rng.standard_normal((COUNT, n, n)).astype(scalar.dtype)
    vectors = rng.standard_normal((COUNT, 3)).astype(scalar.dtype)
    inverses, numbers = computed(m, vectors, scalar)
    x, y, z = vectors.T
    places = range(n)
    with np.errstate(all="ignore"):  # some determinants of f16 are 0
        factor, reciprocal = 1 / det(m), 1 / np.sqrt(x * x + y * y + z * z)
        wanted = [[factor * cofactors(m, j, i) for j in places] for i in places] if n > 1 else [[factor]]
    np.testing.assert_array_equal(inverses, np.moveaxis(np.array(wanted), -1, 0))
    np.testing.assert_array_equal(numbers[:, 0], det(m))
    np.testing.assert_array_equal(numbers[:, 1], reciprocal)
    np.testing.assert_array_equal(numbers[:, 2:], reciprocal[:, None] * vectors)


@pytest.mark.parametrize("scalar", FLOATS, ids=str)
@pytest.mark.parametrize("n", SIZES)
def test_values_on_the_host_have_the_bits_of_kernels(n, scalar):
    m = np.random.default_rng(13).standard_normal((COUNT, n, n)).astype(scalar.dtype)
    m[0] = 0  # singular
    inverses, numbers = computed(m, np.ones((COUNT, 3)), scalar)
    on_host = [cg.mat(n, n, scalar)(each) for each in m]
    np.testing.assert_array_equal([each.inverse() for each in on_host], inverses)
    np.testing.assert_array_equal([each.determinant() for each in on_host], numbers[:, 0])
    assert all(type(each.determinant()) is type(m[0, 0, 0]) for each in on_host)


def test_larger_matrices_have_inverses_on_the_host():
    numbers = np.random.default_rng(14).uniform(-1, 1, (12, 12))
    m = cg.mat(12, 12, cg.f64)(numbers)
    assert np.allclose(m.inverse(), np.linalg.inv(numbers), rtol=1e-10)
    assert m.determinant() == pytest.approx(np.linalg.det(numbers), rel=1e-12)
    with pytest.raises(np.linalg.LinAlgError, match=r"[Ss]ingular"):
        cg.mat(12, 12, cg.f64)(1).inverse()


def test_matrices_with_an_inverse_are_square():
    for method in (cg.mat(2, 3, cg.f32)(1).determinant, cg.vec3(1).inverse):
        with pytest.raises(
            ValueError, match="a square matrix has a determinant and an inverse, not one of shape"
        ):
            method()


@pytest.mark.parametrize("n", SIZES)
def test_inverses_and_determinants_are_those_of_numpy(n):
    m = np.random.default_rng(12).standard_normal((COUNT, n, n)) + 3 * np.eye(n)
    inverses, numbers = computed(m, np.ones((COUNT, 3)), cg.f64)
    np.testing.assert_allclose(numbers[:, 0], np.linalg.det(m), rtol=1e-9, atol=1e-12)
    truth = np.linalg.inv(m)
    size = np.abs(truth).max((1, 2), keepdims=True) ** 2  # the condition of the matrices is of this size
    assert (np.abs(inverses - truth) < 1e-13 * size.clip(1)).all()


def test_inverses_of_integers_are_real():
    @cg.kernel
    def invert(m: cg.mat(2, 2, cg.i32), out: cg.Array1[cg.f32]):
        out[0] = m.inverse()[0, 1]
        out[1] = m.determinant()

    out = cg.zeros(2)
    invert([[2, 1], [0, 2]], out)
    assert out.to_numpy().tolist() == [-0.25, 4]
