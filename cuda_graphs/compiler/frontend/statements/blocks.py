# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Loops over blocks of threads, and the operations of cg.block and cg.warp in them.

`Team` collects facts about the enclosing parallel loop. At the end of the loop it decides whether the loop is one of
blocks. A pass checks that all threads take the same control flow around barriers (passes/split_blocks.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from cuda_graphs.compiler.artifact import MOST_SHARED, SHARED_ALIGNMENT
from cuda_graphs.compiler.errors import (
    CompileArgumentError,
    CompileBlockError,
    CompileSharedMemoryError,
    CompileStaticError,
    CompileTypeError,
    CompileValueError,
    fail,
)
from cuda_graphs.compiler.frontend.expressions.lvalues import broadcast, integer, python_value, read
from cuda_graphs.compiler.frontend.expressions.values import IndexRange, TypeOf, Vector
from cuda_graphs.compiler.frontend.functions import Frame, kind_of
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.collectives import COLLECTIVES, EXCHANGE, WARP, result_type
from cuda_graphs.compiler.ir.types import ScalarType, i32
from cuda_graphs.compiler.language import block, warp
from cuda_graphs.compiler.language.annotations import VectorType

__all__ = ["FUNCTIONS", "Team", "blocks_call", "team_of"]

MOST_THREADS = 1024  # threads of a block, on all GPUs (CUDA C++ Programming Guide, "Compute Capabilities")
REMEDY = "write `for b, t in cg.blocks(n, 256)`, or cg.loop_config(block_dim=256) before a parallel loop"


@dataclass(eq=False)
class Team:
    """A parallel loop during the translation of its body. `dim`: threads of a block; None if the source sets none."""

    dim: int | None
    works_together: bool = False
    arrays: list[ir.Array] = field(default_factory=list)
    exchange: int = 0

    def threads(self) -> int:
        """Return the number of threads of a block, at the end of the loop; 0 if it is not a loop of blocks."""
        return self.dim or 0 if self.works_together else 0


def team_of(settings: ir.LoopSettings, what: IndexRange) -> Team:
    """Return the Team of a loop that begins."""
    return Team(what.block_dim or settings.block_dim, what.block_dim is not None)


def together(frame: Frame, name: str) -> Team:
    """Return the Team of the loop around a function of cg.block or cg.warp. Raise if no block size is set."""
    team: Team | None = frame.root.team
    if team is None:
        raise fail(
            CompileBlockError,
            frame.builder.loc,
            f"{name} outside of a parallel loop: there are no blocks",
            REMEDY,
        )
    if team.dim is None:
        raise fail(
            CompileBlockError,
            frame.builder.loc,
            f"{name} in a loop that does not set its block size",
            REMEDY,
        )
    team.works_together = True
    return team


def blocks_call(frame: Frame, grid: Any, block: Any) -> IndexRange:
    """Return the range of cg.blocks(grid, block)."""
    outer = [integer(frame, each, "a number of blocks") for each in extents(grid)]
    inner = [python_value(frame, each) for each in extents(block)]
    if not all(isinstance(each, int) and not isinstance(each, bool) for each in inner):
        raise fail(
            CompileStaticError, frame.builder.loc, "the threads of a block must be known when compiling",
            "write a number, a global, or a parameter that is a cg.template",
        )  # fmt: skip
    threads = math.prod(inner)
    if not outer or not inner or min(inner) < 1 or threads > MOST_THREADS:
        raise fail(
            CompileValueError, frame.builder.loc, f"blocks of {' x '.join(map(str, inner)) or 'no'} threads",
            f"a block has from 1 to {MOST_THREADS} threads",
        )  # fmt: skip
    settings = ir.LoopSettings() if frame.next_loop is None else frame.next_loop[0]
    if not frame.parallel_level or settings.serialize or settings.block_dim:
        raise fail(
            CompileBlockError, frame.builder.loc, "cg.blocks is a parallel loop of its own, which sets its block_dim",
            "put it at the top of the kernel, without block_dim or serialize before it",
        )  # fmt: skip
    axes = [(ir.Const(0, each.type), each, 1) for each in outer]
    axes += [(ir.Const(0, i32), ir.Const(each, i32), 1) for each in inner]
    return IndexRange(tuple(axes), block_dim=threads)


def extents(found: Any) -> tuple[Any, ...]:
    return tuple(found) if isinstance(found, (tuple, list)) else (found,)


def shared_array(frame: Frame, dtype: Any, shape: Any) -> ir.Array:
    """Return the array of cg.block.shared_array(dtype, shape): shared memory of the block."""
    team = together(frame, "cg.block.shared_array")
    element = dtype.type if isinstance(dtype, TypeOf) else dtype
    if not isinstance(element, (ScalarType, VectorType)):
        raise fail(
            CompileTypeError, frame.builder.loc, f"the elements of a shared array have a type, not {kind_of(dtype)}",
            "cg.block.shared_array(cg.f32, 256)",
        )  # fmt: skip
    outer = tuple(python_value(frame, each) for each in extents(shape))
    if not all(isinstance(each, int) and not isinstance(each, bool) and each > 0 for each in outer):
        raise fail(
            CompileStaticError, frame.builder.loc,
            "the shape of a shared array is made of numbers above 0 that are known when compiling",
            "write numbers, globals, cg.block.dim(), or parameters that are cg.template",
        )  # fmt: skip
    inner = element.shape if isinstance(element, VectorType) else ()
    scalar = element.dtype if isinstance(element, VectorType) else element
    whole = (*outer, *inner)
    name = f"shared.{frame.root.shared_arrays}"
    frame.root.shared_arrays += 1
    team.arrays.append(ir.Array(name, scalar, len(whole), ir.Space.SHARED, whole, inner))
    check_size(frame, team)
    return team.arrays[-1]


def check_size(frame: Frame, team: Team) -> None:
    """Raise if the shared memory of a block exceeds that of every GPU."""
    sizes = [math.prod(each.shape or ()) * each.element.size for each in team.arrays]
    total = sum(-(-size // SHARED_ALIGNMENT) * SHARED_ALIGNMENT for size in sizes) + team.exchange
    if total > MOST_SHARED:
        more = f" and {team.exchange} of reductions" if team.exchange else ""
        raise fail(
            CompileSharedMemoryError, frame.builder.loc, f"the blocks of this loop share {total} bytes: arrays of "
            f"{', '.join(map(str, sizes))}{more}; 227 KiB ({MOST_SHARED}) is the limit",
            "take smaller tiles, or a smaller type",
        )  # fmt: skip


def barrier(scope: str) -> Callable[..., None]:
    def function(frame: Frame) -> None:
        together(frame, f"cg.{scope}.sync")
        frame.builder.put(ir.Barrier(scope, frame.builder.loc))

    return function


def position(name: str, make: Callable[[Frame], ir.Value]) -> Callable[..., ir.Value]:
    def function(frame: Frame) -> ir.Value:
        together(frame, name)
        return make(frame)

    return function


def number(kind: str) -> Callable[[Frame], ir.Value]:
    return lambda frame: frame.builder.put(ir.Position(kind, loc=frame.builder.loc))


def in_warp(row: str, operand: int) -> Callable[[Frame], ir.Value]:
    return lambda frame: frame.builder.op(row, number("thread")(frame), ir.Const(operand, i32))


def dim(frame: Frame) -> int:
    found = together(frame, "cg.block.dim").dim
    assert found is not None
    return found


def collective(name: str) -> Callable[..., Any]:
    """Return the translation of a row of the table. It applies to vectors component by component."""
    row = COLLECTIVES[name]

    def scalar(frame: Frame, value: ir.Value, *more: ir.Value) -> ir.Value:
        builder = frame.builder
        if row.kinds == ("bool",):
            value = builder.truth(value, f"the operand of cg.{name}")
        args = (value, *more)
        try:
            found = result_type(name, tuple(arg.type for arg in args))
        except TypeError as error:
            raise fail(
                CompileTypeError, builder.loc, str(error), "see its row in the language reference"
            ) from None
        return builder.put(ir.Collective(name, args, found, builder.loc))

    def function(frame: Frame, *args: Any) -> Any:
        team = together(frame, f"cg.{name}")
        if len(args) != row.arity:
            raise fail(
                CompileArgumentError, frame.builder.loc, f"{row.spelling} takes {row.arity} values, got {len(args)}",
                "see its row in the language reference",
            )  # fmt: skip
        if row.scope == "block":
            team.exchange = EXCHANGE
            check_size(frame, team)
        more = [frame.builder.cast(integer(frame, each, "the lane"), i32) for each in args[1:]]
        value = read(frame, args[0])
        if isinstance(value, Vector):
            return broadcast(frame, lambda part: scalar(frame, part, *more), value)
        return scalar(frame, frame.scalar(value), *more)

    return function


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    block.shared_array: shared_array,
    block.sync: barrier("block"),
    warp.sync: barrier("warp"),
    block.index: position("cg.block.index", number("block")),
    block.thread: position("cg.block.thread", number("thread")),
    block.dim: dim,
    warp.lane: position("cg.warp.lane", in_warp("bit_and", WARP - 1)),
    warp.index: position("cg.warp.index", in_warp("shift_right", 5)),
    **{
        getattr({"block": block, "warp": warp}[r.scope], n.partition(".")[2]): collective(n)
        for n, r in COLLECTIVES.items()
    },
}
