# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: expressions have the values of the language's tables, on every target.

`VALUES` are single expressions with the numbers that they must give. The operands come from parameters, so nothing
is folded.
"""

import itertools
import math
import re

import numpy as np
import pytest

from cuda_graphs.compiler.errors import CompileTypeError
from cuda_graphs.compiler.ir import types as t
from cuda_graphs.compiler.ir.builder import Builder
from cuda_graphs.compiler.ir.ir import Param
from cuda_graphs.compiler.language.annotations import ndarray
from tests.compiler.rig import function_of, run_all

ALL = list(t.SCALARS.values())
INTEGERS = [type for type in ALL if type.kind in ("int", "uint")]


def arithmetic_type(a, b):
    """The table of the language, row by row."""
    floats = [x for x in (a, b) if x.kind == "float"]
    if len(floats) == 1:
        return floats[0]
    if floats:
        if {a.name, b.name} == {"f16", "bf16"}:
            return t.f32
        return a if a.size > b.size else b
    if a == b == t.bool_:
        return t.i32
    if t.bool_ in (a, b):
        return b if a == t.bool_ else a
    if a.size != b.size:
        return a if a.size > b.size else b
    return next((x for x in (a, b) if x.kind == "uint"), a)


@pytest.mark.parametrize("operator", ["Add", "Sub", "Mult", "FloorDiv", "Mod"])
def test_arithmetic_has_the_type_of_the_table(operator):
    for a, b in itertools.product(ALL, ALL):
        found = Builder().binary(operator, Param("a", a), Param("b", b)).type
        assert found == arithmetic_type(a, b), (operator, a, b)


def test_division_gives_a_float():
    for a, b in itertools.product(ALL, ALL):
        floats = [x for x in (a, b) if x.kind == "float"]
        wanted = arithmetic_type(a, b) if len(floats) == 2 else t.f64 if t.f64 in floats else t.f32
        assert Builder().binary("Div", Param("a", a), Param("b", b)).type == wanted, (a, b)


def test_a_power_has_the_type_of_its_base_unless_a_float_takes_part():
    for a, b in itertools.product(ALL, ALL):
        base = t.i32 if a == t.bool_ else a
        wanted = arithmetic_type(a, b) if b.kind == "float" else base
        assert Builder().binary("Pow", Param("a", a), Param("b", b)).type == wanted, (a, b)


WIDTHS = {
    "i8": "i1",
    "u8": "u1",
    "i16": "i2",
    "u16": "u2",
    "i32": "i4",
    "u32": "u4",
    "i64": "i8",
    "u64": "u8",
}
BASES = (0, 1, 2, 3, 5, -1, -2, -3, 100, 127, 255)
EXPONENTS = (0, 1, 2, 3, 7, 31, 64, 127, 128, 255, 256, 2**31, 2**32, 2**40, -1, -2, -3)


@pytest.mark.parametrize("base", WIDTHS)
@pytest.mark.parametrize("exponent", WIDTHS)
def test_powers_of_integers_have_the_low_bits_of_those_of_python(base, exponent):
    kernel = function_of(
        f"def k(x: ndarray({base}, 1), y: ndarray({exponent}, 1), o: ndarray({base}, 1)):\n"
        "    for i in range(o.shape[0]):\n        o[i] = x[i] ** y[i]\n"
    )
    limits = [np.iinfo(WIDTHS[name]) for name in (base, exponent)]
    pairs = [
        pair
        for pair in itertools.product(BASES, EXPONENTS)
        if all(limit.min <= number <= limit.max for limit, number in zip(limits, pair, strict=True))
    ]
    x, y = (
        np.array(column, WIDTHS[name]) for column, name in zip(zip(*pairs), (base, exponent), strict=True)
    )
    found = run_all(kernel, x=x, y=y, o=np.zeros(len(pairs), WIDTHS[base]))["o"]
    bits = 1 << limits[0].bits
    assert [int(each) % bits for each in found] == [truncated_power(*pair, bits) for pair in pairs]


def truncated_power(base, exponent, bits):
    """Return the integer part of base ** exponent, modulo `bits`. That of 0 ** -1 is 0."""
    if exponent >= 0:
        return pow(base, exponent, bits)
    return (base if exponent % 2 else 1) % bits if base in (1, -1) else 0


@pytest.mark.parametrize("operator", ["LShift", "RShift"])
def test_a_shift_has_the_type_of_its_left_operand(operator):
    for a, b in itertools.product(INTEGERS, INTEGERS):
        assert Builder().binary(operator, Param("a", a), Param("b", b)).type == a


@pytest.mark.parametrize("operator", ["BitAnd", "BitOr", "BitXor", "LShift", "RShift"])
def test_bit_operators_take_no_floats(operator):
    for a, b in itertools.product(ALL, ALL):
        if "float" in (a.kind, b.kind):
            with pytest.raises(CompileTypeError, match="unsupported operand types for"):
                Builder().binary(operator, Param("a", a), Param("b", b))


@pytest.mark.parametrize("operator", ["Lt", "LtE", "Gt", "GtE", "Eq", "NotEq"])
def test_comparisons_are_bools(operator):
    for a, b in itertools.product(ALL, ALL):
        assert Builder().compare(operator, Param("a", a), Param("b", b)).type == t.bool_


nan, inf = math.nan, math.inf
A = np.float32(1.1)
# (expression in a, b, c, {name: (type, value)}, what it gives)
VALUES = [
    *[
        ("a // b", {"a": ("i32", a), "b": ("i32", b)}, a // b)
        for a, b in [(-7, 2), (7, -2), (-7, -2), (7, 2), (0, 5)]
    ],
    *[
        ("a % b", {"a": ("i32", a), "b": ("i32", b)}, a % b)
        for a, b in [(-7, 3), (7, -3), (-7, -3), (7, 3), (-6, 3)]
    ],
    ("a // b", {"a": ("u32", 2**32 - 7), "b": ("u32", 2)}, (2**32 - 7) // 2),
    ("a % b", {"a": ("u8", 250), "b": ("u8", 7)}, 250 % 7),
    ("a % b", {"a": ("f32", -7.5), "b": ("f32", 2)}, 0.5),
    ("a % b", {"a": ("f64", 7.5), "b": ("f64", -2)}, -0.5),
    ("a // b", {"a": ("f32", 7), "b": ("f32", 0)}, inf),
    ("a // b", {"a": ("f64", -7.5), "b": ("f64", 2)}, -4.0),
    ("cg.raw_div(a, b)", {"a": ("i32", -7), "b": ("i32", 2)}, -3),
    ("cg.raw_div(a, b)", {"a": ("f32", -7), "b": ("f32", 2)}, -3.5),
    ("cg.raw_div(a, b)", {"a": ("i32", -7), "b": ("f64", 2)}, -3.5),
    ("cg.raw_mod(a, b)", {"a": ("i32", -7), "b": ("i32", 2)}, -1),
    ("a / b", {"a": ("i32", 7), "b": ("i32", 2)}, 3.5),
    ("a / b", {"a": ("i32", 1), "b": ("i32", 0)}, inf),
    ("a ** b", {"a": ("i32", 0), "b": ("i32", 0)}, 1),
    ("a ** b", {"a": ("i32", -2), "b": ("i32", 3)}, -8),
    ("a ** b", {"a": ("i32", 2), "b": ("i32", -2)}, 0),
    ("a ** b", {"a": ("f32", 2), "b": ("i32", -2)}, 0.25),
    ("a ** 3", {"a": ("f32", 1.5)}, 3.375),
    ("a ** 7.0", {"a": ("f32", 1.1)}, float((A * A) * A * ((A * A) * (A * A)))),
    ("a ** 2.0", {"a": ("i32", -3)}, 9.0),
    ("cg.vec2(0.1, 0.2).x * a", {"a": ("f64", 3.0)}, 3.0 * float(np.float32(0.1))),
    ("cg.vec(2, cg.f64)(0.1, 0.2).y * a", {"a": ("f64", 3.0)}, 3.0 * 0.2),
    ("float('inf') + a", {"a": ("f32", 1)}, inf),
    ("cg.f64('-inf') + a", {"a": ("f64", 1)}, -inf),
    ("cg.isnan(float('nan') + a)", {"a": ("f32", 1)}, True),
    ("~(a > 2)", {"a": ("i32", 3)}, False),
    ("~(a > 2)", {"a": ("i32", 1)}, True),
    ("~a", {"a": ("u8", 1)}, 254),
    ("cg.vec2(a, 1.0).cross(cg.vec2(2.0, 3.0))", {"a": ("f32", 4)}, 10.0),
    ("cg.vec2(a, 2.0).norm(eps=5.0)", {"a": ("f32", 4)}, 5.0),
    ("cg.vec2(a, 0.0).any()", {"a": ("f32", 0.5)}, True),
    ("cg.vec2(a, 0.0).all()", {"a": ("f32", 0.5)}, False),
    ("cg.mat2(a, cg.vec3(2.0, 3.0, 5.0)).determinant()", {"a": ("f32", 4)}, 14.0),
    ("a ** 0.0", {"a": ("f32", nan)}, 1.0),
    ("a ** 2.0", {"a": ("f64", 1e200)}, inf),
    ("a ** b", {"a": ("f64", 4), "b": ("f64", 0.5)}, 2.0),
    ("a >> b", {"a": ("i32", -8), "b": ("i32", 1)}, -4),
    ("a >> b", {"a": ("u32", 2**32 - 8), "b": ("i32", 1)}, 2**31 - 4),
    ("cg.bit_shr(a, b)", {"a": ("i32", -8), "b": ("i32", 1)}, 2**31 - 4),
    ("cg.bit_shr(a, b)", {"a": ("i8", -8), "b": ("i64", 1)}, 124),
    ("cg.bit_shr(a, b)", {"a": ("i64", -8), "b": ("i8", 1)}, 2**63 - 4),
    ("a << b", {"a": ("i8", 3), "b": ("i64", 9)}, 6),
    ("a << b", {"a": ("i8", 3), "b": ("i64", 2**40 + 1)}, 6),
    ("a / b", {"a": ("u16", 65535), "b": ("f16", 0.5)}, 131070.0),
    ("a / b", {"a": ("f16", 0.5), "b": ("u16", 65535)}, float(np.float32(0.5) / np.float32(65535))),
    ("a * 0.1", {"a": ("f64", 3.0)}, 3.0 * 0.1),
    ("0.1 + a", {"a": ("f64", 3.0)}, 0.1 + 3.0),
    ("a * cg.f32(0.1)", {"a": ("f64", 3.0)}, 3.0 * float(np.float32(0.1))),
    ("a << b", {"a": ("i32", 1), "b": ("i32", 31)}, -(2**31)),
    ("a << b", {"a": ("i64", 1), "b": ("i32", 40)}, 2**40),
    ("a + b", {"a": ("i8", 127), "b": ("i8", 1)}, -128),
    ("a + b", {"a": ("u8", 250), "b": ("u8", 10)}, 4),
    ("a * b", {"a": ("i32", 65536), "b": ("i32", 65536)}, 0),
    ("a - b", {"a": ("u16", 3), "b": ("u16", 5)}, 65534),
    ("a < b", {"a": ("i32", -1), "b": ("u32", 1)}, False),
    ("a < b", {"a": ("i32", -1), "b": ("i64", 1)}, True),
    ("a and b", {"a": ("i32", 2), "b": ("i32", 1)}, 1),
    ("a or b", {"a": ("i32", 2), "b": ("i32", 1)}, 2),
    ("a or b", {"a": ("i32", 0), "b": ("i32", 5)}, 5),
    ("a and b", {"a": ("i32", 0), "b": ("i32", 5)}, 0),
    ("0 < a < b", {"a": ("i32", 3), "b": ("i32", 5)}, True),
    ("0 < a < b", {"a": ("i32", 6), "b": ("i32", 5)}, False),
    *[
        (f"cg.dot({vector}, cg.vector(100, 10, 1))", {"a": ("i32", a), "b": ("i32", 2)}, wanted)
        for vector, a, wanted in [
            ("cg.vector(a, b, 7) > 0 and cg.vector(a, b, 7) < 5", -1, 10),
            ("cg.vector(a, b, 7) < 0 or cg.vector(a, b, 7) > 5", -1, 101),
            ("cg.vector(a, 0, 7) and b", 4, 101),
            ("a and cg.vector(b, 0, 7)", 4, 101),
            ("a and cg.vector(b, 0, 7)", 0, 0),
            ("a or cg.vector(b, 0, 7)", 4, 111),
            ("a or cg.vector(b, 0, 7)", 0, 101),
            ("not cg.vector(a, 0, b)", 4, 10),
            ("0 <= cg.vector(a, b, 7) < 5", -1, 10),
            ("0 < a < cg.vector(a, b, 7)", 1, 11),
            ("0 < a < cg.vector(a, b, 7)", 0, 0),
            ("cg.vector(a, b, 7) if a > 0 else b", -1, 222),
            ("3 if a > 0 else cg.vector(a, b, 7)", 0, 27),
        ]
    ],
    ("a == a", {"a": ("f32", nan)}, False),
    ("a != a", {"a": ("f64", nan)}, True),
    ("a < b", {"a": ("f32", nan), "b": ("f32", 1)}, False),
    ("min(a, b)", {"a": ("f32", nan), "b": ("f32", 1)}, 1),
    ("max(a, b)", {"a": ("f64", 2), "b": ("f64", nan)}, 2),
    ("min(a, b, c)", {"a": ("i32", 3), "b": ("i32", -4), "c": ("i64", 9)}, -4),
    ("cg.cast(a, cg.i32)", {"a": ("f32", -2.7)}, -2),
    ("cg.cast(a, cg.i32)", {"a": ("f32", 1e20)}, 2**31 - 1),
    ("cg.cast(a, cg.i32)", {"a": ("f64", nan)}, 0),
    ("cg.cast(a, cg.u8)", {"a": ("f32", 300.0)}, 255),
    ("cg.cast(a, cg.u8)", {"a": ("f32", -1.0)}, 0),
    ("cg.cast(a, cg.u64)", {"a": ("i32", -1)}, 2**64 - 1),
    ("cg.cast(a, cg.i64)", {"a": ("u32", 2**32 - 1)}, 2**32 - 1),
    ("cg.cast(a, cg.u8)", {"a": ("i32", 300)}, 44),
    ("cg.cast(-1, cg.u8) + a", {"a": ("u8", 1)}, 0),
    ("cg.cast(a, cg.bool_)", {"a": ("i32", 2)}, True),
    ("bool(a)", {"a": ("f32", 0.5)}, True),
    ("int(a)", {"a": ("f64", 3.9)}, 3),
    ("np.int64(a)", {"a": ("f64", -3.9)}, -3),
    ("np.float32(a)", {"a": ("f64", 0.1)}, float(np.float32(0.1))),
    ("np.int32(3.5) + a", {"a": ("i32", 1)}, 4),
    ("np.bool_(a)", {"a": ("f32", 0.5)}, True),
    ("cg.f64(a)", {"a": ("f32", 0.1)}, float(np.float32(0.1))),
    ("cg.round(a)", {"a": ("f32", 0.5)}, 1),
    ("cg.round(a)", {"a": ("f32", 2.5)}, 3),
    ("round(a)", {"a": ("f64", -0.5)}, -1),
    ("cg.floor(a, cg.i32)", {"a": ("f32", -1.5)}, -2),
    ("math.ceil(a)", {"a": ("f32", -1.5)}, -1),
    ("abs(a)", {"a": ("i32", -(2**31))}, -(2**31)),
    ("abs(a)", {"a": ("f32", -2.5)}, 2.5),
    ("cg.sign(a)", {"a": ("f32", 0.0)}, 0),
    ("cg.sign(a)", {"a": ("i32", -5)}, -1),
    ("cg.clz(a)", {"a": ("i32", 0)}, 32),
    ("cg.clz(a)", {"a": ("i32", 1)}, 31),
    ("cg.popcnt(a)", {"a": ("i32", -1)}, 32),
    ("cg.ffs(a)", {"a": ("i32", 8)}, 4),
    ("cg.bit_cast(a, cg.i32)", {"a": ("f32", 1.0)}, 1065353216),
    ("cg.bit_cast(cg.vec2(a, 2.0), cg.i32).sum()", {"a": ("f32", 1.0)}, 1065353216 + 1073741824),
    ("cg.bit_cast(a, cg.f64)", {"a": ("i64", 4607182418800017408)}, 1.0),
    ("a + b", {"a": ("bool", True), "b": ("bool", True)}, 2),
    ("a & b", {"a": ("bool", True), "b": ("bool", False)}, False),
    ("~a", {"a": ("u8", 1)}, 254),
    ("-a", {"a": ("u8", 1)}, 255),
    ("not a", {"a": ("i32", 3)}, False),
    ("a if b else c", {"a": ("i32", 3), "b": ("bool", False), "c": ("f32", 1.5)}, 1.5),
    ("cg.select(b, a, c)", {"a": ("i32", 3), "b": ("bool", True), "c": ("f64", 1.5)}, 3.0),
    ("a * 0.1", {"a": ("f64", 3.0)}, 3.0 * 0.1),
    ("a + 1", {"a": ("u8", 255)}, 256),
    ("cg.i64(5000000000) + a", {"a": ("i32", 1)}, 5000000001),
    ("bool(cg.u32(4294967295)) + a", {"a": ("i32", 1)}, 2),
    ("cg.f64(cg.cast(cg.f64(0.1), cg.f32)) * a", {"a": ("f64", 1.0)}, float(np.float32(0.1))),
    ("cg.cast(cg.f64(16777217.0), cg.i32) + a", {"a": ("i32", 1)}, 16777218),
    ("math.pi * a", {"a": ("f64", 1.0)}, math.pi),
    ("cg.isnan(a)", {"a": ("f32", nan)}, True),
    ("math.isinf(a)", {"a": ("f32", -inf)}, True),
    ("cg.sqrt(a)", {"a": ("i32", 9)}, 3.0),
    ("a + b", {"a": ("f16", 2048.0), "b": ("f16", 1.0)}, 2048.0),
    ("a * b", {"a": ("f16", 300.0), "b": ("f16", 300.0)}, inf),
    ("a + b", {"a": ("bf16", 256.0), "b": ("bf16", 1.0)}, 256.0),
    ("a + b", {"a": ("bf16", 256.0), "b": ("f16", 1.0)}, 257.0),
    ("a / b", {"a": ("bf16", 1.0), "b": ("bf16", 3.0)}, 0.333984375),
]


@pytest.mark.filterwarnings("ignore:.*the conversion can lose:cuda_graphs.CompileWarning")
def test_expressions_have_the_values_of_the_table():
    """All in one kernel, each with parameters and a result of its own: f64, and i64 or u64 where it is an integer."""
    parameters, lines, arguments = [], ["def table({}):"], {}
    for k, (expression, operands, wanted) in enumerate(VALUES):
        kind = "f64" if isinstance(wanted, float) else "u64" if wanted >= 2**63 else "i64"
        for name, (type, value) in operands.items():
            parameters.append(f"{name}_{k}: {type if type != 'bool' else 'bool_'}")
            arguments[f"{name}_{k}"] = value
            expression = re.sub(rf"\b{name}\b", f"{name}_{k}", expression)
        parameters.append(f"out_{k}: ndarray({kind}, 0)")
        arguments[f"out_{k}"] = np.zeros((), {"f64": "f8", "u64": "u8", "i64": "i8"}[kind])
        lines.append(f"    out_{k}[()] = {expression}")
    lines[0] = lines[0].format(", ".join(parameters))
    found = run_all(function_of("\n".join(lines), math=math), **arguments)
    got = [found[f"out_{k}"][()] for k in range(len(VALUES))]
    assert [(*case, x) for case, x in zip(VALUES, got) if x != case[2]] == []


def stores(x: ndarray(t.u8, 1), n: t.i32, y: ndarray(t.i32, 1), z: ndarray(t.f32, 1)):
    x[0] = n
    x[1] = n - 301
    y[0] += 1.9
    y[1] /= 2
    z[0] = n
    v = 1
    v = 2.7
    y[2] = v


@pytest.mark.filterwarnings("ignore:.*the conversion can lose:cuda_graphs.CompileWarning")
def test_stored_value_is_converted_to_the_type_of_the_array():
    found = run_all(stores, x=np.zeros(2, "u1"), n=300, y=np.array([1, 7, 0], "i4"), z=np.zeros(1, "f"))
    assert found["x"].tolist() == [44, 255]
    assert found["y"].tolist() == [2, 3, 2]
    assert found["z"].tolist() == [300.0]
