# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The loss of a tape: an array, a field, or a PyTorch tensor of one number."""

from __future__ import annotations

import math
from typing import Any

from cuda_graphs.kernels.arrays.ndarray import NDArray
from cuda_graphs.kernels.arrays.tensors import fill, gradient_of, is_tensor

__all__ = ["Loss", "clear_gradient", "has_gradient"]


def has_gradient(value: Any) -> bool:
    """Return True for an array or PyTorch tensor that has a gradient."""
    return bool(value.needs_grad if isinstance(value, NDArray) else is_tensor(value) and value.requires_grad)


def clear_gradient(array: Any) -> None:
    """Fill the gradient of an array with zeros. The array must have a gradient."""
    fill_gradient(array, 0)


def fill_gradient(array: Any, value: float) -> None:
    if isinstance(array, NDArray):
        assert array.grad is not None
        array.grad.fill(value)
    else:
        fill(gradient_of(array, "loss"), value)


class Loss:
    """A number with a gradient.

    Raises:
        TypeError: `array` is neither an NDArray nor a PyTorch tensor.
        ValueError: `array` has more than one element, or no gradient.
    """

    def __init__(self, array: Any) -> None:
        if not isinstance(array, NDArray) and not is_tensor(array):
            raise TypeError(
                f"loss must be a cg.ndarray, cg.field or PyTorch tensor, not a {type(array).__name__}"
            )
        if math.prod(array.shape) != 1 or getattr(array, "element_shape", ()):
            raise ValueError(f"loss must have one element, a number, but is {array!r}: sum it up in a kernel")
        if not has_gradient(array):
            word = "needs_grad" if isinstance(array, NDArray) else "requires_grad"
            raise ValueError(f"loss has no gradient: make it with {word}=True, got {array!r}")
        self.array = array

    def begin(self, in_forward_mode: bool) -> None:
        """Set the loss to 0, and its dual in a FwdMode."""
        if isinstance(self.array, NDArray):
            self.array.fill(0)
            if in_forward_mode and self.array.dual is not None:
                self.array.dual.fill(0)
        else:
            fill(self.array, 0)

    def seed(self, in_forward_mode: bool) -> None:
        """Set the gradient of the loss to 1, and the dual of the gradient to 0 in a FwdMode."""
        fill_gradient(self.array, 1)
        if in_forward_mode and isinstance(self.array, NDArray):
            assert self.array.grad is not None
            if self.array.grad.dual is not None:
                self.array.grad.dual.fill(0)
