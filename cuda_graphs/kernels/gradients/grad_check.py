# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Comparison of gradients of a tape with central differences of its block (`Tape(grad_check=[...])`).

The check repeats the block with other values in the checked array: the calls in their order, and the writes of the host
between them. To detect these writes, the check compares the arrays of each call with their contents after the previous
call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cuda_graphs.compiler.ir.types import f64
from cuda_graphs.kernels.arrays.ndarray import NDArray

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


class GradCheck:
    """The gradient check of one tape.

    Raises:
        TypeError: A checked array or the loss is not an NDArray of f64.
        ValueError: A checked array or the loss has no gradient.
    """

    def __init__(self, arrays: Sequence[NDArray], loss: Loss) -> None:
        if not isinstance(arrays, (list, tuple)):
            raise TypeError(f"grad_check takes a list of arrays, not {arrays!r}")
        for each in (*arrays, loss.array):
            if not isinstance(each, NDArray) or each.dtype != f64:
                raise TypeError(
                    f"grad_check takes arrays and a loss of f64, for accurate differences, not {each!r}"
                )
            if not each.needs_grad:
                raise ValueError(f"grad_check: {each!r} has no gradient: make it with needs_grad=True")
        self.arrays, self.loss = tuple(arrays), loss.array
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
            for number, array in enumerate(self.arrays):
                assert array.grad is not None
                direction = np.asarray(random.standard_normal(array.shape + array.element_shape))
                predicted = float(np.sum(array.grad.to_numpy() * direction))
                found = [self.difference(calls, array, direction * step) / step for step in STEPS]
                allowed = ALLOWED * abs(predicted) + ROUNDING * abs(float(self.last[self.loss]))
                if not any(abs(each - predicted) <= allowed for each in found):
                    best = min(found, key=lambda each: abs(each - predicted))
                    raise GradientCheckError(
                        f"gradient of {array!r}, number {number} of grad_check: along a random direction the loss "
                        f"changes by {best:g} (central differences), but the gradient predicts {predicted:g}"
                    )
        finally:
            for each, values in self.last.items():
                each.from_numpy(values)

    def difference(self, calls: Sequence[Call], array: NDArray, change: np.ndarray) -> float:
        """Return the central difference of the loss for this change of an array."""
        return (self.repeated(calls, array, change) - self.repeated(calls, array, -change)) / 2

    def repeated(self, calls: Sequence[Call], array: NDArray, change: np.ndarray) -> float:
        """Repeat the block with `change` added to the initial value of an array, and return the loss."""
        for number, (function, args, stream) in enumerate(calls):
            for written, values in self.writes.get(number, ()):
                written.from_numpy(np.asarray(values + change) if written is array else values)
            if stream is None:
                function(*args)
            else:
                function(*args, stream=stream)
        return float(self.loss[(0,) * self.loss.ndim])
