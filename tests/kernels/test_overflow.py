# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: with debug=True an integer result that does not fit its type is an error with place and operands."""

import linecache
import math

import numpy as np
import pytest

import cuda_graphs as cg

WHOLE = {each.name: each for each in (cg.i8, cg.i16, cg.i32, cg.i64, cg.u8, cg.u16, cg.u32, cg.u64)}
PYTHON = {
    "a + b": lambda a, b: a + b,
    "a - b": lambda a, b: a - b,
    "a * b": lambda a, b: a * b,
    "a << b": lambda a, b: a << b if b >= 0 else math.inf,
    "-a": lambda a, b: -a,
    "a ** 3": lambda a, b: a**3,
    "a ** b": lambda a, b: power(a, b),
    "abs(a)": lambda a, b: abs(a),
    "a // b": lambda a, b: a // b if b else 0,
    "cg.raw_div(a, b)": lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) if b else 0,
}


def power(a, b):
    """a ** b; a number that fits no type where it has hundreds of digits."""
    if b < 0:
        return (a if b % 2 else 1) if a in (1, -1) else 0
    return a**b if b < 100 or a in (-1, 0, 1) else math.inf


def kernel_of(text, **options):
    """The debug kernel `k` of a text."""
    file = f"<overflow {hash(text)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    space = {"cg": cg}
    exec(compile(text, file, "exec"), space)
    return cg.kernel(space["k"], debug=True, **options)


def edges(kind):
    """Values around zero, around the root of the greatest value, and at both ends."""
    root = math.isqrt(kind.maximum)
    found = {0, 1, 2, 3, 7, root, root + 1, kind.maximum - 1, kind.maximum, kind.minimum}
    return sorted(found | {-each for each in found if kind.kind == "int" and each != kind.minimum})


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("expression", PYTHON)
def test_an_operation_raises_exactly_when_the_result_of_python_does_not_fit(name, expression):
    kind = WHOLE[name]
    kernel = kernel_of(f"def k(a: cg.{name}, b: cg.{name}) -> cg.{name}:\n    return {expression}\n")
    for a in edges(kind):
        for b in edges(kind):
            wanted = PYTHON[expression](a, min(b, 1000) if "<<" in expression else b)
            fits = kind.minimum <= wanted <= kind.maximum
            if "<<" in expression and not 0 <= b < kind.bits:
                fits = False
            if fits:
                assert kernel(a, b) == wanted, (a, b)
            else:
                with pytest.raises(cg.KernelOverflowError, match=f"does not fit {name}"):
                    kernel(a, b)


@pytest.mark.parametrize("given", [*WHOLE, "f32", "f64"])
@pytest.mark.parametrize("to", WHOLE)
def test_a_conversion_raises_exactly_when_the_value_does_not_fit(given, to):
    kernel = kernel_of(f"def k(a: cg.{given}) -> cg.{to}:\n    return cg.{to}(a)\n")
    source, kind = getattr(cg, given), WHOLE[to]
    ends = [kind.minimum, kind.maximum]
    if given in WHOLE:
        values = {v for end in ends for v in (end - 1, end, end + 1) if source.minimum <= v <= source.maximum}
    else:
        real = np.dtype(source.dtype).type
        near = [real(end) for end in ends]
        values = {
            float(v)
            for each in near
            for v in (each, np.nextafter(each, real(0)), np.nextafter(each, real(np.inf)))
        }
        values |= {0.5, -0.5, 3.75, math.inf, -math.inf, math.nan}
    for value in values:
        if math.isfinite(value) and kind.minimum <= int(value) <= kind.maximum:
            assert kernel(value) == int(value), value
        else:
            with pytest.raises(cg.KernelOverflowError, match=f"does not fit {to}"):
                kernel(value)


def test_the_error_names_line_and_operands_and_the_device_goes_on():
    text = (
        "def k(x: cg.types.ndarray(cg.i32, ndim=1), n: cg.i32):\n    for i in x:\n        x[i] = x[i] * n\n"
    )
    kernel = kernel_of(text)
    x = cg.ndarray(cg.i32, (4,))
    x.from_numpy(np.array([1, 2, 65536, 3], "i4"))
    with pytest.raises(cg.KernelOverflowError) as caught:
        kernel(x, 65536)
    assert "65536 * 65536 does not fit i32" in str(caught.value)
    assert "line 3, in k" in str(caught.value)
    assert isinstance(caught.value, OverflowError)
    x.from_numpy(np.array([1, 2, 3, 4], "i4"))
    kernel(x, 2)
    assert x.to_numpy().tolist() == [2, 4, 6, 8]


ATOMIC = {
    "x[0] += n": ("add", "+"),
    "cg.atomic_add(x[0], n)": ("add", "+"),
    "x[0] -= n": ("sub", "-"),
    "cg.atomic_sub(x[0], n)": ("sub", "-"),
    "x[0] *= n": ("mul", r"\*"),
    "v += n": ("add", "+"),
    "w[i % 2] += n": ("add", "+"),
}


@pytest.mark.parametrize("statement", ATOMIC)
@pytest.mark.parametrize("name", ["i32", "i64", "u32"])
def test_an_atomic_change_raises_when_its_result_does_not_fit(statement, name):
    kind = WHOLE[name]
    text = (
        f"def k(x: cg.types.ndarray(cg.{name}, ndim=1), n: cg.{name}):\n    v = x[0]\n"
        f"    w = cg.vector(v, v)\n    for i in range(4):\n        if i == 2:\n            {statement}\n"
    )
    kernel, (operation, sign) = kernel_of(text), ATOMIC[statement]
    cases = {
        "add": [(kind.maximum - 3, 3, True), (kind.maximum - 3, 4, False)],
        "sub": [(kind.minimum + 3, 3, True), (kind.minimum + 3, 4, False)],
        "mul": [(kind.maximum // 4, 4, True), (kind.maximum // 4 + 1, 4, False)],
    }
    x = cg.ndarray(kind, (1,))
    for start, n, fits in cases[operation]:
        x.fill(start)
        if fits:
            kernel(x, n)
            continue
        with pytest.raises(
            cg.KernelOverflowError, match=f"{start} {sign} {n} does not fit {name}".replace("+", r"\+")
        ):
            kernel(x, n)


def test_without_debug_arithmetic_wraps():
    kernel = kernel_of("def k(a: cg.i32) -> cg.i32:\n    return a + 1\n")
    plain = cg.kernel(kernel.__wrapped__)
    assert plain(2**31 - 1) == -(2**31)


def test_loops_of_any_step_and_random_numbers_raise_nothing():
    text = """def k(out: cg.types.ndarray(cg.i64, ndim=1), step: cg.i32):
    for i in range(2147483600, 2147483647, step):
        out[0] += i - 2147483600
    for i in range(-2147483648, -2147483600, step):
        out[1] += 1
    for i in range(10):
        if cg.random(cg.u32) > 0:
            out[2] += 1
"""
    out = cg.ndarray(cg.i64, (3,))
    kernel_of(text)(out, 40)
    assert out.to_numpy().tolist() == [40, 2, 10]
