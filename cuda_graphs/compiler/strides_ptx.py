# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Loops of which a thread of the GPU takes every so-manieth iteration, in 64 bits."""

from __future__ import annotations

from collections.abc import Callable

from .llvm import Emitter

__all__ = ["strided", "strided_box"]


def strided(e: Emitter, begin: str, step: str, end: str, body: Callable[[str, str], None]) -> tuple[str, str]:
    """A loop from `begin` by `step`; `body` gets the number and the label of what follows.

    (label after it, the number that was not less than `end` any more)
    """
    return _loop(e, end, [_Count(begin, step)], lambda at, following: body(at[0], following))


def strided_box(
    e: Emitter, sizes: list[str], begin: str, step: str, end: str, body: Callable[[list[str], str], None]
) -> None:
    """The same over the points of a box, in row-major order; `body` gets the place along each axis.

    Begin and step are taken apart once, before the loop. In it, places are added as numbers with several digits are:
    a division for each point costs more than what is done with the point.
    """
    if len(sizes) == 1:
        strided(e, begin, step, end, lambda at, following: body([at], following))
        return
    sizes = [sizes[0], *(e.call("llvm.umax.i64", "i64", [("i64", s), ("i64", "1")]) for s in sizes[1:])]
    digits = zip(_digits(e, begin, sizes), _digits(e, step, sizes), sizes, strict=True)
    counts = [_Count(begin, step), *(_Count(*each) for each in digits)]
    _loop(e, end, counts, lambda at, following: body(at[1:], following))


def _digits(e: Emitter, number: str, sizes: list[str]) -> list[str]:
    """Where a point of a box is along each axis."""
    found: list[str] = []
    for size in reversed(sizes[1:]):
        found.insert(0, e.let(f"urem i64 {number}, {size}"))
        number = e.let(f"udiv i64 {number}, {size}")
    return [number, *found]


class _Count:
    """A number that goes on by a step in each iteration, and of which `size` are carried to the one before it."""

    def __init__(self, begin: str, step: str, size: str = "") -> None:
        self.begin, self.step, self.size = begin, step, size


def _loop(
    e: Emitter, end: str, counts: list[_Count], body: Callable[[list[str], str], None]
) -> tuple[str, str]:
    """While the first of these numbers is less than `end`. The label after the loop, and that number there."""
    entry, head, inside, following, after = (
        e.label(stem) for stem in ("start", "grid", "point", "next", "done")
    )
    e.line(f"br label %{entry}")
    e.start(entry)
    e.line(f"br label %{head}")
    e.start(head)
    at = [e.register() for _ in counts]
    advanced = [e.register() for _ in counts]
    for count, now, then in zip(counts, at, advanced, strict=True):
        e.line(f"{now} = phi i64 [ {count.begin}, %{entry} ], [ {then}, %{following} ]")
    e.line(f"br i1 {e.let(f'icmp slt i64 {at[0]}, {end}')}, label %{inside}, label %{after}")
    e.start(inside)
    body(at, following)
    e.line(f"br label %{following}")
    e.start(following)
    e.line(f"{advanced[0]} = add nsw i64 {at[0]}, {counts[0].step}")
    carry = ""
    for i in reversed(range(1, len(counts))):
        carry = _advance(e, counts[i], at[i], advanced[i], carry, first=i == 1)
    e.line(f"br label %{head}")
    e.start(after)
    return after, at[0]


def _advance(e: Emitter, count: _Count, at: str, advanced: str, carry: str, first: bool) -> str:
    """Define the next number; what is carried to the one before it."""
    step = e.let(f"add nuw nsw i64 {count.step}, {carry}") if carry else count.step
    if first:
        e.line(f"{advanced} = add nsw i64 {at}, {step}")
        return ""
    there = e.let(f"add nuw nsw i64 {at}, {step}")
    over = e.let(f"icmp uge i64 {there}, {count.size}")
    e.line(f"{advanced} = select i1 {over}, i64 {e.let(f'sub i64 {there}, {count.size}')}, i64 {there}")
    return e.let(f"zext i1 {over} to i64")
