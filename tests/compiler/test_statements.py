# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: assignments, changes in one step, messages and functions of Python do what the language reference says."""

import math
import re
import warnings

import numpy as np
import pytest

from cuda_graphs.compiler import errors
from cuda_graphs.compiler.frontend.translate import translate
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.interpreter import AssertionFailed
from cuda_graphs.compiler.language.signature import specialise
from cuda_graphs.compiler.pipeline import lower
from tests.compiler import rig
from tests.compiler.rig import TARGETS, cg, function_of, run_all

f32s, f64s, i32s = (cg.ndarray(kind, 1) for kind in (cg.f32, cg.f64, cg.i32))


def zeros(n, code="i4"):
    return np.zeros(n, code)


# Assignments


def cast_to_the_first(out: f64s, n: cg.i32):
    x = n
    x = 2.7
    out[0] = x
    y = n + 6
    y /= 2
    out[1] = y
    y += 1.9
    out[2] = y
    z: cg.u8 = 300
    out[3] = z
    w: float = 3
    out[4] = w / 2
    (q := n + 4)
    out[5] = q
    q **= 2
    out[6] = q
    q <<= 3
    q >>= 1
    q //= 7
    q %= 9
    out[7] = q


@pytest.mark.filterwarnings("ignore:.*the conversion can lose:cuda_graphs.CompileWarning")
def test_a_variable_keeps_the_type_of_its_first_value():
    found = run_all(cast_to_the_first, out=zeros(8, "f8"), n=1)["out"]
    assert found.tolist() == [2, 3, 4, 44, 1.5, 5, 25, (25 << 3 >> 1) // 7 % 9]


@pytest.mark.filterwarnings("ignore:.*the conversion can lose:cuda_graphs.CompileWarning")
def test_an_element_takes_the_value_as_its_own_type():
    body = """def kernel(a: ndarray(i32, 1), b: ndarray(u8, 1), c: ndarray(bool_, 1), d: ndarray(f32, 1)):
    for i in range(2):
        a[i] += 1.9
        d[i] += 1
    a[0] /= 2
    b[0], b[1] = 300, -1
    c[0], c[1] = 0.5, 0
    b[2] = 300.0
"""
    found = run_all(
        function_of(body), a=np.array([7, 1], "i4"), b=zeros(3, "u1"), c=zeros(2, "?"), d=zeros(2, "f")
    )
    assert found["a"].tolist() == [4, 2]
    assert found["b"].tolist() == [44, 255, 255]
    assert found["c"].tolist() == [True, False]
    assert found["d"].tolist() == [1, 1]


def blocks(out: i32s, n: cg.i32):
    y = 1
    if n > 2:
        y = 5
        inner = y + 1
        out[0] = inner
    else:
        inner = 2.5
        out[0] = cg.i32(inner * 2)
    for i in range(3):
        inner = i
        out[1] += inner
    out[2] = y


@pytest.mark.parametrize("n", [1, 3])
def test_names_of_a_block_end_with_it(n):
    assert run_all(blocks, out=zeros(3), n=n)["out"].tolist() == ([6, 3, 5] if n > 2 else [5, 3, 1])


# Changes in one step


def vector_atomics(total: cg.ndarray(cg.vec3, 1), m: cg.ndarray(cg.types.mat(2, 2, cg.i32), 1), old: f64s):
    for i in range(10):
        cg.atomic_add(total[0], cg.vec3(1.0, i, 0.5))
        total[1] -= cg.vec3(1.0, i, 0.5)
        cg.atomic_max(total[2], cg.vec3(i, -i, 2.0))
        cg.atomic_add(m[0], 2)
        cg.atomic_sub(m[1], cg.types.mat(2, 2, cg.i32)(1, 2, 3, 4))
    before = cg.atomic_exchange(total[0], cg.vec3(7.0, 8.0, 9.0))
    old[0], old[1], old[2] = before
    was = cg.atomic_add(m[0], m[1])
    old[3] = was.trace()
    w = cg.vec3(1.0, 2.0, 3.0)
    earlier = cg.atomic_mul(w, cg.vec3(2.0, 2.0, 0.0))
    old[4], old[5] = earlier.sum(), w.sum()


def test_atomics_of_vectors_are_those_of_their_components():
    found = run_all(vector_atomics, total=zeros((3, 3), "f"), m=zeros((2, 2, 2)), old=zeros(6, "f8"))
    assert found["total"].tolist() == [[7, 8, 9], [-10, -45, -5], [9, 0, 2]]
    assert found["m"].tolist() == [[[10, 0], [-10, -20]], [[-10, -20], [-30, -40]]]
    assert found["old"].tolist() == [10, 45, 5, 40, 6, 6]


def greatest_atomic(place: f32s):
    for i in range(1000):
        cg.atomic_max(place[0], i - 1000)


def least_atomic(place: f32s):
    for i in range(1000):
        cg.atomic_min(place[0], i - 1000)


@pytest.mark.parametrize("start", [np.nan, -2000.0, 3.0])
def test_atomic_extremes_of_floats_ignore_nan_in_memory(start):
    place = np.array([start], "f")
    assert run_all(greatest_atomic, place=place)["place"][0] == np.fmax(start, -1)
    assert run_all(least_atomic, place=place)["place"][0] == np.fmin(start, -1000)


def local_atomics(out: i32s):
    y = 6
    out[0] = cg.atomic_add(y, 3)
    out[1] = cg.atomic_sub(y, 1)
    out[2] = cg.atomic_mul(y, 2)
    out[3] = cg.atomic_min(y, 12)
    out[4] = cg.atomic_max(y, 13)
    out[5] = cg.atomic_and(y, 12)
    out[6] = cg.atomic_or(y, 3)
    out[7] = cg.atomic_xor(y, 1)
    out[8] = cg.atomic_exchange(y, 4)
    out[9] = cg.atomic_cas(y, 4, 5)
    out[10] = cg.atomic_cas(y, 4, 6)
    out[11] = y
    for i in range(3):
        t = i
        cg.atomic_add(t, 10)
        cg.atomic_add(y, t)
    out[12] = y


def test_atomics_of_variables_are_plain_where_no_other_thread_sees_them():
    found = run_all(local_atomics, out=zeros(13))["out"]
    assert found.tolist() == [6, 9, 8, 16, 12, 13, 12, 15, 14, 4, 5, 5, 5 + 33]


def multiplied(x: i32s, y: f64s, n: cg.i32):
    for _ in range(n):
        x[0] *= 3
        y[0] *= 2.0


def test_multiplication_in_place_loses_nothing():
    found = run_all(multiplied, x=np.ones(1, "i4"), y=np.ones(1), n=1000)
    wanted = pow(3, 1000, 2**32)
    assert found["x"][0] == wanted - (wanted >> 31 << 32)
    assert found["y"][0] == 2.0**1000


AUGMENTED = {
    "+=": "add", "-=": "add", "*=": "mul", "&=": "and", "|=": "or", "^=": "xor",
    "/=": None, "//=": None, "%=": None, "**=": None, "<<=": None, ">>=": None,
}  # fmt: skip


@pytest.mark.parametrize("place", ["x[i % 3]", "s"])
@pytest.mark.parametrize("operator", AUGMENTED)
@pytest.mark.filterwarnings("ignore:.*the conversion can lose:cuda_graphs.CompileWarning")
def test_an_assignment_in_place_is_atomic_where_iterations_may_meet(operator, place):
    """Said of the code, since no run tells for sure: on a few cores threads seldom meet."""
    body = f"    s = n\n    for i in range(n):\n        {place} {operator} 2\n    x[0] = s\n"
    kernel = function_of(f"def kernel(x: ndarray(i32, 1), n: i32):\n{body}")
    found, _ = translate(kernel, specialise(kernel, {"x": np.zeros(3, "i4"), "n": 3}))
    kinds = [each.kind for each in ir.walk(found.body) if isinstance(each, ir.Atomic)]
    assert kinds == ([AUGMENTED[operator]] if AUGMENTED[operator] else [])


def carried(x: i32s, y: i32s, m: cg.i32):
    s = 0
    for i in range(1000):
        s += i
    x[0] = s
    k = 0
    for _, _ in cg.ndrange(2, 3):
        old = cg.atomic_add(k, 1)
        y[old] = 1
    x[1] = k
    t = m
    t = t + 1
    for i in range(3):
        x[2 + i] = t


def test_variables_are_carried_from_task_to_task():
    found = run_all(carried, x=zeros(5), y=zeros(6), m=4)
    assert found["x"].tolist() == [499500, 6, 5, 5, 5]
    assert found["y"].tolist() == [1] * 6


# Text


WORD = "low"
MESSAGES = [
    ("'plain'", "plain"),
    ("WORD", "low"),
    ("f'n is {n:4d}, a {a:.2f}, {v}'", "n is    3, a 1.50, [1, 2, 3]"),
    ("'n is %d' % n", "n is 3"),
    ("'%5d|%%|%.3f|%s|%s' % (n, a, n > 1, WORD)", "    3|%|1.500|True|low"),
    ("'%f %e %g' % (n, n, n)", "3.000000 3.000000e+00 3"),
    ("'%s' % v", "[1, 2, 3]"),
    ("f'{cg.mat2(n, 1, 2, a)} {cg.vector([[n, 1, 2]]):03d}'", "[[3, 1], [2, 1.5]] [[003, 001, 002]]"),
    ("n % 2", "1"),
    ("'100%%' % ()", "100%"),
]


@pytest.mark.parametrize(("text", "wanted"), MESSAGES)
def test_messages_are_pythons(text, wanted):
    body = f"""def kernel(n: i32, a: f32, v: cg.vec3):
    print({text})
    assert n > 3, {text}
"""
    kernel = function_of(body, WORD=WORD)
    arguments = {"n": 3, "a": 1.5, "v": (1.0, 2.0, 3.0)}
    assert run_all(kernel, **arguments) == {}
    for target in TARGETS:
        assert rig.printed[target] == wanted + "\n"
    program, _ = lower(kernel, specialise(kernel, arguments), debug=True)
    flat = {path: value for name, each in arguments.items() for path, value in rig.flattened(name, each)}
    with pytest.raises(AssertionFailed, match=f"^{re.escape(wanted)}$"):
        rig.execute("interpreter", program, flat)


# Functions of Python


TABLE = {"a": 3}


def area(width, height=2):
    return width * height * TABLE["a"]


def sizes(n):
    return tuple(range(n))


def run_when_compiling(out: f64s, k: cg.template):
    out[0] = area(5)
    out[1] = area(k, height=1)
    out[2] = sizes(4)[3] + math.comb(5, 2)
    out[3] = np.hypot(3.0, 4.0)
    out[4] = cg.static(area(7))


def test_a_function_of_python_runs_when_compiling_and_says_so():
    with pytest.warns(
        errors.CompileWarning, match="is a function of Python: it ran when compiling"
    ) as caught:
        found = run_all(run_when_compiling, out=zeros(5, "f8"), k=4)
    assert found["out"].tolist() == [30, 12, 13, 5, 42]
    names = [str(each.message).split()[0] for each in caught]
    assert names == ["area", "area", "sizes", "math.comb", "np.hypot"]
    first = run_when_compiling.__code__.co_firstlineno
    assert [each.lineno - first for each in caught] == [1, 2, 3, 3, 4]


def test_globals_of_python_functions_are_captured():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, captured = lower(
            run_when_compiling, specialise(run_when_compiling, {"out": zeros(5, "f8"), "k": 4})
        )
    assert captured[area] == {"TABLE": {"a": 3}}
    assert captured[area]["TABLE"] is not TABLE


# Numbers and mathematics


def constants(out: f64s, a: cg.f64):
    out[0] = cg.pi * a
    out[1] = cg.e
    out[2] = cg.inf
    out[3] = cg.isnan(cg.nan)
    out[4] = math.pi * a
    out[5] = -math.inf
    out[6] = cg.mod(-7.5 * a, 2.0)
    out[7] = cg.mod(-7, 3)
    out[8] = math.degrees(a) - cg.degrees(a)
    out[9] = math.radians(a) - cg.radians(a)
    out[10] = pow(cg.vec2(2.0, 3.0), 2).sum()


def test_constants_have_all_their_digits():
    found = run_all(constants, out=zeros(11, "f8"), a=1.0)["out"]
    wanted = [math.pi, math.e, math.inf, 1, math.pi, -math.inf, 0.5, 2, 0, 0, 13]
    assert found.tolist() == wanted


def powers(out: i32s, p: cg.bool_, q: cg.bool_, n: cg.i32):
    out[0] = p**q
    out[1] = q**p
    out[2] = pow(q, q)
    out[3] = n**p
    out[4] = p**n
    out[5] = p**2
    out[6] = True + True


def test_powers_of_bools_are_integers():
    found = run_all(powers, out=zeros(7), p=True, q=False, n=3)["out"]
    assert found.tolist() == [1, 0, 1, 3, 1, 1, 2]
