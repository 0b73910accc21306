# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: decompositions and quaternions are the same on all targets, and refuse what they do not take."""

import numpy as np
import pytest

from cuda_graphs.compiler import errors
from cuda_graphs.compiler.frontend.translate import translate
from cuda_graphs.compiler.language.annotations import ScalarSpec, VectorSpec
from cuda_graphs.compiler.language.signature import specialise
from tests.compiler.rig import cg, function_of, run_all

TYPES = {"f32": cg.f32, "f64": cg.f64}
BODIES = {
    "svd": "u, s, v = cg.svd(x[i])\n        y[i] = u + 2 * s + 4 * v",
    "sym_eig": "w, v = cg.sym_eig(x[i])\n        y[i] = v\n        y[i][0] += w",
    "qr": "q, r = cg.qr(x[i])\n        y[i] = q + 2 * r",
    "polar_decompose": "r, p = cg.polar_decompose(x[i])\n        y[i] = r + 2 * p",
    "solve": "y[i] = cg.solve(x[i], x[0])\n        y[i][0] += cg.solve(x[i], x[i][0])",
    "eig": "w, v = cg.eig(x[i])\n        n = cg.static(w.n)\n        y[i] = v[:n, :] * 2 + v[n:, :] * 4\n"
    "        y[i][0, 0] += w[0, 0] + w[1, 1]",
}
CASES = [(name, n, type) for name in BODIES for n in (2, 3) for type in TYPES]


def matrices(n, dtype):
    found = np.random.default_rng(20).standard_normal((6, n, n))
    found[1], found[2, 0], found[3] = np.eye(n), 0, 0
    found[4] *= 1e9
    return found.astype(dtype)


@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
@pytest.mark.parametrize(("name", "n", "type"), CASES, ids=map(str, CASES))
def test_decompositions_are_the_same_to_the_bit_on_all_targets(name, n, type):
    kernel = function_of(f"def kernel(x: ndarray(M, 1), y: ndarray(M, 1)):\n    for i in x:\n        {BODIES[name]}\n",
                         M=cg.mat(n, n, TYPES[type]))  # fmt: skip
    x = matrices(n, np.dtype(TYPES[type].dtype))
    found = run_all(kernel, x=x, y=np.zeros_like(x))["y"]
    assert np.isfinite(found[0]).all() and found[0].any()


QUATERNION = cg.vec(4, cg.f64)


def quaternions(x: cg.ndarray(QUATERNION, 1), y: cg.ndarray(QUATERNION, 1)):
    for i in x:
        p, q = x[i].normalized(), x[0].normalized()
        turned = cg.quat_rotate(p, q.xyz)
        about = cg.quat_from_axis_angle(turned.normalized(), p.w)
        back = cg.quat_from_matrix(cg.quat_to_matrix(cg.quat_mul(p, about)))
        y[i] = cg.quat_slerp(back, cg.quat_inverse(q), 0.25) + cg.quat_conjugate(p) + cg.quat_identity()


def test_quaternions_are_alike_on_all_targets():
    x = np.random.default_rng(20).standard_normal((8, 4))
    found = run_all(quaternions, exact=False, x=x, y=np.zeros_like(x))["y"]
    assert np.isfinite(found).all() and found.any()


def shapes(m: cg.types.mat(2, 3, cg.f32), v: cg.vec4, out: cg.ndarray(cg.i32, 1)):
    for i in cg.static(range(m.n)):
        for j in cg.static(range(m.m)):
            out[3 * i + j] = 10 * i + j
    out[6] = cg.static(v.n * 100)
    w = cg.static(v)
    out[7] = cg.cast(w.x, cg.i32)


def test_extents_of_vectors_are_known_in_cg_static():
    found = run_all(shapes, m=np.ones((2, 3)).tolist(), v=(7.0, 0.0, 0.0, 0.0), out=np.zeros(8, "i4"))
    assert found["out"].tolist() == [0, 1, 2, 10, 11, 12, 400, 7]


REFUSED = {
    "t = cg.svd(v)": "a matrix is needed, not a vector",
    "t = cg.svd(cg.mat4(1.0))": "cg.svd takes a matrix of 2 x 2 or 3 x 3, not shape (4, 4)",
    "t = cg.eig(cg.mat4(1.0))": "cg.eig takes a matrix of 2 x 2 or 3 x 3, not shape (4, 4)",
    "t = cg.qr(cg.types.mat(2, 3)(1.0))": "cg.qr takes a matrix of 2 x 2 or 3 x 3, not shape (2, 3)",
    "t = cg.sym_eig(cg.types.mat(2, 2, cg.f16)(1.0))": "cg.sym_eig takes f32 or f64, not f16",
    "t = cg.solve(cg.mat2(1.0), v)": "a matrix of shape (2, 2) and a right side of shape (3,)",
    "t = cg.solve(a, v)": "a matrix is needed, not the parameter",
    "t = cg.quat_mul(v, v)": "a vector of 3 components has no .w",
}


@pytest.mark.parametrize(("body", "refusal"), list(REFUSED.items()), ids=list(REFUSED))
def test_what_cannot_be_decomposed_is_refused(body, refusal):
    kernel = function_of(f"def kernel(v: cg.vec3, a: f32):\n    {body}\n")
    with pytest.raises((errors.CompileTypeError, errors.CompileIndexError)) as caught:
        translate(kernel, {"v": VectorSpec(cg.vec3), "a": ScalarSpec(cg.f32)})
    assert refusal in str(caught.value)


def integers(m: cg.types.mat(2, 2, cg.i32), out: cg.ndarray(cg.vec2, 0)):
    out[()] = cg.solve(m, (3, 5))


def test_integers_become_floats():
    assert specialise(integers, {"m": ((2, 0), (0, 4)), "out": np.zeros(2, "f4")})
    found = run_all(integers, m=((2, 0), (0, 4)), out=np.zeros(2, "f4"))["out"]
    assert found.tolist() == [1.5, 1.25]


def replaced(x: cg.ndarray(cg.f64, 1)):
    for i in x:
        x[i] = cg.replace_grad(x[i], 1.0 / (x[i] - x[i]))


def test_the_value_of_replace_grad_is_its_first_operand():
    x = np.arange(4.0)
    np.testing.assert_array_equal(run_all(replaced, x=x)["x"], x)
