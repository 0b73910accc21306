# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Types of names whose first value is a number of the source, reports of lossy conversions, and default types."""

import itertools
import math
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import cuda_graphs
from cuda_graphs.compiler import errors
from cuda_graphs.compiler.frontend.precision import holds
from cuda_graphs.compiler.frontend.translate import translate
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.scalars import scalar
from cuda_graphs.compiler.ir.types import SCALARS, bool_, f32, f64, i32, i64, promote
from cuda_graphs.compiler.language.number_rules import NumberRules
from cuda_graphs.compiler.language.signature import specialise
from tests.compiler.rig import function_of, run_all

FIRST = {"0": i32, "0.0": f32, "False": bool_, "1 - 2": i32, "1 / 3": f32}
IGNORED = pytest.mark.filterwarnings("ignore:.*the conversion can lose:cuda_graphs.CompileWarning")


def type_of_name(body, rules=None, **parameters):
    """The type of the variable `t`, or of its components, in a kernel whose parameters have these types."""
    head = ", ".join(f"{name}: {type}" for name, type in parameters.items())
    kernel = function_of(f"def kernel({head}):\n    " + body.replace("\n", "\n    ") + "\n")
    signature = specialise(kernel, dict.fromkeys(parameters, 0))
    found, _ = translate(kernel, signature, **({} if rules is None else {"rules": rules}))
    (type,) = {
        each.local.type for each in ir.walk(found.body) if isinstance(each, ir.Set) and each.local.name == "t"
    }
    return type


@IGNORED
@pytest.mark.parametrize("first", FIRST)
@pytest.mark.parametrize("later", list(SCALARS.values()), ids=str)
def test_a_number_of_the_source_takes_the_promotion_with_each_later_value(first, later):
    wanted = FIRST[first] if FIRST[first] == later else promote(FIRST[first], later)
    assert type_of_name(f"t = {first}\nt = a", a=later) == wanted
    assert (
        type_of_name(f"t = {first}\nfor _ in range(1):\n    for _ in range(3):\n        t = a", a=later)
        == wanted
    )


def test_a_value_with_a_type_decides_the_type_of_its_name():
    for type in SCALARS.values():
        assert type_of_name("t = a\nt = 0", a=type) == type


CHAINS = {
    "t = 0\nu = 0\nt = u\nu = a": f64,  # a name follows another one that grows
    "t = 0\nt += a": f64,
    "t = 0\nt, u = 0.5, 1\nt = u\nu = a": f64,
    "t = u = 0\nt = a": f64,
    "t = 0\nt = 0.5": f32,
    "t = 7\nt /= 2": f32,
    "t = 0\n(t := a)": f64,
    "t = 0\ncg.atomic_max(t, a)": f64,
    "if n > 0:\n    t = 0\n    t = a": f64,
    "t = 0\nt = n": i32,
    "u = (t := 0.0)\nt = a": f64,
    "t = 0.0\nu = (t := a)": f64,
    "t = cg.vector(0, 0, 0)\nt += a": f64,
    "t = cg.vector(0.0, 0.0)\nt = cg.vector(n, a)": f64,
    "t = cg.vector((0, 1), (1, 0))\nt[n, 1] = a": f64,
    "t = cg.vector([0.0, 0.5])\nt[n] += a": f64,
    "t, u = cg.vector(0.0, 0.0), 1\nt.x = a": f64,
    "t = cg.vector(0, 0)\nt = cg.vector(0.5, 0.5)": f32,
    "t = cg.vector(0, 0)\nfor _ in range(n):\n    cg.atomic_add(t[n], a)": f64,
    "t = cg.vec2(0.0)\nt += a": f32,
    "t = cg.vector(n, 0)\nt += a": i32,
}


@IGNORED
@pytest.mark.parametrize(("body", "wanted"), list(CHAINS.items()))
def test_all_assignments_of_a_function_count(body, wanted):
    assert type_of_name(body, a=f64, n=i32) == wanted


SUMS = """def kernel(x: ndarray(f64, 1), out: ndarray(f64, 1)):
    acc = 0.0
    for i in x:
        acc += x[i]
    out[0] = acc
    for j in range(1):
        mean, count = 0.0, 0
        for i in range(x.shape[0]):
            count += 1
            mean += (x[i] - mean) / count
        out[1] = mean
        third = 1 / 3
        third = third + 0.0 * x[0]
        out[2] = third
        k = 0
        k = 0.5
        out[3] = k
"""


def test_sums_of_doubles_have_the_precision_of_doubles():
    x = np.random.default_rng(3).random(1000) + 1e8
    found = run_all(function_of(SUMS), x=x, out=np.zeros(4), exact=False)["out"]
    np.testing.assert_allclose(found[:2], [x.sum(), x.mean()], rtol=1e-14)
    assert found[2:].tolist() == [1 / 3, 0.5]


def test_inlined_functions_and_unrolled_iterations_have_names_of_their_own():
    body = """def kernel(x: ndarray(f64, 1), y: ndarray(i64, 1), out: ndarray(f64, 1), n: i32):
    out[0] = total(x, 2)
    out[1] = total(y, 2) / 2
    for k in cg.static(range(2)):
        t = 0
        if cg.static(k == 1):
            t = x[0]
        out[2 + k] = t + 0.25
"""

    def total(values, n):
        s = 0
        for i in range(n):
            s += values[i]
        return s

    total.__cuda_graphs_func__ = total
    x, y = np.array([0.1, 0.2]), np.array([2**40, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = run_all(function_of(body, total=total), x=x, y=y, out=np.zeros(4), n=1)["out"]
    assert found[0] == 0.1 + 0.2
    assert found[2:].tolist() == [0.25, 0.1 + 0.25]


EXACT = """def kernel(w: ndarray(i64, 1), u: ndarray(u32, 1), x: ndarray(f64, 1), n: i64, a: f64) -> i64:
    w[0] = 2**40 + 1
    w[1] = 1099511627777
    t = 0
    t = 2**40 + 1
    t += n
    w[2] = t
    u[0] = 4294967295
    u[1] = 1 << 31
    x[0] = 1 / 3
    v = cg.vector(1 / 3, 0)
    v.y = a
    x[1] = v.x
    x[2] = 2**40 + 1
    p = cg.types.vec(2, f64)(1 / 3, 2**40 + 1)
    q = cg.types.mat(2, 2, i64)(1, 2**40, 2**40, 1)
    x[3] = p.x + (p.y - 1099511627777.0) + (q[0, 1] - q[1, 0]) + (q[0, 1] - n * cg.i64(2**40))
    x[4] = cg.types.vec(2, f64)(1 / 3).y
    x[5] = a + 2 * PI
    x[6] = a - (1 / 3 + 0.1)
    x[7] = (a + 5.0) * -(2 / 3)
    return 2**40 + 1
"""


def test_a_number_of_the_source_is_exact_in_the_type_of_its_place():
    arguments = {"w": np.zeros(3, "i8"), "u": np.zeros(2, "u4"), "x": np.zeros(8), "n": 1, "a": 0.0}
    kernel, exact = function_of(EXACT, PI=np.pi), 2**40 + 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run_all(kernel, **arguments) == exact
        stored = function_of(EXACT.replace(" -> i64", "").replace("return", "pass #"), PI=np.pi)
        found = run_all(stored, **arguments)
    assert found["w"].tolist() == [exact, exact, exact + 1]
    assert found["u"].tolist() == [2**32 - 1, 2**31]
    assert found["x"].tolist() == [
        1 / 3,
        1 / 3,
        exact,
        1 / 3,
        1 / 3,
        2 * np.pi,
        -(1 / 3 + 0.1),
        5.0 * -(2 / 3),
    ]


LOST = {
    "y = 2**40": "this is 1099511627776, and numbers of the source are i32: the result loses bits. Write cg.i64",
    "y = w + 65536 * 65536": "this is 4294967296",
    "y = w * (2**40 >> 20)": "this is 1099511627776",
    "y = -(3 << 31)": "this is 6442450944",
    "y = 2**70 + w": "No integer type holds it: write it as a float",
    "m[0] = 2**40": "this is 1099511627776",
}


@pytest.mark.parametrize("body", LOST)
def test_arithmetic_on_numbers_of_the_source_that_loses_bits_is_reported(body):
    with pytest.warns(errors.CompileWarning) as caught:
        compiled(body)
    assert LOST[body] in str(caught[0].message)
    with pytest.raises(errors.CompileTypeError, match=r"this is -?[0-9]+, and numbers of the source are i32"):
        compiled(body, strict=True)


CONSTANTS = """def kernel(x: ndarray(f64, 1), y: ndarray(f32, 1), a: f64, b: f32):
    for _ in range(1):
        c, v = 0.1, cg.vector(0.1, 0.2)
        third = 1 / 3
        x[0] = a * c
        x[1] = a + 2 * c * third
        x[2] = (v * a).y
        x[3] = a * -third
        x[4] = a * v.x
        y[0] = b * c
        changed = 0.1
        x[5] = a * changed
        changed = b
        y[1] = changed
        x[6] = scaled(a, 0.1)
        x[7] = scaled(a)
        x[8] = scaled(a, cg.f32(0.1))
        x[9] = narrowed(a, 0.1)
        x[10] = grown(a, 0.1)
"""


def scaled(a, factor=1 / 3):
    return a * factor


def narrowed(a, factor: f32):
    return a * factor


def grown(a, factor):
    for _ in range(2):
        factor += 1.0
    return a * factor


def test_names_that_keep_a_literal_keep_its_digits_beside_doubles():
    arrays = {"x": np.zeros(11), "y": np.zeros(2, "f")}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = run_all(
            function_of(CONSTANTS, scaled=scaled, narrowed=narrowed, grown=grown), **arrays, a=0.7, b=0.5
        )
    narrow = float(np.float32(0.1))
    assert found["x"].tolist() == [
        0.7 * 0.1, 0.7 + 2 * 0.1 * (1 / 3), 0.2 * 0.7, 0.7 * -(1 / 3), 0.7 * 0.1, 0.7 * narrow,
        0.7 * 0.1, 0.7 * (1 / 3), 0.7 * narrow, 0.7 * narrow, 0.7 * (0.1 + 1 + 1),
    ]  # fmt: skip
    assert found["y"].tolist() == [np.float32(0.5) * np.float32(0.1), 0.5]


MADE_OF_LITERALS = {
    "a choice": "x[0] = a * (0.1 if n > 0 else 0.2)",
    "a name of a choice": "c = 0.1 if n > 0 else 0.2\nd = c\nx[0] = a * d",
    "a choice of names": "c = 0.1\nd = 0.3\ne = c if n > 0 else d\nx[0] = a * e",
    "a choice in a choice": "x[0] = a * (0.1 if n > 9 else 0.2 if n > 1 else 0.3)",
    "a choice in arithmetic": "x[0] = a * ((0.1 if n > 0 else 0.2) * 0.3 - 0.7)",
    "select": "x[0] = a * cg.select(n > 0, 0.1, 0.2)",
    "select in arithmetic": "x[0] = a + cg.select(n > 0, 0.1, 0.2) / 3",
    "an item of a list": "x[0] = a * [0.1, 0.2, 0.3][n]",
    "a named list": "c = [0.1, 0.2, 0.3]\nx[0] = a * c[n]",
    "the least": "c = min(0.3, 0.1)\nx[0] = a * c",
    "a function": "x[0] = a * math.sqrt(2.0)",
    "a function of a whole number": "x[0] = a * math.sqrt(2)",
    "a function of a function": "c = math.sin(math.sqrt(0.7))\nx[0] = a * c",
    "a function of a choice": "x[0] = a * math.sqrt(0.1 if n > 0 else 0.2)",
    "a sum": "t = 0.0\nfor _ in range(3):\n    t += 0.1\nx[0] = a * t",
    "a product": "t = 1.0\nfor _ in range(3):\n    t = t * 0.1 + 0.3\nx[0] = t",
    "a change in a branch": "t = 0.1\nif n > 0:\n    t = 0.2\nx[0] = a * t",
    "names of names": "t = 0.1\nfor _ in range(3):\n    s = t * 0.7\n    t = s + 0.1\nx[0] = a * t",
    "results": "x[0] = a * chosen(n)",
    "parameters": "x[0] = a * scaled(0.1, 0.1 if n > 0 else 0.2)",
    "a comparison": "t = 0.0\nfor _ in range(10):\n    if t < a / 2:\n        t += 0.1\nx[0] = t",
}


def chosen(n):
    if n > 0:
        return 0.1
    return 0.2


@pytest.mark.parametrize("body", MADE_OF_LITERALS)
def test_values_made_of_literals_only_are_beside_doubles_what_python_computes(body):
    lines = MADE_OF_LITERALS[body].replace("\n", "\n        ")
    source = f"def kernel(x: ndarray(f64, 1), a: f64, n: i32):\n    for _ in range(1):\n        {lines}\n"
    free = {"chosen": chosen, "scaled": scaled, "math": math}
    wanted = [0.0]
    unused = {"ndarray": lambda *args: None, "f64": None, "i32": None}
    python = {**free, **unused, "cg": SimpleNamespace(select=lambda c, a, b: a if c else b)}
    exec(source, python)
    python["kernel"](wanted, 0.7, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = run_all(function_of(source, **free), x=np.zeros(1), a=0.7, n=2)
    assert found["x"].tolist() == wanted


KEEPS_ITS_TYPE = {
    "an own type in the name": "t = 0.1\nt = b\nx[0] = a * t",
    "an own type in a part": "t = 0.1\nt = b\ns = t * 0.5\nx[0] = a * s",
    "a written type": "t = cg.f32(0.1)\nx[0] = a * t",
    "a written type in a branch": "t = 0.1\nt = cg.f32(0.5) * b\nx[0] = a * t",
    "no double": "t = 0.1 if n > 0 else 0.2\nx[0] = b * t",
}


@pytest.mark.parametrize("body", KEEPS_ITS_TYPE)
def test_names_with_values_of_an_own_type_do_not_take_that_of_doubles_they_meet(body):
    lines = KEEPS_ITS_TYPE[body].replace("\n", "\n        ")
    head = "def kernel(x: ndarray(f64, 1), a: f64, b: f32, n: i32):"
    kernel = function_of(f"{head}\n    for _ in range(1):\n        {lines}\n")
    found, _ = translate(kernel, specialise(kernel, {"x": np.zeros(1), "a": 0.7, "b": 0.5, "n": 1}))
    types = {each.local.type for each in ir.walk(found.body) if isinstance(each, ir.Set)}
    assert f64 not in types


# Reports


def values(type):
    """Values at the ends of the range and of the digits of a type."""
    if type == bool_:
        return [False, True]
    if type.kind == "float":
        tiny = {2: 2.0**-14, 4: 2.0**-126, 8: 2.0**-1022}[type.size]
        return [
            scalar(v, type) for v in (0.5, 1 / 3, tiny, 65504.0, 3e38, 1e300) if np.isfinite(scalar(v, type))
        ]
    return [scalar(v, type) for v in (type.minimum, type.maximum, type.maximum - 1)]


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning", "ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("pair", list(itertools.product(SCALARS.values(), repeat=2)), ids=str)
def test_a_type_holds_another_one_when_no_value_changes(pair):
    to, given = pair
    exact = [v for v in values(given) if int_or_float(scalar(converted(v, to), to)) == int_or_float(v)]
    assert holds(to, given) == (len(exact) == len(values(given)))


def converted(value, type):
    if type.kind in ("int", "uint"):
        return min(max(int(value), type.minimum), type.maximum)
    return value


def int_or_float(value):
    return float(value) if isinstance(value, np.floating) else int(value)


REPORTED = {
    "y: f32 = a": "'y' is an f32, and the value is an f64: the conversion can lose digits",
    "y = n\ny = a": "'y' is an i32, and the value is an f64: the conversion can lose the fraction and range",
    "y: f32 = n": "'y' is an f32, and the value is an i32: the conversion can lose digits",
    "y = 0\ny = b\ny = n": "'y' is an f32, and the value is an i32: the conversion can lose digits",
    "y: i32 = w": "'y' is an i32, and the value is an i64: the conversion can lose range",
    "y: u32 = n": "'y' is a u32, and the value is an i32: the conversion can lose range",
    "x[0] = a": "an element of 'x' is an f32, and the value is an f64",
    "m[0] = b": "an element of 'm' is an i32, and the value is an f32",
    "m[0] = w": "an element of 'm' is an i32, and the value is an i64: the conversion can lose range",
    "m[0] += 0.5": "an element of 'm' is an i32, and the value is an f32",
    "cg.atomic_add(x[0], a)": "an element of 'x' is an f32, and the value is an f64",
    "y = f(a)": "'v' of f is an f32, and the value is an f64",
}
SILENT = [
    "y = cg.f32(a)", "x[0] = cg.cast(a, f32)", "y: f64 = b", "y: f32 = 0.1", "x[0] = n", "x[0] = 0.1", "y: i8 = 100",
    "y = n\ny = 2.0", "y: f32 = 16777216", "small[0] = small[0] + 1", "x[0] += n", "y: f64 = n", "y = 0\ny += n",
    "y = 1 << 31", "y = 2147483647 + 1", "y = w + cg.i64(2**40)", "y = w & (1 << 31)", "y: i64 = 2**40",
    "y = 2**40\ny = w", "x[0] = 2**60",
]  # fmt: skip
TYPES = "a: f64, b: f32, n: i32, w: i64, x: ndarray(f32, 1), m: ndarray(i32, 1), small: ndarray(u8, 1)"
HEAD = f"def kernel({TYPES}):\n    "
ARGUMENTS = {
    **dict.fromkeys("abnw", 1), "x": np.zeros(1, "f"), "m": np.zeros(1, "i4"), "small": np.zeros(1, "u1"),
}  # fmt: skip


def narrow(v: "f32"):
    return v


narrow.__cuda_graphs_func__ = narrow
narrow.__annotations__ = {"v": f32}
narrow.__name__ = "f"


def compiled(body, **rules):
    kernel = function_of(HEAD + body.replace("\n", "\n    ") + "\n", f=narrow)
    return translate(kernel, specialise(kernel, ARGUMENTS), rules=NumberRules(**rules))


@pytest.mark.parametrize(("body", "message"), list(REPORTED.items()))
def test_a_conversion_that_can_lose_bits_or_range_is_reported_once(body, message):
    with pytest.warns(errors.CompileWarning) as caught:
        compiled(body)
    (warning,) = caught
    assert message in str(warning.message)
    assert "Write cg." in str(warning.message)
    assert warning.lineno == 1 + len(body.split("\n"))
    with pytest.raises(errors.CompileTypeError, match="the conversion can lose") as refused:
        compiled(body, strict=True)
    assert message in str(refused.value)


@pytest.mark.parametrize("body", SILENT)
def test_a_conversion_that_keeps_each_value_or_is_written_out_is_silent(body):
    compiled(body, strict=True)


# Default types


def test_default_types_are_those_of_literals_and_of_pythons_types():
    rules = NumberRules(f64, i64)
    assert type_of_name("t = 0.0", rules) == f64
    assert type_of_name("t = 0", rules) == i64
    assert type_of_name("t = float(a)", rules, a=i32) == f64
    assert type_of_name("t = int(a)", rules, a=f64) == i64
    assert type_of_name("t: float = 1", rules) == f64
    assert type_of_name("t = a / b", rules, a=i32, b=i32) == f64
    assert type_of_name("t = cg.sqrt(a)", rules, a=i32) == f64
    assert type_of_name("t = cg.random()", rules) == f64
    assert type_of_name("t = 2**40", rules) == i64
    assert type_of_name("t = a * 0.5", NumberRules(f64, i32), a=f32) == f64


F64 = cuda_graphs.types.ndarray(f64, ndim=1)


def thirds(x: F64, n: int):
    for i in x:
        x[i] = n / 3


def test_a_keyword_of_the_kernel_wins_over_the_block_around_its_decoration():
    x = cuda_graphs.ndarray(f64, (1,))
    cuda_graphs.kernel(thirds, default_float=f64)(x, 1)
    assert x.to_numpy()[0] == 1 / 3
    with cuda_graphs.default_types(float=f64, int=i64):
        inside = cuda_graphs.kernel(thirds)
        narrow = cuda_graphs.kernel(thirds, default_float=f32)
        with cuda_graphs.default_types(float=f32):
            nested = cuda_graphs.kernel(thirds)
    outside = cuda_graphs.kernel(thirds)
    for kernel, wanted in (
        (inside, 2**40 / 3),
        (narrow, np.float32(2**40) / np.float32(3)),
        (nested, np.float32(2**40) / np.float32(3)),
    ):
        kernel(x, 2**40)
        assert x.to_numpy()[0] == wanted
    with pytest.raises(OverflowError):
        outside(x, 2**40)
    outside(x, 1)
    assert x.to_numpy()[0] == np.float32(1) / np.float32(3)


WRONG = [{"float": i32}, {"int": f32}, {"int": cuda_graphs.u32}, {"float": "f64"}, {"int": bool}]


@pytest.mark.parametrize("given", WRONG, ids=str)
def test_a_default_type_of_the_wrong_kind_is_refused(given):
    with (
        pytest.raises(TypeError, match=r"takes a (float|signed integer) type"),
        cuda_graphs.default_types(**given),
    ):
        raise AssertionError("the block must not run")
    with pytest.raises(TypeError, match="default_float, default_int takes a"):
        cuda_graphs.kernel(thirds, **{f"default_{name}": type for name, type in given.items()})


def test_strict_kernels_refuse_at_their_first_call():
    @cuda_graphs.kernel(strict=True)
    def rounds(x: F64, y: cuda_graphs.types.ndarray(f32, ndim=1)):
        y[0] = x[0]

    with pytest.raises(errors.CompileTypeError, match="an element of 'y' is an f32, and the value is an f64"):
        rounds(cuda_graphs.ndarray(f64, (1,)), cuda_graphs.ndarray(f32, (1,)))
