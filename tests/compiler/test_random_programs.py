# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: programs that nobody thought of mean the same on the interpreter, as x86 code and as PTX.

Hypothesis writes them: typed expressions, nested loops and branches, variables and atomics. What a float function of
the machine gives is not in them, so bits are equal.
"""

from functools import cache

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cuda_graphs.compiler import types as t
from tests.compiler.rig import function_of, run_all

PARAMETERS = {
    "a": t.i32,
    "b": t.i32,
    "c": t.u8,
    "d": t.i64,
    "e": t.u32,
    "p": t.f32,
    "q": t.f64,
    "h": t.f16,
    "f": t.bool_,
}
INTEGER_ARRAY, FLOAT_ARRAY = "xs", "ys"


@cache
def integers(names, depth):
    """Expressions of integers."""
    leaf = st.one_of(st.sampled_from(names), st.integers(0, 100).map(str))
    if depth == 0:
        return leaf
    inner = integers(names, depth - 1)
    pair = st.tuples(inner, st.sampled_from(["+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>"]), inner)
    return st.one_of(
        leaf,
        pair.map(lambda p: f"({p[0]} {p[1]} {p[2]})"),
        inner.map(lambda e: f"(-{e})"),
        inner.map(lambda e: f"(~{e})"),
        st.tuples(st.sampled_from(["min", "max"]), inner, inner).map(lambda p: f"{p[0]}({p[1]}, {p[2]})"),
        st.tuples(inner, conditions(names, depth - 1), inner).map(
            lambda p: f"({p[0]} if {p[1]} else {p[2]})"
        ),
        st.tuples(st.sampled_from(["i8", "u8", "i16", "u32", "i64"]), inner).map(
            lambda p: f"cg.cast({p[1]}, cg.{p[0]})"
        ),
        floats(depth - 1).map(lambda e: f"cg.cast({e}, cg.i32)"),
        inner.map(lambda e: f"{INTEGER_ARRAY}[cg.cast({e}, cg.u32) % 8]"),
    )


@cache
def floats(depth):
    leaf = st.one_of(st.sampled_from(["p", "q", "h"]), st.sampled_from(["0.5", "3.25", "1e3"]))
    if depth == 0:
        return leaf
    inner = floats(depth - 1)
    pair = st.tuples(inner, st.sampled_from(["+", "-", "*", "/", "%", "//"]), inner)
    return st.one_of(
        leaf,
        pair.map(lambda p: f"({p[0]} {p[1]} {p[2]})"),
        inner.map(lambda e: f"cg.sqrt({e})"),
        inner.map(lambda e: f"cg.floor({e})"),
        st.tuples(inner, inner).map(lambda p: f"cg.select(f, {p[0]}, {p[1]})"),
        st.tuples(st.sampled_from("abcde"), inner).map(lambda p: f"({p[0]} * {p[1]})"),
    )


@cache
def conditions(names, depth):
    compare = st.tuples(
        integers(names, depth), st.sampled_from(["<", "<=", "==", "!=", ">"]), integers(names, depth)
    )
    simple = st.one_of(
        compare.map(" ".join), st.tuples(floats(depth), floats(depth)).map(" < ".join), st.just("f")
    )
    both = st.tuples(simple, st.sampled_from(["and", "or"]), simple)
    return st.one_of(simple, both.map(" ".join), simple.map(lambda c: f"not ({c})"))


@cache
def statements(names, depth, loops=0):
    """Lines of a block; variables v0 to v2 are there."""
    names = (*names, "v0", "v1")
    simple = st.one_of(
        st.tuples(st.sampled_from(["v0", "v1"]), integers(names, 2)).map(lambda p: [f"{p[0]} = {p[1]}"]),
        st.tuples(st.sampled_from(["v0 +=", "v1 -=", "v0 ^=", "v1 *="]), integers(names, 1)).map(
            lambda p: [" ".join(p)]
        ),
        floats(2).map(lambda e: [f"w = {e}"]),
        st.tuples(integers(names, 1), integers(names, 1)).map(
            lambda p: [f"{INTEGER_ARRAY}[cg.cast({p[0]}, cg.u32) % 8] += {p[1]}"]
        ),
    )
    if depth == 0:
        return simple
    block = st.lists(statements(names, depth - 1, loops + 1), min_size=1, max_size=2).map(lambda b: flat(b))
    branch = st.tuples(conditions(names, 1), block, block).map(
        lambda p: [f"if {p[0]}:", *indented(p[1]), "else:", *indented(p[2])]
    )
    loop = st.tuples(st.integers(0, 3), block, conditions(names, 0)).map(
        lambda p: [f"for j{loops} in range({p[0]}):", *indented(p[1]), f"    if {p[2]}:", "        break"]
    )
    return st.one_of(simple, branch, loop)


def flat(blocks):
    return [line for block in blocks for line in block]


def indented(lines):
    return ["    " + line for line in lines]


@st.composite
def programs(draw):
    body = flat(draw(st.lists(statements(tuple("abcdei"), 2), min_size=1, max_size=4)))
    lines = ["v0 = a", "v1 = d", "w = q", *body, "ys[i] = w", "zs[i] = v0 + v1"]
    head = ", ".join(f"{name}: {type if type != t.bool_ else 'bool_'}" for name, type in PARAMETERS.items())
    arrays = "xs: ndarray(i32, 1), ys: ndarray(f64, 1), zs: ndarray(i64, 1)"
    # One iteration of a parallel loop: several would read what others change.
    return (
        "\n".join([f"def program({head}, {arrays}):", "    for i in range(1):", *indented(indented(lines))])
        + "\n"
    )


small = st.integers(-130, 130)
ARGUMENTS = st.fixed_dictionaries(
    {"a": small, "b": st.integers(-(2**31), 2**31 - 1), "c": st.integers(0, 255), "d": st.integers(-(2**63), 2**63 - 1),
     "e": st.integers(0, 2**32 - 1), "p": st.floats(width=32), "q": st.floats(), "h": st.floats(width=16),
     "f": st.booleans()}
)  # fmt: skip


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(programs(), ARGUMENTS)
def test_random_programs_agree(source, arguments):
    arrays = {"xs": np.arange(-3, 5, dtype="i4"), "ys": np.zeros(1), "zs": np.zeros(1, "i8")}
    run_all(function_of(source), **arguments, **arrays)
