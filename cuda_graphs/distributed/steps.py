# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Steps: checked calls of collectives, in words that both engines translate into calls of their libraries."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from cuda_graphs.compiler.ir.types import SCALARS
from cuda_graphs.graph.operands.array_values import ArrayValue
from cuda_graphs.graph.operands.parameter import ArrayParameter, Parameter
from cuda_graphs.kernels.arrays.creation import empty
from cuda_graphs.objects.code.arguments import is_known_memory
from cuda_graphs.objects.memory.array_view import ArrayView, packed_strides, view_array

__all__ = ["OPERATIONS", "Operand", "Step", "empty_like", "read_operand", "read_operation", "read_rank"]

OPERATIONS = ("sum", "prod", "min", "max")
LETTERS = {"float": "f", "int": "i", "uint": "u", "bool": "b"}  # kind of a scalar type -> letter of a typestr


@dataclass(frozen=True)
class ParameterView:
    """The array that is the default of a named parameter, with the attributes of an ArrayView."""

    address: int
    shape: tuple[int, ...]
    itemsize: int
    dtype: str
    is_bfloat16: bool
    is_read_only = False
    node = None


@dataclass(frozen=True)
class Operand:
    """An array argument: the object, and its memory without gaps.

    Attributes:
        array: The argument.
        view: Its memory; for a named parameter of a definition, the memory of its default.
        count: The number of its elements.
    """

    array: Any
    view: ArrayView | ParameterView
    count: int

    @property
    def is_parameter(self) -> bool:
        """True if each launch gives the array."""
        return isinstance(self.view, ParameterView)

    @property
    def size(self) -> int:
        """Bytes."""
        return self.count * self.view.itemsize

    @property
    def type(self) -> str:
        """The type of the elements: a typestr of NumPy without the byte order, or "bf16"."""
        return "bf16" if self.view.is_bfloat16 else self.view.dtype[1:]


@dataclass(frozen=True)
class Step:
    """One call of a collective on this rank.

    Attributes:
        name: The name of the method.
        send: The memory that the call reads on this rank, or None.
        recv: The memory that it writes, or None.
        count: The number of elements that each rank gives to each other rank.
        operand: The operand whose type the elements have.
        op: One of OPERATIONS, or None.
        root: The root, or the other rank of `send` and `recv`.
    """

    name: str
    send: Operand | None
    recv: Operand | None
    count: int
    operand: Operand
    op: str | None = None
    root: int | None = None

    @property
    def reads(self) -> list[Any]:
        return [] if self.send is None else [self.send.array]

    @property
    def kept(self) -> list[Any]:
        """The arrays that a graph keeps alive, without memory of its alloc nodes."""
        return [each.array for each in self.operands if each.view.node is None and not each.is_parameter]

    @property
    def operands(self) -> list[Operand]:
        return [each for each in (self.send, self.recv) if each is not None]

    @property
    def writes(self) -> list[Any]:
        return [] if self.recv is None else [self.recv.array]


def read_operand(value: Any, what: str, like: Operand | None = None) -> Operand:
    """Return an array argument.

    Args:
        value: The array.
        what: The method and the parameter, for messages.
        like: The operand whose element type the array must have.

    Raises:
        TypeError: It is not an array, is not in memory of the device, or has another element type.
        ValueError: Its elements have gaps.
    """
    if isinstance(value, Parameter):
        return same_type(read_parameter(value, what), what, like)
    view = view_array(value, what)
    if view is None:
        raise TypeError(f"{what} must be an array of the device, got {value!r} ({type(value).__name__})")
    if not is_known_memory(view.address):
        raise TypeError(
            f"{what} is a {type(value).__name__} in memory of the host, which the device cannot reach: pass an array "
            "of the device, such as cuda_graphs.array(...)"
        )
    if view.strides != packed_strides(view.shape, view.itemsize) and prod(view.shape) > 1:
        raise ValueError(f"{what} has gaps between its elements: pass a contiguous array")
    return same_type(Operand(value, view, prod(view.shape)), what, like)


def same_type(found: Operand, what: str, like: Operand | None) -> Operand:
    """Return an operand that has the element type of another one, if any."""
    if like is not None and (found.type, found.view.itemsize) != (like.type, like.view.itemsize):
        raise TypeError(f"{what} has elements of type {found.type}, not {like.type} as the other array")
    return found


def read_parameter(value: Parameter, what: str) -> Operand:
    """Return a named parameter as an operand, whose size is that of its default."""
    if not isinstance(value, ArrayParameter):
        raise TypeError(
            f"{what} must be an array, got {value!r}, which has no size: give it an array type, as in "
            "g.param('x', cg.Array1[cg.f64], default=x)"
        )
    default = value.default
    if not isinstance(default, ArrayValue):
        raise ValueError(
            f"{what} is {value!r} without a default: a collective has a fixed size, which is that of the default"
        )
    name, inner = value._element()
    element = SCALARS[name]
    view = ParameterView(
        default.address,
        (*default.shape, *inner),
        element.size,
        f"<{LETTERS[element.kind]}{element.size}",
        element.name == "bf16",
    )
    return Operand(value, view, prod(view.shape))


def read_output(value: Any, what: str, source: Operand, count: int) -> Operand:
    """Return the array that receives `count` elements of the type of `source`.

    Raises:
        ValueError: It has another size, is read-only, or shares memory with `source`.
    """
    found = read_operand(value, what, source)
    check_writable(found, what)
    if found.count != count:
        raise ValueError(f"{what} has {found.count} elements: the result has {count}")
    begin, other = found.view.address, source.view.address
    size, other_size = found.count * found.view.itemsize, source.count * source.view.itemsize
    if begin < other + other_size and other < begin + size and value is not source.array:
        raise ValueError(f"{what} shares memory with x: leave it out, or pass an array of its own")
    return found


def empty_like(operand: Operand) -> Operand:
    """Return an operand of new memory, of the type and size of another one."""
    element = SCALARS["bf16"] if operand.type == "bf16" else np.dtype(operand.view.dtype)
    return read_operand(empty(operand.view.shape, element), "copy")


def check_writable(operand: Operand, what: str) -> None:
    if operand.view.is_read_only:
        raise ValueError(f"{what} is read-only")


def read_operation(op: Any, name: str) -> str:
    """Return the name of a reduction.

    Raises:
        ValueError: It is not one of OPERATIONS.
    """
    if op not in OPERATIONS:
        raise ValueError(f"{name}(): op must be one of {', '.join(map(repr, OPERATIONS))}, got {op!r}")
    return str(op)


def read_rank(value: Any, what: str, size: int) -> int:
    """Return the number of a rank.

    Raises:
        TypeError: It is not an int.
        ValueError: There is no such rank.
    """
    if isinstance(value, bool) or not hasattr(type(value), "__index__"):
        raise TypeError(f"{what} must be the number of a rank, got {value!r}")
    number = value.__index__()
    if not 0 <= number < size:
        raise ValueError(f"{what} must be a rank from 0 to {size - 1}, got {number}")
    return int(number)
