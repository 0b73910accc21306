# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: what kernels cannot contain is a CompileError of its cause's class, which shows file, line and caret, and says
what to do. One row a mistake: (class, words of the message, lines of the body; ^ marks the line at fault)."""

import re

import numpy as np
import pytest

from cuda_graphs.compiler import errors, intrinsics
from cuda_graphs.compiler.pipeline import lower
from cuda_graphs.compiler.signature import specialise
from tests.compiler.rig import cg, function_of

Syntax, Type, Name = errors.CompileSyntaxError, errors.CompileTypeError, errors.CompileNameError
Index, Value, Unsupported = errors.CompileIndexError, errors.CompileValueError, errors.UnsupportedSyntaxError

ARGUMENTS = {
    "x": np.zeros(4, "f"),
    "m": np.zeros((2, 3), "i4"),
    "n": 3,
    "a": 1.5,
    "k": 2,
}
HEAD = "def kernel(x: ndarray(f32, 1), m: ndarray(i32, 2), n: i32, a: f32, k: cg.template):"

# (class, words, body). The line that ends with "#!" is at fault.
MISTAKES = [
    # Python that kernels do not have
    (Unsupported, "try is not supported", "try:  #!\n    n\nexcept ValueError:\n    pass"),
    (Unsupported, "raise is not supported", "raise ValueError  #!"),
    (Unsupported, "lambda is not supported", "f = lambda i: i  #!"),
    (Unsupported, "class is not supported", "class A:  #!\n    pass"),
    (Unsupported, "import is not supported", "import math  #!"),
    (Unsupported, "import is not supported", "from math import sin  #!"),
    (Unsupported, "del is not supported", "y = 1\ndel y  #!"),
    (Unsupported, "global is not supported", "global y  #!"),
    (Unsupported, "match is not supported", "match n:  #!\n    case 1:\n        pass"),
    (Unsupported, "with is not supported", "with x:  #!\n    pass"),
    (Unsupported, "a function inside a function", "def f():  #!\n    pass"),
    (Unsupported, "yield is not supported", "y = (yield)  #!"),
    (Unsupported, "a set is not supported", "y = {1, 2}  #!"),
    (Unsupported, "a slice is not supported", "y = x[0:2]  #!"),
    (Unsupported, "a generator expression is not supported", "y = (i for i in x)  #!"),
    (Unsupported, "an f-string outside print", "y = f'{n}'  #!"),
    # Constructs in the wrong place
    (Syntax, "cannot break out of a parallel loop", "for i in range(n):\n    if i > 1:\n        break  #!"),
    (Syntax, "else of a loop", "for i in range(n):  #!\n    pass\nelse:\n    pass"),
    (Syntax, "else of a loop", "while n > 1:  #!\n    pass\nelse:\n    pass"),
    (Syntax, "return cannot depend", "if n > 1:\n    return  #!"),
    (Syntax, "return cannot depend", "for i in range(n):\n    return  #!"),
    (Syntax, "statements after return", "return  #!\nx[0] = 1"),
    (Syntax, "the kernel returns 1 values", "return n  #!"),
    (Syntax, "this expression has no effect", "n + 1  #!"),
    (
        Syntax,
        "cannot depend on what is known at run time",
        "for i in cg.static(range(3)):\n    if n > i:\n        break  #!",
    ),
    (Syntax, "a while over cg.static", "while cg.static(k):  #!\n    pass"),
    (Syntax, "cg.static inside cg.static", "y = cg.static(cg.static(k))  #!"),
    (Syntax, "`is` and `in` are for cg.static", "if n is k:  #!\n    pass"),
    (Syntax, "a declaration without a value", "y: f32  #!"),
    # Assignment
    (Syntax, "'n' is a parameter of the kernel, which is immutable", "n = 4  #!"),
    (Syntax, "'n' is a parameter of the kernel, which is immutable", "n += 4  #!"),
    (Syntax, "'x' is a parameter of the kernel, which is immutable", "x = 4  #!"),
    (Syntax, "'i' is a loop variable, which is immutable", "for i in range(n):\n    i = 3  #!"),
    (Syntax, "'i' is a loop variable, which is immutable", "for i in range(n):\n    i += 3  #!"),
    (Syntax, "2 names for 3 values", "p, q = 1, 2, 3  #!"),
    (Syntax, "the loop variable 'n' has a meaning already", "for n in range(3):  #!\n    pass"),
    (Syntax, "1 loop variables for 2 dimensions", "for i in cg.ndrange(2, 3):  #!\n    pass"),
    (Syntax, "known when compiling and cannot be assigned again", "y = 'text'\ny = 'other'  #!"),
    (Syntax, "known when compiling and cannot be assigned again", "y = cg.static(3)\ny = 4  #!"),
    # Names
    (Name, "name 'nothing' is not defined", "y = nothing + 1  #!"),
    (Name, "name 'y' is not defined", "if n > 1:\n    y = 1\nx[0] = y  #!"),
    (Name, "name 'y' is not defined", "y += 1  #!"),
    (Name, "has no member 'nothing'", "y = cg.nothing(n)  #!"),
    (Name, "cannot be called in a kernel", "y = open('f')  #!"),
    (Name, "has no method 'copy'", "x.copy()  #!"),
    # Types
    (Type, "unsupported operand types for &: f32 and i32", "y = a & n  #!"),
    (Type, "unsupported operand types for <<", "y = a << 1  #!"),
    (Type, "the condition of an if cannot be a f32", "if a:  #!\n    pass"),
    (Type, "the condition of a while cannot be a f32", "while a:  #!\n    pass"),
    (Type, "an operand of and or or cannot be a f32", "y = a and n  #!"),
    (Type, "an index must be an integer, not f32", "y = x[a]  #!"),
    (Type, "a bound must be an integer, not f32", "for i in range(a):  #!\n    pass"),
    (Type, "cannot iterate over", "for i in n:  #!\n    pass"),
    (Type, "takes real numbers, not i32", "y = cg.sin(n)  #!"),
    (Type, "0 is no literal of f32", "y = cg.f32(0)  #!"),
    (Type, "0.0 is no literal of i32", "y = cg.i32(0.0)  #!"),
    (Type, "takes integers, not f32", "cg.atomic_xor(x[0], 1)  #!"),
    (Type, "must be a number, not the array 'x'", "y = n + x[x]  #!"),
    (Type, "unsupported operand for +", "y = n + x  #!"),
    (Type, "missing a required argument", "y = cg.cast(n)  #!"),
    (Type, "is no scalar type", "y = cg.cast(n, 3)  #!"),
    (Type, "vectors of different shapes", "y = cg.vec2(1.0) + cg.vec3(1.0)  #!"),
    (Type, "cross takes two vectors of 3 components", "y = cg.cross(cg.vec2(1.0), cg.vec2(1.0))  #!"),
    (Type, "a square matrix up to 4 x 4", "y = cg.mat(2, 3)(1.0).determinant()  #!"),
    (Type, r"cg.raw_mod\(a, b\) does not take f32", "y = cg.raw_mod(x[0], 2.0)  #!"),
    (Type, "no dimensions to iterate over", "for I in cg.grouped(cg.ndrange()):  #!\n    pass"),
    (Type, "bit_cast from i32", "y = cg.bit_cast(n, cg.f64)  #!"),
    (Type, "one branch gives", "y = x if n > 1 else 3  #!"),
    (Type, "is an array from outside", "y = outside[0]  #!"),
    (Syntax, "takes a place in memory", "cg.atomic_add(3, 1)  #!"),
    # Indices
    (Index, "'x' has 1 dimension and 2 were indexed", "y = x[0, 1]  #!"),
    (Index, "'m' has 2 dimensions and 1 were indexed", "y = m[0]  #!"),
    (Index, "index -1 is outside of 'x'", "y = x[-1]  #!"),
    (Index, "a vector of 3 components is indexed with 3", "y = cg.vec3(1.0)[3]  #!"),
    (Index, "3 components is indexed with what is known at run time", "y = cg.vec3(1.0)[n]  #!"),
    (Index, "a vector of 2 components has no .z", "y = cg.vec2(1.0).z  #!"),
    (Index, "a tuple", "y = (1, 2)[5]  #!"),
    # Values
    (Value, "5000000000 is not a value of i32", "y = 5000000000  #!"),
    (Value, r"of i32\n(.*\n)*Remedy: write cg.i64\(", "y = 5000000000  #!"),
    (Value, "-1 is not a value of u16", "y = cg.u16(-1)  #!"),
    (Value, r"Remedy: cg.cast\(x, cg.u16\) takes its low 16 bits", "y = cg.u16(-1)  #!"),
    (Value, "the step of a range must be known", "for i in range(0, n, 0):  #!\n    pass"),
    (Value, "the step of a range must be known", "for i in range(0, 9, n):  #!\n    pass"),
    (Value, "'n' is not known when compiling", "y = cg.static(n + 1)  #!"),
    (Value, "cg.static: ZeroDivisionError", "y = cg.static(k // 0)  #!"),
    (Value, "cg.static_assert: k is 2", "cg.static_assert(k == 3, 'k is 2')  #!"),
    (Value, r"i32 \*\* -2 is no integer", "y = n ** -2  #!"),
    (Value, "the format '>8' has no meaning", "print(f'{n:>8}')  #!"),
    (Value, "block_dim is 0", "cg.loop_config(block_dim=0)  #!"),
]


def kernel_of(body):
    source = "\n".join([HEAD, *("    " + line for line in body.split("\n"))]) + "\n"
    return function_of(source, outside=np.zeros(3)), source


@pytest.mark.parametrize(
    ("kind", "words", "body"), MISTAKES, ids=[m[2].replace("\n", ";")[:40] for m in MISTAKES]
)
def test_a_mistake_is_shown_and_explained(kind, words, body):
    kernel, source = kernel_of(body)
    with pytest.raises(errors.CompileError, match=words) as caught:
        lower(kernel, specialise(kernel, ARGUMENTS))
    error, lines = caught.value, source.split("\n")
    assert type(error) is kind
    at = next(i for i, line in enumerate(lines) if line.endswith("#!"))
    text = str(error).split("\n")
    assert text[0] == f'File "{kernel.__code__.co_filename}", line {at + 1}, in kernel'
    assert text[1].strip() == lines[at].strip()
    assert re.fullmatch(r" +\^+", text[2])
    assert error.remedy, "says what is wrong, and not what to do"


def test_classes_are_those_of_python_too():
    for ours, pythons in {
        Syntax: SyntaxError,
        Type: TypeError,
        Name: NameError,
        Index: IndexError,
        Value: ValueError,
    }.items():
        assert issubclass(ours, (errors.CompileError,))
        assert issubclass(ours, pythons)


@intrinsics.func
def inner(x):
    return x & 1


def test_an_error_in_a_function_shows_where_it_was_called():
    kernel, _ = kernel_of("y = inner(a)")
    kernel.__globals__["inner"] = inner
    with pytest.raises(Type) as caught:
        lower(kernel, specialise(kernel, ARGUMENTS))
    text = str(caught.value)
    assert (
        text.index("in kernel")
        < text.index("y = inner(a)")
        < text.index("in inner")
        < text.index("return x & 1")
    )


def test_recursion_without_end_is_an_error():
    source = "def endless(x):\n    return endless(x)\n"
    endless = function_of(source)
    endless.__globals__["endless"] = intrinsics.func(endless)
    kernel, _ = kernel_of("y = endless(n)")
    kernel.__globals__["endless"] = endless.__globals__["endless"]
    with pytest.raises(Syntax, match="calls itself more than 64 levels deep"):
        lower(kernel, specialise(kernel, ARGUMENTS))


DECLARATIONS = [
    ("def kernel(x):\n    pass\n", Syntax, "parameter 'x' of kernel kernel has no annotation"),
    ("def kernel(x: f32 = 1):\n    pass\n", Syntax, "have no defaults"),
    ("def kernel(*x: f32):\n    pass\n", Syntax, "take no variadic positional parameters"),
    ("def kernel(**x: f32):\n    pass\n", Syntax, "take no variadic keyword parameters"),
    ("def kernel(*, x: f32):\n    pass\n", Syntax, "take no keyword-only parameters"),
    ("def kernel(x: str):\n    pass\n", Type, "which kernels do not take"),
    ("def kernel(x: pointer):\n    pass\n", Type, "is a pointer"),
]


@pytest.mark.parametrize(
    ("source", "kind", "words"), DECLARATIONS, ids=[d[0].split("\n")[0] for d in DECLARATIONS]
)
def test_declarations_are_checked(source, kind, words):
    with pytest.raises(kind, match=words) as caught:
        specialise(function_of(source), {"x": 1})
    assert caught.value.remedy


def test_arguments_are_checked():
    kernel = function_of("def kernel(x: ndarray(f32, 1)):\n    pass\n")
    with pytest.raises(TypeError, match="x takes an array, not a list"):
        specialise(kernel, {"x": [1, 2]})
    with pytest.raises(TypeError, match="x takes elements of f32, not f64"):
        specialise(kernel, {"x": np.zeros(3)})
    with pytest.raises(ValueError, match="x takes 1 dimensions, not 2"):
        specialise(kernel, {"x": np.zeros((3, 3), "f")})


def test_intrinsics_say_that_they_are_for_kernels():
    with pytest.raises(RuntimeError, match=r"cg\.grouped has a meaning in kernels only"):
        cg.grouped(3)
    with pytest.raises(RuntimeError, match="inner is a @cg"):
        inner(3)
