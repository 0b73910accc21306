# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a Python construct that kernels do not have is refused by an error that says what to write instead of it."""

import re
import warnings

import pytest

from cuda_graphs.compiler import errors
from cuda_graphs.compiler.language.signature import specialise
from cuda_graphs.compiler.pipeline import lower
from tests.compiler.test_errors import ARGUMENTS, kernel_of

# (body, what the remedy says)
INSTEAD = [
    # Statements
    ("if n > 1:\n    return\nfor i in x:\n    x[i] = 1.0", "put the test into the loop"),
    ("for i in x:\n    return", "write continue to end the iteration"),
    ("for i in range(n):\n    break", "test a flag in the body"),
    ("for i in range(n):\n    pass\nelse:\n    pass", "use a flag"),
    ("while n > k:\n    pass\nelse:\n    pass", "use a flag"),
    ("try:\n    pass\nexcept ValueError:\n    pass", "check the condition with if"),
    ("raise ValueError('no')", "use assert"),
    ("with open('f') as f:\n    pass", "write the statements without with"),
    ("class A:\n    pass", "define the class outside"),
    ("@twice\ndef f():\n    pass", "remove the decorator"),
    ("async def f():\n    pass", "write def"),
    ("import numpy", "import outside"),
    ("global y", "write to an array or a cg.field"),
    ("def f():\n    nonlocal n\n    n = 2\nf()", "return the value"),
    ("del x[0]", "leave it out"),
    ("match n:\n    case [p, q]:\n        pass", "write if and elif"),
    ("match n:\n    case int():\n        pass", "write if and elif"),
    ("yield n", "write the values to an array"),
    ("p, *q = n", "as many names as there are values"),
    ("x += 1.0", r"for i in x: x\[i\] = "),
    ("n += 1", "assign to a new name: n_ = "),
    # Literals and operators
    ("y = {1, 2}", "use a tuple"),
    ("y = {i for i in range(3)}", r"use a list: \[f\(i\)"),
    ("y = f'{n}'", "in print or in the message of an assert"),
    ("y = '%d' % n", "text is for print and assert"),
    ("y = '{}'.format(n)", "text is for print and assert"),
    ("y = 'a' + 'b'", "text is for print and assert"),
    ("y = 'abc'.upper()", "text is for print and assert"),
    ("d = {1: n}\nd[2] = k", r"make another one: d_ = \{\*\*d, key: value\}"),
    ("d = {1: n}\nd.update({2: k})", r"make another one, \{\*\*d, key: value\}"),
    ("d = {1: n}\ny = d.get(n, 2)", "keys are known when compiling"),
    ("d = {1: n}\ny = d.items(1)", "keys are known when compiling"),
    ("y = math.hypot(a, a)", r"write cg.sqrt\(a \* a \+ b \* b\)"),
    ("y = math.log1p(a)", r"write cg.log\(1 \+ a\)"),
    ("y = n is k", "compare numbers with =="),
    ("y = n == None", "write `x is None`"),
    ("y = n in x", r"write a loop.*x\[i\]"),
    ("y = x[0:4:2]", "write a loop over the indices"),
    ("x[:] = 0.0", "write a loop over the indices"),
    ("y = a + 1j", "cg.vec2 of the real and the imaginary part"),
    ("x[0] = 1j", "cg.vec2 of the real and the imaginary part"),
    ("x[0] = None", "assign a number"),
    ("y = 123456789012345678901234567890", "write it as a float"),
    ("y = 5000000000", "write cg.i64"),
    ("y = [0] * n", "use an array"),
    ("y = [i for i in range(n)]", "write a loop"),
    ("y = [1]\ny.remove(n)", "write a new one, y"),
    ("y = [1]\nif n > 1:\n    y.append(n)", "use an array, or a branch or loop over cg.static"),
    # Functions of Python
    ("other(n)", "make what both need a @cg.func"),
    ("y = sorted(v)", r"compare in a loop: min\(a, b\)"),
    ("y = sum(x)", "write a loop"),
    ("for i, e in enumerate(x):\n    pass", r"for i in range\(n\), and x\[i\] in it"),
    ("for p, q in zip(x, x):\n    pass", r"for i in range\(n\), and x\[i\] in it"),
    ("for i in reversed(x):\n    pass", "write a loop"),
    ("y = isinstance(n, int)", "write it in cg.static"),
    ("y = type(n)", "write it in cg.static"),
    ("y = getattr(x, 'shape')", "write the name: x.name"),
    ("y = list(v)", "write a list or a tuple of the items"),
    ("y = tuple(v)", "write a tuple of the items"),
    ("y = dict(a=1)", "or use a dataclass"),
    ("y = set()", "use a tuple"),
    ("y = str(n)", "text is for print and assert"),
    ("y = map(abs, v)", "write a comprehension"),
    ("y = filter(None, v)", "write a loop with an if"),
    ("y = iter(x)", "write a loop over the indices"),
    ("y = divmod(n, 2)", "write a // b and a % b"),
    ("y = complex(a, 1)", "cg.vec2 of the real and the imaginary part"),
    ("y = open('f')", "pass an array"),
    ("y = max(x)", r"v.max\(\)"),
    ("y = len(n)", "arrays, vectors, tuples, lists and strings have one"),
    ("print(n, file=1)", "sep=', ', end=''"),
    ("print(n, flush=True)", "goes to the standard output"),
    # NumPy
    ("y = np.array([a, 1.0])", "write cg.vector"),
    ("y = np.sin(a)", "write cg.sin"),
    ("y = np.maximum(a, 1.0)", r"write max\(a, b\)"),
    ("y = np.abs(a)", r"write abs\(a\)"),
    ("y = np.where(n > 1, a, 0.0)", "write a if condition else b"),
    ("y = np.sum(x)", "add in a loop"),
    ("y = np.linalg.norm(v)", "write cg.norm"),
    ("y = np.linalg.inv(cg.mat2(a))", r"write m.inverse\(\)"),
    ("y = np.interp(a, x, x)", "compute it before the call"),
    ("y = x.sum()", r"total \+= x\[i\]"),
    ("y = x.T", "exchange the indices"),
    ("y = x.ndim", r"write len\(x.shape\)"),
    ("y = x.astype(1)", r"cg.cast\(x\[i\]"),
    ("y = x + x", r"take an element: x\[i\]"),
    ("y = n.bit_length()", "write the operation, or a function"),
    ("y = cg.ndarray(cg.f32, 3)", "outside of the kernel, and pass what it makes"),
]


@pytest.mark.parametrize(
    ("body", "remedy"), INSTEAD, ids=[body.replace("\n", ";")[:40] for body, _ in INSTEAD]
)
def test_a_refusal_says_what_to_write_instead(body, remedy):
    kernel, _ = kernel_of(body)
    with pytest.raises(errors.CompileError) as caught:
        lower(kernel, specialise(kernel, ARGUMENTS))
    assert str(caught.value).endswith(f"Remedy: {caught.value.remedy}")
    assert re.search(remedy, caught.value.remedy), caught.value


TAKEN = [
    "p = q = n\nx[0] = p + q",
    "if (w := n) > 2:\n    x[0] = w",
    "p, *q = v\nx[0] = p + q[0]",
    "y = v[::2]\nx[0] = y[1]",
    "x[0] = n in (1, 2)",
    "f = lambda q=1: q\nx[0] = f()",
    "y = {'a': n}\nx[0] = y['a']",
    "def f(q):\n    return q * 2\nx[0] = f(a)",
    "y = a // 2.0\nx[0] = y",
    "print(n, sep=', ', end='')",
    "x[0] = len(x) + sum(v)",
    "for i, e in enumerate(v):\n    x[i] = e",
    "for p, q in zip(v, (1, 2, 3)):\n    x[q] = p",
    "for e in reversed(v):\n    x[0] = e",
    "y = cg.static(isinstance(k, int))\nx[0] = 1.0 if y else 0.0",
    "assert n > 1, f'{n}'",
]


@pytest.mark.parametrize("body", TAKEN, ids=[body.replace("\n", ";")[:40] for body in TAKEN])
def test_python_that_kernels_have_is_taken(body):
    kernel, _ = kernel_of(body)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lower(kernel, specialise(kernel, ARGUMENTS))
