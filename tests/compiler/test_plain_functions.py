# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Functions without a decorator on run-time values: kernels inline them, and the results are those of Python."""

import functools
import math

import numpy as np
import pytest

from cuda_graphs.compiler import errors
from cuda_graphs.compiler.frontend.translate import translate
from cuda_graphs.compiler.language.signature import specialise
from tests.autodiff.compiler.gradient_rig import check, floats
from tests.compiler.rig import cg, function_of, run_all


def scale(a, b=2.0):
    """Plain Python with a docstring."""
    t = a * b
    return t + 1.0


FACTOR = 3.0


def scaled(x):
    return x * FACTOR


def pair(a, b):
    return b, a


def total(*args, factor=1.0):
    s = args[0] * 0.0
    for each in cg.static(args):
        s += each * factor
    return s


def weighed(x, **weights):
    return x * weights["a"] + weights["b"]


def apply(f, a):
    return f(f(a))


def recursive(n, a):
    return a if cg.static(n == 0) else recursive(cg.static(n - 1), a * 2.0)


class Line:
    def __init__(self, slope, inner=None):
        self.slope, self.inner, self.shift = slope, inner, lambda x: x + slope

    def at(self, x):
        return self.slope * x + 1.0

    def __call__(self, x):
        return self.at(x) * 2.0


square = lambda x: x * x  # noqa: E731
line = Line(3.0, Line(0.5))
NAMES = {
    "scale": scale, "pair": pair, "total": total, "weighed": weighed, "apply": apply, "recursive": recursive,
    "square": square, "line": line, "table": {"f": scale, "g": square}, "third": functools.partial(scale, b=3.0),
    "math": math,
}  # fmt: skip
HEAD = "def kernel(x: ndarray(f64, 1), a: f64):\n    for i in x:\n        "
# Expressions of a run-time value x[i], which Python evaluates too.
CALLS = [
    "scale(x[i])",
    "scale(b=a, a=x[i])",
    "scale(*(x[i], a))",
    "scale(**{'b': x[i], 'a': a})",
    "scale(*(x[i],), **{**{'b': a}})",
    "pair(*pair(x[i], a))[0] - pair(x[i], a)[0]",
    "square(x[i]) + square(a)",
    "total(x[i], a, 2.0)",
    "total(*(x[i], a), x[i], factor=a)",
    "weighed(x[i], a=a, b=2.0)",
    "weighed(x[i], **{'a': a, 'b': x[i]})",
    "line.at(x[i])",
    "line(x[i])",
    "line.shift(x[i])",
    "line.inner.at(line.at(x[i]))",
    "table['f'](x[i])",
    "third(x[i])",
    "apply(square, x[i])",
    "apply(lambda r: r + a, x[i])",
    "apply(line.at, x[i])",
    "apply(lambda r: apply(lambda s: s * r, a), x[i])",
    "(lambda r, s=2.0: r * s)(x[i])",
    "sum_of((*(x[i], a), 2.0))",
    "max(*(x[i], a))",
    "(lambda first, *rest: rest[1] + first)(x[i], a, 2.0)",
]


def sum_of(parts):
    return parts[0] + parts[1] + parts[2]


@pytest.mark.parametrize("expression", CALLS)
def test_result_of_an_inlined_function_is_that_of_python(expression):
    x = np.linspace(-1.5, 2.0, 7)
    names = {**NAMES, "sum_of": sum_of}
    kernel = function_of(f"{HEAD}x[i] = {expression}\n", **names)
    found = run_all(kernel, x=x, a=1.25)["x"]
    wanted = [eval(expression, {"cg": cg, **names, "x": x, "i": i, "a": 1.25}) for i in range(len(x))]
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("expression", CALLS)
def test_gradients_of_inlined_functions_are_central_differences(expression):
    body = HEAD.replace("x: ndarray(f64, 1)", "x: ndarray(f64, 1), y: ndarray(f64, 1)")
    kernel = function_of(f"{body}y[i] = {expression}\n", **NAMES, sum_of=sum_of)
    check(
        kernel,
        {"y": 1.0},
        "x",
        x=floats(-0.5, 0.7, 2.0),
        y=floats(0, 0, 0),
        a=1.25,
        targets=("interpreter", "x86"),
    )


BODIES = {
    "a function": "def f(r, s=a):\n    t = r * s\n    return t + 1.0\nx[i] = f(x[i]) + f(x[i], 2.0)",
    "its own names": "t = x[i]\nf = lambda t: t * 2.0\nx[i] = f(t + 1.0) + t",
    "in a loop": "f = lambda r: r + k_\nk_ = 0\nfor k in range(3):\n    k_ += k\n    x[i] = f(x[i])",
    "inside another": "def f(r):\n    g = lambda s: s * r\n    return g(a) + g(r)\nx[i] = f(x[i])",
    "keyword-only": "def f(r, *, by):\n    return r * by\nx[i] = f(x[i], by=a)",
    "all arguments": "def f(*parts, **named):\n    return parts[1] * named['by']\nx[i] = f(a, x[i], by=3.0)",
    "starred names": "p, *q, r = x[i], a, 2.0, 3.0\nx[i] = p * q[0] + q[1] * r",
    "annotated": "def f(r: cg.f32) -> cg.f64:\n    return r\nx[i] = f(x[i]) * 2.0",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
@pytest.mark.filterwarnings("ignore::cuda_graphs.CompileWarning")
def test_functions_that_kernels_define_are_those_of_python(body):
    x = np.array([0.5, -2.0, 4.0])
    kernel = function_of(HEAD + body.replace("\n", "\n        ") + "\n")
    found, wanted = run_all(kernel, x=x, a=1.25)["x"], x.copy()
    kernel_of_python(kernel, body)(wanted, 1.25)
    np.testing.assert_array_equal(found, wanted)


def kernel_of_python(kernel, body):
    """Return the kernel's function as Python runs it: over the indices of x."""
    text = f"def run(x, a):\n    for i in range(len(x)):\n        {body}".replace("\n", "\n        ")
    space = {"cg": cg}
    exec(
        text.replace("\n            for i", "\n    for i").replace("\n                ", "\n        "), space
    )
    return space["run"]


def test_function_whose_arguments_are_known_runs_when_compiling():
    kernel = function_of("def kernel(x: ndarray(f64, 1)):\n    x[0] = scale(2.0)\n", scale=scale)
    with pytest.warns(errors.CompileWarning, match="scale is a function of Python: it ran when compiling"):
        assert run_all(kernel, x=np.zeros(1))["x"][0] == 5.0


def test_names_of_an_inlined_function_are_recorded_so_that_changes_compile_again():
    kernel = function_of("def kernel(x: ndarray(f64, 1)):\n    x[0] = scaled(x[0])\n", scaled=scaled)
    _, values = translate(kernel, specialise(kernel, {"x": np.zeros(1)}))
    assert values[scaled]["FACTOR"] == 3.0


def test_functions_of_installed_libraries_on_run_time_values_are_refused_with_ours():
    kernel = function_of("def kernel(x: ndarray(f64, 1)):\n    x[0] = np.interp(x[0], (0, 1), (2, 3))\n")
    with pytest.raises(errors.CompileStaticError, match="known at run time only"):
        translate(kernel, specialise(kernel, {"x": np.zeros(1)}))
