# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: the reference arithmetic agrees with every other truth at hand: the CPU's own IEEE 754 arithmetic to nearest,
and, in the other directions, the order of the four results and exactness."""

import numpy as np
import pytest

from tests.ptx import exact, hazards

FLOATS = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
N = 4000


def operands(kind, count):
    return hazards.operands("nans_infs_zeros_denormals", [kind] * count, N)


def same(found, expected):
    equal = found.view(f"u{found.dtype.itemsize}") == expected.view(f"u{expected.dtype.itemsize}")
    return (equal | (np.isnan(found) & np.isnan(expected))).all()


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "sqrt"])
def test_to_nearest_it_is_what_the_cpu_computes(kind, name):
    f, dtype = exact.FORMATS[kind], FLOATS[kind]
    arrays = operands(kind, 1 if name == "sqrt" else 2)
    found = exact.elementwise(lambda *v: getattr(exact, name)(f, "rn", *v), dtype, *arrays)
    numpy_name = {"add": "add", "sub": "subtract", "mul": "multiply", "div": "divide", "sqrt": "sqrt"}[name]
    with np.errstate(all="ignore"):
        expected = getattr(np, numpy_name)(*arrays).astype(dtype)
    assert same(found, expected)


def test_fma_is_the_double_result_where_double_holds_it_exactly():
    rng = np.random.default_rng(5)
    a, b, c = (rng.integers(-(2**23), 2**23, N).astype(np.float32) for _ in range(3))
    found = exact.elementwise(lambda *v: exact.fma(exact.F32, "rn", *v), np.float32, a, b, c)
    assert same(found, (a.astype(np.float64) * b + c).astype(np.float32))


def test_fma_keeps_the_product_exact():
    one, tiny = 0x3F800001, 0xBF800000  # (1 + ulp)**2 - 1 needs more bits than a float has
    assert exact.fma(exact.F32, "rn", one, one, exact.mul(exact.F32, "rn", one, one) ^ (1 << 31)) != 0
    assert exact.fma(exact.F32, "rn", one, 0x3F800000, tiny) == 0x34000000


@pytest.mark.parametrize("kind", FLOATS)
def test_rounded_down_and_up_enclose_the_nearest_and_are_neighbours_or_equal(kind):
    f, dtype = exact.FORMATS[kind], FLOATS[kind]
    a, b = operands(kind, 2)
    for name in ("add", "mul", "div"):
        operation = getattr(exact, name)
        down, near, up, zero = (
            exact.elementwise(lambda x, y, m=m, g=operation: g(f, m, x, y), dtype, a, b)
            for m in ("rm", "rn", "rp", "rz")
        )
        finite = ~np.isnan(near)
        down, near, up, zero = (v[finite] for v in (down, near, up, zero))
        assert ((down <= near) & (near <= up)).all()
        with np.errstate(all="ignore"):
            assert ((down == up) | (np.nextafter(down, dtype(np.inf)) == up)).all()
        assert ((zero == down) | (zero == up)).all()
        assert (np.abs(zero) <= np.abs(near)).all()
        assert (down != up).sum() > N // 10


@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("target", FLOATS)
def test_conversion_between_floats_is_what_the_cpu_computes(source, target):
    (a,) = operands(source, 1)
    found = exact.elementwise(
        lambda x: exact.convert(exact.FORMATS[source], exact.FORMATS[target], "rn", x), FLOATS[target], a
    )
    with np.errstate(all="ignore"):
        assert same(found, a.astype(FLOATS[target]))


@pytest.mark.parametrize(("mode", "name"), [("rn", "rint"), ("rz", "trunc"), ("rm", "floor"), ("rp", "ceil")])
@pytest.mark.parametrize("kind", FLOATS)
def test_rounding_to_integers_is_what_the_cpu_computes(kind, mode, name):
    (a,) = operands(kind, 1)
    found = exact.elementwise(
        lambda x: exact.round_to_integral(exact.FORMATS[kind], mode, x), FLOATS[kind], a
    )
    with np.errstate(all="ignore"):
        assert same(found, getattr(np, name)(a))


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_integers_become_floats_as_the_cpu_rounds_them(kind):
    (a,) = hazards.operands("int_extremes", ["s64"], N)
    found = np.array([exact.from_integer(exact.FORMATS[kind], "rn", int(x)) for x in a])
    expected = a.astype(FLOATS[kind])
    assert (found == expected.view(f"u{expected.dtype.itemsize}")).all()


def test_a_bfloat16_is_the_upper_half_of_a_float():
    (a,) = operands("bf16", 1)
    found = exact.elementwise(lambda x: exact.convert(exact.BF16, exact.F32, "rn", x), np.float32, a)
    assert same(found, (a.astype(np.uint32) << 16).view(np.float32))


LEAST, BELOW_ONE, ONE = 0x00800000, 0x3F7FFFFF, 0x3F800000


@pytest.mark.parametrize("mode", exact.MODES)
def test_flushing_looks_at_the_exact_result(mode):
    f = exact.Flushing.of(exact.F32)
    assert exact.mul(exact.F32, "rn", BELOW_ONE, LEAST) == LEAST  # rounds up to a normal number
    assert exact.mul(f, mode, BELOW_ONE, LEAST) == 0
    assert exact.mul(f, mode, BELOW_ONE, LEAST | f.sign_bit) == f.sign_bit
    assert exact.mul(f, mode, ONE, LEAST) == LEAST
