# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Statements, as lists of lines: simple ones, and those with blocks in them."""

from __future__ import annotations

from tests.compiler.programs.expressions import Writer
from tests.compiler.programs.writer import (
    COLUMNS,
    FLOATS,
    INTEGERS,
    ROWS,
    SIZE,
    VECTORS,
    code_of,
    dims_of,
    has_sums,
    indented,
)


def block(w: Writer, most: int) -> list[str]:
    """Statements whose names end with it."""
    outer, w.scope = w.scope, w.scope.copy()
    # Variables of an outer block stay what they are there.
    lines: list[str] = []
    for _ in range(1 + w.below(most)):
        lines += statement(w)
    w.scope = outer
    return indented(lines)


def statement(w: Writer) -> list[str]:
    w.fuel -= 1
    if w.fuel <= 0 or w.place.depth >= 4 or w.place.iterations > 60:
        return w.pick(SIMPLE)(w)
    return w.pick(SIMPLE + COMPOUND)(w)


# Simple statements


def assign_new(w: Writer) -> list[str]:
    kind, value = w.value()
    if w.chance(30):
        type, name = w.pick(INTEGERS if kind == "int" else FLOATS), w.new(kind)
        w.scope.typed.add(name)
        return [f"{name}: cg.{type} = {value}"]
    return [f"{w.new(kind)} = {value}"]


def assign_old(w: Writer) -> list[str]:
    names = w.variables()
    if not names:
        return assign_new(w)
    name = w.pick(names)
    return [f"{name} = {w.int(2) if must_stay_integer(w, name) else w.value()[1]}"]


def must_stay_integer(w: Writer, name: str) -> bool:
    """Return True if a float would give a float type to a variable that the program uses as an integer."""
    return name in w.scope.ints and name not in w.scope.typed


def swap(w: Writer) -> list[str]:
    names = w.variables("int")
    if len(names) < 2:
        return assign_new(w)
    first, second = w.pick(names), w.pick(names)
    if first == second:
        return [f"{first} = {second} = {w.int(2)}"]
    return [f"{first}, {second} = {second}, {first} + {w.int(1)}"]


def augment(w: Writer) -> list[str]:
    names = w.variables()
    if not names:
        return assign_new(w)
    name = w.pick(names)
    if name in w.scope.ints:
        operators = ["+=", "-=", "*=", "//=", "%=", "<<=", ">>=", "&=", "|=", "^="]
        operator = w.pick(operators if must_stay_integer(w, name) else [*operators, "/="])
        return [f"{name} {operator} {w.int(2)}"]
    return [f"{name} {w.pick(['+=', '-=', '*=', '/=', '%='])} {w.float(1)}"]


def walrus(w: Writer) -> list[str]:
    inner = w.int(2)
    name = w.name("v")
    text = f"(({name} := {inner}) + {w.int(1)})"
    w.scope.ints.append(name)
    return [f"{w.new('int')} = {text}"]


def store(w: Writer) -> list[str]:
    """To an array: as its role allows."""
    names = [n for n, role in w.place.roles.items() if role != "read"]
    if not names:
        return assign_new(w)
    name = w.pick(names)
    role, whole = w.place.roles[name], code_of(name) != "f"
    if has_sums(role):
        index = w.index(SIZE, 1) if dims_of(name) == 1 else f"{w.index(ROWS, 0)}, {w.index(COLUMNS, 0)}"
        if role[1][0] in MINMAX:
            return [f"cg.atomic_{role[1][0]}({name}[{index}], {w.int(1)})"]
        return [f"{name}[{index}] {w.pick(role[1])} {w.int(1)}"]
    place = w.element(name)
    value = w.int(2) if whole else w.float(2)
    # A parallel loop of one iteration may add floats to one element in any order, which changes the rounding.
    if w.chance(50) and (whole or role != "free" or w.place.iterations <= 1):
        operators = ["+=", "-=", "*=", "&=", "|=", "^=", "//="] if whole else ["+=", "-=", "*=", "/="]
        return [f"{place} {w.pick(operators)} {value}"]
    if role == "free" and w.place.iterations >= 1 and whole and w.chance(40):
        kind = w.pick(["add", "sub", "mul", "min", "max", "and", "or", "xor", "exchange"])
        return [f"{w.new('int')} = cg.atomic_{kind}({place}, {value})"]
    if role == "free" and whole and w.chance(10):
        compare = w.int(1)
        return [f"{w.new('int')} = cg.atomic_cas({place}, {compare}, {value})"]
    return [f"{place} = {value}"]


MINMAX = ("min", "max")


def gather(w: Writer) -> list[str]:
    """To a variable from outside of the parallel loop."""
    if not w.scope.gathered:
        return store(w)
    name = w.pick(w.scope.gathered)
    return [f"{name} {w.pick(w.scope.gathered[name])} {w.int(1)}"]


def vector(w: Writer) -> list[str]:
    kind = w.pick(["float", "int"])
    make, n = VECTORS[kind]
    part = w.float if kind == "float" else w.int
    known = [v for v, k in w.scope.vectors.items() if k == kind and v not in w.scope.fixed]
    form = w.below(6)
    if known and form == 1:
        return [f"{w.pick(known)} {w.pick(['+=', '*=', '-='])} {part(1)}"]
    if known and form == 2:
        return [f"{w.pick(known)}[{w.index(n, 1)}] {w.pick(['=', '+='])} {part(2)}"]
    if known and form == 3:
        name = w.name("u")
        line = f"{name} = {w.pick(known)} {w.pick('+-*')} {w.pick(known)}"
        w.scope.vectors[name] = kind
        return [line]
    if known and form == 4 and kind == "float":
        return [f"{w.new('float')} = cg.dot({w.pick(known)}, cg.cross({w.pick(known)}, {w.pick(known)}))"]
    if known and form == 5:
        return [f"{w.new(kind)} = {w.pick(known)}.sum() + {w.pick(known)}.{w.pick('xyz')}"]
    name = w.name("u")
    line = f"{name} = {make}({', '.join(part(1) for _ in range(n))})"
    w.scope.vectors[name] = kind
    return [line]


def structure(w: Writer) -> list[str]:
    """A local structure: a new one, a copy, or a change of one."""
    known = [name for name in w.scope.structs if name not in w.scope.fixed]
    if known and w.chance(60):
        name = w.pick(known)
        return [
            w.pick(
                [
                    f"{name}.k {w.pick(['=', '+=', '^='])} cg.cast({w.int(1)}, cg.i16)",
                    f"{name}.v[{w.index(3, 1)}] {w.pick(['=', '+=', '*='])} cg.cast({w.float(1)}, cg.f32)",
                    f"{name}.v = {name}.v.zyx + {w.pick(w.scope.structs)}.v",
                    f"{name} = {w.pick(w.scope.structs)}",
                    f"{name}.turn({w.int(0)})",
                ]
            )
        ]
    values = [f"Inner(cg.cast({w.int(1)}, cg.i16), cg.vec3({w.float(0)}, {w.float(0)}, {w.float(0)}))"]
    if w.scope.structs:
        values += [w.pick(w.scope.structs), f"{w.pick(w.scope.structs)}.moved({w.float(0)})"]
    value, name = w.pick(values), w.name("s")
    w.scope.structs.append(name)
    return [f"{name} = {value}"]


def matrix(w: Writer) -> list[str]:
    rows = ", ".join(f"({w.float(1)}, {w.float(1)})" for _ in range(2))
    name, other = w.name("m"), w.name("m")
    first = w.pick(
        [f"{name} @ {name}", f"cg.transpose({name})", f"{name} * {w.float(0)}", f"cg.inverse({name})"]
    )
    parts = [f"cg.determinant({other})", f"{other}[0, 1]", f"cg.trace({other})"]
    what = w.pick([*parts, f"({other} @ cg.vec2(1.0, {w.float(0)})).y"])
    return [
        f"{name} = cg.mat2({rows})",
        f"{other} = {first}",
        f"{w.new('float')} = {what}",
    ]


def assertion(w: Writer) -> list[str]:
    return [f'assert ({w.int(1)}) & 3 < 4, f"never {{{w.int(0)}}}"']


def leave(w: Writer) -> list[str]:
    kinds = [k for k, may in (("break", w.place.can_break), ("continue", w.place.can_continue)) if may]
    if not kinds:
        return assign_new(w)
    return [f"if {w.condition(1)}:", f"    {w.pick(kinds)}"]


def call_alone(w: Writer) -> list[str]:
    found = w.call(w.pick(["int", "float"]), 1)
    return [found] if found else assign_new(w)


SIMPLE = (
    assign_new, assign_new, assign_old, assign_old, swap, augment, augment, walrus, store, store, store, gather, gather,
    vector, vector, structure, structure, matrix, assertion, leave, leave, call_alone,
)  # fmt: skip


# Statements with blocks


def branch(w: Writer) -> list[str]:
    first, second = w.condition(2), w.condition(1)
    with w.inside():
        lines = [f"if {first}:", *block(w, 2)]
        if w.chance(30):
            lines += [f"elif {second}:", *block(w, 1)]
        if w.chance(60):
            lines += ["else:", *block(w, 2)]
    return lines


def static_branch(w: Writer) -> list[str]:
    with w.inside():
        return [f"if cg.static(N > {w.below(6)}):", *block(w, 2), "else:", *block(w, 1)]


def while_loop(w: Writer) -> list[str]:
    name = w.name("v")
    test = w.condition(1)
    w.scope.ints.append(name)
    w.scope.fixed.add(name)
    rounds = 1 + w.below(4)
    with w.inside(can_break=True, can_continue=True, iterations=w.place.iterations * rounds):
        body = block(w, 2)
    return [f"{name} = 0", f"while {name} < {rounds} and ({test}):", f"    {name} += 1", *body]


def bounds(w: Writer) -> str:
    """Arguments of range: few iterations, of many types."""
    form = w.below(6)
    if form == 0:
        return str(w.below(5))
    if form == 1:
        return f"({w.int(1)}) & 3"
    if form == 2:
        return f"{w.below(4)}, ({w.int(1)}) & 7, {w.pick(['1', '2', '3'])}"
    if form == 3:
        return f"({w.int(1)}) & 7, {w.pick(['-1', '1', '0'])}, {w.pick(['-1', '-2', '-3'])}"
    if form == 4:
        return w.pick(EDGES)
    return f"cg.cast({w.int(1)}, cg.{w.pick(INTEGERS)}) & 3"


# Ranges at the ends of their types.
EDGES = (
    "cg.u8(250), cg.u8(255), 2", "cg.i8(120), cg.i8(127), 3", "cg.i8(-120), cg.i8(-128), -3", "cg.u8(3), cg.u8(0), -2",
    "cg.i64(9223372036854775800), cg.i64(9223372036854775807), 3",
    "cg.i64(-9223372036854775801), cg.i64(-9223372036854775808), -3",
    "2147483640, 2147483647, 4", "cg.u64(18446744073709551610), cg.u64(18446744073709551615), 2",
    "cg.u64(9223372036854775806), cg.u64(9223372036854775810)", "cg.u32(4294967290), cg.u32(4294967295), 3",
    "cg.u32(3), cg.u32(0), -1", "cg.i16(-32767), cg.i16(-32768), -1",
)  # fmt: skip


def inner_loop(w: Writer) -> list[str]:
    form = w.below(5)
    outer = w.scope
    index = [w.name("i")]
    if form == 0:
        index.append(w.name("j"))
        head = f"for {index[0]}, {index[1]} in cg.ndrange({bounds_of_axis(w)}, {bounds_of_axis(w)}):"
    elif form == 1:
        head = f"for {index[0]} in cg.grouped(cg.ndrange({bounds_of_axis(w)}, {bounds_of_axis(w)})):"
    elif form == 2:
        arrays = [n for n in w.place.roles if dims_of(n) == 1]
        head = f"for {index[0]} in {w.pick(arrays)}:" if arrays else f"for {index[0]} in range({bounds(w)}):"
    else:
        head = f"for {index[0]} in range({bounds(w)}):"
    w.scope = outer.copy()
    if form == 1:
        w.scope.vectors[index[0]] = "index"
    else:
        w.scope.ints += index
    w.scope.fixed |= set(index)
    with w.inside(can_break=True, can_continue=True, iterations=w.place.iterations * 5):
        body = block(w, 3)
    w.scope = outer
    return [head, *body]


def bounds_of_axis(w: Writer) -> str:
    return w.pick([str(w.below(4)), f"(1, {1 + w.below(3)})", f"({w.int(1)}) & 3", f"(-1, ({w.int(0)}) & 1)"])


def static_loop(w: Writer) -> list[str]:
    name, outer = w.name("i"), w.scope
    head = w.pick(
        [f"for {name} in cg.static(range({1 + w.below(3)})):", f"for {name} in cg.static((N, 7, -1)):"]
    )
    w.scope = outer.copy()
    w.scope.ints.append(name)
    w.scope.fixed.add(name)
    with w.inside(can_break=False, can_continue=False, iterations=w.place.iterations * 3):
        body = block(w, 2)
    w.scope = outer
    return [head, *body]


COMPOUND = (
    branch,
    branch,
    branch,
    static_branch,
    while_loop,
    inner_loop,
    inner_loop,
    inner_loop,
    static_loop,
)
