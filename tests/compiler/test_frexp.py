# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: `cg.frexp` splits each float as `math.frexp` does, on the interpreter, on x86 and in PTX."""

import math

import numpy as np
import pytest

from cuda_graphs.compiler.ir.types import f32, f64, i32
from cuda_graphs.compiler.language.annotations import ndarray, vec
from tests.compiler.rig import cg, run_all

KINDS = {"f32": (f32, np.float32), "f64": (f64, np.float64)}


def numbers(numpy):
    """Zeros, powers of two and their neighbours, the smallest and largest floats, and random bits."""
    limits = np.finfo(numpy)
    bits = np.random.default_rng(20).integers(0, 2**63, 200, dtype=np.uint64)
    some = bits.view(np.float64) if numpy is np.float64 else bits.astype(np.uint32).view(np.float32)
    edges = [
        0.0,
        -0.0,
        1.0,
        -0.5,
        3.0,
        limits.max,
        limits.tiny,
        limits.smallest_subnormal,
        -limits.tiny * 0.75,
    ]
    powers = 2.0 ** np.arange(-40, 40)
    found = np.concatenate([edges, powers, np.nextafter(powers, 0), some[np.isfinite(some)]]).astype(numpy)
    return np.concatenate([found, -found])


@pytest.mark.parametrize("kind", KINDS)
def test_fraction_and_exponent_are_those_of_python(kind):
    element, numpy = KINDS[kind]

    def kernel(x: ndarray(element, 1), exponents: ndarray(i32, 1)):
        for i in x:
            fraction, exponent = cg.frexp(x[i])
            x[i] = fraction
            exponents[i] = exponent

    given = numbers(numpy)
    found = run_all(kernel, x=given, exponents=np.zeros(given.size, np.int32))
    wanted = [math.frexp(each) for each in given.tolist()]
    np.testing.assert_array_equal(found["x"], np.array([each for each, _ in wanted], numpy))
    np.testing.assert_array_equal(found["exponents"], [each for _, each in wanted])


@pytest.mark.parametrize("kind", KINDS)
def test_vectors_are_split_component_by_component(kind):
    element, numpy = KINDS[kind]

    def kernel(x: ndarray(vec(3, element), 1), exponents: ndarray(vec(3, i32), 1)):
        for i in x:
            x[i], exponents[i] = cg.frexp(x[i])

    given = numbers(numpy)[:300].reshape(100, 3)
    found = run_all(kernel, x=given, exponents=np.zeros((100, 3), np.int32))
    fractions, exponents = np.frexp(given)
    np.testing.assert_array_equal(found["x"], fractions)
    np.testing.assert_array_equal(found["exponents"], exponents)
