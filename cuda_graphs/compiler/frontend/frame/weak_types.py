# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Types of names whose first value is a number of the source, or a vector of them: `acc = 0.0`.

Such a type is weak. The name has the join of the types of all values that the function assigns to it, which the
translation knows only at its end. If the join is wider than the type of the first value, the kernel is translated again
with the wider type. Types only grow, so this ends.
"""

from __future__ import annotations

from collections import Counter
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
        self.changed: set[Declaration] = set()
        self.fixed: set[Declaration] = set()  # parameters
        self.numbers: Counter[tuple[ir.Loc | None, str]] = Counter()

    def declare(self, loc: ir.Loc | None, name: str, type: ScalarType) -> ir.Local:
        """Return the variable for a name whose first value is a number of the source, of this type."""
        return self.declare_all(loc, name, type, 1)[0]

    def declare_parameter(self, loc: ir.Loc | None, name: str, value: ir.Const) -> ir.Local:
        """Return the variable for a parameter that gets a float of the source. Its type does not grow."""
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

    def assign(self, local: ir.Local, type: ScalarType) -> None:
        """Note a value that is assigned to a variable, which may be weak."""
        key = self.declarations.get(local)
        if key is not None:
            self.changed.add(key)
            if key not in self.fixed:
                self.found[key] = join(self.found[key], type)

    def constant(self, local: ir.Local) -> float | None:
        """Return the exact value of a name in `constants`; None for other names."""
        return self.first.get(local) if self.declarations.get(local) in self.constants else None

    def widen(self, widened: set[ir.Local]) -> bool:
        """Take over the joins as known types. Return whether the kernel must be translated again.

        Args:
            widened: The variables whose values were converted to a wider float.
        """
        grown = {
            key: self.found[key] for local, key in self.declarations.items() if self.found[key] != local.type
        }
        self.known.update(grown)
        kept = {self.declarations[local] for local in widened & self.first.keys()} - self.changed
        kept -= grown.keys() | self.constants
        self.constants |= kept
        return bool(grown or kept)
