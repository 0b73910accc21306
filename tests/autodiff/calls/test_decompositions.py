# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: gradients of decompositions and quaternions are central differences; where they are not unique, they are 0."""

import numpy as np
import pytest

import cuda_graphs as cg
from tests.autodiff.calls.sources import kernel_of

# Sums of functions of the results, which do not depend on the signs of vectors.
MATRICES = {
    "svd": "u, s, v = cg.svd(m)\n        t = u[0, 1] * v[1, 1] + u[1, 0] * u[0, 0] * s[0, 0] + s[1, 1] * s[1, 1]",
    "sym_eig": "w, v = cg.sym_eig(m)\n        t = w[0] + w[1] * w[1] + v[0, 1] * v[0, 1] * w[0] + v[1, 0] * v[0, 0]",
    "qr": "q, r = cg.qr(m)\n        t = q[0, 1] * 3.0 + q[1, 0] * q[0, 0] + r[0, 1] * 2.0 + r[1, 1] * r[0, 0]",
    "polar": "r, p = cg.polar_decompose(m)\n        t = r[0, 1] * 3.0 + r[1, 0] * p[0, 0] + p[0, 1] * 2.0 + p[1, 1]",
    "solve": "s, b = cg.solve(m, m[0] * m[1]), cg.solve(m, m @ m @ m)\n        t = s[0] * s[1] + b[1, 0] * b[0, 1]",
    "eig": "w, v = cg.eig(m)\n        t = w[0, 0] * 2.0 + w[1, 0] * w[1, 1] + v[0, 0] * v[1, 1] + v[2, 1] * v[0, 0]",
}
CASES = [(name, n) for name in MATRICES for n in (2, 3)]
QUATERNIONS = """
def kernel(x: ndarray(cg.types.vec(4, f64), 1), y: ndarray(f64, 0)):
    for i in x:
        a, b = x[i].normalized(), x[(i + 1) % x.shape[0]].normalized()
        c = cg.quat_from_matrix(cg.quat_to_matrix(a))
        s = cg.quat_slerp(a, b, 0.3)
        r = cg.quat_mul(c, cg.quat_inverse(s * 2.0))
        p = cg.quat_rotate(r, cg.quat_conjugate(a).xyz)
        d = cg.quat_from_axis_angle(p.normalized(), b.w)
        y[()] += p.x + p.y * s.w + c.x * r.y * d.z
"""


def array(element, values):
    found = cg.ndarray(element, (len(values),), needs_grad=True)
    found.from_numpy(values)
    return found


def kernel_for(name, n):
    return kernel_of(
        "def kernel(x: ndarray(M, 1), y: ndarray(f64, 0)):\n    for i in x:\n        m = x[i]\n"
        f"        {MATRICES[name]}\n"
        "        y[()] += t\n",
        M=cg.types.mat(n, n, cg.f64),
    )


@pytest.mark.parametrize(("name", "n"), CASES)
def test_gradients_of_decompositions_are_central_differences(name, n):
    x = array(cg.types.mat(n, n, cg.f64), np.random.default_rng(20).standard_normal((5, n, n)))
    y = cg.ndarray(cg.f64, (), needs_grad=True)
    with cg.ad.Tape(loss=y, grad_check=[x]):
        kernel_for(name, n)(x, y)
    assert (np.abs(x.grad.to_numpy()) > 0).any(axis=(1, 2)).all()


def test_gradients_of_quaternions_are_central_differences():
    x = array(cg.types.vec(4, cg.f64), np.random.default_rng(20).standard_normal((6, 4)))
    y = cg.ndarray(cg.f64, (), needs_grad=True)
    with cg.ad.Tape(loss=y, grad_check=[x]):
        kernel_of(QUATERNIONS)(x, y)
    assert (x.grad.to_numpy() != 0).all()


@pytest.mark.parametrize("name", ["svd", "sym_eig", "polar", "eig"])
def test_gradients_at_equal_values_are_finite(name):
    """As at the start of a simulation, where deformations are identities."""
    x = array(cg.types.mat(3, 3, cg.f64), np.array([np.eye(3), np.zeros((3, 3)), np.diag([2.0, 2.0, 1.0])]))
    y = cg.ndarray(cg.f64, (), needs_grad=True)
    with cg.ad.Tape(loss=y):
        kernel_for(name, 3)(x, y)
    assert np.isfinite(x.grad.to_numpy()).all()


def test_the_rotation_of_an_identity_has_its_gradient():
    """Law: at equal singular values, the polar decomposition is smooth."""
    x = array(cg.types.mat(3, 3, cg.f64), np.eye(3)[None])
    y = cg.ndarray(cg.f64, (), needs_grad=True)
    with cg.ad.Tape(loss=y, grad_check=[x]):
        kernel_for("polar", 3)(x, y)


@cg.kernel
def halves(x: cg.types.ndarray(cg.f64, 1), y: cg.types.ndarray(cg.f64, 0)):
    for i in x:
        y[()] += cg.replace_grad(cg.floor(x[i]), 0.5 * x[i] * x[i])


def test_replace_grad_has_the_derivative_of_its_source():
    x, y = array(cg.f64, np.array([1.5, 2.25])), cg.ndarray(cg.f64, (), needs_grad=True)
    with cg.ad.Tape(loss=y):
        halves(x, y)
    assert (y.to_numpy(), x.grad.to_numpy().tolist()) == (3.0, [1.5, 2.25])
    dual = cg.ndarray(cg.f64, 2, needs_dual=True), cg.ndarray(cg.f64, (), needs_dual=True)
    dual[0].from_numpy(np.array([1.5, 2.25]))
    with cg.ad.FwdMode(loss=dual[1], param=dual[0], seed=[1.0, 10.0]):
        halves(*dual)
    assert dual[1].dual.to_numpy() == 24.0
