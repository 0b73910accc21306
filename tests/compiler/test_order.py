# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: the parts of an expression are computed from left to right, and have the values of that moment, as in Python.

The truth is Python itself, which runs the same lines.
"""

import numpy as np
import pytest

from tests.compiler.rig import cg, function_of, run_all

# `inc(x)` adds 100 to x[0] and returns it. `v` is a vector, and `n` a variable with the value 3.
LINES = {
    "an operand": "u[0] = x[0] + inc(x)",
    "a variable": "u[0] = n * 10 + (n := 50)",
    "an inner operand": "u[0] = x[1] - (x[0] - inc(x)) * 2",
    "a function of the second operand": "u[0] = x[0] - add(inc(x), x[0])",
    "a tuple": "a, b = x[0], inc(x)\n    u[0] = a\n    u[1] = b",
    "a tuple with a name": "t = (x[0], inc(x))\n    u[0] = t[0]\n    u[1] = t[1]",
    "a list with a star": "t = [*(x[0], 1), inc(x)]\n    u[0] = t[0]\n    u[1] = t[2]",
    "an exchange": "x[0], x[1] = x[1], x[0]\n    u[0] = x[0]\n    u[1] = x[1]",
    "an argument": "u[0] = add(x[0] * 1000, inc(x))\n    u[1] = add(x[0], b=inc(x))",
    "the argument of a local function": "f = lambda a, b: a * 1000 + b\n    u[0] = f(x[0], inc(x))",
    "a function of the language": "u[0] = min(x[0], inc(x))",
    "a vector": "v = vector(x[0], inc(x))\n    u[0] = v[0]\n    u[1] = v[1]",
    "a comparison": "u[0] = 1 if x[0] < inc(x) else 2\n    u[1] = 1 if n < (n := 50) else 2",
    "an assignment in place": "x[0] += inc(x)\n    u[0] = x[0]\n    n += (n := 7)\n    u[1] = n",
    "an index": "u[1] = m[n, (n := 0)]",
    "a dict": "d = {'a': x[0], 'b': inc(x)}\n    x[0] += 1\n    u[0] = d['a']\n    u[1] = d['b']",
    "a dict of variables": "d = {'a': n, **{'b': x[1]}}\n    n += 1\n    x[1] += 1\n    u[0] = d['a'] * 9 + d['b']",
    "a dict of tuples": "d = {'a': (x[0], 2)}\n    x[0] += 1\n    u[0] = d['a'][0] * d['a'][1]",
    "a dict in a list": "d = [{'a': x[0]}]\n    x[0] += 1\n    u[0] = d[0]['a']",
    "a dict of a loop": "d = {k: x[k] + n for k in range(2)}\n    n += 1\n    x[0] += 1\n    u[0] = d[0] * 9 + d[1]",
    "a copy of a vector in a dict": "d = {'a': copied(v)}\n    v[0] += 1\n    u[0] = d['a'][0]",
    "a default": "f = lambda a, b=n: a * 10 + b\n    n += 1\n    u[0] = f(2)\n    u[1] = f(2, n)",
    "the default of an element": "f = lambda a, b=x[0]: a * 10 + b\n    x[0] += 1\n    u[0] = f(2)",
}  # fmt: skip
NAMES = {"vector": lambda *parts: list(parts), "copied": list}


def in_python(lines, arrays):
    def inc(x):
        x[0] += 100
        return x[0]

    names = {**NAMES, **arrays, "n": 3, "v": [1, 2], "inc": inc, "add": lambda a, b: a + b}
    body = "".join(f"    {line.strip()}\n" for line in lines.split("\n"))
    exec(f"def k(x, u, m, n, v):\n{body}\nk(x, u, m, n, v)", names)


@cg.func
def inc(x):
    x[0] += 100
    return x[0]


@cg.func
def add(a, b):
    return a + b


@pytest.mark.parametrize("lines", LINES.values(), ids=LINES)
def test_parts_of_expressions_have_the_values_of_their_turn(lines):
    k = function_of(
        "def k(x: ndarray(i32, 1), u: ndarray(i32, 1), m: ndarray(i32, 2), go: i32):\n"
        f"    n = go + 3\n    v = cg.vector(go + 1, 2)\n    {lines}\n",
        inc=inc, add=add, vector=cg.vector, copied=cg.func(lambda v: v),
    )  # fmt: skip
    given = {
        "x": np.array([5, 7], "i4"),
        "u": np.zeros(2, "i4"),
        "m": np.arange(16, dtype="i4").reshape(4, 4),
    }
    wanted = {name: array.copy() for name, array in given.items()}
    in_python(lines, wanted)
    found = run_all(k, **given, go=0)
    for name, array in wanted.items():
        np.testing.assert_array_equal(found[name], array, err_msg=name)


def test_a_template_parameter_still_gets_the_variable():
    @cg.func
    def turn(v: cg.template(), by):
        v[0], v[1] = v[1] + by, v[0]

    k = function_of(
        "def k(x: ndarray(i32, 1)):\n    v = cg.vector(x[0], x[1])\n    turn(v, inc(x))\n"
        "    x[0] = v[0]\n    x[1] = v[1]\n",
        turn=turn, inc=inc,
    )  # fmt: skip
    assert run_all(k, x=np.array([5, 7], "i4"))["x"].tolist() == [7 + 105, 5]


def test_an_atomic_operation_still_gets_its_place():
    k = function_of(
        "def k(x: ndarray(i32, 1), u: ndarray(i32, 1)):\n"
        "    u[0] = x[1] - cg.atomic_add(x[1], inc(x))\n    u[1] = x[1]\n",
        inc=inc,
    )
    found = run_all(k, x=np.array([5, 7], "i4"), u=np.zeros(2, "i4"))
    assert found["u"].tolist() == [0, 7 + 105] and found["x"].tolist() == [105, 112]
