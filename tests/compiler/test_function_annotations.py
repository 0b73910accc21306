# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The declared types of inlined functions hold, for arguments and for results."""

import dataclasses

import numpy as np
import pytest

from cuda_graphs.compiler import errors
from cuda_graphs.compiler.frontend.translate import translate
from cuda_graphs.compiler.ir import types as t
from cuda_graphs.compiler.language.annotations import ArraySpec, NDArray, ScalarSpec, Tensor, vec
from cuda_graphs.compiler.language.signature import specialise
from tests.compiler.rig import cg, function_of, run_all


@dataclasses.dataclass
class Disc:
    radius: cg.f32


@dataclasses.dataclass
class Square:
    side: cg.f32


HEAD = "def kernel(out: ndarray(f64, 1), m: ndarray(i32, 2), n: i32, a: f32):\n    "
KNOWN = {
    "out": ArraySpec(t.f64, 1),
    "m": ArraySpec(t.i32, 2),
    "n": ScalarSpec(t.i32),
    "a": ScalarSpec(t.f32),
}


NAMES = {"Disc": Disc, "NDArray": NDArray, "Tensor": Tensor, "vec": vec}


def inlined(signature, body):
    """A function of the language, of the name f."""
    return cg.func(function_of(f"def f{signature}:\n    {body}\n", **NAMES))


RESULTS = [
    ("(x) -> i32", "return x", "f(2.9)", 2),
    ("(x) -> 'i32'", "return x", "f(2.9)", 2),
    ("(x) -> u8", "return x", "f(300)", 44),
    ("(x) -> f64", "return x", "f(3) / 2", 1.5),
    ("(x) -> int", "return x", "f(2.9) / 2", 1.0),
    ("(x) -> cg.vec2", "return x", "f(2.5).y", 2.5),
    ("(x) -> vec(2, i32)", "return cg.vec2(x, 7.0)", "f(2.9).x", 2),
    ("(x) -> tuple[i32, f32]", "return x, x", "f(2.5)[0] * 10 + f(2.5)[1]", 22.5),
    ("(x) -> (i32, f32)", "return x, x", "f(2.5)[0] * 10 + f(2.5)[1]", 22.5),
    ("(x) -> None", "return", "2.0", 2.0),
    ("(x: cg.template) -> f32", "return 1 if cg.static(x == 0) else x + 0.5", "f(cg.static(3))", 3.5),
    ("(x: cg.vec2)", "return x", "f(3).y", 3),
    ("(x: NDArray)", "return x[0]", "f(out)", 0),
    ("(x: ndarray(f64, 1))", "return x[0]", "f(out)", 0),
    ("(x: ndarray(i32))", "return x[0, 0]", "f(m)", 0),
    ("(x: Tensor)", "return x[0, 0]", "f(m)", 0),
]


@pytest.mark.filterwarnings("ignore:.*the conversion can lose:cuda_graphs.CompileWarning")
@pytest.mark.parametrize(("signature", "body", "call", "wanted"), RESULTS, ids=[r[0] for r in RESULTS])
def test_arguments_and_results_of_a_function_have_their_declared_types(signature, body, call, wanted):
    kernel = function_of(f"{HEAD}out[1] = {call}\n", f=inlined(signature, body))
    found = run_all(kernel, out=np.zeros(2), m=np.zeros((1, 1), "i4"), n=3, a=1.5)
    assert found["out"].tolist() == [0, wanted]


def test_a_recursion_ends_where_its_template_does():
    @cg.func
    def summed(n: cg.template) -> t.i32:
        total = 0
        if cg.static(n > 0):
            total = n + summed(cg.static(n - 1))
        return total

    kernel = function_of(f"{HEAD}out[0] = summed(4)\n", summed=summed)
    assert run_all(kernel, out=np.zeros(1), m=np.zeros((1, 1), "i4"), n=3, a=1.5)["out"].tolist() == [10]


REFUSED = [
    ("(x) -> i32", "y = x", "f(n)", "f declares a return value but has no return"),
    ("(x) -> None", "return x", "f(n)", "f is declared to return None but returns a value"),
    ("(x) -> tuple[i32, i32]", "return x", "f(n)", "f returns 1 values, and its annotation says 2"),
    ("(x) -> tuple[i32, i32]", "return x, x, x", "f(n)", "f returns 3 values, and its annotation says 2"),
    ("(x) -> i32", "return x, x", "f(n)", "the result of f must be a number, not a tuple"),
    ("(x) -> i32", "return x", "f(m)", "the result of f must be a number, not the array 'm'"),
    ("(x) -> 77", "return x", "f(n)", "the result of f is declared as 77, which functions do not take"),
    ("(x: i32)", "return 1", "f(m)", "'x' of f must be a number, not the array 'm'"),
    ("(x: 77)", "return 1", "f(n)", "'x' of f is declared as 77, which functions do not take"),
    (
        "(x: ndarray(i32, 1))",
        "return 1",
        "f(m)",
        r"as ndarray\(i32, ndim=1\), and gets the array 'm' \(i32, ndim=2\)",
    ),
    ("(x: ndarray(f32))", "return 1", "f(m)", r"as ndarray\(f32\), and gets the array 'm' \(i32, ndim=2\)"),
    ("(x: ndarray(cg.vec2))", "return 1", "f(out)", r"as ndarray\(vec\(2, f32\)\), and gets the array 'out'"),
    ("(x: ndarray())", "return 1", "f(n)", r"as ndarray\(\), and gets the parameter 'n'"),
    ("(x: Tensor)", "return 1", "f(n)", "as Tensor, and gets the parameter 'n'"),
    ("(x: Disc)", "return 1", "f(n)", "as Disc, and gets the parameter 'n'"),
    ("(x: cg.vec2)", "return 1", "f(m)", "must be a number"),
]


@pytest.mark.parametrize(
    ("signature", "body", "call", "words"), REFUSED, ids=[f"{r[0]} {r[2]}" for r in REFUSED]
)
def test_arguments_and_results_that_a_function_does_not_declare_are_refused(signature, body, call, words):
    with pytest.raises((errors.CompileTypeError, errors.CompileReturnError), match=words) as caught:
        translate(function_of(f"{HEAD}y = {call}\n", f=inlined(signature, body)), KNOWN)
    assert caught.value.remedy


def test_structures_are_told_apart():
    @cg.func
    def area(x: Disc):
        return x.radius * x.radius

    def kernel(s: Square):
        y = area(s)  # noqa: F841

    with pytest.raises(errors.CompileTypeError, match="is declared as Disc, and gets a Square"):
        translate(kernel, specialise(kernel, {"s": Square(1.0)}))
