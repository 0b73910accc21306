# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a kernel returns what its annotation declares: numbers, vectors, matrices and dataclasses, converted to it."""

from dataclasses import dataclass

import numpy as np
import pytest

import cuda_graphs as cg

MAT = cg.types.mat(2, 3, cg.f64)


@dataclass
class Span:
    low: cg.f32
    high: cg.f32 = 9.0


@dataclass(frozen=True)
class Box:
    across: Span
    at: cg.types.vec(2, cg.f64)
    count: cg.u8
    full: cg.bool_


@cg.kernel
def vector(x: cg.f32) -> cg.vec3:
    return cg.vec3(x, x * 2, -1)


@cg.kernel
def of_numbers(x: cg.f32) -> cg.vec3:
    return x, x * 2, -1


@cg.kernel
def of_rows(x: cg.f32) -> cg.mat2[cg.f64]:
    return [[x, 1], cg.vec2[cg.f64](2, 1 / 3)]


@cg.kernel
def matrix(m: MAT) -> MAT:
    return m * 0.1


@cg.kernel
def converted(x: cg.i32) -> cg.types.vec(2, cg.f64):
    return cg.vec2(x, 0.5)


@cg.kernel
def structure(x: cg.f32) -> Box:
    return Box(Span(x), (x, 0.1), 255, x > 0)


@cg.kernel
def element(x: cg.types.ndarray(Box, 1), i: cg.i32) -> Box:
    return x[i]


@cg.kernel
def several(x: cg.f32) -> tuple[cg.i64, cg.vec2, Span, cg.bf16]:
    return cg.i64(2**40), cg.vec2(x), Span(1, high=x), cg.bf16(x / 3)


@cg.kernel
def summed(x: cg.types.ndarray(cg.vec3, 1)) -> cg.vec3:
    total = cg.vec3(0)
    for i in x:
        total += x[i]
    return total


def test_vectors_and_matrices_are_returned(device):
    assert vector(3) == cg.vec3(3, 6, -1)
    m = np.arange(6.0).reshape(2, 3)
    found = matrix(m)
    assert found.dtype == np.float64 and found == m * 0.1
    assert converted(7) == [7.0, 0.5] and converted(7).dtype == np.float64
    x = cg.ndarray(cg.vec3, 1000)
    x.fill((1, 2, 0.5))
    assert summed(x) == (1000, 2000, 500)


def test_lists_of_numbers_become_the_declared_vector(device):
    assert of_numbers(1.5) == vector(1.5) == cg.vec3(1.5, 3, -1)
    assert of_rows(4.0) == cg.mat2[cg.f64]((4, 1), (2, 1 / 3))


def test_structures_are_returned(device):
    found = structure(2.5)
    assert type(found) is Box and type(found.across) is Span
    assert (found.across, found.count, found.full) == (Span(2.5, 9.0), 255, True) and found.at == [2.5, 0.1]
    for layout in ("soa", "aos"):
        x = cg.ndarray(Box, 3, layout=layout)
        x[1] = found
        assert element(x, 1) == x[1] and element(x, 1).at == found.at


def test_several_values_are_a_tuple(device):
    number, pair, span, third = several(3.0)
    assert (number, pair, span, third) == (2**40, cg.vec2(3), Span(1.0, 3.0), 1.0)


def test_a_graph_cannot_return_vectors(device):
    g = cg.GraphDef()
    with pytest.raises(ValueError, match="kernel vector returns a value, which a graph cannot return"):
        g.call(vector, 1.0)


@dataclass
class Holder:
    x: cg.types.ndarray(cg.f32, 1)


def test_what_kernels_do_not_return_is_refused(device):
    with pytest.raises(
        cg.CompileTypeError, match="a kernel returns numbers, vectors and dataclasses of them"
    ):

        @cg.kernel
        def holder(h: Holder) -> Holder:
            return h

    @cg.kernel
    def wrong(x: cg.f32) -> cg.vec3:
        return cg.vec2(x, x)

    with pytest.raises(cg.CompileTypeError, match=r"vec\(3, f32\) is made of a value of shape \(2,\)"):
        wrong(1.0)

    @cg.kernel
    def other(x: cg.f32) -> Span:
        return x

    with pytest.raises(cg.CompileTypeError, match="the result of the kernel is declared as Span, and gets"):
        other(1.0)
