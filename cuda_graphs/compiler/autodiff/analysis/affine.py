# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Affine form of indices: a constant plus integer multiples of opaque values. It distinguishes x[t] from x[t + 1]."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from cuda_graphs.compiler.ir import ir

__all__ = ["Affine", "affine"]


@dataclass
class Affine:
    """The sum `constant` + factor * atom + ..., over all pairs of `factors`."""

    constant: int = 0
    factors: dict[Hashable, int] = field(default_factory=dict)

    def plus(self, other: Affine, times: int = 1) -> Affine:
        """Return the sum of this form and a multiple of another form."""
        factors = dict(self.factors)
        for atom, factor in other.factors.items():
            factors[atom] = factors.get(atom, 0) + times * factor
        return Affine(self.constant + times * other.constant, {a: f for a, f in factors.items() if f})


def affine(value: ir.Value) -> Affine:
    """Return the affine form of a value of an integer type."""
    match value:
        case ir.Const():
            return Affine(int(value.value))
        case ir.Op("add" | "sub", (a, b)):
            return affine(a).plus(affine(b), 1 if value.name == "add" else -1)
        case ir.Op("neg", (a,)):
            return Affine().plus(affine(a), -1)
        case ir.Op("mul", (a, b)):
            x, y = affine(a), affine(b)
            if not y.factors:
                return Affine().plus(x, y.constant)
            if not x.factors:
                return Affine().plus(y, x.constant)
        case ir.Op("cast", (a,)) if a.type.kind in ("int", "uint") and value.type.size >= a.type.size:
            return affine(a)  # a smaller type would map two numbers to one
        case ir.Extent():
            return Affine(0, {(value.array, value.axis): 1})
    return Affine(0, {value: 1})
