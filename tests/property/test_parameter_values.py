# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a kernel reads the bits that NumPy gives a value of the parameter's type; what NumPy's type cannot hold is
refused. bfloat16, which NumPy has not, is held to exact arithmetic."""

import math
import struct
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cuda_graphs as cg
from tests.graph_rig import ONE, pinned

__all__ = ["pinned"]

SOURCE = "".join(
    f"struct Bits{size} {{ {word} bits; }};\n"  # takes values of any type of that width
    f'extern "C" __global__ void store{8 * size}({word}* x, Bits{size} value) {{ *x = value.bits; }}\n'
    for size, word in (
        (1, "unsigned char"),
        (2, "unsigned short"),
        (4, "unsigned"),
        (8, "unsigned long long"),
    )
)
INTS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
FLOATS = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
ALL = (*INTS, *FLOATS, "bf16", "bool_")
run_often = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(scope="session")
def stores(session_device):
    """By the size of the value in bytes: a kernel that stores it."""
    module = cg.Program(SOURCE, code_type="c++").compile("cubin")
    return {size: module.get_kernel(f"store{8 * size}") for size in (1, 2, 4, 8)}


@pytest.fixture
def executables(stores, pinned):
    """By the name of a type: an executable that stores its parameter `value`, and the bytes it stores it to."""
    made = {}
    for name in ALL:
        kind = getattr(cg, name)
        x, g = pinned(16, "u1"), cg.GraphDef()
        g.launch(ONE, stores[kind.size], x.ctypes.data, g.param("value", kind))
        made[name] = g.instantiate(), x, kind.size
    return made


def stored(executables, name, value, stream):
    graph, x, size = executables[name]
    x[:] = 0xEE
    graph.launch(stream, value=value)
    stream.sync()
    assert (x[size:] == 0xEE).all()
    return x[:size].tobytes()


@pytest.mark.parametrize("name", INTS)
@run_often
@given(
    value=st.integers(-(1 << 65), 1 << 65)
    | st.integers(-300, 300)
    | st.sampled_from([2**b - 1 for b in range(66)])
)
def test_ints(name, value, executables, stream):
    dtype = np.dtype(f"{name[0]}{int(name[1:]) // 8}")
    info = np.iinfo(dtype)
    if info.min <= value <= info.max:
        assert stored(executables, name, value, stream) == np.array(value, dtype).tobytes()
        assert executables[name][0].params["value"].value == value
        assert stored(executables, name, dtype.type(value), stream) == np.array(value, dtype).tobytes()
    else:
        with pytest.raises(OverflowError, match=f"parameter 'value' is {name}; {value} does not fit"):
            executables[name][0].set(value=value)


@pytest.mark.parametrize("name", FLOATS)
@run_often
@given(value=st.floats() | st.floats(width=32) | st.floats(width=16) | st.integers(-(1 << 70), 1 << 70))
def test_floats(name, value, executables, stream):
    with np.errstate(over="ignore"):
        expected = FLOATS[name](float(value))
    if np.isinf(expected) and not math.isinf(value):
        with pytest.raises(OverflowError, match="is too large for it"):
            executables[name][0].set(value=value)
        return
    bits = stored(executables, name, value, stream)
    back = executables[name][0].params["value"].value
    if np.isnan(expected):
        assert np.isnan(np.frombuffer(bits, FLOATS[name])[0])
        assert math.isnan(back)
    else:
        assert bits == expected.tobytes()
        assert (back, math.copysign(1, back)) == (float(expected), math.copysign(1, expected))


def bf16(bits):
    return struct.unpack("<f", struct.pack("<I", bits << 16))[0]


def nearest_bf16(value):
    """The bits of the bfloat16 nearest to a finite double, the even one of two; None for too large a value."""
    exact = abs(Fraction(value))
    low, high = 0, 0x7F80  # of the infinity, which stands for 2**128 here
    size = lambda bits: Fraction(1 << 128) if bits == 0x7F80 else Fraction(bf16(bits))  # noqa: E731
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if size(middle) <= exact else (low, middle)
    below, above = exact - size(low), size(high) - exact
    bits = high if above < below or (above == below and high % 2 == 0) else low
    return None if bits >= 0x7F80 else bits | (0x8000 if math.copysign(1, value) < 0 else 0)


NEAR_TIES = st.builds(
    lambda bits, step: (
        math.nextafter(bf16(bits) + (bf16(bits + 1) - bf16(bits)) / 2, step * math.inf)
        if step
        else bf16(bits) + (bf16(bits + 1) - bf16(bits)) / 2
    ),
    st.integers(0, 0x7F7E),
    st.sampled_from([-1, 0, 1]),
)


@run_often
@given(
    value=st.floats(allow_nan=False, allow_infinity=False)
    | st.floats(width=32, allow_nan=False, allow_infinity=False)
    | NEAR_TIES
)
def test_bfloat16(value, executables, stream):
    expected = nearest_bf16(value)
    if expected is None:
        with pytest.raises(OverflowError, match="is too large for it"):
            executables["bf16"][0].set(value=value)
        return
    assert stored(executables, "bf16", value, stream) == struct.pack("<H", expected)
    assert executables["bf16"][0].params["value"].value == bf16(expected)


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_bfloat16_that_is_no_number(value, executables, stream):
    (bits,) = struct.unpack("<H", stored(executables, "bf16", value, stream))
    assert str(bf16(bits)) == str(value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(True, 1), (False, 0), (1, 1), (0, 0), (np.True_, 1), (np.False_, 0), (np.int8(1), 1)],
)
def test_booleans(value, expected, executables, stream):
    assert stored(executables, "bool_", value, stream) == bytes([expected])
    assert executables["bool_"][0].params["value"].value is bool(expected)


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        *[
            (name, value, TypeError)
            for name in INTS
            for value in (1.0, "1", None, b"1", [1], 1j, np.float32(1))
        ],
        *[(name, value, TypeError) for name in (*FLOATS, "bf16") for value in ("1", None, b"1", [1.0], 1j)],
        *[("bool_", value, TypeError) for value in (1.0, "yes", None, [])],
        *[("bool_", value, OverflowError) for value in (2, -1)],
        *[(name, 10**400, OverflowError) for name in (*FLOATS, "bf16")],
    ],
)
def test_value_that_does_not_fit_is_refused_by_name(name, value, error, executables):
    with pytest.raises(error, match="parameter 'value'"):
        executables[name][0].set(value=value)


def test_numpy_scalars_are_values_of_other_types_too(executables, stream):
    assert stored(executables, "f32", np.float64(1 / 3), stream) == np.float32(1 / 3).tobytes()
    assert stored(executables, "f64", np.int16(-3), stream) == np.float64(-3).tobytes()
    assert stored(executables, "u8", np.int64(255), stream) == b"\xff"
