# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a conversion takes the result that Python has of numbers of the source, or refuses it: none is wrapped or
rounded on the way. A variable has the type of each of its annotations; another one is refused."""

import random

import numpy as np
import pytest

from cuda_graphs.compiler import errors
from cuda_graphs.compiler.frontend.translate import translate
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir import types as t
from tests.compiler.rig import cg, function_of, run_all

WHOLE = [type for type in t.SCALARS.values() if type.kind in ("int", "uint")]
LEAVES = [
    "0",
    "1",
    "3",
    "7",
    "31",
    "-1",
    "-128",
    "255",
    "65536",
    "2147483647",
    "-2147483648",
    "4294967295",
    "N",
    "M",
]
CAPTURED = {"N": 2**20, "M": np.int64(2**33), "BIG": 10**5000}
OPERATORS = ["+", "-", "*", "//", "%", "&", "|", "^"]


def constant_of(expression):
    """The constant that the frontend makes of an expression."""
    kernel, _ = translate(function_of(f"def kernel():\n    x = {expression}\n", **CAPTURED), {})
    found = next(s.value for s in ir.walk(kernel.body) if isinstance(s, ir.Set))
    assert isinstance(found, ir.Const)
    return found


def expression(draw, depth):
    if depth == 0 or draw.random() < 0.2:
        return draw.choice(LEAVES)
    kind = draw.random()
    if kind < 0.15:
        return f"{draw.choice('-~+')}({expression(draw, depth - 1)})"
    if kind < 0.3:
        return f"({expression(draw, depth - 1)}) {draw.choice(['**', '<<', '>>'])} {draw.randrange(6)}"
    return f"({expression(draw, depth - 1)}) {draw.choice(OPERATORS)} ({expression(draw, depth - 1)})"


def expressions(count):
    """(expression, its value in Python), of those that have one."""
    draw, found = random.Random(7), []
    while len(found) < count:
        text = expression(draw, 3)
        try:
            found.append((text, int(eval(text, {}, {"N": 2**20, "M": 2**33}))))
        except ZeroDivisionError:  # which the language defines
            continue
    return found


def holds(type, value):
    return type.minimum <= value <= type.maximum


@pytest.mark.parametrize("type", WHOLE, ids=str)
def test_a_cast_takes_the_exact_number_or_refuses_it(type):
    taken = refused = 0
    for text, value in expressions(60):
        for given in (text, str(value)):
            if holds(type, value):
                found = constant_of(f"cg.{type}({given})")
                assert (found.value, found.type) == (value, type), given
                taken += 1
            else:
                with pytest.raises(errors.CompileLiteralError, match=f"{value} is not a value of {type}"):
                    constant_of(f"cg.{type}({given})")
                refused += 1
    assert taken > 10
    assert refused > 1


@pytest.mark.filterwarnings("ignore:this is .* the result loses bits:cuda_graphs.CompileWarning")
def test_a_number_without_a_type_is_an_i32_that_wraps():
    for text, wanted in {
        "2147483647 + 1": -(2**31),
        "65536 * 65536": 0,
        "1 << 31": -(2**31),
        "N * N + 3": 3,
    }.items():
        found = constant_of(text)
        assert (found.value, found.type) == (wanted, t.i32)


@pytest.mark.parametrize(
    "text", ["2**40", "1 << 40", "N * N", "pow(2, 40)", "65536 * 65536", "cg.static(N * N)"]
)
@pytest.mark.parametrize("convert", ["cg.i64({})", "np.int64({})", "cg.cast({}, cg.i64)", "cg.f64({})"])
def test_each_way_to_convert_is_exact(text, convert):
    wanted = eval(text, {"cg": cg, "N": 2**20} | {"pow": pow}) if "static" not in text else 2**40
    assert constant_of(convert.format(text)).value == wanted


@pytest.mark.parametrize("text", ["2**40", "5000000000", "N * N", "-(N << 20)"])
def test_the_annotation_of_a_variable_takes_the_exact_number(text):
    kernel, _ = translate(function_of(f"def kernel():\n    x: cg.i64 = {text}\n", **CAPTURED), {})
    (assignment,) = [s for s in ir.walk(kernel.body) if isinstance(s, ir.Set)]
    assert (assignment.value.value, assignment.local.type) == (eval(text, {"N": 2**20}), t.i64)


@pytest.mark.parametrize("convert", ["int({})", "np.int32({})", "cg.i32({})"])
@pytest.mark.parametrize("text", ["2**40", "5000000000", "N * N"])
def test_each_way_to_convert_refuses_what_does_not_fit(text, convert):
    with pytest.raises(errors.CompileLiteralError, match="is not a value of i32"):
        constant_of(convert.format(text))


@pytest.mark.parametrize(
    "text", ["1 / 3", "0.1 + 0.2", "0.1 * 3", "2.0 ** 0.5", "2.5 - 1e-9", "-(1 / 7)", "10.0 ** -10"]
)
def test_floats_keep_their_digits_until_a_type_takes_them(text):
    for form in (text, f"({text}) + 0.5", f"-({text})"):
        assert constant_of(f"cg.f64({form})").value == eval(form)
        assert constant_of(f"float({form})").value == np.float32(eval(form))


@pytest.mark.parametrize(
    "text", ["2 ** 5000", "3 << 100000", "N ** N", "10 ** 400", "10 ** 200 * 10 ** 200", "BIG"]
)
def test_an_integer_of_no_type_is_refused_at_once(text):
    for type in ("cg.i64", "cg.f64", "cg.f32", "int"):
        with pytest.raises(errors.CompileLiteralError):
            constant_of(f"{type}({text})")


def test_results_that_python_lacks_are_those_of_the_language():
    assert constant_of("1 // 0").value == 0
    assert constant_of("1.0 / 0").value == float("inf")
    assert np.isnan(constant_of("(-1.0) ** 0.5").value)


# Annotations of variables

TYPES = [
    "cg.i32",
    "cg.f32",
    "cg.f64",
    "cg.vec2",
    "cg.vec3",
    "cg.types.mat(2, 2, cg.f32)",
    "cg.types.vec(3, cg.i32)",
]


@pytest.mark.parametrize("first", TYPES)
@pytest.mark.parametrize("between", ["", "if n > 0:\n        ", "while n > 0:\n        "])
def test_a_second_annotation_says_the_same_type_or_is_refused(first, between):
    for second in TYPES:
        source = f"def kernel(n: i32):\n    d: {first} = 2\n    {between}d: {second} = 2.5\n"
        if first == second:
            translate(function_of(source), {"n": cg.ScalarSpec(t.i32)})
            continue
        with pytest.raises(
            errors.CompileTypeError, match=r"'d' is a variable of type .*, and is declared as"
        ) as caught:
            translate(function_of(source), {"n": cg.ScalarSpec(t.i32)})
        assert caught.value.loc.line == 3 + bool(between)


def test_an_annotation_after_a_plain_assignment_says_its_type_or_is_refused():
    assert constant_of("2\n    x: cg.i32 = 2.5").value == 2
    with pytest.raises(
        errors.CompileTypeError, match="'x' is a variable of type i32, and is declared as f32"
    ):
        constant_of("2\n    x: cg.f32 = 2.5")


@pytest.mark.filterwarnings("ignore:.*the conversion can lose:cuda_graphs.CompileWarning")
def test_names_of_other_blocks_have_annotations_of_their_own():
    source = """def kernel(n: i32, y: ndarray(f32, 1)):
    for k in cg.static(range(2)):
        d: cg.f32 = k + 0.5
        y[k] = d
    if n > 0:
        d: cg.i32 = 2.5
        y[2] = d
    d: cg.f64 = 3.5
    y[3] = d
"""
    assert run_all(function_of(source), n=1, y=np.zeros(4, "f"))["y"].tolist() == [0.5, 1.5, 2, 3.5]


@pytest.mark.parametrize("place", ["y[0]", "v.x"])
def test_the_annotation_of_a_place_is_refused(place):
    with pytest.raises(errors.CompileSyntaxError, match="is declared, and is no name of a variable"):
        translate(function_of(f"def kernel():\n    v = cg.vec2(1)\n    {place}: cg.i32 = 2.5\n"), {})
