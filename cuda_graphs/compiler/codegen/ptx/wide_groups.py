# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Loops over one axis in groups: a thread runs neighbouring iterations together, with accesses of 16 bytes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from cuda_graphs.compiler.codegen.llvm.emitter import Emitter
from cuda_graphs.compiler.ir import ir

from .early_loads import EarlyLoads, wait_for_previous_launch
from .grid_stride import strided
from .limit_branches import LimitBranches
from .metadata import NOT_UNROLLED, WIDTH, scopes_of
from .wide_access import WIDE_BYTES, are_aligned, assume_aligned

__all__ = ["WideGroups"]

MOST_CHUNKS = 4  # groups that a thread runs at a time


class WideGroups:
    """Emitter of the groups of a loop.

    width  the number of neighbouring iterations whose accesses make 16 bytes; 1 for unsuitable loops
    first  the loop whose early loads the first group of a thread may have

    A suitable loop has one axis from 0, stores only at its index, and has accesses to widen. Its body is a straight
    line, or has branches that limit the index. It may have atomics, as their order is free anyway.
    """

    def __init__(self, e: Emitter, loop: ir.For, branches: LimitBranches, is_resident: bool) -> None:
        self.e, self.loop, self.branches, self.is_resident = e, loop, branches, is_resident
        self.index = loop.axes[0].index
        self.width = group_width(loop, branches)
        self.first = branches.taken if self.width > 1 else loop

    def run(self, thread: str, threads: str, total: str, start: EarlyLoads | None) -> str:
        """Emit the groups, if all arrays are aligned to 16 bytes.

        The grid of a resident launch is not made for this loop, so its loop also needs a group for each thread.

        Returns the iteration at which this thread begins the rest. The rest is the whole loop without alignment.

        Metadata says that the iterations of one group do not access each other's memory, so all their loads may come
        first.
        """
        e = self.e
        arrays = dict.fromkeys(s.array for s in ir.walk(self.loop.body) if isinstance(s, (ir.Load, ir.Store)))
        aligned = are_aligned(e, arrays)
        whole = e.let(f"udiv i64 {total}, {self.width}")
        if self.branches.conditions:
            aligned = e.let(f"and i1 {aligned}, {self.branches.are_many(e, total, self.is_resident)}")
        elif self.is_resident:
            aligned = e.let(f"and i1 {aligned}, {e.let(f'icmp sge i64 {whole}, {threads}')}")
        first, wide, rest = (e.label(stem) for stem in ("whole", "groups", "rest"))
        other = rest if start is None else e.label("unaligned")
        e.jump(first)
        e.start(first)
        e.jump_if(aligned, wide, other)
        if start is not None:
            e.start(other)
            wait_for_previous_launch(e)
            e.jump(rest)
        e.start(wide)
        assume_aligned(e, arrays)
        at = thread if start is None else self.early(thread, threads, whole, start)
        chunks = self.chunks()
        if chunks > 1:
            step = e.let(f"mul nuw nsw i64 {threads}, {chunks}")
            end = e.let(f"sub nsw i64 {whole}, {e.let(f'sub nuw nsw i64 {step}, {threads}')}")
            _, at = strided(e, at, step, end, lambda at, _: self.groups(at, threads, chunks))
        last, _ = strided(e, at, threads, whole, lambda at, _: self.groups(at, threads, 1))
        done = e.let(f"mul nuw nsw i64 {whole}, {self.width}")
        begin = e.let(f"add nsw i64 {done}, {thread}")
        e.jump(rest)
        e.start(rest)
        return e.let(f"phi i64 [ {thread}, %{first if start is None else other} ], [ {begin}, %{last} ]")

    def early(self, thread: str, threads: str, whole: str, start: EarlyLoads) -> str:
        """Emit the first group of this thread around the wait, and return the number of its next group.

        A group that does not take all branches comes after the wait.
        """
        e, places = self.e, self.places(thread)
        is_early = e.let(f"icmp slt i64 {thread}, {whole}")
        is_early = e.let(f"and i1 {is_early}, {self.branches.hold(e, (places[0], places[-1]))}")
        start.peel(self.first, is_early, places, self.scopes())
        following = e.let(f"add nsw i64 {thread}, {threads}")
        return e.let(f"select i1 {is_early}, i64 {following}, i64 {thread}")

    def chunks(self) -> int:
        """Return the number of groups that a thread runs at a time.

        Loops without stores have several loads in flight.
        """
        if self.branches.conditions or any(isinstance(s, ir.Store) for s in ir.walk(self.loop.body)):
            return 1
        return max(1, min(MOST_CHUNKS, WIDTH // self.width))

    def groups(self, at: str, threads: str, count: int) -> None:
        """Emit so many groups of this thread, from the number `at` on."""
        for number in range(count):
            scopes = self.scopes(number * self.width)
            self.branches.together(self.e, self.places(at), scopes, partial(self.in_turn, at))
            at = self.e.let(f"add nuw nsw i64 {at}, {threads}")

    def in_turn(self, group: str) -> None:
        """Emit the iterations of a group one after the other."""
        e, begin = self.e, self.base_of(group)
        end = e.let(f"add nuw nsw i64 {begin}, {self.width}")
        e.counted(self.index, begin, end, 1, lambda _: e.block(self.loop.body), NOT_UNROLLED)

    def base_of(self, group: str) -> str:
        return self.e.let(f"mul nuw nsw i64 {group}, {self.width}")

    def places(self, group: str) -> list[Callable[[], None]]:
        """Return what sets the index to that of each iteration of a group."""
        base = self.base_of(group)
        return [partial(self.place, base, lane) for lane in range(self.width)]

    def place(self, base: str, lane: int) -> None:
        self.e.wide[self.index] = self.e.let(f"or disjoint i64 {base}, {lane}")

    def scopes(self, first: int = 0) -> list[str]:
        return [scopes_of(first + lane) for lane in range(self.width)]


def group_width(loop: ir.For, branches: LimitBranches) -> int:
    (axis, *more), body = loop.axes, list(ir.walk(loop.body))
    index = (axis.index,)
    if more or axis.step != 1 or not (isinstance(axis.begin, ir.Const) and axis.begin.value == 0):
        return 1
    if not branches.is_straight or any(isinstance(s, ir.Store) and s.index != index for s in body):
        return 1
    sizes = [s.array.element.size for s in body if isinstance(s, (ir.Load, ir.Store)) and s.index == index]
    return WIDE_BYTES // max(sizes) if sizes else 1
