# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: each expression has the type of the language's table, for each pair of types. The table is worked out here from
ranks (test_values.py), and not by the compiler's function."""

import itertools

import numpy as np
import pytest

from cuda_graphs.compiler import errors
from cuda_graphs.compiler.frontend.translate import translate
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir import types as t
from cuda_graphs.compiler.language.annotations import ScalarSpec
from tests.compiler.rig import cg, function_of, run_all
from tests.compiler.test_values import arithmetic_type

ALL = list(t.SCALARS.values())
NUMBERS = [type for type in ALL if type.kind != "bool"]
WHOLE = [type for type in ALL if type.kind != "float"]
REAL = [type for type in ALL if type.kind == "float"]


def types_of(cases):
    """The type of each (expression in a and b, type of a, type of b), all of them in one kernel."""
    names = {type.name: ScalarSpec(type) for type in ALL}
    signature = {f"{side}_{name}": spec for side in "ab" for name, spec in names.items()}
    lines = [
        f"    x{k} = {expression.format(a=f'a_{a.name}', b=f'b_{b.name}')}"
        for k, (expression, a, b) in enumerate(cases)
    ]
    kernel, _ = translate(
        function_of("\n".join([f"def kernel({', '.join(signature)}):", *lines]) + "\n"), signature
    )
    found = {s.local.name: s.local.type for s in ir.walk(kernel.body) if isinstance(s, ir.Set)}
    return [found[f"x{k}"] for k in range(len(cases))]


def two_bools(a, b, wanted):
    """Returns bool for two bools, where an operation keeps bools, and the wanted type otherwise."""
    return t.bool_ if a == b == t.bool_ else wanted


# expression, the types of its operands, its type
PAIRS = [
    ("min({a}, {b})", ALL, arithmetic_type),
    ("max({a}, {b})", ALL, arithmetic_type),
    ("{a} & {b}", WHOLE, lambda a, b: two_bools(a, b, arithmetic_type(a, b))),
    ("{a} | {b}", WHOLE, lambda a, b: two_bools(a, b, arithmetic_type(a, b))),
    ("{a} ^ {b}", WHOLE, lambda a, b: two_bools(a, b, arithmetic_type(a, b))),
    ("cg.select(a_bool, {a}, {b})", ALL, lambda a, b: a if a == b else arithmetic_type(a, b)),
    ("({a} if a_bool else {b})", ALL, lambda a, b: a if a == b else arithmetic_type(a, b)),
    ("({a} and {b})", WHOLE, lambda a, b: a if a == b else arithmetic_type(a, b)),
    ("({a} or {b})", WHOLE, lambda a, b: a if a == b else arithmetic_type(a, b)),
    ("{a} // {b}", ALL, arithmetic_type),
    ("{a} % {b}", ALL, arithmetic_type),
    ("cg.mod({a}, {b})", ALL, arithmetic_type),
    ("cg.atan2({a}, {b})", ALL, lambda a, b: t.f64 if t.f64 in (a, b) else t.f32),
    ("{a} == {b}", ALL, lambda a, b: t.bool_),
    ("{a} << {b}", WHOLE, lambda a, b: t.i32 if a == t.bool_ else a),
    ("{a} >> {b}", WHOLE, lambda a, b: t.i32 if a == t.bool_ else a),
    ("cg.bit_shr({a}, {b})", WHOLE, lambda a, b: t.i32 if a == t.bool_ else a),
]


# Each has a condition that is known when compiling.
CHOSEN = ["({a} if True else {b})", "({a} if cg.static(1 > 0) else {b})", "({b} if False else {a})"]


@pytest.mark.parametrize("expression", CHOSEN)
def test_a_known_condition_leaves_the_type_of_the_other_side_out(expression):
    cases = [(expression, a, b) for a, b in itertools.product(ALL, ALL)]
    assert types_of(cases) == [a for _, a, _ in cases]


@pytest.mark.parametrize(("expression", "operands", "wanted"), PAIRS, ids=[p[0] for p in PAIRS])
def test_a_pair_has_the_type_of_the_table(expression, operands, wanted):
    cases = [(expression, a, b) for a, b in itertools.product(operands, operands)]
    found = types_of(cases)
    wrong = [(a, b, has) for (_, a, b), has in zip(cases, found, strict=True) if has != wanted(a, b)]
    assert wrong == []


def real(a):
    return a if a.kind == "float" else t.f32


def number(a):
    return t.i32 if a == t.bool_ else a


SINGLE = [
    *[(f"cg.{name}({{a}})", ALL, real) for name in ("sqrt", "rsqrt", "exp", "exp2", "log", "log2", "log10")],
    *[
        (f"cg.{name}({{a}})", REAL, real)
        for name in ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "floor", "ceil", "round")
    ],
    ("abs({a})", ALL, number),
    ("-{a}", ALL, number),
    ("+{a}", ALL, number),
    ("~{a}", WHOLE, lambda a: a),
    ("not {a}", WHOLE, lambda a: t.bool_),
    ("cg.floor({a}, cg.i64)", REAL, lambda a: t.i64),
    ("int({a})", ALL, lambda a: t.i32),
    ("float({a})", ALL, lambda a: t.f32),
    ("bool({a})", ALL, lambda a: t.bool_),
    ("np.uint8({a})", ALL, lambda a: t.u8),
    ("np.float64({a})", ALL, lambda a: t.f64),
    ("cg.cast({a}, np.int16)", ALL, lambda a: t.i16),
    ("cg.isnan({a})", ALL, lambda a: t.bool_),
    ("{a} / {a}", ALL, real),
    ("{a} ** 2", ALL, number),
    ("cg.raw_div({a}, {a})", REAL, real),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "operands", "wanted"), SINGLE, ids=[s[0] for s in SINGLE])
def test_an_operation_on_one_type_has_the_type_of_the_table(expression, operands, wanted):
    cases = [(expression, a, a) for a in operands]
    assert [(a, has) for a, has in zip(operands, types_of(cases), strict=True) if has != wanted(a)] == []


REFUSED = [
    *[(f"cg.{name}({{a}})", WHOLE) for name in ("sin", "cos", "tan", "tanh", "asin", "acos", "floor", "ceil", "round")],
    *[(text, REAL) for text in ("~{a}", "not {a}", "{a} & {a}", "{a} | {a}", "{a} ^ {a}", "{a} << {a}", "{a} >> {a}")],
    *[(text, REAL) for text in ("{a} and {a}", "{a} or {a}", "(1 if {a} else 2)")],
    ("cg.raw_mod({a}, {a})", REAL),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "operands"), REFUSED, ids=[r[0] for r in REFUSED])
def test_operands_that_the_table_does_not_have_are_refused(expression, operands):
    for a in operands:
        with pytest.raises(errors.CompileTypeError) as caught:
            types_of([(expression, a, a)])
        assert caught.value.remedy


# Functions and results


@cg.func
def changed(x, y: cg.i32, out: cg.ndarray(cg.f64, 1), k=2.5):
    x += 1
    y *= 2.9
    out[0] = x + y + k
    return x, y


def calling(out: cg.ndarray(cg.f64, 1), n: cg.i32, a: cg.f32):
    m = n
    p, q = changed(m, a, out)
    out[1], out[2], out[3] = m, p, q
    changed(y=7.9, x=1, k=0.5, out=out)


@pytest.mark.filterwarnings("ignore:.*the conversion can lose:cuda_graphs.CompileWarning")
def test_functions_take_numbers_by_value_and_arrays_by_reference():
    found = run_all(calling, out=np.zeros(4), n=3, a=4.75)["out"]
    assert found.tolist() == [2 + 20 + 0.5, 3, 4, 11]


RETURNS = [
    ("-> i32", "return 3.9", 3),
    ("-> f64", "return n", 3.0),
    ("-> bool_", "return n", True),
    ("-> u8", "return 300", 44),
    ("-> (f32, i32)", "return n / 2, n", (1.5, 3)),
    ("-> tuple[f32, i32]", "return n / 2, n", (1.5, 3)),
    ("-> float", "x = 0.0\n    for i in range(n):\n        x += i\n    return x", 3.0),
    ("-> i64", "if cg.static(True):\n        return n", 3),
    ("-> None", "return", None),
]


@pytest.mark.filterwarnings("ignore:.*the conversion can lose:cuda_graphs.CompileWarning")
@pytest.mark.parametrize(("arrow", "body", "wanted"), RETURNS, ids=[r[0] for r in RETURNS])
def test_a_result_is_cast_to_what_is_declared(arrow, body, wanted):
    found = run_all(function_of(f"def kernel(n: i32) {arrow}:\n    {body}\n"), n=3)
    assert (found or None) == wanted


NOT_RETURNED = [
    ("-> i32", "pass", "has no return"),
    ("-> i32", "return", "has no return"),
    ("", "return n", "returns 1 values, and its annotation says 0"),
    ("-> i32", "return n, n", "returns 2 values, and its annotation says 1"),
    ("-> (i32, f32)", "return n", "returns 1 values, and its annotation says 2"),
    ("-> i32", "for i in range(n):\n        return i", "return cannot leave a parallel loop"),
    ("-> i32", "return 1\n    return 2", "statements after return never run"),
]


@pytest.mark.parametrize(
    ("arrow", "body", "words"), NOT_RETURNED, ids=[f"{r[0]} {r[1][:12]}" for r in NOT_RETURNED]
)
def test_a_result_fits_its_declaration(arrow, body, words):
    with pytest.raises(errors.CompileReturnError, match=words) as caught:
        translate(function_of(f"def kernel(n: i32) {arrow}:\n    {body}\n"), {"n": ScalarSpec(t.i32)})
    assert caught.value.remedy
