# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Types of names whose first value is a number of the source, or a vector of them: `acc = 0.0`.

Such a type is weak. The name has the join of the types of all values that the function assigns to it, which the
translation knows only at its end. If the join is wider than the type of the first value, the kernel is translated again
with the wider type. Types only grow, so this ends.

A name whose values are all made of numbers of the source, and of other such names, also takes the type of a wider float
that it meets: after `t = 0.0; t += 0.1`, `a * t` with an f64 `a` makes `t` an f64. A choice between numbers of the
source is a variable of this kind, whether or not the program gives it a name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cuda_graphs.compiler.errors import CompileError
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import ScalarType, promote

__all__ = ["WeakTypes", "join"]


class Declaration(NamedTuple):
    """A declaration of a weak name. Unrolled loops translate one place of the source several times."""

    loc: ir.Loc | None
    name: str
    number: int


def join(a: ScalarType, b: ScalarType) -> ScalarType:
    """Return the type of a name that holds values of both types: their promotion; of two bools a bool."""
    return a if a == b else promote(a, b)


class WeakTypes:
    """The types of weak names, in one translation after another.

    Attributes:
        known: The types that earlier translations have found.
        constants: Names of floats that nothing assigns again, and that a wider float meets: they keep all digits.
        found: The joins of the current translation.
        made_of: The weak names in the values of each weak name, in the current translation.
        typed: Names that have got a value with a type of its own, in the current translation.
        errors: The errors of a strict kernel in the current translation.
    """

    def __init__(self) -> None:
        self.known: dict[Declaration, ScalarType] = {}
        self.constants: set[Declaration] = set()
        self.restart()

    def restart(self) -> None:
        """Begin another translation."""
        self.found: dict[Declaration, ScalarType] = {}
        self.declarations: dict[ir.Local, Declaration] = {}
        self.errors: list[CompileError] = []
        self.first: dict[ir.Local, float] = {}  # exact first values of floats
        self.made_of: dict[Declaration, set[Declaration]] = {}
        self.changed: set[Declaration] = set()
        self.typed: set[Declaration] = set()
        self.fixed: set[Declaration] = set()  # parameters
        self.numbers: Counter[tuple[ir.Loc | None, str]] = Counter()

    def declare(self, loc: ir.Loc | None, name: str, type: ScalarType) -> ir.Local:
        """Return the variable for a name whose first value is a number of the source, of this type."""
        return self.declare_all(loc, name, type, 1)[0]

    def declare_parameter(self, loc: ir.Loc | None, name: str, value: ir.Const) -> ir.Local:
        """Return the variable for a parameter that gets a float of the source. Later values do not decide its type."""
        made = self.declare(loc, name, value.type)
        self.first[made] = float(value.value)
        self.fixed.add(self.declarations[made])
        return made

    def declare_all(self, loc: ir.Loc | None, name: str, type: ScalarType, count: int) -> list[ir.Local]:
        """Return the variables for the components of a vector of such numbers. All keep one type."""
        key = Declaration(loc, name, self.numbers[loc, name])
        self.numbers[loc, name] += 1
        made = [ir.Local(name, self.known.get(key, type)) for _ in range(count)]
        self.found[key] = made[0].type
        self.declarations.update(dict.fromkeys(made, key))
        return made

    def declare_made(
        self, loc: ir.Loc | None, name: str, type: ScalarType, *values: ir.Value
    ) -> ir.Local | None:
        """Return the variable for a name whose first value is one of these; None if one has a type of its own."""
        sources = [self.sources(each) for each in values]
        if any(each is None for each in sources):
            return None
        made = self.declare(loc, name, type)
        self.made_of[self.declarations[made]] = set().union(*filter(None, sources))
        return made

    def sources(self, value: ir.Value, depth: int = 4) -> set[Declaration] | None:
        """Return the weak names in a value that is made of them and of constants; None for others and long ones."""
        if isinstance(value, ir.Const):
            return set()
        if isinstance(value, ir.Get):
            key = self.declarations.get(value.local)
            return None if key is None else {key}
        if not isinstance(value, ir.Op) or value.name == "cast" or not depth:
            return None
        found: set[Declaration] = set()
        for each in value.args[1:] if value.name == "select" else value.args:
            inner = self.sources(each, depth - 1)
            if inner is None:
                return None
            found |= inner
        return found

    def assign(self, local: ir.Local, type: ScalarType, value: ir.Value | None = None) -> None:
        """Note a value that is assigned to a variable, which may be weak. None stands for a number of the source."""
        key = self.declarations.get(local)
        if key is None:
            return
        self.changed.add(key)
        if key not in self.fixed:
            self.found[key] = join(self.found[key], type)
        sources = set() if value is None else self.sources(value)
        if sources is None:
            self.typed.add(key)
        else:
            self.made_of.setdefault(key, set()).update(sources)

    def constant(self, local: ir.Local) -> float | None:
        """Return the exact value of a name in `constants`; None for other names."""
        return self.first.get(local) if self.declarations.get(local) in self.constants else None

    def widen(self, widened: Sequence[tuple[ir.Value, ScalarType]]) -> bool:
        """Take over the joins as known types. Return whether the kernel must be translated again.

        Args:
            widened: Values that were converted to a wider float, and its type.
        """
        grown = {
            key: self.found[key] for local, key in self.declarations.items() if self.found[key] != local.type
        }
        met = {local for value, _ in widened for local in variables_in(value)}
        kept = {self.declarations[local] for local in met & self.first.keys()} - self.changed
        kept -= grown.keys() | self.constants
        self.constants |= kept
        for key, type in self.of_wider_floats(widened):
            grown[key] = join(grown.get(key, self.found[key]), type)
        self.known.update(grown)
        return bool(grown or kept)

    def of_wider_floats(
        self, widened: Sequence[tuple[ir.Value, ScalarType]]
    ) -> Iterator[tuple[Declaration, ScalarType]]:
        """Return the names that are made of numbers of the source only, and the wider floats that they meet."""
        typed = self.with_own_types()
        for value, type in widened:
            for key in (self.sources(value) or set()) - typed - self.constants:
                if self.found[key].kind == "float" and join(self.found[key], type) != self.found[key]:
                    yield key, type

    def with_own_types(self) -> set[Declaration]:
        """Return the names that have got a value with a type of its own, and all names that are made of such a name."""
        typed, before = set(self.typed), -1
        while len(typed) != before:
            before = len(typed)
            typed |= {key for key, parts in self.made_of.items() if parts & typed}
        return typed


def variables_in(value: ir.Value, depth: int = 4) -> set[ir.Local]:
    """Return the variables in a short expression."""
    if isinstance(value, ir.Get):
        return {value.local}
    args = value.args if isinstance(value, ir.Op) and depth else ()
    return {local for arg in args for local in variables_in(arg, depth - 1)}
