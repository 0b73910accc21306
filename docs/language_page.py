# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/language.md, the reference of the language of kernels: `python -m docs.language_page`.

The page comes from the op table (cuda_graphs/compiler/ir/ops.py), the frontend's tables and the examples of
language_rows.py. The frontend decides which types an operation takes, and its result. A test compares the page with the
output of this module, and translates every example.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import linecache
import math
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

import cuda_graphs as cg
from cuda_graphs.compiler import errors
from cuda_graphs.compiler.frontend import syntax
from cuda_graphs.compiler.frontend.calls import calls
from cuda_graphs.compiler.frontend.expressions import linear
from cuda_graphs.compiler.frontend.frame import remedies
from cuda_graphs.compiler.frontend.precision import holds, suits
from cuda_graphs.compiler.frontend.statements import statements
from cuda_graphs.compiler.frontend.translate import translate
from cuda_graphs.compiler.ir import collectives, ir
from cuda_graphs.compiler.ir.builder import SYMBOLS
from cuda_graphs.compiler.ir.ops import OPS, Row
from cuda_graphs.compiler.ir.scalars import scalar
from cuda_graphs.compiler.ir.types import SCALARS, ScalarType, promote
from cuda_graphs.compiler.language import decompositions, intrinsics, library, quaternions
from cuda_graphs.compiler.language.annotations import (
    ArraySpec,
    ConditionSpec,
    ScalarSpec,
    Spec,
    StaticSpec,
    StructArraySpec,
    StructSpec,
    VectorSpec,
)
from docs import language_rows as rows

HEAD = """\
# The language of kernels

*Written by `docs/language_page.py` from the op table and the tables of the frontend; change those, not this page.*

This page lists the Python constructs that a `@cg.kernel` and a `@cg.func` may contain. The [guide](guide/kernels.md)
describes calls of kernels and parallel execution. The [tutorial](kernels-tutorial.md) is an introduction. The compiler
refuses Python that is not listed here, with its name and line.

The examples use these names. `a`, `b` and `c` are `f32`. `n` and `k` are `i32`. `v` and `w` are `vec3`, `p` and `q`
`vec4`. `m` is a 3 x 3 matrix. `x`, `counts`, `plane` and `points` are arrays. `ball` is a dataclass, `SIZE` a template,
`again` a condition, and `area` a function. `cube` and `steps` are functions that are called.
"""

CALLED = """\
A function with `inline=False` is compiled once for each signature: the types of its numbers, and its other arguments,
which are arrays and compile-time values. Numbers, vectors and structures are passed by value. The function reads and
writes arrays. A method changes the structure that it belongs to. A function draws the random numbers that it would draw
inlined.
A called function has no parallel loops and barriers. It takes the positions of threads as arguments. Loops that call it
are not vectorised. Gradients inline it.

A function that calls itself, directly or through others, needs `max_depth=`, the most calls of it inside one another,
at most 1024. One call more is a `KernelError` when the kernel has ended. Calls outside of graphs wait for that.
Gradients refuse recursion: write a loop, or call the function in a kernel of its own.
"""


@dataclasses.dataclass
class Ball:
    """A structure for the examples."""

    radius: cg.f32
    at: cg.vec3

    def area(self) -> Any:
        """A method for the examples."""
        return math.pi * self.radius * self.radius


@cg.func
def area(radius: Any) -> Any:
    """A function for the examples."""
    return math.pi * radius * radius


@cg.func(inline=False)
def cube(number: Any) -> Any:
    """A function for the examples, which is called."""
    return number * number * number


@cg.func(inline=False, max_depth=64)
def steps(number: cg.i32) -> cg.i32:
    """A function for the examples, which calls itself."""
    return 0 if number <= 1 else 1 + steps(number // 2 if number % 2 == 0 else 3 * number + 1)


f32, i32 = SCALARS["f32"], SCALARS["i32"]
PARAMETERS: dict[str, Spec] = {
    **{name: ScalarSpec(f32) for name in "abc"},
    **{name: ScalarSpec(i32) for name in "nk"},
    **{name: VectorSpec(cg.vec3) for name in "vw"},
    "m": VectorSpec(cg.types.mat(3, 3)),
    **{name: VectorSpec(cg.vec4) for name in "pq"},
    "x": ArraySpec(f32, 1),
    "counts": ArraySpec(i32, 1),
    "flag": ArraySpec(i32, 0),
    "plane": ArraySpec(f32, 2),
    "points": ArraySpec(f32, 1, (3,)),
    "ball": StructSpec(Ball, (("radius", ScalarSpec(f32)), ("at", VectorSpec(cg.vec3)))),
    "balls": StructArraySpec(Ball, (("radius", ArraySpec(f32, 1)), ("at", ArraySpec(f32, 1, (3,))))),
    "SIZE": StaticSpec(3),
    "again": ConditionSpec(),
}


def function(body: str, parameters: Mapping[str, Spec], names: Mapping[str, Any]) -> Callable[..., Any]:
    """Return a Python function with this body. `linecache` finds its source."""
    text = f"def example({', '.join(parameters)}):\n{textwrap.indent(body, '    ')}\n"
    file = f"<language {hash(text)}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    scope = {
        "cg": cg,
        "math": math,
        "area": area,
        "cube": cube,
        "steps": steps,
        "Ball": Ball,
        "SimpleNamespace": SimpleNamespace,
        **names,
    }
    exec(compile(text, file, "exec"), scope)
    return scope["example"]


def translated(body: str, parameters: Mapping[str, Spec] = PARAMETERS, **names: Any) -> ir.Kernel:
    """Return the kernel that the frontend makes from an example. Raises CompileError if the frontend refuses it."""
    return translate(function(body, parameters, names), dict(parameters), "conditional")[0]


def last_set(kernel: ir.Kernel) -> ir.Set:
    """Return the last assignment of the example."""
    found = kernel.body.body[-1]
    assert isinstance(found, ir.Set)
    return found


# Operations.


def spelling(row: Row) -> str:
    return row.spelling.partition(", dtype(")[0]


def result_of(row: Row, scalar: ScalarType) -> ScalarType | None:
    """Return the result type of the operation on operands of the type `scalar`; None if the frontend refuses them."""
    bits = {t.size: t for t in SCALARS.values() if t.kind == "uint"}
    names = {"dtype": bits[scalar.size] if row.rule == "bits" else f32}
    parameters = {name: ScalarSpec(scalar) for name in "abc"} | {"n": ScalarSpec(i32)}
    if row.rule == "select":
        parameters["c"] = ScalarSpec(SCALARS["bool"])
    try:
        return last_set(translated(f"t = {spelling(row)}", parameters, **names)).local.type
    except errors.CompileTypeError:
        return None


def gives(row: Row, kinds: tuple[str, ...]) -> str:
    """Return a cell of the table: the result types of the operation for the types of `kinds`."""
    if (
        row.name in POWERS
        and set(row.kinds).isdisjoint(kinds)
        and (row.name != "int_pow" or "float" in kinds)
    ):
        return ""  # another row, spelled alike
    types = [each for each in SCALARS.values() if each.kind in kinds]
    found = [result_of(row, each) for each in types]
    if not any(found):
        return "-"
    if row.rule in ("cast", "bits"):
        return "`dtype`"
    if len(set(found)) == 1:
        return f"`{found[0]}`"
    if found == types:
        return "the same"
    return ", ".join(f"{each}: {result or '-'}" for each, result in zip(types, found, strict=True))


POWERS = ("int_pow", "float_pow", "pow")


def meaning(row: Row) -> str:
    """Return the first sentence of the row's function, or the text in MEANINGS."""
    found = [f for f, name in intrinsics.OPERATIONS.items() if name == row.name]
    if row.name in ("cast", "bit_cast", "select", "stop_grad", "replace_grad"):
        found = [getattr(cg, row.name)]
    return sentence(found[0]) if found else MEANINGS[row.name]


MEANINGS = {
    "add": "integers wrap",
    "sub": "integers wrap",
    "mul": "integers wrap",
    "div": "the result is `f32` for integers, and for an integer with a float narrower than `f32`",
    "floor_div": "rounded down, for floats `cg.floor(a / b)`; for integers 0 if b is 0",
    "mod": "with the sign of b, for floats `a - b * cg.floor(a / b)`, rounded after each operation; for integers a "
    "if b is 0",
    "int_pow": "for integers; wraps; an exponent below 0 gives 0, and the power of 1 and -1",
    "float_pow": "for a float and an integer, or a whole constant up to 8: by repeated squaring",
    "neg": "integers wrap",
    "abs": "integers wrap",
    "min": "of two or more numbers; a NaN operand is ignored; 0.0 and -0.0 are equal",
    "max": "of two or more numbers; a NaN operand is ignored; 0.0 and -0.0 are equal",
    "bit_and": "of bits",
    "bit_or": "of bits",
    "bit_xor": "of bits",
    "bit_not": "of bits",
    "not": "true if a is 0",
    "shift_left": "the result has the type of a; b counts modulo the width of a",
    "shift_right": "the result has the type of a; for a signed type the sign bit is shifted in",
    "less": "false with NaN",
    "less_equal": "false with NaN",
    "greater": "false with NaN",
    "greater_equal": "false with NaN",
    "equal": "false with NaN",
    "not_equal": "true with NaN",
    "pow": "of floats",
}


def operations() -> Iterator[str]:
    yield from (
        "## Operations",
        "",
        'The columns show the type of the result for each type of operands; "-" is refused. Operations apply to',
        "vectors and matrices component by component.",
        "*Bits* shows whether CPU and GPU results are equal to the last bit;",
        "otherwise they differ by at most 4 units in the last place, for `f16` and `bf16` by at most one.",
        "",
        "| | Integers | Floats | `bool` | Bits | |",
        "|---|---|---|---|---|---|",
    )
    for row in OPS.values():
        integers, floats, bools = (gives(row, kinds) for kinds in (("int", "uint"), ("float",), ("bool",)))
        own = any(template.startswith("!") for template in row.llvm.values())
        cells = (code(row.spelling), integers, floats, bools, "4 ulp" if own else "same", meaning(row))
        yield f"| {' | '.join(cells)} |"
    names = sorted({f.__name__ for f in calls.BUILTINS if getattr(f, "__module__", "") == "math"} - {"fma"})
    shown = ", ".join(code(name) for name in names)
    yield from (
        "",
        f"These functions of Python's `math` are the same: {shown}; from Python 3.13 also `fma`.",
    )


def values() -> Iterator[str]:
    yield from ("", "### Values", "", "| | | Type |", "|---|---|---|")
    for expression in rows.VALUES:
        found = last_set(translated(f"t = {expression}"))
        assert isinstance(found.value, ir.Const), expression
        value = scalar(found.value.value, found.local.type).item()
        shown = round(value, 7) if found.local.type.kind == "float" else value
        yield f"| {code(expression)} | {code(str(shown))} | `{found.local.type}` |"


# Types.


BF16 = (
    "none: arrays of other libraries need a `dtype` that is a `bfloat16` (`ml_dtypes` has one for NumPy), not `uint16`"
    "; `to_numpy` gives `float32`, and `from_numpy` rounds numbers of any type"
)


def types() -> Iterator[str]:
    yield from ("## Types", "", "| | Bytes | Values | NumPy |", "|---|---|---|---|")
    for each in SCALARS.values():
        if each.kind in ("int", "uint"):
            span = f"{each.minimum} to {each.maximum}"
        else:
            span = "True, False" if each.kind == "bool" else "floats"
        numpy = BF16 if each.dtype is None else code(np.dtype(each.dtype).name)
        yield f"| `cg.{each}` | {each.size} | {span} | {numpy} |"
    yield from (
        "",
        "In annotations and calls `int` is `cg.i32`, `float` `cg.f32`, `bool` `cg.bool`, and the types of NumPy, as",
        "`np.float32`, are those of their names. Vectors: `cg.vec2`, `cg.vec3`, `cg.vec4`, `cg.types.vec(n, dtype)`;",
        "matrices: `cg.mat2`, `cg.mat3`, `cg.mat4`, `cg.types.mat(rows, columns, dtype)`.",
        "",
        "### Promotion",
        "",
        "The table shows the type of the result of arithmetic on two types:",
        "",
        f"| | {' | '.join(f'`{t}`' for t in SCALARS)} |",
        f"|---|{'---|' * len(SCALARS)}",
    )
    for a in SCALARS.values():
        yield f"| `{a}` | {' | '.join(str(promote(a, b)) for b in SCALARS.values())} |"
    yield from (
        "",
        "A shift, `cg.bit_shr` and `**` of integers have the type of their first operand, whatever the second is; a",
        "`bool` becomes an `i32`. `/` gives an `f32` where that table has an integer, and for an integer and an `f16`",
        "or `bf16`. A literal with a point, and the result of arithmetic on literals, counts as an `f32`, but beside",
        "an `f64` it keeps all its digits: with an `f64` `a`, `a * 0.1` and `a * (1 / 3)` are what NumPy gives.",
        "`@cg.kernel(default_float=cg.f64, default_int=cg.i64)` changes the types of literals, of `float` and `int`,",
        "and of `/` on integers; `cg.default_types` changes them for a block.",
        "",
        "### Types of names",
        "",
        "The first value of a name decides its type, and later values are converted to it. A name whose first value is",
        "made of literals only has a weak type: it takes the promotion of the types of all values that the function",
        "assigns to it. After `acc = 0.0`, the line `acc += x[i]` with an `f64` `x` makes `acc` an `f64`. A vector of",
        "literals, `cg.vector(0.0, 0.0)`, has one weak type for all its components. A name that keeps its",
        "literal is that number: after `c = 0.1`, `a * c` with an `f64` `a` is what NumPy gives. The same holds for",
        "values that are made of literals only: a choice between them, `0.1 if n > 0 else 0.2`, a function of them,",
        "`cg.sqrt(2.0)`, and names that get nothing else. They are an `f32` on their own, and an `f64` where they meet",
        "one: after `t = 0.0` and `t += 0.1`, the product `a * t` makes `t` an `f64`.",
        "",
        "A literal, and arithmetic on literals, is exact in the type of the name, element, member or result that it is",
        "assigned to: `x[0] = 2**40` in an array of `i64`. Elsewhere it is an `i32`, or an `f32` if it has a point.",
        "Arithmetic on literals whose result has more bits than that, as in `2**40 * n`, is a `CompileWarning`.",
        "",
        "A conversion that can lose digits or range is a `CompileWarning`, or an error with `@cg.kernel(strict=True)`.",
        "Calls such as `cg.f32(a)` convert without a warning, and `float` takes the texts inf, -inf and nan. The",
        "table shows the silent conversions, from the type of the row: *all* to every place, *part* to elements of",
        "arrays and to operands of `+=` and its like.",
        "",
        f"| | {' | '.join(f'`{t}`' for t in SCALARS)} |",
        f"|---|{'---|' * len(SCALARS)}",
    )
    for given in SCALARS.values():
        yield f"| `{given}` | {' | '.join(silent(to, given) for to in SCALARS.values())} |"
    yield ""


def silent(to: ScalarType, given: ScalarType) -> str:
    """Return the places of a type that take values of another type silently."""
    return "all" if holds(to, given) else "part" if suits(to, given) else ""


# Statements and expressions.


ORDER = {
    "Expressions": (
        "The parts of an expression are computed from left to right, as in Python. In `x[0] + f(x)` the first part has",
        "the value from before the call. A function with a `cg.template()` parameter may get variables themselves: all",
        "arguments of its call that are variables have their values from after the others.",
        "",
    )
}


def constructs() -> Iterator[str]:
    for title, table, known in (
        ("Statements", syntax.STATEMENTS, rows.STATEMENTS),
        ("Expressions", syntax.EXPRESSIONS, rows.EXPRESSIONS),
    ):
        yield from (f"## {title}", "", *ORDER.get(title, ()), "| | Example | |", "|---|---|---|")
        yield from (f"| {kind.__name__} | {code(known[kind][0])} | {known[kind][1]} |" for kind in table)
        yield ""
    yield from ("### Loops", "", "| | |", "|---|---|")
    yield from (f"| {code(example)} | {note} |" for example, note in rows.LOOPS)
    yield from (
        "",
        "### Control flow between tasks",
        "",
        "These constructs are for graph kernels (`@cg.kernel(graph=True)`), at the top level or directly inside each",
        "other. Bodies hold tasks.",
        "",
        "| | |",
        "|---|---|",
        *(f"| {code(example)} | {sentence(word)} |" for word, example in rows.GRAPH_FLOW.items()),
        "",
    )
    atomic, others = (
        ", ".join(f"`{SYMBOLS[name]}=`" for name in OPERATORS if (name in statements.ATOMIC) == wanted)
        for wanted in (True, False)
    )
    rest = ", ".join(name for key, name in remedies.NAMES.items() if key not in remedies.SYNTAX)
    yield from (
        "",
        "### Augmented assignment",
        "",
        f"{atomic} on elements of arrays and fields, and on variables from outside of the",
        f"loop, are atomic in parallel loops. {others} are not. An atomic change takes",
        "the value that the place has when the right side has been computed, and the right side in the type of the",
        "place: in a parallel loop, `x[i] *= 2.5` of an integer multiplies by 2. Otherwise the result is cast to the",
        "type of the place.",
        "",
        "### Not in kernels",
        "",
        "| | Instead |",
        "|---|---|",
    )
    instead = {remedies.NAMES[key]: remedy for key, remedy in remedies.SYNTAX.items()}
    yield from (f"| {name} | {remedy} |" for name, remedy in instead.items())
    yield from ("", f"Further constructs: {rest}.".replace("*", "`*`"), "") if rest else ("",)


OPERATORS = [cls.__name__ for cls in ast.operator.__subclasses__() if cls is not ast.MatMult]


# Functions.


def sentence(function: Any) -> str:
    return " ".join((inspect.getdoc(function) or "").partition("\n\n")[0].split()).rstrip(".")


BAR = "\\|"  # in a cell of a table


def code(text: str) -> str:
    """Code in a cell of a table."""
    lines = []
    for line in text.replace("|", BAR).splitlines():
        inner = line.lstrip()
        lines.append("&emsp;" * ((len(line) - len(inner)) // 4) + f"`{inner}`")
    return "<br>".join(lines)


def spelled(function: Any) -> str:
    name = function.__name__
    if function in (cg.types.vec, cg.types.mat):
        return code(f"cg.types.{name}")
    return code(name if function in NOTES else f"cg.{name}")


NOTES = {
    range: "see [loops](#loops)",
    len: "the first extent of an array, the components of a vector",
    print: "prints from the device; takes `sep`, `end`, formats such as `{x:8.3f}` and `{x=}`, `str.format` and `%`",
    min: "of two or more numbers, or of a tuple",
    max: "of two or more numbers, or of a tuple",
    pow: "`a ** n`",
    abs: "the absolute value",
    int: "`cg.cast(a, cg.i32)`",
    float: "`cg.cast(a, cg.f32)`",
    bool: "true if it is not 0",
}


def called() -> Iterator[str]:
    yield from ("", "## Functions", "", "| | Example | |", "|---|---|---|")
    for function_, example in rows.CALLS.items():
        yield f"| {spelled(function_)} | {code(example)} | {NOTES.get(function_) or sentence(function_)} |"
    for name in library.__all__:
        yield f"| `cg.{name}` | {code(library_example(name))} | {sentence(getattr(library, name))} |"
    constants = ", ".join(code(f"cg.{name}") for name in library.CONSTANTS)
    yield from ("", f"Numbers: {constants}, and those of them that Python's `math` has.")
    yield from (
        "",
        "### Atomics",
        "",
        "Each function changes one element in memory and returns the old value.",
        "",
        "| | |",
        "|---|---|",
    )
    for each, kind in intrinsics.ATOMICS.items():
        yield f"| {code(atomic_example(kind).partition(' = ')[2])} | {sentence(each).replace('|', BAR)} |"
    yield from ("", "### Vectors and matrices", "", "| | |", "|---|---|")
    for each in intrinsics.VECTORS:
        yield f"| {code(rows.VECTORS[each.__name__].partition(' = ')[2])} | {sentence(each)} |"
    methods = ", ".join(code(f".{name}()") for name in linear.METHODS)
    yield from (
        "",
        f"Vectors and matrices have the methods {methods}, `.cast(dtype)` and `.fill(number)`.",
        "`m.n` and `m.m` are the numbers of rows and columns. A vector is one column. Components are `v.x`, `v.xy`,",
        "`v.rgb`, `v[i]`, `v[1:]`, `m[i, j]` and `m[:, 1]`. With `debug=True`, a run-time index outside of the vector",
        "is an error. Without it, the index reads or writes any component.",
        "",
        "### Decompositions",
        "",
        "These take matrices of 2 x 2 and 3 x 3 in `f32` and `f64`, `cg.solve` up to 4 x 4. Their results, and",
        "products of the parts, differ from those of NumPy in `f64` by at most 16 times the spacing of numbers at 1",
        "(`np.finfo`, `eps`), relative to the largest singular value; those of `cg.eig` of 3 x 3 by at most 64 times.",
        "Gradients of vectors exist where their values differ, those of `cg.qr` for matrices that have an inverse.",
        "",
        "| | |",
        "|---|---|",
    )
    yield from function_rows(decompositions, rows.DECOMPOSITIONS)
    yield from (
        "",
        "### Quaternions",
        "",
        "A quaternion is a vector `(x, y, z, w)`: `q.xyz` and `q.w`. `+`, `-`, `.norm()`, `.normalized()` are those of",
        "vectors, and `*` multiplies component by component.",
        "",
        "| | |",
        "|---|---|",
    )
    yield from function_rows(quaternions, rows.QUATERNIONS)
    yield from ("", "### Structures", "", "`Ball` is a dataclass, and `balls` an array of it.", "")
    yield from ("| | |", "|---|---|")
    yield from (f"| {code(example)} | {note} |" for example, note in rows.STRUCTURES)
    yield from ("", "### Functions that are called", "", *CALLED.splitlines(), "", "| | |", "|---|---|")
    yield from (f"| {code(example)} | {note} |" for example, note in rows.CALLED)
    yield ""


def function_rows(module: Any, examples: Mapping[str, str]) -> Iterator[str]:
    """Yield a row for each function of a module of the language."""
    for name in module.__all__:
        text = sentence(getattr(module, name))
        yield f"| {code(examples[name])} | {text} |"


def in_blocks(example: str) -> str:
    """An example in a loop of blocks."""
    return f"for i, j in cg.blocks(n, 64):\n{textwrap.indent(example, '    ')}"


def collective_example(row: collectives.Row) -> str:
    """Return an example of the row. The argument `lane`, `delta` or `mask` is the number k."""
    first, _, rest = row.spelling.partition(", ")
    return f"t = {first}, k)" if rest else f"t = {first}"


def collective_gives(row: collectives.Row, kinds: tuple[str, ...]) -> str:
    """Return a cell of the table: the result types of the collective for the types of `kinds`."""
    types = [each for each in SCALARS.values() if each.kind in kinds]
    found = []
    for each in types:
        parameters = {"a": ScalarSpec(each), "n": ScalarSpec(i32), "k": ScalarSpec(i32)}
        try:
            kernel = translated(in_blocks(collective_example(row)), parameters)
        except errors.CompileTypeError:
            return "-"
        found += [s.type for s in ir.walk(kernel.body) if isinstance(s, ir.Collective)]
    return "the same" if found == types else code(str(found[0]))


def blocks() -> Iterator[str]:
    yield from (
        "## Blocks and warps",
        "",
        "In a loop over `cg.blocks`, and in a parallel loop with `cg.loop_config(block_dim=...)` before it, which",
        "groups its iterations. A warp is 32 threads of a block that follow one another; its last one, and the last",
        "block of a loop over a range, may have fewer. The [guide](guide/blocks.md) says where these may stand.",
        "",
        "| | |",
        "|---|---|",
    )
    yield from (f"| {code(example)} | {sentence(each)} |" for each, example in rows.BLOCKS.items())
    yield from (
        "",
        "Each thread passes a value, and receives the combined result of the active threads. Vectors are",
        "combined component by component.",
        "",
        "| | Integers | Floats | `bool` | |",
        "|---|---|---|---|---|",
    )
    for row in collectives.COLLECTIVES.values():
        cells = [collective_gives(row, kinds) for kinds in (("int", "uint"), ("float",), ("bool",))]
        yield f"| {code(row.spelling)} | {' | '.join(cells)} | {row.note} |"
    yield ""


def library_example(name: str) -> str:
    count = len(inspect.signature(getattr(library, name)).parameters)
    return f"t = cg.{name}({', '.join('abc'[:count])})"


def atomic_example(kind: str) -> str:
    place, value = ("counts[n]", "k") if kind in ("and", "or", "xor", "cas") else ("x[n]", "a")
    return f"t = cg.atomic_{kind}({place}, {'n, ' if kind == 'cas' else ''}{value})"


def method_example(name: str) -> str:
    ndim, operation = linear.OPERATIONS[name]
    takes_vector = len(inspect.signature(operation).parameters) > 2 and name not in linear.WITH_EPS
    more = "w" if takes_vector else ""
    owner = "m" if ndim == 2 else "(v > w)" if name in ("all", "any") else "v"
    return f"t = {owner}.{name}({more})"


def failures() -> Iterator[str]:
    yield from ("## Errors", "", "| | Also a | |", "|---|---|---|")
    for name in errors.__all__:
        cls = getattr(errors, name)
        if isinstance(cls, type):
            python = [
                base for base in cls.__mro__ if base.__module__ == "builtins" and base is not BaseException
            ]
            yield f"| `{name}` | {code(python[0].__name__)} | {sentence(cls)} |"


def language_page() -> str:
    """The text of docs/language.md."""
    parts = (types(), constructs(), operations(), values(), called(), blocks(), failures())
    return "\n".join([HEAD, *(line for part in parts for line in part)]) + "\n"


if __name__ == "__main__":
    Path(__file__).with_name("language.md").write_text(language_page())
