# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The effects of `debug`: with it, asserts stay and each index is compared with its extent; without it, asserts go."""

from __future__ import annotations

from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.builder import Builder, Message
from cuda_graphs.compiler.ir.types import i64

from .copy import FunctionCopier

__all__ = ["check_bounds", "without_asserts"]


def without_asserts(kernel: ir.Kernel) -> ir.Kernel:
    """Returns the kernel without its asserts."""
    if not any(isinstance(statement, ir.Assert) for statement in ir.walk_called(kernel.body)):
        return kernel
    return ir.replace(kernel, body=_WithoutAsserts().block(kernel.body))


class _WithoutAsserts(FunctionCopier):
    def Assert(self, statement: ir.Assert) -> list[ir.Statement]:  # noqa: N802
        return []


def check_bounds(kernel: ir.Kernel) -> ir.Kernel:
    """Returns the kernel with asserts in front of each array access, one for each axis."""
    return ir.replace(kernel, body=_Bounds().block(kernel.body))


class _Bounds(FunctionCopier):
    def Load(self, load: ir.Load) -> list[ir.Statement]:  # noqa: N802
        return [*checks(load, load.array), load]

    def Store(self, store: ir.Store) -> list[ir.Statement]:  # noqa: N802
        return [*checks(store, store.array), store]

    def Atomic(self, atomic: ir.Atomic) -> list[ir.Statement]:  # noqa: N802
        return [*(checks(atomic, atomic.array) if isinstance(atomic.array, ir.Array) else []), atomic]


def message_of(builder: Builder, array: ir.Array, axis: int, index: ir.Value, extent: ir.Value) -> Message:
    """Return the message of a wrong index, which a field with an offset counts from there."""
    where = f" is outside of axis {axis} of {array.path!r}, "
    if array.offset is None or axis >= len(array.offset) or array.shape is None:
        return ("index ", (index, "d"), f"{where}which has ", (extent, "d"), " elements")
    first = array.offset[axis]
    given = builder.op("add", index, ir.Const(first, i64))
    return "index ", (given, "d"), f"{where}whose indices are from {first} to {first + array.shape[axis] - 1}"


def checks(statement: ir.Load | ir.Store | ir.Atomic, array: ir.Array) -> list[ir.Statement]:
    """Returns `assert 0 <= index < extent` for each index, except constant indices of the components of vectors.

    The stacks of gradients need no asserts: a push compares with the capacity.
    """
    if array.space is ir.Space.TEMP:
        return []
    builder = Builder()
    builder.loc = statement.loc
    outer = array.ndim - len(array.inner)
    for axis in range(array.ndim):
        if axis >= outer and isinstance(statement.index[axis], ir.Const):
            continue
        index = builder.cast(statement.index[axis], i64)
        if axis >= outer:
            extent: ir.Value = ir.Const(array.inner[axis - outer], i64)
        elif array.shape is not None:
            extent = ir.Const(array.shape[axis], i64)
        else:
            extent = builder.cast(builder.put(ir.Extent(array, axis)), i64)
        in_range = builder.op(
            "bit_and", builder.op("less_equal", ir.Const(0, i64), index), builder.op("less", index, extent)
        )
        message = message_of(builder, array, axis, index, extent)
        builder.put(ir.Assert(in_range, message, statement.loc, "index"))
    return builder.block.body
