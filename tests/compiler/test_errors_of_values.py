# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: mistakes with what is no plain number, and with the function as a whole, are shown and explained as all are
(test_errors.py says how)."""

import dataclasses
import linecache

import numpy as np
import pytest

from cuda_graphs.compiler import errors
from cuda_graphs.compiler.ir import types as t
from cuda_graphs.compiler.language.annotations import ndarray
from cuda_graphs.compiler.language.signature import specialise
from cuda_graphs.compiler.pipeline import lower
from tests.compiler import test_errors
from tests.compiler.rig import Field, function_of
from tests.compiler.test_errors import Immutable, Index, Name, Return, Static, Syntax, Type

MISTAKES = [
    (Syntax, "a format must be a constant", "print(f'{a:{n}}')  #!"),
    (Immutable, "'cg.f32' is a member of 'cg', which is immutable", "cg.f32 = 3  #!"),
    (Type, "the items of a range are needed when compiling", "y = [i for i in range(n)]  #!"),
    (Type, "cannot iterate over an int", "for i in cg.static(3):  #!\n    pass"),
    (Type, "a tuple is indexed with a value known at run time only", "y = ((1, 2), (3, 4))[n]  #!"),
    (Syntax, "a component of a value is no place", "(v * 2.0)[n] = 1.0  #!"),
    (Syntax, "a component of a value is no place", "t = (1, 2)\nt[n] += 1  #!"),
    (Syntax, r"t = cg.vector\(\*t\) makes variables of them", "t = [0.0] * 3\nt[1] = a  #!"),
    (Type, "a tuple of 2 becomes a number of type i32", "y = (a, a)\ny = 3  #!"),
    (Type, "a tuple of 2 becomes a tuple", "y = (a, a)\ny = (a, a, a)  #!"),
    (Type, "cannot be indexed", "k[0] = 3  #!"),
    (Type, "the parameter 'n' has no length", "y = len(n)  #!"),
    (Type, "has no dimensions, and so no length", "y = len(z)  #!"),
    (Type, "@ takes matrices and vectors, not the array 'm'", "y = m @ 3  #!"),
    (
        Type,
        r"shapes \(2, 3\) and \(2, 3\) do not go together",
        "y = cg.mat(2, 3)(1.0) @ cg.mat(2, 3)(1.0)  #!",
    ),
    (Type, "a vector or matrix is needed, not the parameter 'a'", "y = cg.norm(a)  #!"),
    (Type, r"a value of shape \(3,\) for one of shape \(2,\)", "y = cg.vec2(1.0)\ny = cg.vec3(1.0)  #!"),
    (Type, "a component must be a number, not the array 'x'", "y = cg.vector(x, 1)  #!"),
    (Type, "the rows of a matrix have different lengths", "y = cg.vector([[n, 1], [n]])  #!"),
    (Type, "the rows of a matrix have different lengths", "y = cg.mat2([[n, 1], n])  #!"),
    (Type, "the rows of a matrix have different lengths", "y = cg.vector(cg.vec2(n), cg.vec3(n))  #!"),
    (Type, r"vec\(3, f32\) is made of a value of shape \(5,\)", "y = cg.vec3(cg.vec2(n), cg.vec3(n))  #!"),
    (Type, "the rows of a matrix have different lengths", "y = cg.vector(cg.mat2(n), n)  #!"),
    (Type, "a tuple has no rows", "y = cg.mat([n, 1])  #!"),
    (Type, r"vec\(3, f32\) is made of a value of shape \(2,\)", "y = cg.vec3(cg.vec2(1.0))  #!"),
    (Type, "vectors of different shapes", "y = v > 0 and cg.vec2(1.0) > 0  #!"),
    (Index, "too many indices for a vector", "y = v[0, 1]  #!"),
    (Index, "a dict: 'b'", "y = {'a': 1}['b']  #!"),
    (Index, "tuple index out of range", "y = x.shape[3]  #!"),
    (Name, "an element of 'x' has no member 'y'", "x[0].y = 3  #!"),
    (Type, r"unsupported operand for \+: the type f32", "y = cg.f32 + 1  #!"),
    (Type, "elements are of cg.f32, cg.i32 and the like, float or np.float32, not 0", "y = cg.vec3[0]  #!"),
    (Static, "'vector' object has no attribute 'dot'", "y = cg.static(v.dot)  #!"),
    (Static, "the extents of 'x' are known at run time only", "y = cg.static(len(x))  #!"),
    (Name, "a number has no member 'x'", "y = a.x  #!"),
]


@pytest.mark.parametrize(
    ("kind", "words", "body"), MISTAKES, ids=[m[2].replace("\n", ";")[:40] for m in MISTAKES]
)
def test_a_mistake_about_values_is_shown_and_explained(kind, words, body):
    test_errors.check_explanation(kind, words, body)


def refused(function, kind, words, **arguments):
    with pytest.raises(kind, match=words) as caught:
        lower(function, specialise(function, arguments))
    assert type(caught.value) is kind
    assert caught.value.remedy
    return str(caught.value)


@dataclasses.dataclass
class Ball:
    radius: t.f32


def test_a_member_that_a_dataclass_has_not_is_named_with_those_that_it_has():
    kernel = function_of("def kernel(b: Ball, x: ndarray(f32, 1)):\n    x[0] = b.mass\n", Ball=Ball)
    text = refused(kernel, Name, "Ball has no member 'mass'", b=Ball(1.0), x=np.zeros(1, "f"))
    assert "it has radius" in text


def test_a_constant_index_outside_of_a_field_is_found_when_compiling():
    table = Field(np.zeros((2, 3), "i4"), "table")
    kernel = function_of("def kernel():\n    table[0, 3] = 1\n", table=table)
    text = refused(kernel, Index, "index 3 is outside of 'table'")
    assert "table[0, 3] = 1" in text


def test_return_annotation_that_a_kernel_cannot_keep_is_refused():
    for source, kind, words in (
        ("def kernel() -> ndarray(f32, 1):\n    pass\n", Type, "a kernel returns numbers, vectors and"),
        ("def kernel() -> i32:\n    pass\n", Return, "declares a return value but has no return"),
    ):
        assert "line 1, in kernel\n    def kernel() ->" in refused(function_of(source), kind, words)


def test_a_function_without_a_source_is_refused():
    kernel = function_of("def kernel(x: ndarray(f32, 1)):\n    pass\n")
    linecache.cache.pop(kernel.__code__.co_filename)
    refused(kernel, Syntax, "the source of kernel cannot be found", x=np.zeros(1, "f"))


def test_a_kernel_is_made_by_def():
    kernel = lambda x: x  # noqa: E731
    kernel.__annotations__ = {"x": ndarray(t.f32, 1)}
    with pytest.raises(errors.CompileError, match="is not made by def"):
        lower(kernel, specialise(kernel, {"x": np.zeros(1, "f")}))
