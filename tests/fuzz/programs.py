# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Right kernels, damaged at random: `python -m tests.fuzz.programs --minutes 10`.

A case is a number; the same number is the same program. It begins as one of the examples of the language reference or
of the mistakes that tests know. Then expressions, operators, names, numbers and statements of it and of others change
places. Each is a function of Python, with meaning or not.
"""

import argparse
import ast
import copy
import io
import random
import signal
import sys
import time
import traceback
import warnings
from contextlib import contextmanager, redirect_stdout
from functools import cache

from cuda_graphs.compiler.errors import CompileError
from cuda_graphs.compiler.language.annotations import StaticSpec
from cuda_graphs.compiler.pipeline import lower
from docs import language_rows as rows
from docs.language_page import PARAMETERS, function
from tests.compiler import test_errors

HUGE = 10**30
SECONDS = 5  # for one program
NUMBERS = (
    0,
    1,
    2,
    -1,
    3,
    31,
    64,
    255,
    2**31,
    2**63,
    HUGE,
    0.0,
    -0.5,
    1e300,
    True,
    False,
    None,
    "text",
    b"b",
    1j,
    ...,
)
# Expressions that a program may get in any place.
PIECES = """
a; n; v; m; x; points; plane; ball; SIZE; flag; counts; cg; cg.f32; cg.i64; float; cg.vec3; cg.types; area; v.xy; v.xyz
x.shape; x.dtype; x.grad; x[n]; points[n]; points[n].x; plane[n, k]; flag[()]; m[0]; m[0, 1]; ball.at; ball.radius; ()
(1, 2, 3); (a, n); ((1, 2), (3, 4)); [a, b]; {}; {"a": n}; x[0:2]; lambda: 0; v.norm; v.dot(w); m.transpose(); m @ v
cg.static(SIZE); cg.static(range(3)); cg.static(x); range(n); range(3); cg.ndrange(n, k); cg.grouped(plane); v + w
cg.cast(a, cg.i32); cg.vector(a, b); cg.mat([[a, b], [b, a]]); cg.mat([[a, b, a], [b, a, b]]); cg.vec3(1.0)
cg.types.vec(2, cg.i32)
cg.types.mat(3, 2, cg.f32); cg.atomic_add(x[0], a); cg.select(n > 0, a, b); cg.min(a, b); min(a); max(n, k, 3); abs(v)
cg.random(); len(x); len(v); print(a); x; min; cg.sin; cg.types.vec(0); cg.types.mat(n, 2); cg.block.idx; cg.warp
cg.block.shared_array(cg.f32, 4); cg.blocks(n, 32); cg.graph_while(n > 0); cg.graph_if(n); cg.graph_parallel()
cg.static(1 // 0); cg.static([]); a if n > 0 else b; n > 0 and k > 0; not n; -v; ~n; n ** k; a ** 2; 1 / 0; 7 % 0
1 << -1; 1 << 2**63
cg.loop_config(block_dim=32); cg.bit_cast(a, cg.i32); cg.stop_grad(x); cg.sqrt(v); cg.dot(v, w); v.cross(w); m.trace()
m.inverse(); m.determinant(); cg.math; np; nothing; x.nothing; cg.nothing; "n is %d" % n; f"{n}"; (t := a); *v
cg.f32(n)
""".replace("\n", ";").split(";")
STATEMENTS = """
t = a
t, u = v.x, n
t: cg.f32 = a
t: cg.vec3 = v
v += (1, 2, 3)
points[n] += (1, 2, 3)
points[n] = v
x[n] += a
x[n] //= 0
plane[n, k] = x[n]
m[0, 0] = a
t = (a, n); t = (b, k)
for i in range(n): x[i] = a
for i, j in plane: plane[i, j] += i
for i in cg.static(range(3)): t = v[i]
for I in cg.grouped(plane): plane[I] = a
for i, j in cg.blocks(n, 32): x[i] = a
while n > 0: break
if n > 0: t = 1
if cg.static(SIZE > 1): x[0] = a
assert n > 0, f"{n}"
print(a, "text", v)
return
pass
continue
break
del t
with cg.graph_parallel(): pass
cg.loop_config(serialize=True)
cg.static_assert(SIZE == 3)
cg.static_print(SIZE, x, v)
cg.atomic_max(x[n], a)
cg.stop_grad(x)
""".strip().splitlines()


@cache
def seeds():
    """Bodies that programs begin as."""
    tables = [*rows.LOOPS, *rows.STRUCTURES, *rows.CALLED, *(f"t = {text}" for text in rows.VALUES)]
    for table in (
        rows.STATEMENTS,
        rows.EXPRESSIONS,
        rows.REFUSED,
        rows.BLOCKS,
        rows.GRAPH_FLOW,
        rows.CALLS,
        rows.VECTORS,
        rows.DECOMPOSITIONS,
        rows.QUATERNIONS,
    ):
        tables += table.values()
    of_rows = [each if isinstance(each, str) else each[0] for each in tables]
    of_mistakes = [body.replace("#!", "") for _, _, body in test_errors.MISTAKES]
    return [*of_rows, *of_mistakes, *STATEMENTS]


@cache
def pieces():
    return [ast.parse(f"({text.strip()}, )").body[0].value.elts[0] for text in PIECES if text.strip()]


def places(tree, kind):
    """(node, name of the attribute, place in its list or None) of all that is there of a kind."""
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            if isinstance(value, kind):
                yield node, name, None
            elif isinstance(value, list):
                yield from ((node, name, at) for at, each in enumerate(value) if isinstance(each, kind))


def put(place, new):
    node, name, at = place
    if at is None:
        setattr(node, name, new)
    else:
        getattr(node, name)[at] = new


def get(place):
    node, name, at = place
    return getattr(node, name) if at is None else getattr(node, name)[at]


def other_expression(draw, tree):
    """An expression becomes another one, of this program or of PIECES, or a number."""
    found = list(places(tree, ast.expr))
    if not found:
        return
    place, own = draw.choice(found), get(draw.choice(found))
    new = draw.choice([own, draw.choice(pieces()), ast.Constant(draw.choice(NUMBERS))])
    put(place, copy.deepcopy(new))


def around(draw, tree):
    """An expression becomes a part of a larger one."""
    found = list(places(tree, ast.expr))
    if not found:
        return
    place = draw.choice(found)
    inner, other = get(place), copy.deepcopy(draw.choice(pieces()))
    put(place, draw.choice([
        lambda: ast.BinOp(inner, draw.choice(OPERATORS)(), other),
        lambda: ast.Call(other, [inner], []),
        lambda: ast.Call(inner, [other], []),
        lambda: ast.Subscript(inner, other),
        lambda: ast.Attribute(inner, draw.choice(NAMES)),
        lambda: ast.Tuple([inner, other]),
        lambda: ast.UnaryOp(draw.choice([ast.USub, ast.Not, ast.Invert])(), inner),
        lambda: ast.Compare(inner, [draw.choice([ast.Lt, ast.Eq, ast.In, ast.Is])()], [other]),
        lambda: ast.IfExp(other, inner, copy.deepcopy(inner)),
    ])())  # fmt: skip


def other_operator(draw, tree):
    """An operator becomes another one."""
    found = list(places(tree, ast.operator))
    if found:
        put(draw.choice(found), draw.choice(OPERATORS)())


def fewer_or_more(draw, tree):
    """A list loses a part, or has one twice."""
    lists = [
        value
        for node in ast.walk(tree)
        for _, value in ast.iter_fields(node)
        if isinstance(value, list) and value
    ]
    found = draw.choice(lists)
    at = draw.randrange(len(found))
    if draw.random() < 0.5 and not isinstance(found[at], ast.stmt):
        del found[at]
    else:
        found.insert(draw.randrange(len(found) + 1), copy.deepcopy(found[at]))


def another_statement(draw, tree):
    """A statement of another program comes in, anywhere."""
    bodies = [
        value for node in ast.walk(tree) for _, value in ast.iter_fields(node) if isinstance(value, list)
    ]
    bodies = [each for each in bodies if each and isinstance(each[0], ast.stmt)]
    body = draw.choice(bodies)
    for each in ast.parse(draw.choice(seeds())).body:
        body.insert(draw.randrange(len(body) + 1), each)


def other_name(draw, tree):
    """A name, or that of a member, becomes another one."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, (ast.Name, ast.Attribute, ast.keyword))]
    if nodes:
        node = draw.choice(nodes)
        field = {ast.Name: "id", ast.Attribute: "attr", ast.keyword: "arg"}[type(node)]
        setattr(node, field, draw.choice(NAMES))


OPERATORS = [
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.LShift, ast.RShift, ast.BitAnd, ast.BitOr,
    ast.MatMult,
]  # fmt: skip
NAMES = [
    *PARAMETERS,
    *"ijtuf",
    "shape",
    "grad",
    "xy",
    "norm",
    "trace",
    "radius",
    "at",
    "cg",
    "area",
    "self",
    "types",
    "vec3",
]
CHANGES = [
    other_expression,
    other_expression,
    around,
    other_operator,
    fewer_or_more,
    another_statement,
    other_name,
]


def damaged(number):
    """The tree of a case."""
    draw = random.Random(number)
    tree = ast.parse(draw.choice(seeds()))
    for _ in range(draw.randrange(1, 5)):
        draw.choice(CHANGES)(draw, tree)
    return ast.fix_missing_locations(tree)


def outcome(number):
    """(body, what is wrong with the answer of the compiler; "" where it is right; None where the body is no Python)."""
    tree = damaged(number)
    try:
        body = ast.unparse(tree)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = function(body, PARAMETERS, {})
    except (SyntaxError, ValueError, AttributeError, TypeError, IndexError):  # of what is no tree any more
        return "", None
    return body, answer(made, random.Random(-number))


@contextmanager
def time_limit():
    """A TimeoutError where the block takes longer than a compilation of some lines ever does."""

    def ended(*_):
        raise TimeoutError("the compiler does not end")

    before = signal.signal(signal.SIGALRM, ended)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def answer(made, draw):
    """Returns the failure of the compiler on a function, or "" after a success."""
    parameters = dict(PARAMETERS)
    if draw.random() < 0.3:
        parameters["SIZE"] = StaticSpec(draw.choice([*NUMBERS, (1, 2), [], {"a": 1}, len, object]))
    options = draw.choice([{}, {}, {"graph": "conditional"}, {"debug": True}])
    try:
        with warnings.catch_warnings(), redirect_stdout(io.StringIO()), time_limit():
            warnings.simplefilter("ignore")
            lower(made, parameters, **options)
    except CompileError as error:
        return "" if error.loc is not None else f"{type(error).__name__} without a place: {error}"
    except Exception:
        return traceback.format_exc()
    return ""


def main():
    """Run cases until the time is over; print each failure with its number, of one place in the compiler once."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    seen, valid, number, end = set(), 0, given.first, time.monotonic() + 60 * given.minutes
    while time.monotonic() < end:
        body, wrong = outcome(number)
        where = tuple((wrong or "").splitlines()[-4:])
        if wrong and where not in seen:
            seen.add(where)
            print(f"case {number}:\n{body}\n" + "\n".join(wrong.splitlines()[-7:]) + "\n", flush=True)
        number += 1
        valid += wrong is not None
    print(f"{number - given.first} cases, {valid} programs, {len(seen)} kinds of failures")
    return len(seen)


if __name__ == "__main__":
    sys.exit(main() > 0)
