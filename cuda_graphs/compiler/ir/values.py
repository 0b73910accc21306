# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Positions in the source, and the values, arrays and conditions that statements refer to (a part of ir.py)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from cuda_graphs.compiler.records import record

from .types import ScalarType

__all__ = ["Array", "Condition", "Const", "Loc", "Param", "Space", "Statement", "Value", "line_of"]


@record
class Loc:
    """A position in the user's source. `caller` is the position of the inlined call, if any."""

    file: str
    line: int
    column: int = 0
    end_column: int = 0
    function: str = ""
    caller: Loc | None = None


def line_of(loc: Loc | None) -> int:
    """Return the line of a position, or 0 without one."""
    return 0 if loc is None else loc.line


class Statement:
    """An element of a block."""

    __slots__ = ()
    loc: Loc | None


class Value(Statement):
    """A statement that has a type."""

    __slots__ = ()
    type: ScalarType


@dataclass(eq=False, slots=True)
class Const(Value):
    """A number. Any statement may use it; it stands in no block."""

    value: int | float | bool
    type: ScalarType
    loc: Loc | None = None


@dataclass(eq=False, slots=True)
class Param(Value):
    """A scalar parameter of the kernel, the same in all threads. `path` is the user's name for it: "settings.dt"."""

    path: str
    type: ScalarType
    loc: Loc | None = None


class Space(Enum):
    """The kind of memory that holds the elements of an array."""

    PARAM = "param"  # passed with each call
    FIELD = "field"  # shape and address are known at compile time: constants of the specialisation
    TEMP = "temp"  # of the kernel: carries values from task to task
    SHARED = "shared"  # of a block of threads


@dataclass(eq=False, slots=True)
class Array:
    """Memory with row-major indices.

    ndim   the number of indices; those of a vector or matrix element come last
    shape  the extents, known at compile time; None for PARAM
    inner  the shape of one element, () for scalars
    offset  the first index of each dimension in the source, which the frontend subtracts; None: zeros

    Reverse derivatives flow through arrays that need a gradient, forward derivatives through those that need a dual.
    Two arrays that are gradients themselves are the same memory with the same extents, or do not overlap.
    kernels/gradients/stack_memory.pyx checks that.
    """

    path: str
    element: ScalarType
    ndim: int
    space: Space = Space.PARAM
    shape: tuple[int, ...] | None = None
    inner: tuple[int, ...] = ()
    needs_grad: bool = False
    needs_dual: bool = False
    is_grad: bool = False
    offset: tuple[int, ...] | None = None


@dataclass(eq=False, slots=True)
class Condition:
    """32 bits that a Conditional tests. `initial` is their value when the kernel begins; None: undefined.

    A parameter of the kernel (`is_parameter`) belongs to a conditional node outside of the kernel.
    """

    name: str
    initial: int | None = None
    is_parameter: bool = False
