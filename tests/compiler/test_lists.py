# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Lists, comprehensions and cg.static over run-time values, texts, and ranges of any order: as Python means them."""

import itertools

import numpy as np
import pytest

from cuda_graphs.compiler.language.annotations import vec
from tests.autodiff.compiler.gradient_rig import check, floats, zeros
from tests.compiler import rig
from tests.compiler.rig import cg, function_of, run_all

HEAD = "def kernel(x: ndarray(f64, 1), a: f64):\n    for i in x:\n        "
BODIES = {
    "several constants": "p, q = cg.static(1, 2)\nx[i] += p * 10 + q",
    "a tuple of constants": "for p, q in cg.static((1, 2), (3, 4)):\n    x[i] += p * q",
    "repeated": "t = [x[i]] * 12\nt[3] = a\nx[i] = t[2] + t[3] + len(t)",
    "repeated pairs": "t = (x[i], a) * 2\nx[i] = t[2] - t[3]",
    "joined": "t = [x[i]] + [a, 2.0]\nx[i] = t[0] * t[2] + t[1]",
    "enumerated": "y = x[i] * 2\nfor j, v in cg.static(enumerate((x[i], y, a))):\n    x[i] += j * v",
    "zipped": "for v, w in cg.static(zip((x[i], a), (1.0, 3.0))):\n    x[i] += v * w",
    "reversed": "for v in cg.static(reversed([x[i], a])):\n    x[i] = x[i] * v + 1.0",
    "items are copies": "y = x[i]\nfor j, v in cg.static(enumerate((y, a))):\n    v += 1.0\n    x[i] += v\nx[i] += y",
    "items of names": "t = (x[i], a)\nfor j, v in cg.static(enumerate(t)):\n    x[i] += j * v",
    "a tuple of values": "p, q = cg.static((x[i], a))\nx[i] = p * q",
    "part of a tuple": "t = cg.static((x[i], a, 2.0)[1:])\nx[i] *= t[0] + t[1]",
    "over a range": "t = [x[i] * j for j in range(4)]\nx[i] = t[1] + t[3]",
    "over a range from": "t = [x[i] * j for j in range(7, 1, -2)]\nx[i] = t[0] + t[2]",
    "nested": "t = [[x[i] * j + k for j in range(3)] for k in range(2)]\nx[i] = t[1][2]",
    "two loops": "t = [x[i] * j + k for j in range(3) if j != 1 for k in range(j)]\nx[i] = t[1] + len(t)",
    "over a zip": "t = [v * w for v, w in cg.static(zip((x[i], a), (1.0, 3.0)))]\nx[i] = t[0] + t[1]",
    "a loop over a tuple": "y = 0.0\nfor v in (x[i], a, 2.0):\n    y = y * 2.0 + v\nx[i] = y",
    "items before the loop": "for v in (x[i], x[i]):\n    x[i] = v * 2.0 + x[i]",
    "sum": "x[i] = sum(x[i] * j for j in range(4)) + sum((a, x[i])) + sum([a], x[i])",
    "least and greatest": "x[i] = min(x[i] * j for j in (1, -2, 3)) + max([x[i], a])",
    "any and all": "x[i] = 1.0 if any(x[i] > j for j in range(3)) and not all((x[i] > 3.0, a > 1.0)) else 2.0",
    "enumerate": "for j, v in enumerate((x[i], a), 1):\n    x[i] += j * v",
    "zip": "for v, w in zip((x[i], a), reversed((1.0, 3.0))):\n    x[i] += v * w",
    "in": "x[i] = 1.0 if x[i] in (0.5, a) else (2.0 if x[i] not in [4.0, -3.0] else 3.0)",
    "in a range": "x[i] = 1.0 if int(x[i]) in range(3, 9, 2) else (2.0 if int(x[i]) in range(-2, 3) else 3.0)",
    "in known items": "t = 'a' in ('a', 'b')\nif 3 not in (1, 2) and t:\n    x[i] += 1.0",
    "keys of a dict": "d = {'p': x[i], 'q': a}\nfor key in d:\n    x[i] = x[i] * 2.0 + d[key]",
    "items of a dict": "for key, v in {'p': x[i], 'q': a}.items():\n    x[i] += v if key == 'q' else v * 2.0",
    "values of a dict": "d = {1: x[i], 2: a}\nx[i] = sum(d.values()) + sum(k * v for k, v in d.items()) + "
    "sum(d.keys())",
    "get": "d = {'p': x[i]}\nx[i] = d.get('p') + d.get('q', a) + len(d)",
    "named arguments": "def f(**k):\n    return sum(v if n != 'q' else v * 3.0 for n, v in k.items())\n"
    "x[i] = f(p=x[i], q=a)",
    "equal texts": "x[i] += 1.0 if 'a' == 'a' and 'a' != 'b' else nothing",
    "a run-time index": "t = (x[i], a, 2.0)\nx[i] = t[i] * 2.0 + [5, 6, 7][i]",
    "nothing": "x[i] = x[i] + sum([])",
    "slices": "t = [x[i], a, 2.0, 3.0]\nu = t[1:]\nx[i] = u[0] * t[::2][1] + len(u) + sum(t[:-1]) + (1, 2)[1:][0]",
    "appended": "t = []\nfor j in cg.static(range(3)):\n    t.append(x[i] * j)\nx[i] = sum(t) + len(t)",
    "appended values": "y = x[i]\nt = [y]\nt.append(y)\ny += 1.0\nt[1] += a\nx[i] = t[0] + 10.0 * t[1] + 100.0 * y",
    "changed": "t = [1, 2]\nt.extend((x[i], a))\nt.insert(1, 7)\ny = t.pop()\nz = t.pop(0)\nx[i] = y + z * sum(t)",
    "constants": "t = []\nfor j in cg.static((0, 1, 3)):\n    t.append(j)\nx[i] += t[1] * sum(j for j in range(t[2]))",
    "a dict of a list": "d = {2 * j: x[i] * j for j in range(4) if j != 1}\nx[i] = d[4] + d[6] + len(d)",
    "chosen": "p, q = (x[i], 1.0) if x[i] > a else (2.0, a)\nx[i] = p * q",
    "chosen deeper": "p, (q, r) = (x[i], (a, 1)) if x[i] > a else (2.0, (x[i], 2))\nx[i] = p * q + r",
}


def wanted(body, x, a):
    """Return x after Python ran the body for each index."""
    text = f"def run(x, a):\n    for i in range(len(x)):\n        {body}".replace("\n", "\n        ")
    space = {"cg": cg}
    exec(
        text.replace("\n            for i", "\n    for i").replace("\n                ", "\n        "), space
    )
    found = x.copy()
    space["run"](found, a)
    return found


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_list_in_a_kernel_is_that_of_python(body):
    kernel, x = function_of(HEAD + body.replace("\n", "\n        ") + "\n"), np.array([0.5, -2.0, 4.0])
    np.testing.assert_array_equal(run_all(kernel, x=x, a=1.25)["x"], wanted(body, x, 1.25))


STEPS = ("in", "in a range", "in known items")  # functions with steps, where differences are no gradients


@pytest.mark.parametrize("name", [name for name in BODIES if "copies" not in name and name not in STEPS])
def test_gradient_through_a_list_is_a_central_difference(name):
    text = (
        "def kernel(x0: ndarray(f64, 1), out: ndarray(f64, 1), a: f64):\n    for i0 in x0:\n        i = 0\n"
    )
    body = "x = [x0[i0]]\n" + BODIES[name] + "\nout[i0] = x[0]"
    kernel = function_of(text + "        " + body.replace("x[i]", "x[0]").replace("\n", "\n        ") + "\n")
    check(kernel, {"out": 1.0}, "x0", x0=floats(0.5, -2.0, 4.0), out=floats(0, 0, 0), a=1.25)


TEXTS = {
    '"{} and {}".format(n, 2)': "7 and 2\n",
    '"{1} {0:4d}|".format(n, v.x)': "1.5    7|\n",
    '"{n:x} {{}} {x:.2f}".format(n=cg.u32(n), x=v.y)': "7 {} 2.50\n",
    '"{}".format(v)': "[1.5, 2.5]\n",
    '"n", "is {}".format(n)': "n is 7\n",
    "text.format(n, v.x)": "n 7 x 1.50\n",
    '"{!r} {n!s}|{!r}".format(n, "a", n=v.y)': "7 2.5|'a'\n",
    'f"{n=} {v.x=:.2f} {v!r}"': "n=7 v.x=1.50 [1.5, 2.5]\n",
}


@pytest.mark.parametrize("text", TEXTS)
def test_texts_by_str_format_are_printed(text):
    kernel = function_of(
        f"def kernel(n: i32, v: vec2):\n    print({text})\n", vec2=vec(2), text="n {} x {:.2f}"
    )
    run_all(kernel, n=7, v=(1.5, 2.5))
    assert {rig.printed[target] for target in rig.TARGETS} == {TEXTS[text]}


LOOPS_OVER_POINTS = (
    "for I in x:\n        x[I] += 2.0",
    "for I in cg.grouped(x):\n        x[I] += 2.0",
    "for _ in x:\n        x[()] += 2.0",
)


@pytest.mark.parametrize("loop", LOOPS_OVER_POINTS)
def test_loop_over_an_array_without_dimensions_runs_once(loop):
    kernel = function_of(f"def kernel(x: ndarray(f64, 0)):\n    {loop}\n")
    assert run_all(kernel, x=np.array(3.0))["x"] == 5.0


ORDERS = list(itertools.permutations(range(3)))


@pytest.mark.parametrize("axes", ORDERS)
@pytest.mark.parametrize("grouped", [False, True])
def test_ndrange_visits_each_point_in_the_order_of_its_axes(axes, grouped):
    at, loop = ("I.x, I.y, I.z", "I in cg.grouped(@)") if grouped else ("i, j, k", "i, j, k in @")
    loop = loop.replace("@", f"cg.ndrange(2, (1, 4), n, axes={axes})")
    text = (
        "def kernel(x: ndarray(i32, 3), turn: ndarray(i32, 1), n: i32):\n    cg.loop_config(serialize=True)\n"
        f"    for {loop}:\n        x[{at}] = turn[0]\n        turn[0] += 1\n"
    )
    found = run_all(function_of(text), x=np.full((2, 4, 2), -1, np.int32), turn=np.zeros(1, np.int32), n=2)[
        "x"
    ]
    expected = np.full((2, 4, 2), -1)
    for turn, point in enumerate(cg.ndrange(2, (1, 4), 2, axes=axes)):
        expected[point] = turn
    np.testing.assert_array_equal(found, expected)


def test_ndrange_in_another_order_is_a_parallel_loop():
    loop = "for i, j in cg.ndrange(3, 4, axes=(1, 0)):\n        x[i, j] += i * 10 + j\n"
    text = f"def kernel(x: ndarray(f64, 2)):\n    {loop}"
    found = run_all(function_of(text), x=np.zeros((3, 4)))["x"]
    np.testing.assert_array_equal(found, np.arange(3)[:, None] * 10 + np.arange(4))


def test_gradient_through_an_ndrange_in_another_order_is_a_central_difference():
    text = (
        "def kernel(x: ndarray(f64, 2), y: ndarray(f64, 0)):\n    for i, j in cg.ndrange(2, 3, axes=(1, 0)):\n"
        "        y[()] += x[i, j] * x[i, j] * (i + 1)\n"
    )
    x = zeros(2, 3)
    x.data[...] = np.arange(6).reshape(2, 3) / 4 + 0.1
    check(function_of(text), {"y": 1.0}, "x", x=x, y=zeros())


@pytest.mark.parametrize("serial", [False, True])
def test_setting_of_a_loop_may_be_static(serial):
    loop = "cg.loop_config(serialize=cg.static(serial))\n    for i in x:\n        x[i] = i\n"
    text = f"def kernel(x: ndarray(f64, 1)):\n    {loop}"
    assert run_all(function_of(text, serial=serial), x=np.zeros(3))["x"].tolist() == [0, 1, 2]


def test_comparison_with_none_is_known_when_compiling():
    text = (
        "def kernel(x: ndarray(f64, 1), y: ndarray(f64, 1) | None):\n    for i in x:\n        if y is not None:\n"
        "            x[i] += y[i]\n        x[i] += 0.0 if y is None else y[i]\n"
        "        if y is not None and y[i] > 15.0:\n            x[i] = -1.0\n"
    )
    kernel, x = function_of(text), np.array([1.0, 2.0])
    assert run_all(kernel, x=x, y=None)["x"].tolist() == [1, 2]
    assert run_all(kernel, x=x, y=np.array([10.0, 20.0]))["x"].tolist() == [21, -1]
