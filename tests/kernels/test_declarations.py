# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: annotations that are types for checkers declare the same parameters, and give the same code, as the calls."""

import dataclasses
from typing import Literal

import numpy as np
import pytest

import cuda_graphs as cg

SCALARS = [getattr(cg, name) for name in "i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 bool_".split()]
ALIASES = [cg.Array0, cg.Array1, cg.Array2, cg.Array3, cg.Array4]
VECTORS = {
    "vec2": (cg.vec2, cg.types.vec(2)),
    "vec3[f64]": (cg.vec3[cg.f64], cg.types.vec(3, cg.f64)),
    "vec4[u8]": (cg.vec4[cg.u8], cg.types.vec(4, cg.u8)),
    "mat2[f64]": (cg.mat2[cg.f64], cg.types.mat(2, 2, cg.f64)),
    "mat3": (cg.mat3, cg.types.mat(3, 3)),
    "mat4[i32]": (cg.mat4[cg.i32], cg.types.mat(4, 4, cg.i32)),
    "Vector": (cg.Vector[Literal[6]], cg.types.vec(6)),
    "Vector of f64": (cg.Vector[Literal[5], cg.f64], cg.types.vec(5, cg.f64)),
    "Matrix": (cg.Matrix[Literal[2], Literal[3]], cg.types.mat(2, 3)),
    "Matrix of i64": (cg.Matrix[Literal[3], Literal[1], cg.i64], cg.types.mat(3, 1, cg.i64)),
}


@dataclasses.dataclass
class Ball:
    at: cg.vec3[cg.f64]
    radius: cg.f32


def copying(array):
    @cg.kernel
    def copy(x: array, y: array) -> None:
        for at in cg.grouped(x):
            y[at] = x[at]

    return copy


def code(kernel, *args):
    """Returns what the compiler makes of a call: the parameters, and the tasks in its IR."""
    found = kernel.inspect(*args, target="x86")
    return found.signature, found.ir


@pytest.mark.parametrize("scalar", SCALARS, ids=str)
@pytest.mark.parametrize("rank", range(5))
def test_an_alias_of_a_rank_compiles_to_the_code_of_the_call(rank, scalar):
    alias, call = ALIASES[rank][scalar], cg.types.ndarray(scalar, ndim=rank)
    assert alias == call
    x = cg.ndarray(scalar, (2, 3, 1, 2)[:rank])
    assert code(copying(alias), x, x) == code(copying(call), x, x)


@pytest.mark.parametrize("name", VECTORS)
def test_an_alias_of_a_vector_compiles_to_the_code_of_the_call(name):
    alias, call = VECTORS[name]
    assert alias == call
    x = cg.ndarray(call, 3)
    assert code(copying(cg.Array1[alias]), x, x) == code(copying(cg.types.ndarray(call, ndim=1)), x, x)

    def filling(vector):
        @cg.kernel
        def fill(x: cg.Array1[vector], value: vector) -> None:
            for i in x:
                x[i] = value

        return fill

    value = call(1)
    assert code(filling(alias), x, value) == code(filling(call), x, value)
    filling(alias)(x, value)
    np.testing.assert_array_equal(x.to_numpy(), np.ones(x.to_numpy().shape))


def test_a_class_of_structures_is_an_element_type():
    assert cg.Array1[Ball] == cg.types.ndarray(Ball, ndim=1)
    balls = cg.ndarray(Ball, 3)
    assert code(copying(cg.Array1[Ball]), balls, balls) == code(
        copying(cg.types.ndarray(Ball, ndim=1)), balls, balls
    )


def test_an_alias_without_brackets_takes_any_element_type():
    assert cg.Array2 == cg.types.ndarray(ndim=2)
    assert cg.Array == cg.types.ndarray()
    assert cg.Array[cg.f32] == cg.types.ndarray(cg.f32)
    for dtype in (np.float32, np.int64):
        x, y = np.arange(6, dtype=dtype).reshape(2, 3), np.zeros((2, 3), dtype)
        copying(cg.Array2)(x, y)
        np.testing.assert_array_equal(x, y)


def test_an_alias_may_be_optional_and_a_text():
    @cg.kernel
    def fill(x: "cg.Array1[cg.f32]", value: "cg.Array0[cg.f32] | None") -> None:
        for i in x:
            if value is None:
                x[i] = 1.0
            else:
                x[i] = value[()]

    assert (cg.Array1[cg.f32] | None) == (cg.types.ndarray(cg.f32, ndim=1) | None)
    assert ((cg.Array1 | None)[cg.f32]) == (cg.Array1[cg.f32] | None)
    x = np.zeros(3, np.float32)
    fill(x, None)
    assert x.tolist() == [1, 1, 1]
    fill(x, np.full((), 4, np.float32))
    assert x.tolist() == [4, 4, 4]


@pytest.mark.parametrize("rank", range(5))
@pytest.mark.parametrize("given", range(5))
def test_an_array_of_another_rank_is_refused(rank, given):
    kernel, x = copying(ALIASES[rank][cg.f32]), cg.ndarray(cg.f32, (2,) * given)
    if rank == given:
        kernel(x, x)
        return
    with pytest.raises(ValueError, match=f"takes {rank} dimensions, not {given}"):
        kernel(x, x)


def test_an_array_of_another_element_type_is_refused():
    x = cg.ndarray(cg.f64, 3)
    with pytest.raises(TypeError, match="takes elements of f32, not f64"):
        copying(cg.Array1[cg.f32])(x, x)


MISTAKES = {
    "a number": (lambda: cg.Array1[0], TypeError, "elements are of cg.f32.*not 0"),
    "another class": (lambda: cg.Array1[str], TypeError, "elements are of cg.f32.*not <class 'str'>"),
    "None": (lambda: cg.Array1[None], TypeError, "elements are of cg.f32.*not None"),
    "nothing": (
        lambda: cg.Array1[()],
        TypeError,
        r"take one element type, not \(\): the rank is in the name",
    ),
    "a rank": (lambda: cg.Array1[cg.f32, 2], TypeError, "take one element type.*cg.Array2"),
    "two types": (
        lambda: cg.Array1[cg.f32][cg.f32],
        TypeError,
        r"ndarray\(f32, ndim=1\) has an element type",
    ),
    "a structure and a type": (lambda: cg.Array1[Ball][cg.f32], TypeError, "has an element type"),
    "a pointer": (lambda: cg.Array1[cg.pointer], TypeError, "elements are of cg.f32.*not pointer"),
    "components of no number": (lambda: cg.vec3[str], TypeError, "elements are of cg.f32.*not <class 'str'>"),
    "components of pointers": (lambda: cg.vec3[cg.pointer], TypeError, "not pointer"),
    "a size that is no Literal": (
        lambda: cg.Vector[6],
        TypeError,
        r"takes 1 Literal.*cg.Vector\[Literal\[6\]",
    ),
    "two sizes": (lambda: cg.Vector[Literal[1, 2]], TypeError, "takes 1 Literal"),
    "no size": (lambda: cg.Vector[cg.f32], TypeError, "takes 1 Literal"),
    "one size of a matrix": (lambda: cg.Matrix[Literal[2]], TypeError, r"cg.Matrix takes 2 Literal.*\[2\]"),
    "too many items": (lambda: cg.Vector[Literal[2], cg.f32, cg.f32], TypeError, "takes 1 Literal"),
    "a size of 0": (lambda: cg.Vector[Literal[0]], ValueError, "at least one component, not 0"),
    "a size in words": (lambda: cg.Vector[Literal["6"]], TypeError, "number of components that is an int"),
    "a rank of the call": (
        lambda: cg.types.ndarray(cg.f32, ndim=-1),
        ValueError,
        "ndim is 0 or more, not -1",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_wrong_declaration_is_an_error_that_says_what_is_right(mistake):
    declare, kind, message = MISTAKES[mistake]
    with pytest.raises(kind, match=message):
        declare()


def test_a_mistake_in_the_text_of_an_annotation_names_the_kernel():
    with pytest.raises(cg.CompileTypeError, match=r"annotation 'cg.Array1\[str\]' of wrong: TypeError"):

        @cg.kernel
        def wrong(x: "cg.Array1[str]") -> None:
            pass


def test_arrays_are_iterated_as_often_as_they_are_long():
    assert [float(each) for each in cg.arange(3)] == [0, 1, 2]
    assert [row.shape for row in cg.zeros((2, 5), cg.f32)] == [(5,), (5,)]
    assert len(list(cg.ndarray(Ball, 4))) == 4
    with pytest.raises(TypeError, match="has no length"):
        iter(cg.ndarray(cg.f32, ()))
