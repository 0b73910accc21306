# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of constructs that programs of Taichi and Quadrants use: their results are those of NumPy."""

import dataclasses
import types

import numpy as np
import pytest

from cuda_graphs.compiler import errors
from cuda_graphs.compiler.frontend.translate import translate
from cuda_graphs.compiler.language.signature import specialise
from tests.compiler.rig import cg, function_of, run_all

RNG = np.random.default_rng(25)
Floats = cg.ndarray(cg.f32, 1)


def run(kernel, size=12, **given):
    """Returns `out` after a run on each target and in the interpreter."""
    return run_all(kernel, out=np.zeros(size, "f"), **given)["out"]


def configured(s: cg.template, out: Floats):
    cg.loop_config(serialize=cg.static(s.level < 2), block_dim=cg.static(32 * s.level), name="fill")
    for i in range(out.shape[0]):
        out[i] = i


@pytest.mark.parametrize("level", [1, 2])
def test_options_of_loops_are_static_expressions(level):
    settings = types.SimpleNamespace(level=level)
    np.testing.assert_array_equal(run(configured, s=settings), np.arange(12))


def methods(v: cg.vec3, w: cg.vec3, out: Floats):
    m = v.outer_product(w)
    u = v
    for i, j in cg.static(cg.ndrange(3, 3)):
        out[3 * i + j] = m[i, j]
    out[9] = v.norm_inv() + v.norm(0.5) + v.normalized(0.25).x + w.norm_inv(0.5)
    u.fill(v.x)
    out[10] = u.sum()
    out[11] = m.n * 10 + v.n


def test_methods_of_vectors_are_those_of_numpy():
    v, w = RNG.random((2, 3), "f4")
    found = run(methods, v=v.tolist(), w=w.tolist())
    length = np.linalg.norm(v)
    lengths = 1 / length + np.sqrt(v @ v + 0.5) + v[0] / (length + 0.25) + 1 / np.sqrt(w @ w + 0.5)
    wanted = [*np.outer(v, w).ravel(), lengths, 3 * v[0], 33]
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def slices(n: cg.i32, v: cg.types.vec(6, cg.f32), m: cg.types.mat(4, 2, cg.f32), out: Floats):
    for _ in range(1):
        w = cg.types.vec(6, cg.f32)(0.0)
        w += v
        part = w[n : n + 3]
        out[0] = part[0] + 2.0 * part[1] + 4.0 * part[2]
        w[n + 1 : n + 1 + 2] = cg.vec2(0.0, -1.0)
        out[1] = w.sum()
        rows = m[n : 2 + n, 1]
        out[2] = rows[0] + 2.0 * rows[1]
        out[3] = v[1:3].sum()


@pytest.mark.parametrize("n", [0, 1, 2])
def test_slices_with_a_run_time_beginning_are_those_of_numpy(n):
    v, m = RNG.random(6, "f4"), RNG.random((4, 2), "f4")
    w = v.copy()
    w[n + 1 : n + 3] = 0, -1
    wanted = [v[n : n + 3] @ [1, 2, 4], w.sum(), m[n : n + 2, 1] @ [1, 2], v[1:3].sum()]
    np.testing.assert_allclose(run(slices, n=n, v=v.tolist(), m=m.tolist())[:4], wanted, rtol=1e-6)


REFUSED = {
    "v[n : k]": "the length of a slice",
    "v[n : n + k]": "the length",
    "v[n : n + 4]": "a slice of 4",
    "v[n : n + 2 : 2]": "the length",
}


@pytest.mark.parametrize("part", REFUSED)
def test_slices_without_a_length_are_refused(part):
    k = function_of(
        f"def k(v: cg.vec3, n: cg.i32, k: cg.i32) -> cg.f32:\n    w = {part}\n    return w[0]\n", cg=cg
    )
    with pytest.raises(errors.CompileIndexError, match=REFUSED[part]):
        translate(k, specialise(k, {"v": (1, 2, 3), "n": 0, "k": 1}))


def sizes(x: cg.ndarray(cg.vec3, 1), m: cg.types.mat(2, 3, cg.f32), out: Floats):
    cg.static_assert(x.n == 3)
    for i in x:
        for j in cg.static(range(x[i].n)):
            out[3 * i + j] = x[i][j] + cg.static(m.m)


def test_sizes_of_run_time_vectors_are_known_when_compiling():
    x = RNG.random((4, 3), "f4")
    found = run(sizes, x=x, m=[[1, 2, 3], [4, 5, 6]])
    np.testing.assert_allclose(found, x.ravel() + 3, rtol=1e-6)


def tuples(n: cg.i32, a: cg.f32, out: Floats):
    low, high = (n, a) if n > 2 else (n + 1, 2.0 * a)
    out[0] = low
    out[1] = high
    row = cg.vector([a] * 4)
    out[2] = row.sum() + row.n
    for i, value in cg.static(enumerate((a, n, 2.0 * a))):
        out[3 + i] = value


@pytest.mark.parametrize("n", [1, 5])
def test_conditional_tuples_repeated_lists_and_enumerations_of_run_time_values(n):
    low, high = (n, 0.5) if n > 2 else (n + 1, 1.0)
    assert run(tuples, n=n, a=0.5)[:6].tolist() == [low, high, 6, 0.5, n, 1]


def ordered(out: cg.ndarray(cg.f32, 2)):
    for i, j in cg.ndrange(2, 3, axes=(1, 0)):
        out[i, j] = 10 * i + j


def test_order_of_axes_changes_no_index():
    found = run_all(ordered, out=np.zeros((2, 3), "f"))["out"]
    assert found.tolist() == [[0, 1, 2], [10, 11, 12]]


def decomposed(m: cg.types.mat(3, 3, cg.f64), out: cg.ndarray(cg.f64, 1)):
    u, s, v = cg.svd(m)
    again = u @ s @ v.transpose()
    for i, j in cg.static(cg.ndrange(3, 3)):
        out[3 * i + j] = again[i, j]


def test_parts_of_a_singular_value_decomposition_give_the_matrix():
    m = RNG.random((3, 3))
    found = run_all(decomposed, m=m.tolist(), out=np.zeros(9))["out"]
    np.testing.assert_allclose(found, m.ravel(), atol=1e-12)


@dataclasses.dataclass
class Body:
    at: cg.vec3
    mass: cg.f32


def bodies(x: cg.ndarray(cg.f32, 2), out: Floats):
    for i in range(x.shape[0]):
        body = Body(cg.vec3(x[i, 0], x[i, 1], x[i, 2]), mass=2.0)
        body.at[i % 3] += body.mass
        out[i] = body.at.sum() * body.mass


def test_structures_are_local_values():
    x = RNG.random((12, 3), "f4")
    np.testing.assert_allclose(run(bodies, x=x), 2 * (x.sum(1) + 2), rtol=1e-6)
