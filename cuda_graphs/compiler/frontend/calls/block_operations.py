# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The operations of cg.block and cg.warp, and the range of cg.blocks.

Each makes the loop around it a loop of blocks (ParallelLoop). A pass checks that all threads take the same control flow
around barriers (passes/split_at_barriers.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from cuda_graphs.compiler.artifact import MAX_SHARED, SHARED_ALIGNMENT
from cuda_graphs.compiler.errors import (
    CompileArgumentError,
    CompileBlockError,
    CompileSharedMemoryError,
    CompileStaticError,
    CompileTypeError,
    CompileValueError,
    compile_error,
)
from cuda_graphs.compiler.frontend.expressions.lvalues import broadcast, integer, python_value
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.parallel_loop import ParallelLoop
from cuda_graphs.compiler.frontend.frame.values import IndexRange, TypeOf, Vector, describe
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.collectives import COLLECTIVES, EXCHANGE, WARP, result_type
from cuda_graphs.compiler.ir.types import ScalarType, i32
from cuda_graphs.compiler.language import block, warp
from cuda_graphs.compiler.language.annotations import VectorType

__all__ = ["BLOCK_OPERATIONS", "blocks_call"]

MAX_THREADS = 1024  # threads of a block, on all GPUs (CUDA C++ Programming Guide, "Compute Capabilities")
REMEDY = "write `for b, t in cg.blocks(n, 256)`, or cg.loop_config(block_dim=256) before a parallel loop"


def block_loop(frame: Frame, name: str) -> ParallelLoop:
    """Return the loop around a function of cg.block or cg.warp, now a loop of blocks. Raise without a block size."""
    loop = frame.root.parallel_loop
    if loop is None:
        raise compile_error(
            CompileBlockError,
            frame.builder.loc,
            f"{name} outside of a parallel loop: there are no blocks",
            REMEDY,
        )
    if loop.block_dim is None:
        raise compile_error(
            CompileBlockError,
            frame.builder.loc,
            f"{name} in a loop that does not set its block size",
            REMEDY,
        )
    loop.uses_blocks = True
    return loop


def blocks_call(frame: Frame, grid: Any, block: Any) -> IndexRange:
    """Return the range of cg.blocks(grid, block)."""
    outer = [integer(frame, each, "a number of blocks") for each in extents(grid)]
    inner = [python_value(frame, each) for each in extents(block)]
    if not all(isinstance(each, int) and not isinstance(each, bool) for each in inner):
        raise compile_error(
            CompileStaticError, frame.builder.loc, "the threads of a block must be known when compiling",
            "write a number, a global, or a parameter that is a cg.template",
        )  # fmt: skip
    threads = math.prod(inner)
    if not outer or not inner or min(inner) < 1 or threads > MAX_THREADS:
        raise compile_error(
            CompileValueError, frame.builder.loc, f"blocks of {' x '.join(map(str, inner)) or 'no'} threads",
            f"a block has from 1 to {MAX_THREADS} threads",
        )  # fmt: skip
    settings = ir.LoopSettings() if frame.next_loop is None else frame.next_loop[0]
    if not frame.parallel_level or settings.serialize or settings.block_dim:
        raise compile_error(
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
    loop = block_loop(frame, "cg.block.shared_array")
    element = dtype.type if isinstance(dtype, TypeOf) else dtype
    if not isinstance(element, (ScalarType, VectorType)):
        raise compile_error(
            CompileTypeError, frame.builder.loc, f"the elements of a shared array have a type, not {describe(dtype)}",
            "cg.block.shared_array(cg.f32, 256)",
        )  # fmt: skip
    outer = tuple(python_value(frame, each) for each in extents(shape))
    if not all(isinstance(each, int) and not isinstance(each, bool) and each > 0 for each in outer):
        raise compile_error(
            CompileStaticError, frame.builder.loc,
            "the shape of a shared array is made of numbers above 0 that are known when compiling",
            "write numbers, globals, cg.block.dim(), or parameters that are cg.template",
        )  # fmt: skip
    inner = element.shape if isinstance(element, VectorType) else ()
    scalar = element.dtype if isinstance(element, VectorType) else element
    whole = (*outer, *inner)
    name = f"shared.{frame.root.shared_arrays}"
    frame.root.shared_arrays += 1
    loop.shared_arrays.append(ir.Array(name, scalar, len(whole), ir.Space.SHARED, whole, inner))
    check_shared_memory(frame, loop)
    return loop.shared_arrays[-1]


def check_shared_memory(frame: Frame, loop: ParallelLoop) -> None:
    """Raise if the shared memory of a block exceeds that of every GPU."""
    sizes = [math.prod(each.shape or ()) * each.element.size for each in loop.shared_arrays]
    total = sum(-(-size // SHARED_ALIGNMENT) * SHARED_ALIGNMENT for size in sizes) + loop.exchange
    if total > MAX_SHARED:
        more = f" and {loop.exchange} of reductions" if loop.exchange else ""
        raise compile_error(
            CompileSharedMemoryError, frame.builder.loc, f"the blocks of this loop share {total} bytes: arrays of "
            f"{', '.join(map(str, sizes))}{more}; 227 KiB ({MAX_SHARED}) is the limit",
            "take smaller tiles, or a smaller type",
        )  # fmt: skip


def barrier(scope: str) -> Callable[..., None]:
    def function(frame: Frame) -> None:
        block_loop(frame, f"cg.{scope}.sync")
        frame.builder.put(ir.Barrier(scope, frame.builder.loc))

    return function


def position(name: str, make: Callable[[Frame], ir.Value]) -> Callable[..., ir.Value]:
    def function(frame: Frame) -> ir.Value:
        block_loop(frame, name)
        return make(frame)

    return function


def number(kind: str) -> Callable[[Frame], ir.Value]:
    return lambda frame: frame.builder.put(ir.Position(kind, loc=frame.builder.loc))


def in_warp(row: str, operand: int) -> Callable[[Frame], ir.Value]:
    return lambda frame: frame.builder.op(row, number("thread")(frame), ir.Const(operand, i32))


def dim(frame: Frame) -> int:
    found = block_loop(frame, "cg.block.dim").block_dim
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
            raise compile_error(
                CompileTypeError, builder.loc, str(error), "see its row in the language reference"
            ) from None
        return builder.put(ir.Collective(name, args, found, builder.loc))

    def function(frame: Frame, *args: Any) -> Any:
        loop = block_loop(frame, f"cg.{name}")
        if len(args) != row.arity:
            raise compile_error(
                CompileArgumentError, frame.builder.loc, f"{row.spelling} takes {row.arity} values, got {len(args)}",
                "see its row in the language reference",
            )  # fmt: skip
        if row.scope == "block":
            loop.exchange = EXCHANGE
            check_shared_memory(frame, loop)
        more = [frame.builder.cast(integer(frame, each, "the lane"), i32) for each in args[1:]]
        value = frame.read(args[0])
        if isinstance(value, Vector):
            return broadcast(frame, lambda part: scalar(frame, part, *more), value)
        return scalar(frame, frame.scalar(value), *more)

    return function


BLOCK_OPERATIONS: dict[Any, Callable[..., Any]] = {
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
