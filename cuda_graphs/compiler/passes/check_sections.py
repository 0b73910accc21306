# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that sections, which may run at the same time, are independent: no section uses data that another writes.

The check compares the elements of arrays and fields that accesses may touch (index_ranges.py), variables, and random
numbers drawn outside loops, which have one order. Atomics count as writes. A call may pass the same memory for two
array parameters. The call checks this, so a kernel comes with the pairs of arrays that must not overlap.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from cuda_graphs.compiler.artifact import DisjointArrays, Span
from cuda_graphs.compiler.errors import CompileError, CompileSectionError, compile_error
from cuda_graphs.compiler.ir import ir

from .index_ranges import Ranges, Region, disjoint

__all__ = ["check_sections", "disjoint_arrays"]

RANDOM_ORDER = "the order of random numbers outside of loops"
Resource = ir.Array | ir.Local | str
Regions = dict[Region, ir.Loc | None]


class SectionAccesses:
    """The uses of one section: for each array or variable, the regions read or written and the first place of each.

    A variable has one region, ().
    """

    def __init__(self, block: ir.Block, ranges: Ranges) -> None:
        self.ranges = ranges
        self.reads: dict[Resource, Regions] = {}
        self.writes: dict[Resource, Regions] = {}
        self.block(block, False)

    def block(self, block: ir.Block, in_loop: bool) -> None:
        for statement in block.body:
            self.statement(statement, in_loop)
            if isinstance(statement, ir.Call):
                self.called(statement, in_loop)
            parallel = isinstance(statement, ir.For) and statement.parallel
            for inner in ir.blocks_of(statement):
                self.block(inner, in_loop or parallel)

    def called(self, call: ir.Call, in_loop: bool) -> None:
        """Records the accesses of a called function, which has no variables of the caller."""
        for function in ir.reachable({call.function: None}):
            for statement in ir.walk(function.body):
                if isinstance(statement, (ir.Load, ir.Store, ir.Atomic, ir.Random)):
                    self.statement(statement, in_loop)

    def statement(self, statement: ir.Statement, in_loop: bool) -> None:
        match statement:
            case ir.Load() | ir.Get():
                self.record(self.reads, statement)
            case ir.Store() | ir.Set() | ir.Atomic():
                self.record(self.writes, statement)
            case ir.Random() if not in_loop:
                self.writes.setdefault(RANDOM_ORDER, {}).setdefault((), statement.loc)

    def record(
        self, uses: dict[Resource, Regions], statement: ir.Load | ir.Get | ir.Store | ir.Set | ir.Atomic
    ) -> None:
        is_local = isinstance(statement, (ir.Get, ir.Set))
        region = () if is_local else self.ranges.region(statement.index)  # type: ignore[union-attr]
        uses.setdefault(resource_of(statement), {}).setdefault(region, statement.loc)

    def all(self) -> dict[Resource, Regions]:
        return {**self.reads, **self.writes}

    def arrays(self) -> list[ir.Array]:
        """Returns the arrays that other code can access: parameters and fields."""
        return [
            resource for resource in self.all()
            if isinstance(resource, ir.Array) and resource.space in (ir.Space.PARAM, ir.Space.FIELD)
        ]  # fmt: skip


def resource_of(statement: ir.Load | ir.Get | ir.Store | ir.Set | ir.Atomic) -> Resource:
    return statement.local if isinstance(statement, (ir.Get, ir.Set)) else statement.array


def check_sections(kernel: ir.Kernel) -> ir.Kernel:
    """Returns the kernel unchanged. Raises CompileSectionError if a result depends on the order of sections."""
    for sections in sections_of(kernel):
        for (i, a), (j, b) in combinations(accesses_of(kernel, sections), 2):
            for first, second in ((a, b), (b, a)):
                for resource, written in first.writes.items():
                    for does, others in (("writes", second.writes), ("reads", second.reads)):
                        pair = find_conflict(written, others.get(resource, {}), resource)
                        if pair is not None:
                            raise dependence_error(sections, (i, j), resource, does, *pair)
    return kernel


def accesses_of(kernel: ir.Kernel, sections: ir.Sections) -> list[tuple[int, SectionAccesses]]:
    """Returns the number and the uses of each section."""
    ranges = Ranges(kernel)
    return [(number, SectionAccesses(block, ranges)) for number, block in enumerate(sections.blocks)]


def find_conflict(
    one: Regions, other: Regions, resource: Resource
) -> tuple[ir.Loc | None, ir.Loc | None] | None:
    """Returns the places of two uses that may touch the same element, or None."""
    for a, first in one.items():
        for b, second in other.items():
            if not isinstance(resource, ir.Array) or not disjoint(a, b):
                return first, second
    return None


def sections_of(kernel: ir.Kernel) -> Iterator[ir.Sections]:
    return (each for each in ir.walk(kernel.body) if isinstance(each, ir.Sections))


def dependence_error(
    sections: ir.Sections,
    numbers: tuple[int, int],
    resource: Resource,
    does: str,
    written: ir.Loc | None,
    loc: ir.Loc | None,
) -> CompileError:
    """Returns the error for two sections: one writes the array or variable at `written`, the other uses it at `loc`."""
    lines = " and ".join(str(ir.line_of(sections.locs[number])) for number in numbers)
    return compile_error(
        CompileSectionError, written,
        f"the sections of lines {lines} are not independent: one writes {describe(resource)} on line "
        f"{ir.line_of(written)}, the other {does} it on line {ir.line_of(loc)}",
        "sections run at the same time: put both uses into one section, or one of them after cg.graph_parallel, use "
        "an array for each section, or elements of one array that are known to differ: x[0, i] and x[1, i]",
    )  # fmt: skip


def describe(resource: Resource) -> str:
    if isinstance(resource, str):
        return resource
    if isinstance(resource, ir.Local):
        return f"the variable {resource.name!r}"
    return f"the {'field' if resource.space is ir.Space.FIELD else 'array'} {resource.path!r}"


def disjoint_arrays(kernel: ir.Kernel) -> tuple[DisjointArrays, ...]:
    """Returns the pairs of arrays that must not overlap in a call, in the form of an Artifact."""
    found: dict[tuple[str, str], DisjointArrays] = {}
    for sections in sections_of(kernel):
        for (i, a), (j, b) in combinations(accesses_of(kernel, sections), 2):
            for one in a.arrays():
                for other in b.arrays():
                    known = one.space is other.space is ir.Space.FIELD
                    if one is not other and not known and (one in a.writes or other in b.writes):
                        lines = ir.line_of(sections.locs[i]), ir.line_of(sections.locs[j])
                        found.setdefault((one.path, other.path), (span(one), span(other), *lines))
    return tuple(found.values())


def span(array: ir.Array) -> Span:
    size = array.element.size
    for extent in array.shape or array.inner:
        size *= extent
    return array.path, 0 if array.shape is not None else array.ndim - len(array.inner), size
