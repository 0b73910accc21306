# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Meetings of iterations, found by computing the indices of two accesses in short loops.

This decides what the affine forms of indices leave open, such as x[i] and x[n - 1 - i], x[0] or x[(i + 1) % n]. Indices
and bounds may use the variables of the loop, constants, extents and integer parameters. All extents and parameters get
one number, then another. An offset by a parameter therefore stays apart: it is usually the length of something. Serial
loops around an access need constants as bounds, because a parameter may always be smaller than a stride.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product
from typing import Any, NamedTuple

from cuda_graphs.compiler.ir import ir, ops
from cuda_graphs.compiler.ir.scalars import scalar
from cuda_graphs.compiler.passes.index_spaces import FIXED, leaves_of

__all__ = ["NestedWrite", "meet_in_samples"]

SAMPLES = (6, 9)  # elements or iterations: an even and an odd number
MOST_INDICES = 1000  # that are computed for one access

Numbers = dict[ir.Value, Any]
Write = ir.Store | ir.Atomic
Loops = tuple[ir.For | ir.While, ...]


class NestedWrite(NamedTuple):
    """A write in an iteration, with the serial loops around it."""

    write: Write
    loops: Loops


def meet_in_samples(loop: ir.For, a: NestedWrite, b: NestedWrite) -> bool:
    """Return True if two iterations of the loop access one element in each sample: one by `a`, the other by `b`."""
    inner = (*a.loops, *b.loops)
    if not all(isinstance(each, ir.For) and has_constant_bounds(each) for each in inner):
        return False
    axes = [axis for each in (loop, *inner) if isinstance(each, ir.For) for axis in each.axes]
    bounds = [bound for axis in loop.axes for bound in (axis.begin, axis.end)]
    variables = {axis.index for axis in axes}
    leaves = (leaf for value in (*bounds, *a.write.index, *b.write.index) for leaf in leaves_of(value))
    if not all(leaf in variables or is_integer_leaf(leaf) for leaf in leaves):
        return False
    return all(meet(loop, a, b, size) for size in SAMPLES)


def has_constant_bounds(loop: ir.For) -> bool:
    return all(isinstance(bound, ir.Const) for axis in loop.axes for bound in (axis.begin, axis.end))


def is_integer_leaf(leaf: ir.Value) -> bool:
    return isinstance(leaf, FIXED) and leaf.type.kind in ("int", "uint", "bool")


def meet(loop: ir.For, a: NestedWrite, b: NestedWrite, size: int) -> bool:
    """Return True if two iterations meet, with `size` for all extents and parameters."""
    owners: dict[tuple[int, ...], set[int]] = {}
    others: list[tuple[int, tuple[int, ...]]] = []
    for number, values in enumerate(iterations((loop,), size)):
        mine = elements(a, values, size)
        for at in mine:
            owners.setdefault(at, set()).add(number)
        others += [(number, at) for at in elements(b, values, size)]
        if (number + 1) * len(mine) > MOST_INDICES or len(others) > MOST_INDICES:
            return False
    return any(owners.get(at, {number}) != {number} for number, at in others)


def iterations(loops: Loops, size: int) -> Iterator[Numbers]:
    """Yield the variables of nested loops, for each iteration of the first ones."""
    axes = [axis for each in loops if isinstance(each, ir.For) for axis in each.axes]
    spans = [range(int(compute(a.begin, {}, size)), int(compute(a.end, {}, size)), a.step) for a in axes]
    for point in islice(product(*spans), MOST_INDICES + 1):
        yield {a.index: scalar(at, a.index.type) for a, at in zip(axes, point, strict=True)}


def elements(access: NestedWrite, values: Numbers, size: int) -> list[tuple[int, ...]]:
    """Return the elements of an access in an iteration of the parallel loop."""
    found = []
    for inner in iterations(access.loops, size):
        known = {**values, **inner}
        found.append(tuple(int(compute(index, known, size)) for index in access.write.index))
    return found


def compute(value: ir.Value, known: Numbers, size: int) -> Any:
    """Return the number that an integer has, in its register form."""
    if value not in known:
        if isinstance(value, ir.Op):
            args = tuple(compute(arg, known, size) for arg in value.args)
            known[value] = ops.evaluate(value.name, tuple(arg.type for arg in value.args), args, value.type)
        else:
            known[value] = scalar(value.value if isinstance(value, ir.Const) else size, value.type)
    return known[value]
