# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Comparison of gradients of a tape with central differences of its block (`Tape(grad_check=[...])`).

The check repeats the block with other values in the checked array: the calls in their order, and the writes of the host
between them. To detect these writes, the check compares the arrays of each call with their contents after the previous
call.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from cuda_graphs.compiler.ir.types import f64
from cuda_graphs.compiler.language.annotations import VectorType
from cuda_graphs.compiler.language.structs import struct_dtype, struct_members
from cuda_graphs.kernels.arrays.ndarray import NDArray
from cuda_graphs.kernels.arrays.struct_array import StructArray

from .call_arrays import arrays_of
from .losses import Loss
from .thread_hooks import Call

__all__ = ["GradCheck", "GradientCheckError"]

# Step sizes of the differences: large steps have a truncation error, small steps have a rounding error.
STEPS = tuple(2.0**-exponent for exponent in range(3, 30, 2))
ALLOWED = 0.01  # tolerance relative to the derivative
ROUNDING = 1e-12  # tolerance relative to the loss


class GradientCheckError(AssertionError):
    """A gradient differs from central differences."""


class Checked(NamedTuple):
    """Numbers whose gradients are checked: an array, or those of one member of an array of structures.

    Attributes:
        array: The array that kernels change.
        numbers: Which of its numbers are checked. In the layout "aos" the array holds those of all members.
        name: The name in an error.
    """

    array: NDArray
    numbers: np.ndarray
    name: str


def checked_numbers(array: Any) -> Iterator[Checked]:
    """Yield what is checked in an element of grad_check.

    Raises:
        TypeError: `array` is neither an NDArray of f64 nor a StructArray, or a member with a gradient is not of f64.
        ValueError: `array` has no gradient.
    """
    if isinstance(array, (NDArray, StructArray)) and not array.needs_grad and is_checkable(array):
        raise ValueError(f"grad_check: {array!r} has no gradient: make it with needs_grad=True")
    if isinstance(array, StructArray):
        yield from checked_members(array, repr(array), 0)
        return
    check_type(array, repr(array))
    yield Checked(array, np.ones(array.shape + array.element_shape, bool), repr(array))


def is_checkable(array: NDArray | StructArray) -> bool:
    return isinstance(array, StructArray) or array.dtype == f64


def check_type(array: Any, name: str) -> None:
    if not isinstance(array, NDArray) or array.dtype != f64:
        raise TypeError(f"grad_check takes arrays and a loss of f64, for accurate differences, not {name}")


def checked_members(array: StructArray, name: str, start: int) -> Iterator[Checked]:
    """Yield what is checked in an array of structures, whose elements begin `start` bytes after those of its memory."""
    places = struct_dtype(array.cls).fields
    assert places is not None
    for member, kind in struct_members(array.cls).items():
        of, offset, called = array.members[member], start + places[member][1], f"member {member!r} of {name}"
        if isinstance(of, StructArray):
            yield from checked_members(of, called, offset)
        elif of.needs_grad and of.dtype.kind == "float":
            check_type(of, called)
            numbers = np.ones(of.shape + of.element_shape, bool)
            if array.layout == "aos":
                first, count = (
                    offset // f64.size,
                    math.prod(kind.shape) if isinstance(kind, VectorType) else 1,
                )
                numbers[..., :first] = numbers[..., first + count :] = False
            yield Checked(of, numbers, called)


class GradCheck:
    """The gradient check of one tape.

    Raises:
        TypeError: A checked array or the loss is not of f64.
        ValueError: A checked array or the loss has no gradient.
    """

    def __init__(self, arrays: Sequence[NDArray | StructArray], loss: Loss) -> None:
        if not isinstance(arrays, (list, tuple)):
            raise TypeError(f"grad_check takes a list of arrays, not {arrays!r}")
        self.checked = [
            (number, each) for number, given in enumerate(arrays) for each in checked_numbers(given)
        ]
        check_type(loss.array, repr(loss.array))
        self.arrays = {each.array for _, each in self.checked}
        self.loss = loss.array
        # Writes of the host before a call, by the number of the call.
        self.writes: dict[int, list[tuple[NDArray, np.ndarray]]] = {}
        self.last: dict[NDArray, np.ndarray] = {}  # last known contents of each array

    def before(self, number: int, call: Call, inside: tuple[Any, ...]) -> None:
        """Record the writes of the host to the arrays of a call.

        Inside a function with its own gradient, the check records only new arrays: a repetition calls this function
        again, which repeats its writes.
        """
        for array in arrays_of(call):
            is_new = array not in self.last
            if inside and not is_new:
                continue
            values = array.to_numpy()
            if not is_new and np.array_equal(values, self.last[array], equal_nan=True):
                continue
            if not is_new and array in self.arrays:
                raise ValueError(
                    f"grad_check: the host wrote to {array!r} after a call had used it, so its gradient belongs to "
                    "several values: write before the block"
                )
            self.writes.setdefault(number, []).append((array, values))
            self.last[array] = values

    def after(self, call: Call) -> None:
        for array in arrays_of(call):
            self.last[array] = array.to_numpy()

    def compare(self, calls: Sequence[Call]) -> None:
        """Raise GradientCheckError if a gradient differs from all central differences; restore all arrays."""
        random = np.random.default_rng(0)
        try:
            for position, checked in self.checked:
                gradient = checked.array.grad
                assert gradient is not None
                direction = np.where(checked.numbers, random.standard_normal(checked.numbers.shape), 0)
                products = gradient.to_numpy()[checked.numbers] * direction[checked.numbers]
                predicted = float(np.sum(products))
                found = [self.difference(calls, checked, direction * step) / step for step in STEPS]
                allowed = ALLOWED * abs(predicted) + ROUNDING * abs(float(self.last[self.loss]))
                if not any(abs(each - predicted) <= allowed for each in found):
                    best = min(found, key=lambda each: abs(each - predicted))
                    raise GradientCheckError(
                        f"gradient of {checked.name}, number {position} of grad_check: along a random direction the "
                        f"loss changes by {best:g} (central differences), but the gradient predicts {predicted:g}"
                    )
        finally:
            for each, values in self.last.items():
                each.from_numpy(values)

    def difference(self, calls: Sequence[Call], checked: Checked, change: np.ndarray) -> float:
        """Return the central difference of the loss for this change of an array."""
        return (self.repeated(calls, checked, change) - self.repeated(calls, checked, -change)) / 2

    def repeated(self, calls: Sequence[Call], checked: Checked, change: np.ndarray) -> float:
        """Repeat the block with `change` added to the initial value of an array, and return the loss."""
        for number, (function, args, stream) in enumerate(calls):
            writes = dict(self.writes.get(number, ()))
            for written, values in writes.items():
                written.from_numpy(values)
            if checked.array in writes:  # the last of these writes, as arrays of members share memory
                values = writes[checked.array]
                with np.errstate(all="ignore"):  # the bits of other members may be any number
                    changed = np.where(checked.numbers, values + change, values)
                checked.array.from_numpy(changed)
            if stream is None:
                function(*args)
            else:
                function(*args, stream=stream)
        return float(self.loss[(0,) * self.loss.ndim])
