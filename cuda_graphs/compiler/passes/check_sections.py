# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Whether sections, which may run at the same time, are independent: what one writes, no other reads or writes.

That goes by whole arrays and fields, by variables, and by the random numbers that are drawn outside of loops, which
have one order. Atomics are writes. Parameters that are arrays may be the same memory in a call: that is looked at then,
so a kernel comes with the pairs for which it matters.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from .. import ir
from ..artifact import Apart, Span
from ..errors import CompileError, CompileSectionError, fail

__all__ = ["arrays_apart", "check_sections"]

DRAWS = "the order of random numbers outside of loops"
Thing = ir.Array | ir.Local | str


class Uses:
    """What a section touches: each thing with the place where it is read first, and where it is written first."""

    def __init__(self, block: ir.Block) -> None:
        self.reads: dict[Thing, ir.Loc | None] = {}
        self.writes: dict[Thing, ir.Loc | None] = {}
        self.block(block, False)

    def block(self, block: ir.Block, in_loop: bool) -> None:
        for statement in block.body:
            self.statement(statement, in_loop)
            parallel = isinstance(statement, ir.For) and statement.parallel
            for inner in ir.blocks_of(statement):
                self.block(inner, in_loop or parallel)

    def statement(self, statement: ir.Statement, in_loop: bool) -> None:
        match statement:
            case ir.Load() | ir.Get():
                self.reads.setdefault(thing_of(statement), statement.loc)
            case ir.Store() | ir.Set() | ir.Atomic():
                self.writes.setdefault(thing_of(statement), statement.loc)
            case ir.Random() if not in_loop:
                self.writes.setdefault(DRAWS, statement.loc)

    def all(self) -> dict[Thing, ir.Loc | None]:
        return {**self.reads, **self.writes}

    def arrays(self) -> list[ir.Array]:
        """Those that a call gives, or that others of the process know."""
        return [
            thing for thing in self.all()
            if isinstance(thing, ir.Array) and thing.space in (ir.Space.PARAM, ir.Space.FIELD)
        ]  # fmt: skip


def thing_of(statement: ir.Load | ir.Get | ir.Store | ir.Set | ir.Atomic) -> Thing:
    return statement.local if isinstance(statement, (ir.Get, ir.Set)) else statement.array


def check_sections(kernel: ir.Kernel) -> ir.Kernel:
    """The kernel as it is. CompileSectionError for what depends on the order of sections."""
    for sections in sections_of(kernel):
        for (i, a), (j, b) in combinations(enumerate(map(Uses, sections.blocks)), 2):
            for first, second in ((a, b), (b, a)):
                for thing, written in first.writes.items():
                    if thing in second.reads or thing in second.writes:
                        raise dependent(sections, (i, j), thing, written, second)
    return kernel


def sections_of(kernel: ir.Kernel) -> Iterator[ir.Sections]:
    return (each for each in ir.walk(kernel.body) if isinstance(each, ir.Sections))


def dependent(
    sections: ir.Sections, numbers: tuple[int, int], thing: Thing, written: ir.Loc | None, other: Uses
) -> CompileError:
    """Section i and section j of a region, of which one writes the thing at `written`."""
    does, loc = ("writes", other.writes[thing]) if thing in other.writes else ("reads", other.reads[thing])
    lines = " and ".join(str(ir.line_of(sections.locs[number])) for number in numbers)
    return fail(
        CompileSectionError, written,
        f"the sections of lines {lines} are not independent: one writes {named(thing)} on line "
        f"{ir.line_of(written)}, the other {does} it on line {ir.line_of(loc)}",
        "sections run at the same time: put both uses into one section, or one of them after cg.graph_parallel, or use "
        "an array for each section",
    )  # fmt: skip


def named(thing: Thing) -> str:
    if isinstance(thing, str):
        return thing
    if isinstance(thing, ir.Local):
        return f"the variable {thing.name!r}"
    return f"the {'field' if thing.space is ir.Space.FIELD else 'array'} {thing.path!r}"


def arrays_apart(kernel: ir.Kernel) -> tuple[Apart, ...]:
    """Pairs of arrays that a call must not give the same memory, as an Artifact has them."""
    found: dict[tuple[str, str], Apart] = {}
    for sections in sections_of(kernel):
        for (i, a), (j, b) in combinations(enumerate(map(Uses, sections.blocks)), 2):
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
