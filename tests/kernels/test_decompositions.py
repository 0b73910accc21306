# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: decompositions have the accuracy of NumPy's, for all matrices."""

import numpy as np
import pytest

import cuda_graphs as cg

UNITS = 16  # of the type's precision, relative to the largest singular value: the bound in docs/language.md
CASES = [(n, scalar) for n in (2, 3) for scalar in (cg.f32, cg.f64)]


def hard_matrices(n, dtype):
    """Random ones, and such as break algorithms: graded, zero, repeated values, rank 1, huge and tiny numbers."""
    rng = np.random.default_rng(20)
    kinds = [
        rng.standard_normal((2000, n, n)),
        rng.standard_normal((2000, n, n)) * 10.0 ** rng.integers(-6, 6, (2000, n, n)),
        rng.integers(-2, 3, (2000, n, n)),
        rng.standard_normal((500, n, 1)) * rng.standard_normal((500, 1, n)),
        rng.standard_normal((500, n, n)) * 1e15,
        rng.standard_normal((500, n, n)) * 1e-15,
        np.eye(n) + 1e-6 * rng.standard_normal((500, n, n)),
        [np.zeros((n, n)), np.eye(n), -np.eye(n), np.eye(n)[::-1], np.ones((n, n))],
    ]
    return np.concatenate(kinds).astype(dtype)


def powers(rng, span, *shape):
    """Powers of 10 from 10**-span to 10**span."""
    return 10.0 ** rng.integers(-span, span + 1, shape)


def graded_matrices(n, dtype):
    """Random ones whose numbers differ by up to 36 orders of magnitude in f32, and by 340 in f64."""
    rng = np.random.default_rng(21)
    many, span = 10000, 18 if dtype == np.float32 else 170
    normal, signs = rng.standard_normal((many, n, n)), rng.integers(-1, 2, (many, n, n))
    kinds = [
        normal * powers(rng, 6, many, n, n),
        normal * powers(rng, span, many, n, n),
        normal * powers(rng, span // 2, many, n, 1) * powers(rng, span // 2, many, 1, n),
        signs * powers(rng, span, many, n, n),
        signs * powers(rng, 3, many, n, n),
        np.triu(normal * powers(rng, span, many, n, n)) + 10.0**-span * np.eye(n, k=-1),
        np.eye(n) + signs * powers(rng, 8, many, n, n) * powers(rng, 8, many, 1, 1) * 1e-16,
    ]
    return np.concatenate(kinds).astype(dtype)


# Matrices for which cg.eig gave NaN or wrong vectors, and one that took the most steps.
FOUND = {
    "small block in f32": [
        [3.2057457e-07, -1.5709511e-04, 2.3557598e-07],
        [-1.5554415e04, -7.1725979e00, -3.1176432e-07],
        [7.2007679e-05, -1.9147659e05, 3.3434901e-01],
    ],
    "zero diagonal": [[0, 1e11, -1], [-1e11, 0, 0], [0, 1e-12, 0]],
    "small rows first": [
        [9.3756505e-08, -8.3444511e-06, 7.0705752e00],
        [2.1237596e-03, -1.0484988e-05, 4.3963201e-02],
        [3.1581163e-01, 1.2777752e00, 1.3404006e04],
    ],
    "large corner": [
        [6.7678763e-04, 5.4966067e-03, 3.2575321e-05],
        [-7.0822975e-03, -3.5404535e-03, 1.3860053e-01],
        [-3.1183590e-03, 1.3356845e-05, 1.4792158e05],
    ],
    "equal diagonal": [[-1e3, 0.1, 1], [1e-3, -1e3, 0], [0, -1e-2, -1e3]],
    "slow convergence": [[1 + 1e-15, 1e-8, 1], [1e-8, 1 + 1e-15, -1], [1, 1 + 1e-15, -1]],
    "small diagonal": [[1e-21, 1], [0, -1e-21]],
    "huge numbers": [[2e19, -1e20], [3e19, 1e19]],
}


def found_matrices(n, dtype):
    return np.array([each for each in FOUND.values() if len(each) == n], dtype)


class Rig:
    """The arrays of one case. Results are compared in f64."""

    def __init__(self, n, scalar, matrices=hard_matrices):
        self.n, self.matrix, self.vector = n, cg.types.mat(n, n, scalar), cg.types.vec(n, scalar)
        self.eps = np.finfo(scalar.dtype).eps
        self.x = matrices(n, np.dtype(scalar.dtype))
        self.exact = self.x.astype("f8")
        size = np.linalg.norm(self.exact, 2, axis=(1, 2))
        self.size = np.where(size == 0, 1, size)

    def array(self, element, values=None):
        found = cg.ndarray(element, (len(self.x),))
        if values is not None:
            found.from_numpy(values)
        return found

    def run(self, body, *types):
        """The results, in f64, of a function that decomposes one matrix."""
        results = [self.array(each) for each in types]
        body(self.array(self.matrix, self.x), *results)
        return [each.to_numpy().astype("f8") for each in results]

    def close(self, found, wanted, units=UNITS):
        error = np.abs(found - wanted).reshape(len(found), -1).max(1) / self.size
        assert error.max() <= units * self.eps, (error.max() / self.eps, self.x[error.argmax()])

    def rotations(self, found):
        both = found @ transposed(found)
        np.testing.assert_allclose(both, np.broadcast_to(np.eye(self.n), both.shape), atol=UNITS * self.eps)
        np.testing.assert_allclose(np.linalg.det(found), 1, atol=UNITS * self.eps)


def kernel_of(kernel):
    """The kernel with annotations of arrays of any type."""
    array = cg.types.ndarray(ndim=1)
    kernel.__annotations__ = dict.fromkeys(kernel.__code__.co_varnames[: kernel.__code__.co_argcount], array)
    return cg.kernel(kernel)


@kernel_of
def svd(x, u, s, v):
    for i in x:
        u[i], s[i], v[i] = cg.svd(x[i])


@kernel_of
def sym_eig(x, w, v):
    for i in x:
        w[i], v[i] = cg.sym_eig(x[i])


@kernel_of
def qr(x, q, r):
    for i in x:
        q[i], r[i] = cg.qr(x[i])


@kernel_of
def polar(x, r, p):
    for i in x:
        r[i], p[i] = cg.polar_decompose(x[i])


@kernel_of
def inverses(x, y, z):
    for i in x:
        y[i] = cg.solve(x[i], x[0])
        z[i] = cg.solve(x[i], x[0][0])


@kernel_of
def eig(x, w, v):
    for i in x:
        w[i], v[i] = cg.eig(x[i])


def transposed(m):
    return m.transpose(0, 2, 1)


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0]} {case[1]}")
def rig(request):
    return Rig(*request.param)


def test_singular_values_are_those_of_numpy_and_vectors_are_rotations(rig):
    u, s, v = rig.run(svd, rig.matrix, rig.matrix, rig.matrix)
    rig.close(u @ s @ transposed(v), rig.exact)
    rig.rotations(u)
    rig.rotations(v)
    diagonal = np.einsum("nii->ni", s)
    assert (s == diagonal[:, None] * np.eye(rig.n)).all()
    rig.close(np.abs(diagonal), np.linalg.svd(rig.exact)[1])
    assert (diagonal[:, :-1] >= 0).all()


def test_eigenvalues_of_symmetric_matrices_are_those_of_numpy(rig):
    w, v = rig.run(sym_eig, rig.vector, rig.matrix)
    symmetric = (rig.exact + transposed(rig.exact)) / 2
    rig.close(v * w[:, None, :] @ transposed(v), symmetric)
    rig.rotations(v)
    rig.close(w, np.linalg.eigvalsh(symmetric))
    assert (np.diff(w) >= 0).all()


def test_qr_is_a_rotation_and_an_upper_triangle(rig):
    q, r = rig.run(qr, rig.matrix, rig.matrix)
    rig.close(q @ r, rig.exact)
    rig.rotations(q)
    assert (r == np.triu(r)).all() and (np.einsum("nii->ni", r)[:, :-1] >= 0).all()


def test_polar_decomposition_is_a_rotation_and_a_symmetric_matrix(rig):
    r, p = rig.run(polar, rig.matrix, rig.matrix)
    rig.close(r @ p, rig.exact)
    rig.rotations(r)
    assert (p == transposed(p)).all()
    direct = np.linalg.det(rig.exact) > 1e-3 * rig.size**rig.n  # others have other signs or many results
    s, v = np.linalg.svd(rig.exact[direct])[1:]
    size = rig.size[direct, None, None]
    np.testing.assert_allclose(
        p[direct] / size, transposed(v) * s[:, None, :] @ v / size, atol=UNITS * rig.eps
    )


def test_solutions_are_those_of_numpy(rig):
    x, z = rig.run(inverses, rig.matrix, rig.vector)
    regular = np.linalg.cond(rig.exact) < 100
    assert regular.sum() > 1000
    wanted = np.linalg.solve(rig.exact[regular], rig.exact[:1])
    size = np.abs(wanted).max(axis=(1, 2))
    assert (np.abs(x[regular] - wanted).max(axis=(1, 2)) <= 100 * UNITS * rig.eps * size).all()
    right = np.broadcast_to(rig.exact[0, 0], (regular.sum(), rig.n))
    wanted = np.linalg.solve(rig.exact[regular], right[..., None])
    size = np.abs(wanted).max(axis=(1, 2))
    assert (np.abs(z[regular] - wanted[..., 0]).max(axis=1) <= 100 * UNITS * rig.eps * size).all()


@pytest.mark.parametrize("matrices", [hard_matrices, graded_matrices, found_matrices])
@pytest.mark.parametrize(("n", "scalar"), CASES)
def test_general_eigenvectors_satisfy_their_equation(n, scalar, matrices):
    rig = Rig(n, scalar, matrices)
    w, v = rig.run(eig, cg.types.mat(n, 2, scalar), cg.types.mat(2 * n, n, scalar))
    values = w[..., 0] + 1j * w[..., 1]
    vectors = v[:, 0::2, :] + 1j * v[:, 1::2, :]
    units = UNITS if n == 2 else 64  # the bounds in docs/language.md
    rig.close(rig.exact @ vectors, values[:, None, :] * vectors, units)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=UNITS * rig.eps)
    rig.close(values.sum(1), np.einsum("nii->n", rig.exact), units)


def test_general_eigenvectors_of_equal_values_are_independent():
    rig = Rig(3, cg.f64)
    rig.x = rig.exact = np.array([np.eye(3), np.diag([2.0, 1, 2]), np.zeros((3, 3)), np.eye(3)[[1, 2, 0]]])
    w, v = rig.run(eig, cg.types.mat(3, 2, cg.f64), cg.types.mat(6, 3, cg.f64))
    assert (np.abs(np.linalg.det(v[:, 0::2, :] + 1j * v[:, 1::2, :])) > 0.9).all()
    cubic = np.sort_complex(w[3, :, 0] + 1j * w[3, :, 1])  # of a permutation, a cycle of the plain shifts
    np.testing.assert_allclose(cubic, np.sort_complex(np.roots([1, 0, 0, -1])), atol=1e-14)


def test_numbers_that_are_not_finite_end():
    rig = Rig(3, cg.f32)
    rig.x[0, 0, 0], rig.x[1, 1, 2] = np.nan, np.inf
    s = rig.run(svd, rig.matrix, rig.matrix, rig.matrix)[1]
    assert np.isnan(s[0]).any() and not np.isfinite(s[1]).all()
    w = rig.run(sym_eig, rig.vector, rig.matrix)[0]
    assert np.isnan(w[0]).any() and not np.isfinite(w[1]).all()
