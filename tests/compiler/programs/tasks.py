# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Tasks, functions, and the whole: the statements at the top of a kernel, whose loops are parallel."""

from __future__ import annotations

from hypothesis import strategies as st

from cuda_graphs.compiler.ir import types as t
from tests.compiler.programs.expressions import Writer
from tests.compiler.programs.statements import (
    EDGES,
    SIMPLE,
    block,
    branch,
    inner_loop,
    statement,
    while_loop,
)
from tests.compiler.programs.writer import (
    ARRAYS,
    ORDERLESS,
    SCALARS,
    Place,
    Scope,
    code_of,
    dims_of,
    indented,
)

# Tasks: statements at the top of the kernel


def serial_statements(w: Writer) -> list[str]:
    """Draws the statements between two loops; loops in them are below a branch, or declared serial."""
    w.place = Place(w.free(), loops_are_tasks=True)
    lines: list[str] = []
    for _ in range(1 + w.below(3)):
        kind = w.below(3)
        if kind == 0:
            lines += branch(w)
        elif kind == 1:
            w.fuel -= 1
            lines += w.pick(SIMPLE)(w)
        else:
            lines += w.pick([serial_loop, while_loop])(w)
    return lines


def serial_loop(w: Writer) -> list[str]:
    return ["cg.loop_config(serialize=True)", *inner_loop(w)]


def single_iteration(w: Writer) -> list[str]:
    """A parallel loop of one iteration, which may do anything."""
    name, outer = w.name("i"), w.scope
    w.scope = outer.copy()
    w.scope.ints.append(name)
    w.scope.fixed.add(name)
    w.place = Place(w.free(), depth=1, can_continue=True)
    body = block(w, 5)
    w.scope = outer
    return [f"for {name} in range({w.pick(['1', 'N - 2', '7, 0, -9', '(c & 0) + 1'])}):", *body]


# Loops of many iterations: head, names of the indices, index of own elements by number of dimensions.
MANY = (
    ("for {i} in range({n}):", 1),
    ("for {i} in range({n}):", 1),
    ("for {i} in xl:", 1),
    ("for {i} in range(7, -1, -1):", 1),
    ("for {i} in range(({e}) & 7, 8, 3):", 1),
    ("for {i} in range(({e}) & 7, -1, -2):", 1),
    ("for {i} in range(cg.i64(2), xi.shape[0]):", 1),
    ("for {i}, {j} in mi:", 2),
    ("for {i}, {j} in cg.ndrange(mi.shape[0], (1, 4)):", 2),
    ("for {i} in cg.grouped(mf):", "grouped"),
    ("for {i} in cg.grouped(cg.ndrange(({e}) & 1, 4)):", "grouped"),
    ("for {i} in range({edge}):", 0),
)


def parallel_loop(w: Writer) -> list[str]:
    """Many iterations at the same time: each array has its role."""
    w.place = Place(w.free(), loops_are_tasks=True)
    form, axes = w.pick(MANY)
    names = {"i": w.name("i"), "j": w.name("j")}
    n = w.pick(["8", "N", "3", "xi.shape[0]", f"({w.int(1)}) & 7", "xl.shape[0] - 1"])
    head = form.format(**names, n=n, e=w.int(1), edge=w.pick(EDGES))
    own = {
        0: {},
        1: {1: names["i"]},
        2: {2: f"{names['i']}, {names['j']}"},
        "grouped": {2: names["i"]},
    }[axes]
    if "{n}" in form and n in ("3", "N"):
        own[2] = f"{names['i']}, *"
    outer = w.scope
    w.scope = outer.copy()
    roles: dict[str, object] = {}
    for name in w.free():
        choices: list[object] = ["read"]
        if dims_of(name) in own:
            choices += [("own", own[dims_of(name)])] * 2
        if code_of(name) != "f":
            choices.append(("gather", w.pick((*ORDERLESS, ("min",), ("max",)))))
        roles[name] = w.pick(choices)
    for name in [n for n in outer.ints if n not in outer.fixed]:
        if w.chance(50):
            # A variable without an annotation may be a bool, which has no atomic subtraction.
            w.scope.gathered[name] = w.pick(ORDERLESS if name in outer.typed else ORDERLESS[1:])
    w.scope.fixed |= {*outer.ints, *outer.floats, *outer.vectors, *outer.structs}
    indices = [names["i"]] if axes != 2 else [names["i"], names["j"]]
    if axes == "grouped":
        w.scope.vectors[names["i"]] = "index"
    else:
        w.scope.ints += indices
    w.scope.fixed |= set(indices)
    w.place = Place(roles, depth=1, can_continue=True, iterations=8)
    body = block(w, 5)
    w.scope = outer
    return [head, *body]


TASKS = (serial_statements, single_iteration, parallel_loop, parallel_loop)


def function(w: Writer) -> list[str]:
    """A function with statements, loops in them, and one return."""
    name, result = w.name("func"), w.pick(["int", "float"])
    kinds = [w.pick(["int", "float"]) for _ in range(1 + w.below(2))]
    if w.chance(30):
        kinds.append("array")
    parameters = [f"p{i}" for i in range(len(kinds))]
    w.scope = Scope()
    roles = {}
    for each, kind in zip(parameters, kinds, strict=True):
        if kind == "array":
            roles[each] = "free"
        else:
            (w.scope.ints if kind == "int" else w.scope.floats).append(each)
    w.scope.fixed = set(parameters)
    w.place = Place(roles, in_function=True)
    w.fuel = 6
    body = []
    for _ in range(1 + w.below(3)):
        body += statement(w)
    last = w.int(2) if result == "int" else w.float(2)
    loops = any(word in line for line in body for word in ("for ", "func"))
    w.functions.append((name, result, kinds, loops))
    decorator = w.pick(["@cg.func", "@cg.func(inline=False)"])
    if draws(w, name, [*body, last]):
        decorator = "@cg.func"
    return [decorator, f"def {name}({', '.join(parameters)}):", *indented([*body, f"return {last}"]), ""]


def draws(w: Writer, name: str, body: list[str]) -> bool:
    """Returns whether a function draws random numbers, directly or not, which only inlined functions do."""
    if any(word in line for line in body for word in ("cg.random", *(f"{each}(" for each in w.drawing))):
        w.drawing.append(name)
        return True
    return False


def recursive_function(w: Writer) -> list[str]:
    """A function that calls itself, at most four times."""
    name = w.name("func")
    w.scope = Scope(ints=["p0", "left"], floats=["p1"])
    w.scope.fixed = {"p0", "p1", "left"}
    w.place = Place({}, in_function=True)
    w.fuel = 4
    body = ["left = p0 & 3", *statement(w)]
    end, more, next_ = w.int(1), w.int(1), w.float(1)
    body += ["if left == 0:", f"    return {end}", f"return ({more}) ^ {name}(left - 1, {next_})"]
    if draws(w, name, [*body, next_]):
        return function(w)
    w.functions.append((name, "int", ["int", "float"], True))
    head = f"def {name}(p0: cg.i32, p1: cg.f32) -> cg.i64:"
    return ["@cg.func(inline=False, max_depth=5)", head, *indented(body), ""]


def kernel(w: Writer) -> list[str]:
    scalars = [f"{name}: {'bool_' if kind == t.bool_ else kind}" for name, kind in SCALARS.items()]
    arrays = [f"{name}: ndarray({kind}, {n})" for name, (kind, n) in ARRAYS.items()]
    w.scope = Scope(
        ints=[n for n, k in SCALARS.items() if k.kind in ("int", "uint")],
        floats=[n for n, k in SCALARS.items() if k.kind == "float"],
    )
    w.scope.fixed = set(SCALARS)
    w.fuel = 30
    body: list[str] = []
    for _ in range(1 + w.below(4)):
        body += w.pick(TASKS)(w)
    w.place = Place(w.free(), loops_are_tasks=True)
    end = [f"xl[0] += {w.int(0)}"]  # so that there is something
    returns = ""
    if w.chance(50):
        end.append(f"return {w.int(1)}, {w.float(1)}")
        returns = " -> tuple[cg.i64, cg.f64]"
    head = f"def program({', '.join([*scalars, *arrays, 'st: Settings'])}){returns}:"
    return [head, *indented([*body, *end])]


@st.composite
def programs(draw, has_field: bool = True) -> str:
    """The source of a program: functions and the kernel `program`."""
    writer = Writer(draw, has_field)
    lines: list[str] = []
    for _ in range(draw(st.integers(0, 3))):
        lines += writer.pick([function, function, recursive_function])(writer)
    return "\n".join([*lines, *kernel(writer)]) + "\n"


SMALL = st.integers(-9, 9)


def integers_of(type: t.ScalarType) -> st.SearchStrategy[int]:
    return st.one_of(
        st.integers(max(-9, type.minimum), 9),
        st.integers(type.minimum, type.maximum),
        st.sampled_from([type.minimum, type.maximum]),
    )


def numbers_of(type: t.ScalarType) -> st.SearchStrategy:
    if type == t.bool_:
        return st.booleans()
    if type.kind == "float":
        width = {t.f16: 16, t.bf16: 16, t.f32: 32, t.f64: 64}[type]
        return st.one_of(st.sampled_from([0.5, -3.0, 7.25]), st.floats(width=width))
    return integers_of(type)


arguments = st.fixed_dictionaries({name: numbers_of(type) for name, type in SCALARS.items()})
