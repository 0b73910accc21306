# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: an operator on a structure is the special method that Python would call, on all targets, with its gradient."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from cuda_graphs.compiler import errors
from cuda_graphs.compiler.frontend.translate import translate
from cuda_graphs.compiler.language.signature import specialise
from tests.autodiff.compiler.gradient_rig import check, floats, zeros
from tests.compiler.rig import Structures, cg, function_of, run_all


@dataclass
class Complex:
    """A number a + b i."""

    a: cg.f64
    b: cg.f64 = 0.0

    def __add__(self, other):
        return Complex(self.a + other.a, self.b + other.b)

    def __sub__(self, other):
        return Complex(self.a - other.a, self.b - other.b)

    def __mul__(self, other):
        return Complex(self.a * other.a - self.b * other.b, self.a * other.b + self.b * other.a)

    def __rmul__(self, factor):
        return Complex(factor * self.a, factor * self.b)

    def __truediv__(self, factor):
        return Complex(self.a / factor, self.b / factor)

    def __rtruediv__(self, factor):
        return Complex(factor * self.a / self.size(), -factor * self.b / self.size())

    def __pow__(self, n):
        return self * self * n

    def __matmul__(self, other):
        return self.a * other.a + self.b * other.b

    def __and__(self, other):
        return Complex(self.a, other.b)

    def __imul__(self, other):
        self.a *= other.a
        self.b *= other.b
        return self

    def __neg__(self):
        return Complex(-self.a, -self.b)

    def __invert__(self):
        return Complex(self.a, -self.b)

    def __abs__(self):
        return self.size()

    def __len__(self):
        return 2

    def __getitem__(self, i):
        return self.a if i == 0 else self.b

    def __call__(self, x, y=1.0):
        return self.a * x + self.b * y

    def __lt__(self, other):
        return self.size() < other.size()

    @cg.func
    def __xor__(self, other: cg.f32):
        return Complex(self.a, other)

    def size(self):
        return self.a * self.a + self.b * self.b


@dataclass
class Own:
    """A structure with an == of its own."""

    n: cg.f64

    def __eq__(self, other):
        return self.n > other.n


@dataclass
class Nested:
    inner: Complex = field(default_factory=lambda: Complex(1.0, 2.0))
    k: cg.i32 = 3


EXPRESSIONS = {
    "+": "p + q * p",
    "-": "p - q",
    "reflected": "2.0 * p + 1.0 / q",
    "/ and **": "p / 2.0 + q ** p",
    "&": "(p & q) + p",
    "unary": "-p + ~q",
    "@": "Complex(p @ q)",
    "in place": "(p := changed(p, q)) + p",
    "sum": "sum((q, p), p)",
    "abs and len": "Complex(abs(p), len(q) * 1.0)",
    "[]": "Complex(p[1], q[n])",
    "call": "Complex(p(2.0), q(3.0, y=n * 1.0))",
    "order": "Complex(1.0 if p < q else 2.0, 1.0 if p > q else 2.0)",
    "equality": "Complex(1.0 if p == Complex(1.5, -2.0) else 2.0, 1.0 if p != q else 2.0)",
    "equality of nested": "Complex(1.0 if Nested(q) == Nested(Complex(3.0, 0.5)) else 2.0, 1.0 if Nested() != "
    "Nested(k=n) else 2.0)",
    "own equality": "Complex(1.0 if Own(3.0) == Own(2.0) else 2.0, 1.0 if Own(3.0) != Own(2.0) else 2.0)",
    "another class": "Complex(1.0 if Nested() == p else 2.0)",
}


def changed(p, q):
    p += q
    p *= q
    return p


@pytest.mark.parametrize("expression", EXPRESSIONS.values(), ids=EXPRESSIONS)
def test_an_operator_is_the_method_that_python_calls(expression):
    text = (
        "def kernel(p0: Complex, q: Complex, n: i32, out: ndarray(f64, 1)):\n    p = p0\n"
        f"    found = {expression}\n    out[0] = found.a\n    out[1] = found.b\n"
    )
    space = {"Complex": Complex, "Nested": Nested, "Own": Own, "changed": changed}
    for n in (1, 3):
        p, q = Complex(1.5, -2.0), Complex(3.0, 0.5)
        found = run_all(function_of(text, **space), p0=p, q=q, n=n, out=np.zeros(2))["out"]
        wanted = eval(expression.replace("q[n]", "q[1]"), {**space, "p": Complex(1.5, -2.0), "q": q, "n": n})
        assert found.tolist() == [wanted.a, wanted.b]


def converted(p: Complex, out: cg.ndarray(cg.f64, 1)):
    out[0] = (p ^ cg.cast(0.1, cg.f32)).b


def test_a_method_that_is_a_func_converts_as_it_declares():
    assert run_all(converted, p=Complex(1.0), out=np.zeros(1))["out"][0] == np.float32(0.1)


def elements(x: cg.ndarray(Complex, 1), n: cg.ndarray(cg.i32, 0)):
    for i in x:
        x[i] += x[i] * x[i]
        x[i] *= x[i]
        if x[i] == x[(i + 1) % 2]:
            n[()] += 1


@pytest.mark.parametrize("layout", ["soa", "aos"])
def test_elements_of_arrays_have_the_operators(layout):
    found = run_all(elements, x=Structures.zeros(Complex, layout, 2), n=np.zeros((), "i4"))
    assert found["n"] == 2


def steps(x: cg.ndarray(cg.f64, 1), y: cg.ndarray(cg.f64, 1)):
    for i in y:
        z = Complex(x[0], x[1])
        c = Complex(x[2], 0.25)
        for _ in range(3):
            z = z * z + c
            z *= Complex(0.5, -0.5)
        y[i] = abs(z) + z @ c


def test_the_gradient_through_operators_is_a_central_difference():
    check(steps, {"y": 1.0}, "x", x=floats(0.5, -0.25, 0.75), y=zeros(1))


REFUSED = {
    "t = p | p": "give Complex the special method of the operator",
    "t = p + 1": "a number has no member 'a'",
    "t = p + n": "a number has no member 'a'",
    "t = n - p": "give Complex the special method of the operator",
    "t = p <= p": "give Complex the special method of the operator",
    "t = p < p < p": "give Complex the special method of the operator",
    "t = +p": "take a member of it: .a, .b",
    "if p:\n        pass": "take a member of it: .a, .b",
    "p_ = p\n    p_ |= p": "give Complex the special method of the operator",
    "p_ = p\n    p_ |= 1.0": "give Complex the special method of the operator",
}


@pytest.mark.parametrize("body", REFUSED)
def test_an_operator_without_a_method_is_refused(body):
    kernel = function_of(f"def kernel(p: Complex, n: i32):\n    {body}\n", Complex=Complex)
    with pytest.raises(errors.CompileError) as caught:
        translate(kernel, specialise(kernel, {"p": Complex(1.0), "n": 2}))
    assert REFUSED[body] in str(caught.value)
