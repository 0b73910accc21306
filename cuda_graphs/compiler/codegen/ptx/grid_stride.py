# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Strided loops of a GPU thread, in 64 bits: the thread takes every n-th iteration."""

from __future__ import annotations

from collections.abc import Callable

from cuda_graphs.compiler.codegen.llvm.emitter import Emitter

__all__ = ["Digit", "digits_of", "strided", "strided_box"]


class Digit:
    """A digit that grows by a step in each iteration. At `size` it carries 1 to the digit before it."""

    def __init__(self, begin: str, step: str, size: str = "") -> None:
        self.begin, self.step, self.size = begin, step, size


def strided(e: Emitter, begin: str, step: str, end: str, body: Callable[[str, str], None]) -> tuple[str, str]:
    """Emit a loop from `begin` by `step`. `body` gets the number and the label of the next iteration.

    Returns (label after the loop, the first number that was not less than `end`).
    """
    return _loop(e, end, [Digit(begin, step)], lambda at, following: body(at[0], following))


def strided_box(e: Emitter, digits: list[Digit], end: str, body: Callable[[list[str], str], None]) -> None:
    """Emit a strided loop over the points of a box, in row-major order. `body` gets the position along each axis.

    The loop adds positions digit by digit, with a carry: a division for each point would cost more than the work at the
    point.
    """
    first = int(len(digits) > 1)  # behind the number of the point
    _loop(e, end, digits, lambda at, following: body(at[first:], following))


def digits_of(e: Emitter, sizes: list[str], begin: str, step: str) -> list[Digit]:
    """Return the number of a point of a box, and its position along each of several axes. They need divisions."""
    number = Digit(begin, step)
    if len(sizes) == 1:
        return [number]
    sizes = [sizes[0], *(e.call("llvm.umax.i64", "i64", [("i64", s), ("i64", "1")]) for s in sizes[1:])]
    positions = zip(_positions(e, begin, sizes), _positions(e, step, sizes), sizes, strict=True)
    return [number, *(Digit(*each) for each in positions)]


def _positions(e: Emitter, number: str, sizes: list[str]) -> list[str]:
    """Return the position of a point of a box along each axis."""
    found: list[str] = []
    for size in reversed(sizes[1:]):
        found.insert(0, e.let(f"urem i64 {number}, {size}"))
        number = e.let(f"udiv i64 {number}, {size}")
    return [number, *found]


def _loop(
    e: Emitter, end: str, counts: list[Digit], body: Callable[[list[str], str], None]
) -> tuple[str, str]:
    """Emit a loop while the first number is less than `end`; return the label after it, and that number there."""
    entry, head, loop_body, following, after = (
        e.label(stem) for stem in ("start", "grid", "point", "next", "done")
    )
    e.jump(entry)
    e.start(entry)
    e.jump(head)
    e.start(head)
    at = [e.register() for _ in counts]
    advanced = [e.register() for _ in counts]
    for count, now, then in zip(counts, at, advanced, strict=True):
        e.line(f"{now} = phi i64 [ {count.begin}, %{entry} ], [ {then}, %{following} ]")
    e.jump_if(e.let(f"icmp slt i64 {at[0]}, {end}"), loop_body, after)
    e.start(loop_body)
    body(at, following)
    e.jump(following)
    e.start(following)
    e.line(f"{advanced[0]} = add nsw i64 {at[0]}, {counts[0].step}")
    carry = ""
    for i in reversed(range(1, len(counts))):
        carry = _advance(e, counts[i], at[i], advanced[i], carry, first=i == 1)
    e.jump(head)
    e.start(after)
    return after, at[0]


def _advance(e: Emitter, count: Digit, at: str, advanced: str, carry: str, first: bool) -> str:
    """Define the next value of a digit; return the carry to the digit before it."""
    step = e.let(f"add nuw nsw i64 {count.step}, {carry}") if carry else count.step
    if first:
        e.line(f"{advanced} = add nsw i64 {at}, {step}")
        return ""
    there = e.let(f"add nuw nsw i64 {at}, {step}")
    over = e.let(f"icmp uge i64 {there}, {count.size}")
    e.line(f"{advanced} = select i1 {over}, i64 {e.let(f'sub i64 {there}, {count.size}')}, i64 {there}")
    return e.let(f"zext i1 {over} to i64")
