# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Expressions of integers, floats and conditions. `depth` is how far one may still grow."""

from __future__ import annotations

from tests.compiler.programs.writer import (
    COLUMNS,
    FLOATS,
    INTEGERS,
    ROWS,
    SIZE,
    Draft,
    code_of,
    dims_of,
    has_sums,
)


class Writer(Draft):
    """A draft with expressions."""

    def int(self, depth: int) -> str:
        if depth <= 0 or self.chance(15):
            return self.int_leaf()
        return self.pick(INT_FORMS)(self, depth - 1)

    def int_leaf(self) -> str:
        kind = self.below(8)
        if kind == 0:
            return self.pick(INT_LITERALS)
        if kind == 1:
            return str(self.below(10))
        if kind == 2:
            found = self.load(("i", "u"))
            if found:
                return found
        if kind == 3 and not self.place.in_function:
            return self.pick(["st.inner.k", "N", "xi.shape[0]", "mi.shape[1]", "len(xl)", "flag"])
        if kind == 4 and self.scope.vectors:
            name = self.pick(self.scope.vectors)
            if self.scope.vectors[name] != "float":
                return f"{name}[{self.index(2, 0)}]"
        if kind == 5 and self.scope.structs:
            return f"{self.pick(self.scope.structs)}.k"
        names = [n for n in self.scope.ints if n not in self.scope.gathered]
        return self.pick(names) if names else str(self.below(10))

    def float(self, depth: int) -> str:
        if depth <= 0 or self.chance(15):
            return self.float_leaf()
        return self.pick(FLOAT_FORMS)(self, depth - 1)

    def float_leaf(self) -> str:
        kind = self.below(6)
        if kind == 0:
            return self.pick(FLOAT_LITERALS)
        if kind == 1:
            found = self.load(("f",))
            if found:
                return found
        if kind == 2 and not self.place.in_function:
            return self.pick(["st.dt", "st.inner.v.y", "st.inner.v[2]"])
        if kind == 3 and self.scope.vectors:
            name = self.pick(self.scope.vectors)
            if self.scope.vectors[name] == "float":
                return f"{name}[{self.index(3, 0)}]"
        if kind == 4 and self.scope.structs:
            name = self.pick(self.scope.structs)
            return self.pick([f"{name}.v.y", f"{name}.v[{self.index(3, 0)}]"])
        names = [n for n in self.scope.floats if n not in self.scope.gathered]
        return self.pick(names) if names else self.pick(FLOAT_LITERALS)

    def condition(self, depth: int) -> str:
        if depth <= 0:
            return (
                self.pick(["flag", f"{self.int_leaf()} > {self.int_leaf()}"])
                if not self.place.in_function
                else (f"{self.int_leaf()} > {self.int_leaf()}")
            )
        return self.pick(CONDITION_FORMS)(self, depth - 1)

    def index(self, size: int, depth: int) -> str:
        """An expression from 0 to size - 1."""
        if self.chance(30):
            return str(self.below(size))
        if size & (size - 1) == 0 and self.chance(50):
            return f"({self.int(depth)}) & {size - 1}"
        return f"cg.cast({self.int(depth)}, cg.u32) % {size}"

    def load(self, kinds: tuple[str, ...]) -> str | None:
        """An element that may be read here, of an array of such elements."""
        arrays = [n for n, role in self.place.roles.items() if code_of(n) in kinds and not has_sums(role)]
        if not arrays:
            return None
        return self.element(self.pick(arrays))

    def element(self, name: str) -> str:
        role = self.place.roles[name]
        if isinstance(role, tuple) and role[0] == "own":
            index = role[1]
            return f"{name}[{index.replace('*', self.index(COLUMNS, 0))}]"
        dims = dims_of(name)
        parts = [self.index(SIZE, 1)] if dims == 1 else [self.index(ROWS, 1), self.index(COLUMNS, 0)]
        return f"{name}[{', '.join(parts)}]"

    def call(self, kind: str, depth: int) -> str | None:
        """A call of a function that gives an int or a float."""
        found = [f for f in self.functions if f[1] == kind and not (self.place.loops_are_tasks and f[3])]
        if not found:
            return None
        name, _, parameters, _ = self.pick(found)
        given = []
        for each in parameters:
            if each == "array":
                arrays = [
                    n
                    for n, r in self.place.roles.items()
                    if r == "free" and code_of(n) == "i" and dims_of(n) == 1
                ]
                if not arrays:
                    return None
                given.append(self.pick(arrays))
            else:
                given.append(self.int(depth) if each == "int" else self.float(depth))
        return f"{name}({', '.join(given)})"


INT_LITERALS = (
    "(-1)", "(-7)", "cg.i32(2147483647)", "cg.i32(-2147483648)", "cg.i64(5000000000)", "cg.i64(-9223372036854775808)",
    "cg.u8(200)", "cg.i8(-128)", "cg.u64(18446744073709551615)", "cg.i16(300)", "cg.u32(4294967295)", "True",
    "cg.u16(65535)",
)  # fmt: skip
FLOAT_LITERALS = (
    "0.5",
    "(-3.25)",
    "1e3",
    "0.1",
    "(-0.0)",
    "cg.f64(1e300)",
    "cg.f16(0.1)",
    "cg.bf16(3.0)",
    "cg.f64(0.1)",
    "1e-40",
)


def binary(*operators: str):
    return lambda w, d: f"({w.int(d)} {w.pick(operators)} {w.int(d)})"


def call_or(kind: str):
    def form(w: Writer, d: int) -> str:
        found = w.call(kind, d)
        return found if found is not None else (w.int_leaf() if kind == "int" else w.float_leaf())

    return form


INT_FORMS = (
    binary("+", "-", "*"),
    binary("+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>"),
    binary("//", "%", "<<", ">>"),
    lambda w, d: (
        f"{w.pick(['min', 'max', 'cg.raw_div', 'cg.raw_mod', 'cg.bit_shr'])}({w.int(d)}, {w.int(d)})"
    ),
    lambda w, d: f"({w.int(d)} ** ({w.int(0)} & 3))",
    lambda w, d: f"({w.pick('-~')}{w.int(d)})",
    lambda w, d: f"{w.pick(['abs', 'cg.popcnt', 'cg.clz', 'cg.ffs', 'cg.sign'])}({w.int(d)})",
    lambda w, d: f"cg.cast({w.int(d)}, cg.{w.pick(INTEGERS)})",
    lambda w, d: f"cg.cast({w.int(d)}, cg.{w.pick(INTEGERS)})",
    lambda w, d: f"cg.cast({w.float(d)}, cg.{w.pick(INTEGERS)})",
    lambda w, d: f"cg.bit_cast(cg.cast({w.int(d)}, cg.f32), cg.i32)",
    lambda w, d: f"cg.bit_cast(cg.cast({w.int(d)}, cg.i16), cg.u16)",
    lambda w, d: f"({w.int(d)} if {w.condition(d)} else {w.int(d)})",
    lambda w, d: f"({w.int(d)} {w.pick(['and', 'or'])} {w.int(d)})",
    lambda w, d: f"({w.condition(d)})",
    lambda w, d: f"cg.select({w.condition(d)}, {w.int(d)}, {w.int(d)})",
    lambda w, d: f"cg.random(cg.{w.pick(INTEGERS)})",
    lambda w, d: f"bool({w.int(d)})",
    call_or("int"),
    call_or("int"),
)
FLOAT_FORMS = (
    lambda w, d: f"({w.float(d)} {w.pick('+-*/')} {w.float(d)})",
    lambda w, d: f"({w.float(d)} {w.pick(['+', '-', '*', '/'])} {w.float(d)})",
    lambda w, d: f"({w.float(d)} {w.pick(['%', '//'])} {w.float(d)})",
    lambda w, d: f"({w.int(d)} {w.pick(['*', '+', '/'])} {w.float(d)})",
    lambda w, d: f"({w.int(d)} / {w.int(d)})",
    lambda w, d: f"({w.float(d)} ** {w.pick(['2', '3', '-1', '-2', '0'])})",
    lambda w, d: f"({w.float(d)} ** ({w.int(0)} & 7))",
    lambda w, d: f"(-{w.float(d)})",
    lambda w, d: (
        f"cg.{w.pick(['sqrt', 'rsqrt', 'floor', 'ceil', 'trunc', 'round', 'sign', 'fract'])}({w.float(d)})"
    ),
    lambda w, d: f"abs({w.float(d)})",
    lambda w, d: f"cg.fma({w.float(d)}, {w.float(d)}, {w.float(d)})",
    lambda w, d: f"{w.pick(['min', 'max'])}({w.float(d)}, {w.pick(['1.5', '-0.25'])})",
    lambda w, d: f"cg.cast({w.float(d)}, cg.{w.pick(FLOATS)})",
    lambda w, d: f"cg.cast({w.int(d)}, cg.{w.pick(FLOATS)})",
    lambda w, d: f"cg.select({w.condition(d)}, {w.float(d)}, {w.float(d)})",
    lambda w, d: f"({w.float(d)} if {w.condition(d)} else {w.float(d)})",
    lambda w, d: f"cg.random(cg.{w.pick(FLOATS)})",
    lambda w, d: f"cg.clamp({w.float(d)}, -2.5, 7.0)",
    lambda w, d: f"cg.bit_cast(cg.cast({w.int(d)} & 1023, cg.u32), cg.f32)",
    call_or("float"),
    call_or("float"),
)
COMPARISONS = ("<", "<=", "==", "!=", ">", ">=")
CONDITION_FORMS = (
    lambda w, d: f"{w.int(d)} {w.pick(COMPARISONS)} {w.int(d)}",
    lambda w, d: f"{w.float(d)} {w.pick(COMPARISONS)} {w.float(d)}",
    lambda w, d: f"{w.int(d)} {w.pick(COMPARISONS)} {w.int(d)} {w.pick(COMPARISONS)} {w.int(d)}",
    lambda w, d: f"({w.condition(d)} {w.pick(['and', 'or'])} {w.condition(d)})",
    lambda w, d: f"not ({w.condition(d)})",
    lambda w, d: f"cg.{w.pick(['isnan', 'isinf'])}({w.float(d)})",
    lambda w, d: f"{w.int(d)}",
)
