# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Gradients of a tape against central differences of its block (`Tape(grad_check=[...])`).

The block is repeated with other values in the array that is checked: its calls, in their order, and what the host wrote
to arrays between them. Of the latter, arrays tell: before each call those that it uses are compared with what the call
before had left in them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from cuda_graphs.compiler.types import f64
from cuda_graphs.kernels.custom_gradients import GradReplaced
from cuda_graphs.kernels.losses import Loss
from cuda_graphs.kernels.ndarray import NDArray
from cuda_graphs.kernels.watching import Call

__all__ = ["GradCheck", "GradientCheckError"]

STEPS = tuple(2.0**-exponent for exponent in range(3, 30, 2))  # from one that truncates to one that rounds
ALLOWED = 0.01  # of the derivative
ROUNDING = 1e-12  # of the loss
DEPTH = 8  # of members that have members


class GradientCheckError(AssertionError):
    """A gradient differs from central differences."""


class GradCheck:
    """Of one tape.

    Raises:
        TypeError: What is to be checked is no array of ours, or of elements other than f64; or the loss is.
        ValueError: One of them has no gradient.
    """

    def __init__(self, arrays: Sequence[NDArray], loss: Loss) -> None:
        if not isinstance(arrays, (list, tuple)):
            raise TypeError(f"grad_check takes a list of arrays, not {arrays!r}")
        for each in (*arrays, loss.array):
            if not isinstance(each, NDArray) or each.dtype != f64:
                raise TypeError(
                    f"grad_check takes arrays and a loss of f64, whose differences mean something, not {each!r}"
                )
            if not each.needs_grad:
                raise ValueError(f"grad_check: {each!r} has no gradient: make it with needs_grad=True")
        self.arrays, self.loss = tuple(arrays), loss.array
        self.writes: dict[int, list[tuple[NDArray, np.ndarray]]] = {}  # before the call of that number
        self.last: dict[NDArray, np.ndarray] = {}  # what an array is known to hold

    def before(self, number: int, call: Call, inside: tuple[Any, ...]) -> None:
        """Note what the host has written to what a call uses. What a function with a gradient of its own writes, it
        will write again."""
        for array in arrays_of(call):
            is_new = array not in self.last
            if inside and not is_new:
                continue
            values = array.to_numpy()
            if not is_new and np.array_equal(values, self.last[array], equal_nan=True):
                continue
            if not is_new and array in self.arrays:
                raise ValueError(
                    f"grad_check: the host wrote to {array!r} after a call had used it, so its gradient is of no one "
                    "value: write before the block"
                )
            self.writes.setdefault(number, []).append((array, values))
            self.last[array] = values

    def after(self, call: Call) -> None:
        for array in arrays_of(call):
            self.last[array] = array.to_numpy()

    def compare(self, calls: Sequence[Call]) -> None:
        """Raise GradientCheckError where a gradient differs from all differences. Arrays are as before then."""
        random = np.random.default_rng(0)
        try:
            for number, array in enumerate(self.arrays):
                assert array.grad is not None
                direction = np.asarray(random.standard_normal(array.shape + array.element_shape))
                told = float(np.sum(array.grad.to_numpy() * direction))
                found = [self.difference(calls, array, direction * step) / step for step in STEPS]
                allowed = ALLOWED * abs(told) + ROUNDING * abs(float(self.last[self.loss]))
                if not any(abs(each - told) <= allowed for each in found):
                    best = min(found, key=lambda each: abs(each - told))
                    raise GradientCheckError(
                        f"gradient of {array!r}, number {number} of grad_check: along a random direction the loss "
                        f"changes by {best:g} (central differences), and the gradient says {told:g}"
                    )
        finally:
            for each, values in self.last.items():
                each.from_numpy(values)

    def difference(self, calls: Sequence[Call], array: NDArray, change: np.ndarray) -> float:
        """How much the loss changes, per unit of the change."""
        return (self.repeated(calls, array, change) - self.repeated(calls, array, -change)) / 2

    def repeated(self, calls: Sequence[Call], array: NDArray, change: np.ndarray) -> float:
        """The loss of the block, with the first value of an array changed."""
        for number, (function, args, stream) in enumerate(calls):
            for written, values in self.writes.get(number, ()):
                written.from_numpy(np.asarray(values + change) if written is array else values)
            if stream is None:
                function(*args)
            else:
                function(*args, stream=stream)
        return float(self.loss[(0,) * self.loss.ndim])


def arrays_of(call: Call) -> list[NDArray]:
    """The arrays of ours that a call uses, each once."""
    function, args, _ = call
    fields: Iterable[Any] = () if isinstance(function, GradReplaced) else function.fields(*args)
    return list(dict.fromkeys([each for value in (*args, *fields) for each in inside(value, DEPTH)]))


def inside(value: Any, depth: int) -> Iterator[NDArray]:
    """The arrays in an argument."""
    if isinstance(value, NDArray):
        yield value
    elif depth and (dataclasses.is_dataclass(value) or hasattr(type(value), "__cuda_graphs_data_oriented__")):
        for member in vars(value).values():
            yield from inside(member, depth - 1)
