# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: what kernels cannot contain is a CompileError of its cause's class, which shows file, line and caret, and says
what to do. One row a mistake: (class, words of the message, lines of the body; ^ marks the line at fault)."""

import math
import re

import numpy as np
import pytest

from cuda_graphs.compiler import errors
from cuda_graphs.compiler.codegen.x86.x86_target import X86
from cuda_graphs.compiler.language import intrinsics
from cuda_graphs.compiler.language.signature import specialise
from cuda_graphs.compiler.pipeline import compile_kernel, lower
from tests.compiler.rig import cg, function_of
from tests.compiler.test_blocks import REFUSED
from tests.compiler.test_checkpoints import MISTAKES as OF_CHECKPOINTS
from tests.compiler.test_sections import MISTAKES as OF_SECTIONS

Syntax, Type, Name = errors.CompileSyntaxError, errors.CompileTypeError, errors.CompileNameError
Index, Value, Unsupported = errors.CompileIndexError, errors.CompileValueError, errors.UnsupportedSyntaxError
Immutable, Loop, Return = errors.CompileImmutableError, errors.CompileLoopError, errors.CompileReturnError
Argument, Literal, Static = errors.CompileArgumentError, errors.CompileLiteralError, errors.CompileStaticError
Negative, Recursion = errors.CompileNegativeIndexError, errors.CompileRecursionError

ARGUMENTS = {
    "x": np.zeros(4, "f"),
    "m": np.zeros((2, 3), "i4"),
    "n": 3,
    "a": 1.5,
    "v": (1.0, 2.0, 3.0),
    "z": np.zeros((), "f"),
    "k": 2,
}
PARAMETERS = (
    "x: ndarray(f32, 1), m: ndarray(i32, 2), n: i32, a: f32, v: cg.vec3, z: ndarray(f32, 0), k: cg.template"
)
HEAD = f"def kernel({PARAMETERS}):"

# (class, words, body). The line that ends with "#!" is at fault.
MISTAKES = [
    # Python that kernels do not have
    (Unsupported, "try is not supported", "try:  #!\n    n\nexcept ValueError:\n    pass"),
    (Unsupported, "raise is not supported", "raise ValueError  #!"),
    (Unsupported, "class is not supported", "class A:  #!\n    pass"),
    (Unsupported, "import is not supported", "import math  #!"),
    (Unsupported, "import is not supported", "from math import sin  #!"),
    (Unsupported, "del is not supported", "y = 1\ndel y  #!"),
    (Unsupported, "global is not supported", "global y  #!"),
    (Unsupported, "match is not supported", "match n:  #!\n    case 1:\n        pass"),
    (Unsupported, "with is not supported", "with x:  #!\n    pass"),
    (Syntax, "f is defined in a kernel and has a decorator", "@twice\ndef f():  #!\n    pass"),
    (Immutable, "'n' is already defined", "def n():  #!\n    pass"),
    (Immutable, "f assigns to 'y', a name of the function around it", "y = 1\ndef f():  #!\n    y = 2"),
    (Unsupported, "yield is not supported", "y = (yield)  #!"),
    (Unsupported, "yield is not supported", "yield n  #!"),
    (Unsupported, "yield from is not supported", "yield from x  #!"),
    (Unsupported, r"\*\* is not supported", "print(n, **{'sep': ''})  #!"),
    (Unsupported, r"\* is not supported", "print(*(n, 3))  #!"),
    (Syntax, "at least 4 values are needed, and there are 3", "p, q, r, *s, t = v  #!"),
    (Type, r"\* takes the parts of a tuple or vector, not of the parameter 'n'", "y = min(*n)  #!"),
    (Type, r"\*\* takes a dict, not the array 'x'", "y = {**x}  #!"),
    (Type, r"\*\* takes a dict of names, not the array 'x'", "y = twice(**x)  #!"),
    (Argument, "twice: two values for 'x'", "y = twice(x=1, **{'x': 2})  #!"),
    (Unsupported, "a set is not supported", "y = {1, 2}  #!"),
    (Unsupported, "a slice is not supported", "y = {0: n}[0:1]  #!"),
    (Type, "the items of the array 'x' are needed when compiling", "y = sum(i for i in x)  #!"),
    (Value, "the start of enumerate is known at run time only", "for i, y in enumerate(v, n):  #!\n    pass"),
    (Unsupported, "an f-string outside print", "y = f'{n}'  #!"),
    # Lists that change
    (Static, "whether the length of 'y' changes here", "y = []\nif n > 1:\n    y.append(a)  #!"),
    (Static, "whether the length of 'y' changes here", "y = []\nfor i in range(n):\n    y.append(a)  #!"),
    (Static, "whether the length of 'y' changes here", "y = [1]\nwhile n > y[0]:\n    y.pop()  #!"),
    (Argument, r"y.pop\(\): pop from empty list", "y = []\nz = y.pop()  #!"),
    (Argument, r"y.append\(\): .*missing 1 required", "y = []\ny.append()  #!"),
    (Immutable, "the list 'y' is a parameter", "f = lambda y: y.append(a)\nf([n])  #!"),
    (Type, "is indexed with a value known at run time only", "y = (n, n)[n : n + 1]  #!"),
    # Constructs in the wrong place
    (Loop, "cannot break out of a parallel loop", "for i in range(n):\n    if i > 1:\n        break  #!"),
    (Loop, "else of a loop", "for i in range(n):  #!\n    pass\nelse:\n    pass"),
    (Loop, "else of a loop", "while n > 1:  #!\n    pass\nelse:\n    pass"),
    (Return, "return cannot leave a parallel loop", "for i in range(n):\n    return  #!"),
    (Return, "a return before this loop", "if n > 1:\n    return\nfor i in range(n):  #!\n    x[i] = 1"),
    (Return, "statements after return", "return  #!\nx[0] = 1"),
    (Return, "the kernel returns 1 values", "return n  #!"),
    (Syntax, "this expression has no effect", "n + 1  #!"),
    (
        Loop,
        "cannot depend on a value known at run time",
        "for i in cg.static(range(3)):\n    if n > i:\n        break  #!",
    ),
    (Loop, "a while over cg.static", "while cg.static(k):  #!\n    pass"),
    (Syntax, "cg.static inside cg.static", "y = cg.static(cg.static(k))  #!"),
    (Syntax, "`is` compares with None only", "if n is k:  #!\n    pass"),
    (Syntax, "a chain of comparisons with `is` or `in`", "y = 1 < n in (1, 2)  #!"),
    (Type, "the items of the array 'x' are needed when compiling", "y = a in x  #!"),
    (Syntax, "a declaration without a value", "y: f32  #!"),
    # Assignment
    (Immutable, "'n' is a parameter of the kernel, which is immutable", "n = 4  #!"),
    (Immutable, "'n' is a parameter of the kernel, which is immutable", "n += 4  #!"),
    (Immutable, "'x' is a parameter of the kernel, which is immutable", "x = 4  #!"),
    (Immutable, "'i' is a loop variable, which is immutable", "for i in range(n):\n    i = 3  #!"),
    (Immutable, "'i' is a loop variable, which is immutable", "for i in range(n):\n    i += 3  #!"),
    (Syntax, "2 names for 3 values", "p, q = 1, 2, 3  #!"),
    (Loop, "the loop variable 'n' is already defined", "for n in range(3):  #!\n    pass"),
    (Loop, "1 loop variables for 2 dimensions", "for i in cg.ndrange(2, 3):  #!\n    pass"),
    (Immutable, "known when compiling and cannot be assigned again", "y = 'text'\ny = 'other'  #!"),
    (Immutable, "known when compiling and cannot be assigned again", "y = cg.static(3)\ny = 4  #!"),
    # Names
    (Name, "name 'nothing' is not defined", "y = nothing + 1  #!"),
    (Name, "name 'y' is not defined", "if n > 1:\n    y = 1\nx[0] = y  #!"),
    (Name, "name 'y' is not defined", "y += 1  #!"),
    (Name, "has no member 'nothing'", "y = cg.nothing(n)  #!"),
    (Name, "cannot be called in a kernel", "y = open('f')  #!"),
    (
        Name,
        r"cannot be called in a kernel\n(.*\n)*Remedy: kernels create no objects",
        "y = complex(a, 1.0)  #!",
    ),
    (Name, "has no member 'copy'", "x.copy()  #!"),
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
    (Literal, "0 is not a literal of f32", "y = cg.f32(0)  #!"),
    (Literal, "0.0 is not a literal of i32", "y = cg.i32(0.0)  #!"),
    (Type, "takes integers, not f32", "cg.atomic_xor(x[0], 1)  #!"),
    (Type, "must be a number, not the array 'x'", "y = n + x[x]  #!"),
    (Type, "unsupported operand for +", "y = n + x  #!"),
    (Argument, "missing a required argument", "y = cg.cast(n)  #!"),
    (Type, "is not a scalar type", "y = cg.cast(n, 3)  #!"),
    (Type, "vectors of different shapes", "y = cg.vec2(1.0) + cg.vec3(1.0)  #!"),
    (Type, "cross takes two vectors of 3 components", "y = cg.cross(cg.vec4(1.0), cg.vec4(1.0))  #!"),
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
    (Negative, "index -1 is outside of 'x'", "y = x[-1]  #!"),
    (Index, "a vector of 3 components is indexed with 3", "y = cg.vec3(1.0)[3]  #!"),
    (Index, "a vector of 2 components has no .z", "y = cg.vec2(1.0).z  #!"),
    (Index, "a tuple", "y = (1, 2)[5]  #!"),
    # Values
    (Literal, "5000000000 is not a value of i32", "y = 5000000000  #!"),
    (Literal, r"of i32\n(.*\n)*Remedy: write cg.i64\(", "y = 5000000000  #!"),
    (
        Literal,
        r"4294967295 is not a value of i32\n(.*\n)*Remedy: write cg.u32\(...\) or cg.i64",
        "y = 4294967295  #!",
    ),
    (Literal, r"Remedy: write cg.i64\(...\)$", "y = -5000000000  #!"),
    (Literal, r"Remedy: write cg.u64\(...\)$", "y = 18446744073709551615  #!"),
    (Literal, r"Remedy: no integer type holds it", "y = 18446744073709551616  #!"),
    (Literal, r"Remedy: write cg.u16\(...\)$", "y = cg.u8(256)  #!"),
    (Literal, "-1 is not a value of u16", "y = cg.u16(-1)  #!"),
    (Literal, r"Remedy: cg.cast\(x, cg.u16\) takes its low 16 bits", "y = cg.u16(-1)  #!"),
    (Value, "the step of a range is 0", "for i in range(0, n, 0):  #!\n    pass"),
    (Value, "the step of a range is 1.5", "for i in range(0, n, 1.5):  #!\n    pass"),
    (Type, "the step of a range must be an integer, not f32", "for i in range(0, 9, a):  #!\n    pass"),
    (Immutable, "'i' is a loop variable", "for i in range(0, 9, n):\n    i = 1  #!"),
    (Immutable, "'i' is a loop variable", "for i in range(0, 9, n):\n    i += 1  #!"),
    (Static, "'n' is not known when compiling", "y = cg.static(n + 1)  #!"),
    (Static, "cg.static: ZeroDivisionError", "y = cg.static(k // 0)  #!"),
    (Value, "cg.static_assert: k is 2", "cg.static_assert(k == 3, 'k is 2')  #!"),
    (Value, r"i32 \*\* -2 is no integer", "y = n ** -2  #!"),
    (Value, "the format '>8' has no meaning", "print(f'{n:>8}')  #!"),
    (Value, "block_dim is 0", "cg.loop_config(block_dim=0)  #!"),
    # Loops
    (Loop, "cg.loop_config is not followed by a loop", "cg.loop_config(block_dim=64)  #!\nx[0] = 1"),
    (
        Loop,
        "cg.loop_config is not followed by a loop",
        "cg.loop_config(block_dim=64)  #!\nwhile n > 5:\n    pass",
    ),
    (
        Loop,
        "cg.loop_config is not followed by a loop",
        "cg.loop_config(name='fill')  #!\nfor i in cg.static(range(2)):\n    pass",
    ),
    (
        Loop,
        "cg.loop_config is not followed by a loop",
        "if n > 1:\n    cg.loop_config(name='a')  #!\nfor i in range(2):\n    pass",
    ),
    (
        Loop,
        "cg.loop_config is not followed by a loop",
        "cg.loop_config(name='a')  #!\ncg.loop_config(name='b')\nfor i in range(2):\n    pass",
    ),
    (
        Loop,
        "is serialized runs on one thread",
        "cg.loop_config(serialize=True, parallelize=2)  #!\nfor i in x:\n    pass",
    ),
    (Value, "serialize is known at run time only", "cg.loop_config(serialize=n)  #!\nfor i in x:\n    pass"),
    (Value, "serialize is 1", "cg.loop_config(serialize=1)  #!\nfor i in x:\n    pass"),
    (Value, "block_dim is True", "cg.loop_config(block_dim=True)  #!\nfor i in x:\n    pass"),
    (Value, "block_dim is 2000", "cg.loop_config(block_dim=2000)  #!\nfor i in x:\n    pass"),
    (Value, "parallelize is 0", "cg.loop_config(parallelize=0)  #!\nfor i in x:\n    pass"),
    (Value, "name is 'a b'", "cg.loop_config(name='a b')  #!\nfor i in x:\n    pass"),
    (
        Argument,
        "unexpected keyword argument 'threads'",
        "cg.loop_config(threads=4)  #!\nfor i in x:\n    pass",
    ),
    (Argument, "range takes 1 to 3 numbers", "for i in range(1, 2, 3, 4):  #!\n    pass"),
    (Argument, "range takes 1 to 3 numbers", "for i in range():  #!\n    pass"),
    (Type, "a bound must be an integer, not bool", "for i in range(n > 1):  #!\n    pass"),
    (Type, "cg.grouped takes cg.ndrange", "for i in cg.grouped(n):  #!\n    pass"),
    (Syntax, "each dimension of ndrange is n or", "for i in cg.ndrange((1, 2, 3)):  #!\n    pass"),
    (Loop, "a loop variable is a name", "for x[0] in range(3):  #!\n    pass"),
    (Loop, "a loop variable is a name", "for i, (j, l) in cg.ndrange(2, 3):  #!\n    pass"),
    (Static, "the extents of 'x' are known at run time only", "y = cg.static(x.shape[0])  #!"),
    (Static, "the extents of 'm' are known at run time only", "for i in cg.static(m.shape):  #!\n    pass"),
    (Type, "is an array from outside", "y = own[0]  #!"),
    (Type, r"'owns\[0\]' is an array from outside", "y = owns[0][1]  #!"),
    (Loop, "2 loop variables for 1 dimensions", "for i, j in x:  #!\n    pass"),
    (Loop, "the loop variable 'i' is already defined", "for i in x:\n    for i in x:  #!\n        pass"),
    (Loop, "the loop variables do not fit", "for a_, b_ in cg.static([(1, 2, 3)]):  #!\n    pass"),
    (Name, "name 'i' is not defined", "for i in x:\n    pass\nx[0] = i  #!"),
    (Immutable, "'I' is a loop variable", "for I in cg.grouped(x):\n    I = 2  #!"),
    (Immutable, "'I' is a loop variable", "for I in cg.grouped(x):\n    I += 1  #!"),
    (Immutable, "'I' is a loop variable", "for I in cg.grouped(x):\n    I[0] = 1  #!"),
    (Immutable, "'v' is a parameter of the kernel", "v = v * 2.0  #!"),
    (Immutable, "'v.0' is a parameter of the kernel", "v.x = 2.0  #!"),
    (Immutable, "'i' is a loop variable", "for i in range(3):\n    (i := 4)  #!\n"),
    # Calls
    (Argument, "twice: missing a required argument: 'x'", "y = twice()  #!"),
    (Argument, "twice: too many positional arguments", "y = twice(1, 2)  #!"),
    (Argument, "twice: got an unexpected keyword argument 'z'", "y = twice(1, z=2)  #!"),
    (Argument, "twice: multiple values for argument 'x'", "y = twice(1, x=2)  #!"),
    (Argument, r"cg.atan2\(a, b\) takes 2 values, got 1", "y = cg.atan2(a)  #!"),
    (Argument, "min takes two values or more", "y = min(a)  #!"),
    (Argument, "f32 takes one value, not 2", "y = cg.f32(1.0, 2.0)  #!"),
    (Argument, "cg.atomic_add takes a place in memory and 1 value, not 0", "cg.atomic_add(x[0])  #!"),
    (Argument, "cg.atomic_cas takes a place in memory and 2 values, not 1", "cg.atomic_cas(m[0, 0], 1)  #!"),
    (Argument, "cg.static takes one expression", "y = cg.static()  #!"),
    (Static, "known at run time only takes part", "y = cg.static((n, 1)[0] == 1)  #!"),
    (
        Value,
        "axes of ndrange has not each number from 0 to 1",
        "for i, j in cg.ndrange(n, n, axes=(1, 1)):  #!\n    pass",
    ),
    (Argument, "of str.format has no value here", "print('{} {1}'.format(n))  #!"),
    (Value, "str.format: Single '}' encountered", "print('}'.format(n))  #!"),
    (Argument, "dot takes 2 vectors, not 1", "y = v.dot()  #!"),
    (Argument, "2 places for values, and 1 are given", "print('%d %d' % n)  #!"),
    (Argument, "the text has 0 places for values", "print('100%' % n)  #!"),
    (Syntax, "the kernel other is called in a kernel", "other(n)  #!"),
    (
        Static,
        "np.interp is a function of Python, and an argument is known at run time only",
        "y = np.interp(a, x, x)  #!",
    ),
    (Static, r"np.sqrt is a function of Python.*\n.*write cg.sqrt\(...\)", "y = np.sqrt(a)  #!"),
    (Static, "python: ValueError: not 7", "y = python(7)  #!"),
    (Name, "n cannot be called in a kernel", "y = n()  #!"),
    (
        Type,
        "a value of shape \\(2,\\) for a place of shape \\(3,\\)",
        "w = v * 1.0\ncg.atomic_add(w, cg.vec2(1.0))  #!",
    ),
    (Syntax, "takes a place in memory, not the parameter 'n'", "cg.atomic_add(n, 1)  #!"),
    (Syntax, "takes a place in memory, not the parameter 'v.0'", "cg.atomic_add(v, 1)  #!"),
    (Syntax, "takes a place in memory, not the array 'x'", "cg.atomic_add(x, 1)  #!"),
    (Type, "cg.atomic_cas takes integers", "cg.atomic_cas(x[0], 1.0, 2.0)  #!"),
    (Syntax, "print takes sep and end", "print(n, file=3)  #!"),
    (Syntax, "print takes sep and end", "print(n, sep=n)  #!"),
    (Type, "the parameter 'n' has no method 'format'", "print(n.format(a))  #!"),
    (Value, "the format 'd' has no meaning for f32", "print('%d' % a)  #!"),
    (Value, r"the format '\+d' has no meaning for u32", "print('%+d' % cg.u32(1))  #!"),
    (Type, "a printed value must be a number, not the array 'x'", "print(x)  #!"),
    # Operations and members that a type does not have
    (Type, "unsupported operand types for ~: f32", "y = ~a  #!"),
    (Type, "unsupported operand for <: a str", "y = 'a' < 'b'  #!"),
    (Type, "the operand of not cannot be a f32", "y = not a  #!"),
    (Type, "an operand of and or or cannot be a f32", "y = a or n  #!"),
    (Type, "an operand of `and` or `or` cannot be a float", "y = n or a  #!"),
    (Type, "the condition cannot be a f32", "y = 1 if a else 2  #!"),
    (Type, "the condition must be a number, not a vector", "y = 1 if v > 1.0 else 2  #!"),
    (Type, "the condition of an assert cannot be a f32", "assert a  #!"),
    (Type, "an index must be an integer, not bool", "y = x[n > 1]  #!"),
    (Type, "must be a number, not None", "x[0] = None  #!"),
    (Type, "must be a number, not a str", "x[0] += 'text'  #!"),
    (Type, "is not a scalar type", "y = round(a, 2)  #!"),
    (Type, r"cg.floor\(a\) takes real numbers, not i32", "y = math.floor(n)  #!"),
    (Name, "a vector has no member 'size'", "y = v.size  #!"),
    (Name, "the array 'x' has no member 'size'", "y = x.size  #!"),
    (Name, "a number has no member 'real'", "y = n.real  #!"),
    (Immutable, "'x.shape' is a member of 'x', which is immutable", "x.shape = 3  #!"),
    (Syntax, "2 names for 1 values", "p, q = (1,)  #!"),
    (Type, "the type of a variable must be a scalar type", "y: x = 3  #!"),
    (Literal, "256 is not a value of u8", "y = cg.u8(256)  #!"),
    (Literal, "1 is not a literal of bool", "y = cg.bool_(1)  #!"),
    (Static, "known at run time only", "y = [i for i in cg.static(range(3)) if i < n]  #!"),
    (Unsupported, "async def is not supported", "async def f():  #!\n    pass"),
]


def kernel_of(body):
    source = "\n".join([HEAD, *("    " + line for line in body.split("\n"))]) + "\n"
    names = {
        "outside": np.zeros(3),
        "own": Own(),
        "owns": [Own()],
        "twice": twice,
        "python": python,
        "other": other,
        "math": math,
        "np": np,
    }
    return function_of(source, **names), source


@intrinsics.func
def twice(x):
    return x * 2


class Own:
    """An array of a library that has no other interface."""

    __dlpack__ = None


def python(x):
    if x == 7:
        raise ValueError("not 7")
    return x * 2


class other:
    """A stand-in for a kernel that is called by another kernel."""

    __cuda_graph_emit__ = None


@pytest.mark.parametrize(
    ("kind", "words", "body"), MISTAKES, ids=[m[2].replace("\n", ";")[:40] for m in MISTAKES]
)
def test_a_mistake_is_shown_and_explained(kind, words, body):
    check_explanation(kind, words, body)


def check_explanation(kind, words, body):
    """Has the compiler refuse the body; the error names file, line and remedy."""
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
        Immutable: Syntax,
        Loop: Syntax,
        Return: Syntax,
        Unsupported: Syntax,
        Argument: (Syntax, Type),
        Negative: (Syntax, Index),
        Recursion: (Syntax, RecursionError),
        Literal: (Type, Value),
        Static: Value,
    }.items():
        assert issubclass(ours, errors.CompileError)
        for each in pythons if isinstance(pythons, tuple) else (pythons,):
            assert issubclass(ours, each)


def test_each_class_has_a_mistake_of_its_own():
    shown = {kind for kind, _, _ in MISTAKES} | {kind for _, kind in REFUSED.values()} | {Recursion}
    shown |= {kind for kind, _, _ in (*OF_CHECKPOINTS, *OF_SECTIONS)}
    shown.add(errors.CompileResidentError)  # test_resident.py
    classes = {
        each
        for each in vars(errors).values()
        if isinstance(each, type) and issubclass(each, errors.CompileError)
    }
    of_gradients = {errors.CompileGradientError}  # tests/autodiff/compiler/test_refusals.py
    assert shown | of_gradients == classes - {errors.CompileError}


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
    with pytest.raises(Recursion, match="calls itself more than 64 levels deep"):
        lower(kernel, specialise(kernel, ARGUMENTS))


def test_a_recursion_that_python_cannot_translate_names_the_function_once():
    """Its calls inside expressions take more levels of Python than the limit of the language leaves."""
    fib = function_of(
        "def fib(n):\n    if n < 2:\n        return n\n    return fib(n - 1) + fib(n - 2) * (n + 1)\n"
    )
    fib.__globals__["fib"] = fib
    kernel, _ = kernel_of("y = fib(n)")
    kernel.__globals__["fib"] = fib
    with pytest.raises(Recursion, match=r"fib calls itself more than \d+ levels deep") as caught:
        lower(kernel, specialise(kernel, ARGUMENTS))
    text = str(caught.value)
    assert text.count("in fib") <= 2 and " times)" in text and "max_depth=64" in text


def test_expression_too_deep_for_python_is_a_compile_error():
    kernel, _ = kernel_of("y = " + " + ".join(["a"] * 2000))
    with pytest.raises(Recursion, match="nested too deep") as caught:
        lower(kernel, specialise(kernel, ARGUMENTS))
    assert "give parts of it names" in str(caught.value)


@pytest.mark.filterwarnings("ignore:.*the conversion can lose:cuda_graphs.CompileWarning")
def test_parameters_that_no_gpu_takes_are_too_many():
    names = [f"p{i}" for i in range(4200)]
    kernel = function_of(
        f"def kernel(x: ndarray(f32, 1), {', '.join(f'{name}: f64' for name in names)}):\n"
        + "    for i in range(1):\n"
        + "".join(f"        x[0] += {' + '.join(names[at : at + 100])}\n" for at in range(0, 4200, 100))
    )
    signature = specialise(kernel, {"x": np.zeros(1, "f"), **dict.fromkeys(names, 1.0)})
    with pytest.raises(Argument, match="needs 33608 bytes of parameters, and a GPU takes 32764") as caught:
        compile_kernel(kernel, signature, X86())
    assert "pass numbers in an array" in str(caught.value)


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
