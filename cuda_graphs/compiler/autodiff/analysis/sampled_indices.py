# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Meetings of iterations, found by computing the indices of two accesses in short loops.

This decides what the affine forms of indices leave open, such as x[i] and x[n - 1 - i], x[0] or x[(i + 1) % n]. Indices
and bounds may use the variables of the loop, constants, extents and integer parameters. All extents and parameters get
one number, then another. An offset by a parameter therefore stays apart: it is usually the length of something.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from cuda_graphs.compiler.ir import ir, ops
from cuda_graphs.compiler.ir.scalars import scalar
from cuda_graphs.compiler.passes.index_spaces import FIXED, leaves_of

__all__ = ["meet_in_samples"]

SAMPLES = (6, 9)  # elements or iterations: an even and an odd number
MOST_ITERATIONS = 1000

Numbers = dict[ir.Value, Any]


def meet_in_samples(loop: ir.For, a: ir.Store | ir.Atomic, b: ir.Store | ir.Atomic) -> bool:
    """Return True if two iterations of the loop access one element in each sample: one by `a`, the other by `b`."""
    bounds = [bound for axis in loop.axes for bound in (axis.begin, axis.end)]
    variables = {axis.index for axis in loop.axes}
    leaves = (leaf for value in (*bounds, *a.index, *b.index) for leaf in leaves_of(value))
    if not all(leaf in variables or is_integer_leaf(leaf) for leaf in leaves):
        return False
    return all(meet(loop, a, b, size) for size in SAMPLES)


def is_integer_leaf(leaf: ir.Value) -> bool:
    return isinstance(leaf, FIXED) and leaf.type.kind in ("int", "uint", "bool")


def meet(loop: ir.For, a: ir.Store | ir.Atomic, b: ir.Store | ir.Atomic, size: int) -> bool:
    """Return True if two iterations meet, with `size` for all extents and parameters."""
    owners: dict[tuple[int, ...], set[int]] = {}
    others = []
    for number, values in enumerate(iterations(loop, size)):
        if number == MOST_ITERATIONS:
            return False
        owners.setdefault(element(a, values, size), set()).add(number)
        others.append(element(b, values, size))
    return any(owners.get(at, {number}) != {number} for number, at in enumerate(others))


def iterations(loop: ir.For, size: int) -> Iterator[Numbers]:
    """Yield the loop variables of each iteration."""
    spans = [range(int(compute(a.begin, {}, size)), int(compute(a.end, {}, size)), a.step) for a in loop.axes]
    for point in product(*spans):
        yield {a.index: scalar(at, a.index.type) for a, at in zip(loop.axes, point, strict=True)}


def element(access: ir.Store | ir.Atomic, values: Numbers, size: int) -> tuple[int, ...]:
    """Return the indices of an access in an iteration."""
    return tuple(int(compute(index, values, size)) for index in access.index)


def compute(value: ir.Value, known: Numbers, size: int) -> Any:
    """Return the number that an integer has, in its register form."""
    if value not in known:
        if isinstance(value, ir.Op):
            args = tuple(compute(arg, known, size) for arg in value.args)
            known[value] = ops.evaluate(value.name, tuple(arg.type for arg in value.args), args, value.type)
        else:
            known[value] = scalar(value.value if isinstance(value, ir.Const) else size, value.type)
    return known[value]
