# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a vector on the host is a value: it has NumPy's arithmetic and does not change, and `==` compares all of it."""

import copy
import operator
import pickle

import numpy as np
import pytest

import cuda_graphs as cg

A, B = [1.0, -2.0, 3.5], [0.5, 4.0, -1.0]
MATRIX = [[2.0, 1.0], [0.5, 4.0]]
OPERATORS = (
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.matmul,
    operator.mod,
    operator.lt,
)
IN_PLACE = (
    operator.iadd,
    operator.isub,
    operator.imul,
    operator.itruediv,
    operator.ifloordiv,
    operator.imod,
    operator.ipow,
)
IN_PLACE_OF_BITS = (operator.ilshift, operator.irshift, operator.iand, operator.ior, operator.ixor)


def test_components_are_given_as_in_kernels():
    assert cg.vec3(1, 2, 3) == cg.vec3([1, 2, 3]) == cg.vec3(np.array([1, 2, 3])) == cg.vec3(cg.vec3(1, 2, 3))
    assert cg.vec3(2) == cg.vec3(2, 2, 2)
    assert cg.mat2((1, 2), (3, 4)) == cg.mat2([[1, 2], [3, 4]]) == cg.mat2(1, 2, 3, 4)
    assert (
        cg.vec4(cg.vec3(1, 2, 3), 4) == cg.vec4(1, cg.vec2(2, 3), 4) == cg.vec4(cg.vec2(1, 2), cg.vec2(3, 4))
    )
    assert cg.types.vec(5, cg.i32)(cg.vec3(1, 2, 3.5), cg.vec2(4, 5)) == [1, 2, 3, 4, 5]
    assert cg.types.vec(2, cg.i32)(2.9, -2.9) == cg.types.vec(2, cg.i32)(2, -2)
    assert cg.types.vec(2, cg.u8)(300.0, -1.0) == [255, 0]
    assert cg.types.vec(2, cg.bf16)(1.00390625, 2) == [1.0, 2.0]
    for scalar, name in ((cg.f32, "float32"), (cg.f64, "float64"), (cg.i8, "int8"), (cg.bool_, "bool")):
        assert cg.types.vec(2, scalar)(1, 0).dtype.name == name


@pytest.mark.parametrize(
    ("args", "error", "text"),
    [
        ((1, 2), ValueError, r"of shape \(3,\) is made of components of the shape \(2,\): give all"),
        ((), ValueError, r"components of the shape \(0,\)"),
        (("1", 2, 3), TypeError, r"a component is a number, not '1' \(str\)"),
        ((1j, 2, 3), TypeError, "a component is a number"),
        ((cg.vec2(1, 2), cg.vec2(3, 4)), ValueError, r"components of the shape \(4,\)"),
        ((cg.mat2(1, 2, 3, 4), 3), TypeError, "a component is a number, not vec"),
        (([1, 2], 3, 4), TypeError, r"a component is a number, not \[1, 2\] \(list\)"),
    ],
)
def test_what_is_no_vector_is_refused(args, error, text):
    with pytest.raises(error, match=text):
        cg.vec3(*args)


def test_integers_outside_of_the_range_are_refused():
    with pytest.raises(OverflowError, match="u8 takes values from 0 to 255, got 256"):
        cg.types.vec(2, cg.u8)(256, 0)


@pytest.mark.parametrize("operation", OPERATORS)
def test_arithmetic_is_that_of_numpy(operation):
    found, wanted = operation(cg.vec3(*A), cg.vec3(*B)), operation(np.array(A, "f"), np.array(B, "f"))
    np.testing.assert_array_equal(found, wanted)
    assert np.asarray(found).dtype == wanted.dtype
    if operation is not operator.matmul:
        for mixed in (operation(cg.vec3(*A), B), operation(cg.vec3(*A), 2.0), operation(A, cg.vec3(*B))):
            assert np.shape(mixed) == (3,)
    np.testing.assert_array_equal(
        operation(cg.mat2(MATRIX), cg.vec2(1, 2)), operation(np.array(MATRIX, "f"), [1, 2])
    )


def test_methods_are_those_of_kernels():
    a, b, m = cg.vec3(*A), cg.vec3(*B), cg.mat2(MATRIX)
    assert a.dot(b) == a @ b == np.float32(-11)
    assert a.cross(b) == np.cross(A, B) and a.outer(b) == np.outer(A, B).astype("f")
    assert a.norm_sqr() == 17.25 and a.norm() == np.float32(np.sqrt(17.25))
    np.testing.assert_allclose(a.normalized().norm(), 1, rtol=1e-6)
    assert a.distance(b) == (a - b).norm() and a.sum() == 2.5 and a.max() == 3.5 and a.min() == -2
    assert (m.n, m.m, a.n, a.m) == (2, 2, 3, 1)
    np.testing.assert_allclose(m @ m.inverse(), np.eye(2), atol=1e-6)
    assert m.determinant() == 7.5 and m.trace() == 6 and m.transpose() == [[2, 0.5], [1, 4]]
    assert a.cast(cg.i32) == [1, -2, 3] and (a > 0).any() and not (a > 0).all()


def test_a_result_without_dimensions_is_a_number():
    a, m = cg.vec3(*A), cg.mat2(MATRIX)
    numbers = (
        a @ a,
        a.dot(a),
        a.norm(),
        a.norm_sqr(),
        a.norm_inv(),
        a.distance(a),
        a.sum(),
        a.max(),
        m.sum(),
    )
    assert all(type(each) is np.float32 for each in (*numbers, m.determinant(), m.trace()))
    assert type((a > 0).any()) is np.bool_ and hash(a.sum()) == hash(2.5)


def test_components_have_names():
    v = cg.vec4(1, 2, 3, 4)
    assert (v.x, v.w, v.g, v.q) == (1, 4, 2, 4)
    assert v.zyx == [3, 2, 1] and v.rgb == v[:3] == v.xyz and v.xx == [1, 1]
    for name in ("xr", "nothing", "_x"):
        with pytest.raises(AttributeError, match=f"has no member '{name}'"):
            getattr(v, name)
    with pytest.raises(AttributeError, match="has no member 'z'"):
        cg.vec2(1, 2).z  # noqa: B018


def test_equality_is_one_bool_and_agrees_with_hash():
    equal = cg.vec3(1, 2, 3) == cg.vec3(1, 2, 4)
    assert isinstance(equal, np.bool_) and not equal and cg.vec3(1, 2, 3) != cg.vec3(1, 2, 4)
    assert cg.vec3(1, 2, 3) != cg.vec2(1, 2) and cg.vec3(1) != 1
    assert cg.vec3(0.0) == cg.vec3(-0.0) and cg.vec3(cg.nan) != cg.vec3(cg.nan)
    assert len({cg.vec3(1, 2, 3), cg.vec3([1, 2, 3]), cg.vec3(0.0), cg.vec3(-0.0)}) == 2


def test_a_value_does_not_change():
    v = w = cg.vec3(1, 2, 3)
    advice = r"Make another one, and assign the whole element: x\[i\] = cg.vec3\(...\)"
    with pytest.raises(TypeError, match=advice):
        v[0] = 5
    with pytest.raises(AttributeError, match=advice):
        v.x = 5
    with pytest.raises(TypeError, match=advice):
        v.fill(5)
    for change in IN_PLACE:
        w = change(v, 2)
        assert w is not v and v == [1, 2, 3]
    whole = same = cg.types.vec(2, cg.i32)(6, 3)
    for change in IN_PLACE_OF_BITS:
        assert change(whole, 1) is not whole and same == [6, 3]
    for other in (copy.copy(v), copy.deepcopy(v), pickle.loads(pickle.dumps(v))):
        assert other == v and type(other) is type(v)
        with pytest.raises(TypeError, match=advice):
            other[0] = 5


def test_the_repr_is_the_call():
    assert repr(cg.vec3(1, 2, 3)) == "vec(3, f32)(1.0, 2.0, 3.0)"
    assert repr(cg.types.mat(2, 2, cg.i32)(1, 2, 3, 4)) == "mat(2, 2, i32)([1, 2], [3, 4])"


def test_elements_of_arrays_are_values(device):
    x = cg.ndarray(cg.vec3, 2)
    x[0] = cg.vec3(1, 2, 3)
    x[0] += (1, 1, 1)
    x[1] = x[0] * 2
    assert x[0] == cg.vec3(2, 3, 4) and x[1].xy == [4, 6]
    m = cg.ndarray(cg.types.mat(2, 3, cg.i32), 1)
    m.fill(cg.types.mat(2, 3, cg.i32)(1, 2, 3, 4, 5, 6))
    assert m[0] == [[1, 2, 3], [4, 5, 6]] and m[0][1, 2] == 6 and m[0][1] == [4, 5, 6]
    half = cg.ndarray(cg.types.vec(2, cg.bf16), 1)
    half[0] = cg.types.vec(2, cg.bf16)(1.5, 2)
    assert half[0] == [1.5, 2]


GRAVITY, TURN = cg.vec3(0, 0, -9.5), cg.types.mat(2, 2, cg.f64)(0, -1, 1, 0)
PALETTE = (cg.vec3(1, 0, 0), cg.vec3(0, 0, 1))


@cg.kernel
def constants(
    v: cg.types.ndarray(cg.vec3, 1),
    w: cg.types.ndarray(cg.types.vec(2, cg.f64), 1),
    by: cg.template,
    add: cg.vec3,
):
    for i in v:
        v[i] += GRAVITY * by.x + PALETTE[1] + add
        v[i][0] += GRAVITY[2]
        w[i] = TURN @ w[i] + cg.static(GRAVITY.norm())


def test_kernels_take_vectors_of_the_host_as_constants_and_arguments(device):
    global GRAVITY
    v, w = cg.zeros(2, cg.vec3), cg.ones(2, cg.types.vec(2, cg.f64))
    constants(v, w, cg.vec2(2, 0), cg.vec3(0, 1, 0))
    assert v[1] == cg.vec3(-9.5, 1, -18) and w[1] == [8.5, 10.5]
    before, GRAVITY = GRAVITY, cg.vec3(0, 0, 1)
    try:
        v.fill(0)
        constants(v, w, cg.vec2(3, 0), cg.vec3(0, 1, 0))
        assert v[0] == cg.vec3(1, 1, 4)
    finally:
        GRAVITY = before


def test_the_squared_length_of_small_integers_wraps_as_in_kernels():
    v = cg.types.vec(2, cg.i8)(11, 7)
    assert v.norm_sqr() == v.dot(v) == 121 + 49 - 256 and v.norm_sqr().dtype == np.int8
