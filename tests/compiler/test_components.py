# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: components of vectors and matrices are those of NumPy's arrays: run-time indices, slices, names, methods."""

import re

import numpy as np
import pytest

from cuda_graphs.compiler import errors
from cuda_graphs.compiler.frontend.translate import translate
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.language.signature import specialise
from tests.autodiff.compiler.gradient_rig import check, floats, zeros
from tests.compiler.rig import cg, function_of, run_all

RNG = np.random.default_rng(7)


def read_and_write(
    v: cg.vec3, m: cg.types.mat(2, 3, cg.f32), at: cg.ndarray(cg.i32, 1), out: cg.ndarray(cg.f32, 2)
):
    for k in at:
        i, j = at[k] // 3, at[k] % 3
        out[k, 0] = v[j]
        out[k, 1] = m[i, j]
        out[k, 2] = m[i][j]
        row = m[i]
        out[k, 3] = row[j] + m[i].sum()
        w = cg.vec3(1.0, 2.0, 3.0)
        w[j] = 10.0
        w[j] += v[j]
        out[k, 4] = w.x * 100.0 + w.y * 10.0 + w.z
        t = cg.vector((1.0, 2.0, 3.0), (4.0, 5.0, 6.0))
        t[i, j] = -1.0
        t[1 - i, j] *= 2.0
        t[i][2 - j] -= 0.5
        out[k, 5] = t[0, 0] + 2.0 * t[0, 1] + 4.0 * t[0, 2] + 8.0 * t[1, 0] + 16.0 * t[1, 1] + 32.0 * t[1, 2]


def test_run_time_indices_of_variables_are_those_of_numpy():
    v, m, at = RNG.random(3, "f4"), RNG.random((2, 3), "f4"), np.array([4, 0, 5, 1, 3, 2], "i4")
    found = run_all(read_and_write, v=v.tolist(), m=m.tolist(), at=at, out=np.zeros((6, 6), "f"))["out"]
    for k, (i, j) in enumerate(zip(at // 3, at % 3, strict=True)):
        w = np.array([1, 2, 3], "f4")
        w[j] = np.float32(10) + v[j]
        t = np.array([[1, 2, 3], [4, 5, 6]], "f4")
        t[i, j] = -1
        t[1 - i, j] *= 2
        t[i][2 - j] -= 0.5
        weights = np.array([[1, 2, 4], [8, 16, 32]], "f4")
        wanted = [v[j], m[i, j], m[i, j], m[i, j] + m[i].sum(), w @ [100, 10, 1], (t * weights).sum()]
        np.testing.assert_allclose(found[k], wanted, rtol=1e-6)


def joined(v: cg.vec3, w: cg.vec2, n: cg.i32, out: cg.ndarray(cg.f64, 1)):
    a = cg.vec4(v, 1.5)
    b = cg.vector(0.5, w, n)
    c = cg.vec4(w, w.yx)
    d = cg.types.vec(5, cg.f64)(w, v)
    e = cg.vector(w, w)
    out[0] = a.dot(b)
    out[1] = c.x + 2.0 * c.y + 4.0 * c.z + 8.0 * c.w
    for k in cg.static(range(5)):
        out[2 + k] = d[k]
    out[7] = e[0, 1] + e[1, 0] + b.n


def test_vectors_among_numbers_stand_for_their_components():
    v, w = [1.5, 2.5, -3.0], [4.0, 0.25]
    found = run_all(joined, v=v, w=w, n=7, out=np.zeros(8))["out"]
    wanted = [np.dot([*v, 1.5], [0.5, *w, 7]), 4 + 0.5 + 1 + 32, *w, *v, 4.25 + 4]
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


MATRIX = cg.ndarray(cg.types.mat(2, 2, cg.i32), 0)


def elements(points: cg.ndarray(cg.vec3, 1), sums: MATRIX, tops: MATRIX, at: cg.ndarray(cg.i32, 1)):
    for k in at:
        j = at[k]
        points[k][j] = 5.0
        points[k][(j + 1) % 3] += points[k][j]
        sums[()][j % 2, k % 2] += 1
        cg.atomic_max(tops[()][1, j % 2], k)


def test_run_time_indices_of_elements_are_places_in_memory_with_atomics():
    points, at = RNG.random((40, 3), "f4"), np.arange(40, dtype="i4") % 3
    found = run_all(elements, points=points, sums=np.zeros((2, 2), "i4"), tops=np.zeros((2, 2), "i4"), at=at)
    wanted, sums = points.copy(), np.zeros((2, 2), "i4")
    for k, j in enumerate(at):
        wanted[k, j] = 5
        wanted[k, (j + 1) % 3] += 5
        sums[j % 2, k % 2] += 1
    np.testing.assert_array_equal(found["points"], wanted)
    np.testing.assert_array_equal(found["sums"], sums)
    np.testing.assert_array_equal(found["tops"], [[0, 0], [39, 37]])


def parts(
    v: cg.vec4, m: cg.types.mat(3, 3, cg.f32), out: cg.ndarray(cg.f32, 1), points: cg.ndarray(cg.vec4, 1)
):
    for _ in range(1):
        a = v[1:3]
        out[0] = a.x * 10.0 + a.y
        out[1] = v[::2].sum() + v[-2:].sum()
        out[2] = m[:, 1].dot(cg.vec3(1.0, 2.0, 3.0)) + m[2, :].sum() + m[:2, 1:].sum()
        out[3] = v.rgb.sum() + v.a + v.st.x
        w = cg.vec4(0.0, 0.0, 0.0, 0.0)
        w.xy = 1.0, 2.0
        w[2:] = v[2:]
        out[4] = w.sum()
        out[5] = v.n + 10 * m.n + 100 * m.m + 1000 * v.m
        w.fill(3.0)
        least = (
            cg.dot(min(v, [0.5, 9.0, 9.0, 0.5]), [1.0, 0.0, 0.0, 1.0])
            - cg.select(v > (9, 9, 9, 9), v, 1.0).sum()
        )
        out[6] = w.sum() + least + 3.0 + (v + [1.0, 2.0, 3.0, 4.0]).sum() + ((2, 2, 2, 2) * v).sum()
        out[7] = (cg.one(v) * 2.0 - cg.zero(v)).sum() + cg.one(out[0]) + v.cast(cg.i32).sum()
        points[0].fill(7.0)
        points[1].rg = points[0].ba


def test_slices_names_and_methods_of_components():
    v, m, points = RNG.random(4, "f4") + 1, RNG.random((3, 3), "f4"), np.zeros((2, 4), "f4")
    found = run_all(parts, v=v.tolist(), m=m.tolist(), out=np.zeros(8, "f"), points=points)
    wanted = [
        v[1] * 10 + v[2],
        v[::2].sum() + v[-2:].sum(),
        m[:, 1] @ [1, 2, 3] + m[2].sum() + m[:2, 1:].sum(),
        v.sum() + v[0],
        3 + v[2:].sum(),
        4 + 30 + 300 + 1000,
        12 + v.sum() + 10 + 2 * v.sum(),
        8 + 1 + v.astype("i4").sum(),
    ]
    np.testing.assert_allclose(found["out"], wanted, rtol=1e-6)
    np.testing.assert_array_equal(found["points"], [[7, 7, 7, 7], [7, 7, 0, 0]])


def of_all_threads(n: cg.i32, sums: cg.ndarray(cg.i32, 1), pairs: cg.ndarray(cg.i32, 2)):
    v = cg.types.vec(3, cg.i32)(0)
    m = cg.types.mat(2, 2, cg.i32)(0)
    low = cg.types.vec(3, cg.i32)(100)
    last = cg.types.vec(3, cg.i32)(7)
    for i in range(n):
        v[i % 3] += i
        cg.atomic_add(m[i % 2, (i + 1) % 2], 1)
        m[i % 2, i % 2] -= 2
        pairs[i, 0] = cg.atomic_min(low[i % 3], 100)
        if i < 2:
            last[i] = i
    for j in range(3):
        sums[j] = v[j]
        sums[3 + j] = low[j] + last[j]
    for i, j in cg.ndrange(2, 2):
        sums[6 + 2 * i + j] = m[i, j]


def test_run_time_indices_of_vectors_of_all_threads_change_atomically():
    found = run_all(of_all_threads, n=100, sums=np.zeros(10, "i4"), pairs=np.zeros((100, 1), "i4"))
    by_three = [sum(range(j, 100, 3)) for j in range(3)]
    assert found["sums"].tolist() == [*by_three, 100, 101, 107, -100, 50, 50, -100]
    assert (found["pairs"] == 100).all()


def test_a_store_to_a_component_of_all_threads_touches_no_other_component():
    """Other threads may change the other components at the same time."""
    body = translate(of_all_threads, specialise(of_all_threads, ARGUMENTS))[0].body
    loop = next(each for each in body.body if isinstance(each, ir.For))
    outside = {each.local.name for each in body.body if isinstance(each, ir.Set)}
    assert outside >= {"v", "m", "low", "last"}
    assert not {each.local.name for each in loop.body.body if isinstance(each, ir.Set)} & outside
    stored = [each for each in ir.walk(loop.body) if isinstance(each, ir.Set) and each.local.name == "last"]
    assert len(stored) == 3 and len({each.local for each in stored}) == 3


def added(x: cg.ndarray(cg.f64, 1), y: cg.ndarray(cg.f64, 1)):
    v = cg.vector(0.0, 0.0, 0.0)
    m = cg.vector((0.0, 0.0), (0.0, 0.0))
    for i in x:
        v[i % 3] += x[i] * x[i]
        cg.atomic_add(m[i % 2, (i // 2) % 2], x[i] * x[i])
    for i in y:
        y[i] = v[i] * v[(i + 1) % 3] + m.determinant() * m[i % 2, 0]


def test_the_gradient_of_shared_components_is_a_central_difference():
    check(added, {"y": 1.0}, "x", x=floats(0.5, -0.25, 0.75, 1.5), y=zeros(3))


ARGUMENTS = {"n": 100, "sums": np.zeros(10, "i4"), "pairs": np.zeros((100, 1), "i4")}

REFUSED = {
    "y = v[3]": (errors.CompileIndexError, "a vector of 3 components is indexed with 3"),
    "y = v[-1]": (errors.CompileIndexError, "components are counted from 0 to 2"),
    "y = v[1:1]": (errors.CompileIndexError, "a slice without components"),
    "y = v[n:]": (errors.CompileIndexError, "the length of a slice is known at run time only"),
    "y = v[0.5 * n]": (errors.CompileTypeError, "an index must be an integer"),
    "y = v[n, n]": (errors.CompileIndexError, "too many indices for a vector"),
    "v[n] = 1.0": (errors.CompileImmutableError, "is a parameter of the kernel"),
    "y = v.xr": (errors.CompileNameError, "has no member 'xr'"),
    "y = v.w": (errors.CompileIndexError, "a vector of 3 components has no .w"),
    "w = cg.vec3(v)\nw.xx = w.xy": (errors.CompileSyntaxError, "'w.xx' names a component twice"),
    "w = cg.vec3(v)\nw.zyz += 1.0": (errors.CompileSyntaxError, "'w.zyz' names a component twice"),
    "v.fill(1.0)": (errors.CompileTypeError, "fill"),
    "cg.vec3(1.0, 2.0, 3.0).fill(1.0)": (errors.CompileTypeError, "this one is a value"),
    "y = v.cast()": (errors.CompileArgumentError, "cast() takes one argument, not 0"),
    "y = v + [1.0, 2.0]": (errors.CompileTypeError, "vectors of different shapes"),
}


@pytest.mark.parametrize(("body", "refusal"), list(REFUSED.items()), ids=list(REFUSED))
def test_what_has_no_component_is_refused(body, refusal):
    kernel = function_of("def kernel(v: cg.vec3, n: i32):\n    " + body.replace("\n", "\n    ") + "\n")
    with pytest.raises(refusal[0]) as caught:
        translate(kernel, specialise(kernel, {"v": (1, 2, 3), "n": 1}))
    assert refusal[1] in str(caught.value)


def mixed(n: cg.u64, k: cg.ndarray(cg.i32, 1), x: cg.ndarray(cg.u64, 2)):
    for at in cg.grouped(cg.ndrange(n, (2, 5))):
        x[cg.cast(at[0], cg.i32), at[1]] = at[k[cg.cast(at[0], cg.i32)]]


def test_component_of_a_vector_of_several_types_has_the_type_of_all():
    found = run_all(mixed, n=3, k=np.array([1, 0, 1], "i4"), x=np.zeros((3, 5), "u8"))["x"]
    assert found.tolist() == [[0, 0, 2, 3, 4], [0, 0, 1, 1, 1], [0, 0, 2, 3, 4]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('t = {"a": 1}[x[0]]', "a dict is indexed with a value known at run time only"),
        (
            "t = cg.types.vec(x[0], cg.i32)(1)",
            "number of components .* known when compiling, and is not an element of 'x'",
        ),
        ("t = cg.types.mat(n, 2, cg.i32)(0)", "and is not the parameter 'n'"),
        (
            "y = [1, 2]\n    y.insert(n, 5)",
            r"y.insert\(\): an item has a place that is known when compiling, not the parameter 'n'",
        ),
        ("y = [1, 2]\n    y.pop(n)", r"y.pop\(\): an item has a place that is known when compiling"),
        ("t = (1, 2)[x]", "a tuple is indexed with the array 'x'"),
        ("t = cg.vector(x[0])", "a vector is made of several numbers, not a number of type f32"),
        ("t = cg.determinant(cg.vec3(1.0))", "a matrix is needed, not a vector\n.*Remedy: cg.mat2"),
        ("t = (1, 2, 3)[n:]", "the length of a slice is known at run time only"),
    ],
)
def test_values_of_run_time_are_named_as_the_program_names_them(text, words):
    """A message shows no objects of the compiler."""
    kernel = function_of(f"def k(x: ndarray(f32, 1), n: i32):\n    {text}\n    x[0] = n\n")
    with pytest.raises(errors.CompileError, match=words) as refused:
        run_all(kernel, x=np.zeros(3, "f4"), n=1)
    assert not re.search(r"\b(Element|Param|Array|Const|Loc)\b", str(refused.value))
