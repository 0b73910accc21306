# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Returns in branches and loops: a function returns in a kernel what it returns in Python."""

import random
import textwrap

import numpy as np
import pytest

from cuda_graphs.compiler import errors
from cuda_graphs.compiler.language.signature import specialise
from cuda_graphs.compiler.pipeline import lower
from tests.autodiff.compiler.gradient_rig import check, floats
from tests.compiler.rig import function_of, run_all

# Bodies of f(x, n), where x is a float and n an integer.
BODIES = {
    "a guard": "if x > 1.0:\n    return x\nreturn 2.0",
    "two guards": "if x > 1.0:\n    return x\nif n > 2:\n    return x * 2.0\nreturn 3.0",
    "all branches": "if x > 1.0:\n    return 1.0\nelif n > 2:\n    return 2.0\nelse:\n    return 3.0",
    "in else": "if x > 1.0:\n    y = x * 2.0\nelse:\n    return 5.0\nreturn y",
    "names of the path": "if x > 1.0:\n    return 4.0\nelse:\n    y = x * 3.0\nz = y + 1.0\nreturn z",
    "deep": (
        "y = 0.0\nif n > 1:\n    if x > 1.0:\n        return 7.0\n    y = x\nelse:\n    y = x * 2.0\n"
        "return y + 1.0"
    ),
    "both maybe": (
        "y = 1.0\nif n > 1:\n    if x > 1.0:\n        return 7.0\n    y = 2.0\nelse:\n    if x < 0.0:\n"
        "        return 8.0\n"
        "    y = 3.0\ny += x\nif y > 2.0:\n    return y\nreturn -y"
    ),
    "a loop": "for j in range(n):\n    if j * 0.5 > x:\n        return j * 1.0\nreturn -1.0",
    "rest of a loop": "y = 0.0\nfor j in range(n):\n    if y > x:\n        return y\n    y += 1.0\ny *= 2.0\nreturn y",
    "while": "y = x\nwhile y < 10.0:\n    y = y * y + 1.0\n    if y > 4.0:\n        return y\nreturn y",
    "a loop without an end": "y = x\nwhile True:\n    y = y * y + 1.0\n    if y > 4.0:\n        return y",
    "a loop with ends of others": (
        "y = x\nwhile True:\n    for j in range(n):\n        if j == 2:\n            break\n        y += 1.0\n"
        "    y += 0.5\n    if y > 4.0:\n        return y\n    elif n == 1 and y > 3.0:\n        return -y"
    ),
    "nested loops": (
        "y = 0.0\nfor j in range(n):\n    for k in range(3):\n        y += 1.0\n        if y > x * 2.0:\n"
        "            return y * 10.0\n"
        "    y += 0.5\nreturn y"
    ),
    "a loop in a branch": (
        "y = 1.0\nif x > 0.0:\n    for j in range(n):\n        y += x\n        if y > 4.0:\n"
        "            return y\n    y *= 2.0\n"
        "y += 3.0\nreturn y"
    ),
    "break and continue": (
        "y = 0.0\nfor j in range(n):\n    if j == 1:\n        continue\n    if y > x:\n        return y\n    y += 1.0\n"
        "    if j == 3:\n        break\nreturn y * 3.0"
    ),
    "unrolled": "y = 0.0\nfor j in cg.static(range(4)):\n    y += j\n    if y > x:\n        return y\nreturn -y",
    "unrolled with break": (
        "y = 0.0\nfor j in cg.static(range(6)):\n    y += j\n    if y > x:\n        return y\n"
        "    if cg.static(j == 2):\n"
        "        continue\n    y += 0.5\n    if cg.static(j == 3):\n        break\nreturn -y"
    ),
    "unrolled in a loop": (
        "y = 0.0\nfor k in range(n):\n    for j in cg.static(range(2)):\n        y += j + k\n"
        "        if y > x:\n            return y\n"
        "    y += 0.25\nreturn -y"
    ),
    "always in a loop": "for j in range(n):\n    return x + j\nreturn -x",
    "static": "if cg.static(True):\n    return x\nreturn 1.0",
    "a value of a loop": "y = 0.0\nfor j in range(n):\n    y += inner(y, j)\n    if y > x:\n        return y\nreturn y",
}
KERNEL = "def kernel(x: ndarray(f64, 2), y: ndarray(f64, 2)):\n    for i, n in x:\n        y[i, n] = f(x[i, n], n)\n"


def inner(x, n):
    """Return at once from two places, in a function that returns early itself."""
    if n > 1:
        return x * 0.5 + 1.0
    return 1.0


def made(body):
    return function_of(f"def f(x, n):\n{textwrap.indent(body, '    ')}\n", inner=inner)


def values():
    return np.repeat(np.array([-1.5, 0.25, 1.5, 3.25, 9.0])[:, None], 6, axis=1)


def agrees_with_python(body):
    f, x = made(body), values()
    kernel = function_of(KERNEL, f=f)
    found = run_all(kernel, x=x, y=np.zeros_like(x))["y"]
    wanted = [[f(float(x[i, n]), n) for n in range(6)] for i in range(len(x))]
    np.testing.assert_array_equal(found, wanted, err_msg=body)


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_function_returns_what_python_returns(body):
    agrees_with_python(body)


class Writer:
    """Writes random bodies with returns: in branches, loops and unrolled loops, at any depth."""

    def __init__(self, seed):
        self.random, self.loops, self.names = random.Random(seed), 0, 0

    def body(self, depth, in_loop=False):
        lines = [line for _ in range(self.random.randint(1, 3)) for line in self.statement(depth, in_loop)]
        return lines or ["pass"]

    def statement(self, depth, in_loop):
        kind = self.random.choice(
            ["add", "guard", "if", "for", "static", "leave"] if depth else ["add", "guard"]
        )
        if kind == "add":
            return [f"y += {self.random.choice(['x', '1.0', 'n * 0.5', 'y * 0.5'])}"]
        if kind == "guard":
            return [f"if {self.test()}:", f"    return y + {self.random.randint(1, 9)}.0"]
        if kind == "leave":
            word = self.random.choice(["break", "continue"])
            return [f"if {self.test()}:", f"    {word}"] if in_loop else []
        if kind == "if":
            orelse = ["else:", *self.indented(depth - 1, in_loop)] if self.random.random() < 0.6 else []
            return [f"if {self.test()}:", *self.indented(depth - 1, in_loop), *orelse]
        self.names += 1
        name = f"k{self.names}"
        head = f"for {name} in {'cg.static(range(2))' if kind == 'static' else 'range(n)'}:"
        return [head, f"    y += {name} * 0.25", *self.indented(depth - 1, kind == "for")]

    def indented(self, depth, in_loop):
        return ["    " + line for line in self.body(depth, in_loop)]

    def test(self):
        return self.random.choice(["y > x", "x > 1.0", "n > 2", "y > 3.0", "y < x * 2.0"])


@pytest.mark.parametrize("seed", range(40))
def test_random_function_returns_what_python_returns(seed):
    agrees_with_python("\n".join(["y = x * 0.5", *Writer(seed).body(3), "return -y"]))


GRADIENTS = [name for name in BODIES if name not in ("while", "static")]


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradient_through_early_returns_is_a_central_difference(name):
    x = floats(*values().ravel() + 0.01)
    text = "def kernel(x: ndarray(f64, 1), y: ndarray(f64, 1)):\n    for i in x:\n        y[i] = f(x[i], i % 6)\n"
    kernel = function_of(text, f=made(BODIES[name]))
    check(kernel, {"y": 1.0}, "x", x=x, y=floats(*np.zeros(len(x.data))), targets=("interpreter", "x86"))


RESULTS = [
    ("one of two types is wider", "(x)", "if x > 1.0:\n    return 1\nreturn x", lambda x: 1 if x > 1 else x),
    ("a declared type", "(x) -> f64", "if x > 1.0:\n    return 0.1\nreturn 0.2", lambda x: 0.1 if x > 1 else 0.2),
    (
        "vectors", "(x)", "if x > 1.0:\n    return cg.vec2(x, 1.0)\nreturn cg.vec2(2.0, x)",
        lambda x: x + 1 if x > 1 else 2 + x,
    ),
    ("tuples", "(x)", "if x > 1.0:\n    return x, 1.0\nreturn 2.0, x", lambda x: x + 1 if x > 1 else 2 + x),
    (
        "tuples in tuples", "(x)", "if x > 1.0:\n    return x, (1.0, 0)\nreturn 2.0, (x, 0)",
        lambda x: x + 1 if x > 1 else 2 + x,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("name", "signature", "body", "wanted"), RESULTS, ids=[each[0] for each in RESULTS])
def test_result_of_several_returns_has_one_type(name, signature, body, wanted):
    f = function_of(f"def f{signature}:\n{textwrap.indent(body, '    ')}\n")
    use = {"vectors": "r.x + r.y", "tuples": "r[0] + r[1]", "tuples in tuples": "r[0] + r[1][0]"}.get(
        name, "r"
    )
    kernel = function_of(
        f"def kernel(x: ndarray(f64, 1)):\n    for i in x:\n        r = f(x[i])\n        x[i] = {use}\n", f=f
    )
    x = np.array([0.5, 3.0])
    np.testing.assert_allclose(run_all(kernel, x=x)["x"], [wanted(each) for each in x])


def test_function_without_a_value_returns_early():
    f = function_of("def f(x, i):\n    if x[i] > 1.0:\n        return\n    x[i] = 7.0\n")
    kernel = function_of("def kernel(x: ndarray(f64, 1)):\n    for i in x:\n        f(x, i)\n", f=f)
    assert run_all(kernel, x=np.array([0.5, 3.0]))["x"].tolist() == [7.0, 3.0]


@pytest.mark.parametrize("n", [0, 2, 9])
def test_kernel_returns_a_value_early(n):
    text = "def kernel(n: i32) -> i32:\n    if n > 5:\n        return 7\n    k = n\n    while k < 9:\n        k += 2\n"
    kernel = function_of(f"{text}        if k == 6:\n            return 60\n    return k\n")
    assert run_all(kernel, n=n) == (7 if n > 5 else 60 if n % 2 == 0 else 9)


REFUSED = {
    "returns a value and has none at its end": ("if x > 1.0:\n    return x", "the end of the function returns none"),
    "returns a value in one branch only": ("if x > 1.0:\n    return x\nreturn", "another return has none"),
    "returns different things": (
        "if x > 1.0:\n    return x\nreturn x, x",
        "one return gives a number of type f64, the other a tuple",
    ),
    "returns different vectors": (
        "if x > 1.0:\n    return cg.vec2(1.0)\nreturn cg.vec3(1.0)",
        "one return gives a vector",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_returns_that_do_not_fit_are_refused(name):
    body, message = REFUSED[name]
    with pytest.raises((errors.CompileReturnError, errors.CompileTypeError), match=message):
        agrees_with_python(body)


TASKS = {
    "return cannot leave a parallel loop": "for i in x:\n        return",
    "a return before this loop": "if n > 1:\n        return\n    for i in x:\n        x[i] = 1.0",
}


@pytest.mark.parametrize("message", TASKS)
def test_return_that_would_stop_parallel_execution_is_refused(message):
    kernel = function_of(f"def kernel(x: ndarray(f64, 1), n: i32):\n    {TASKS[message]}\n")
    with pytest.raises(errors.CompileReturnError, match=message) as caught:
        lower(kernel, specialise(kernel, {"x": np.zeros(1), "n": 1}))
    assert caught.value.remedy


def test_loop_after_an_early_return_may_be_serial():
    text = (
        "if n > 1:\n        return\n    cg.loop_config(serialize=True)\n    for i in x:\n        x[i] = 1.0\n"
    )
    kernel = function_of(f"def kernel(x: ndarray(f64, 1), n: i32):\n    {text}")
    assert run_all(kernel, x=np.zeros(2), n=1)["x"].tolist() == [1.0, 1.0]
    assert run_all(kernel, x=np.zeros(2), n=2)["x"].tolist() == [0.0, 0.0]


def test_debug_kernels_check_indices_on_the_paths_that_run():
    f = function_of("def f(x, i):\n    if i >= 2:\n        return 0.0\n    return x[i]\n")
    kernel = function_of(
        "def kernel(x: ndarray(f64, 1), y: ndarray(f64, 1)):\n    for i in y:\n        y[i] = f(x, i)\n", f=f
    )
    assert run_all(kernel, x=np.ones(2), y=np.ones(3), debug=True)["y"].tolist() == [1.0, 1.0, 0.0]
