# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Operations in loops whose trip count is known when the kernel runs. The operand, not a carried variable, changes in
each iteration. These are category 1 and the groups "basics" and "if" of test_defects.py. The expected values
are formulas in NumPy."""

from types import SimpleNamespace

import numpy as np
import pytest

from tests.autodiff.compiler.gradient_rig import check, floats, gradients, zeros
from tests.compiler.rig import Grad, cg, function_of

f32, f64, i32 = cg.f32, cg.f64, cg.i32
ndarray = cg.types.ndarray
ONE = {"y": 1.0}

# Operation: (step and offset of its operand, its derivative)
WIDE, NARROW = (0.3, -0.4), (0.05, 0.0)
UNARY = {
    "sin": (WIDE, np.cos),
    "cos": (WIDE, lambda v: -np.sin(v)),
    "abs": (WIDE, np.sign),
    "tanh": (WIDE, lambda v: 1 - np.tanh(v) ** 2),
    "exp": (WIDE, np.exp),
    "tan": (NARROW, lambda v: 1 + np.tan(v) ** 2),
    "log": (NARROW, lambda v: 1 / v),
    "sqrt": (NARROW, lambda v: 0.5 / np.sqrt(v)),
    "rsqrt": (NARROW, lambda v: -0.5 * v**-1.5),
    "asin": (NARROW, lambda v: 1 / np.sqrt(1 - v * v)),
    "acos": (NARROW, lambda v: -1 / np.sqrt(1 - v * v)),
}
STARTS = (0.001, 0.15, 0.26, 0.399)
TRIPS = np.array([1, 3, 10], np.int32)

LOOPS = (
    "def unary(x: ndarray(T, 2), n: ndarray(i32, 1), y: ndarray(T, 0)):\n    for i in range(x.shape[1]):\n"
)
LOOPS += "".join(
    f"        a{k} = T(0.0)\n        for j in range(n[i]):\n            a{k} += {'' if op == 'abs' else 'cg.'}{op}"
    f"(x[{k}, i] + T(j) * {s} + {o})\n        y[()] += a{k}\n"
    for k, (op, ((s, o), _)) in enumerate(UNARY.items())
)


@pytest.mark.parametrize("type", [f32, f64], ids=str)
def test_01_operations_of_what_each_iteration_has(type):
    start, n = np.tile(STARTS, 3), np.repeat(TRIPS, len(STARTS))
    x = np.tile(start, (len(UNARY), 1)).astype(type.dtype)
    found = gradients(function_of(LOOPS, T=type), ONE, x=Grad(x), n=n, y=Grad(np.zeros((), type.dtype)))
    for row, (op, ((s, o), derivative)) in zip(found["x"], UNARY.items(), strict=True):
        wanted = sum(np.where(j < n, derivative(start + j * s + o), 0.0) for j in range(max(TRIPS)))
        loose = 1e-3 if op in ("asin", "acos") else 1e-4
        np.testing.assert_allclose(row, wanted, rtol=1e-12 if type == f64 else loose, err_msg=op)


def polynomials(x: ndarray(f64, 1), y: ndarray(f64, 1)):
    for i in x:
        v = x[i]
        y[i] += 3.0 * v**3 - v**2 + 0.5 * v - 7.0
        y[i] += (v - 2.0) / (v * v + 1.0) + v**-2 + v**0 + 2.0**v + v ** (v + 1.0)
        y[i] += min(v, 0.6) * max(v, 0.5) + v % 0.25 + cg.atan2(v, 1.5) + cg.atan2(0.5, v)
        y[i] += cg.select(v > 0.65, v * v, 3.0 * v) + abs(v - 0.5)
        y[i] += (v - cg.floor(v)) * (cg.ceil(v) - v) + cg.round(v) * v


def test_basics():
    check(polynomials, {"y": np.array([1.0, -2.0, 0.5])}, "x", x=floats(0.3, 0.7, 1.1), y=zeros(3))


def both_widths(x: ndarray(f32, 1), z: ndarray(f64, 1), y: ndarray(f64, 0)):
    for i in x:
        v = f64(x[i]) * z[i]
        w = f32(v) * x[i]
        y[()] += f64(w) + v * v


def test_floats_of_two_widths():
    x, z = np.array([0.5, 1.5, -2.0], np.float32), np.array([0.3, 0.7, 1.1])
    found = gradients(both_widths, ONE, x=Grad(x), z=Grad(z), y=zeros())
    wide = x.astype(float)
    np.testing.assert_allclose(found["x"], 2 * wide * z + 2 * wide * z * z, rtol=1e-6)
    np.testing.assert_allclose(found["z"], wide**2 + 2 * wide**2 * z, rtol=1e-6)


def to_integers(x: ndarray(f64, 1), y: ndarray(f64, 1)):
    for i in x:
        k = i32(x[i] * 10.0)
        y[i] = x[i] * (k % 3) + f64(k) * (k // 2) + (k & 1)


def test_integers_on_the_way_stop_the_gradient():
    found = gradients(to_integers, {"y": 1.0}, x=floats(0.32, 0.75, 1.17), y=zeros(3))
    np.testing.assert_array_equal(found["x"], [0, 1, 2])


def forwarded(x: ndarray(f64, 1), z: ndarray(f64, 1)):
    for _ in range(1):
        x[1] = x[0] * 2.0
        x[2] = x[1] * 3.0
        x[3] = x[2] * 4.0
        z[0] = x[3] * 5.0


def test_a_store_that_is_loaded_again_is_forwarded_once():
    found = gradients(forwarded, {"z": 1.0}, x=zeros(4), z=zeros(1))
    np.testing.assert_array_equal(found["x"], [120, 0, 0, 0])


def branches(x: ndarray(f64, 1), k: ndarray(i32, 1), y: ndarray(f64, 0)):
    for i in x:
        v = x[i]
        if k[i] > 0:
            if v > 0.5:
                v = v * v
            elif v > 0.35:
                v = 1.0 / v
            w = cg.sin(v) if k[i] > 1 else cg.cos(v)
            v = w * x[i]
        if (k[i] != 0 and x[i] / k[i] > 0.31) or k[i] == 0:
            v += 2.0 * x[i] * v
        if x[i] != 0.0:
            v += 1.0 / x[i]
        y[()] += v


def test_branches_in_branches_and_conditions_that_end_early():
    k = np.array([0, 1, 2, 3, 1, 2], np.int32)
    check(branches, ONE, "x", x=floats(0.31, 0.42, 0.7, 0.9, 0.33, 1.2), k=k, y=zeros())


def matrices(a: ndarray(cg.mat(2, 2, f64), 1), x: ndarray(cg.vec(2, f64), 1), y: ndarray(f64, 0)):
    for i in x:
        m = a[i] @ a[i].transpose()
        v = m @ x[i]
        for _ in range(3):
            v = a[i] @ v * 0.5 + x[i]
        y[()] += v.dot(x[i]) + m.determinant() + m.trace() + (m.inverse() @ v).norm()


def test_matrices():
    a = Grad(np.array([[[1.2, 0.3], [-0.4, 0.9]], [[0.7, -0.2], [0.5, 1.3]]]))
    x = Grad(np.array([[0.4, -0.6], [1.1, 0.8]]))
    check(matrices, ONE, ("a", "x"), a=a, x=x, y=zeros())


def polar(a: ndarray(cg.mat(2, 2, f64), 1), y: ndarray(f64, 0)):
    for i in a:
        m = a[i]
        p = m[0, 0] + m[1, 1]
        q = m[1, 0] - m[0, 1]
        scale = 1.0 / cg.sqrt(p * p + q * q)
        c = p * scale
        s = q * scale
        r = c * m[0, 0] + s * m[1, 0]
        y[()] += c * 2.0 + s * 3.0 + r * r


def test_a_polar_decomposition():
    a = Grad(np.array([[[1.2, 0.3], [-0.4, 0.9]], [[0.7, -0.2], [0.5, 1.3]]]))
    check(polar, ONE, "a", a=a, y=zeros())


def choices_of_vectors(x: ndarray(f64, 1), y: ndarray(f64, 0)):
    for i in x:
        v = cg.vector(x[i], 2.0 * x[i], 1.0)
        w = v if x[i] > 0.5 else 0.25
        inside = ((v > 0.4) and (v < 1.5)) or 0.0 < v < 0.2
        s = SimpleNamespace(w=w, n=2)
        s.w *= cg.raw_div(v, x[i] + 1.0)
        y[()] += (s.w * inside * s.n).sum() + (w * w * (not inside)).sum()


def test_vectors_that_are_chosen_and_structures_without_a_class():
    check(choices_of_vectors, ONE, "x", x=floats(0.08, 0.3, 0.6, 0.9), y=zeros())
