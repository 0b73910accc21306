# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What derivatives are taken of: an array, a field, or a tensor of PyTorch, of one number."""

from __future__ import annotations

import math
from typing import Any

from cuda_graphs.kernels.ndarray import NDArray
from cuda_graphs.kernels.tensors import fill, gradient_of, is_tensor

__all__ = ["Loss", "clear_gradient", "has_gradient"]


def has_gradient(value: Any) -> bool:
    """Whether it is an array that has a gradient."""
    return bool(value.needs_grad if isinstance(value, NDArray) else is_tensor(value) and value.requires_grad)


def clear_gradient(array: Any) -> None:
    """Fill the gradient of an array that has one with zeros."""
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
        TypeError: It is no array.
        ValueError: It has more than one element, or no gradient.
    """

    def __init__(self, array: Any) -> None:
        if not isinstance(array, NDArray) and not is_tensor(array):
            raise TypeError(
                f"loss is a cg.ndarray, cg.field or tensor of PyTorch, not a {type(array).__name__}"
            )
        if math.prod(array.shape) != 1 or getattr(array, "element_shape", ()):
            raise ValueError(f"loss has one element, a number, and {array!r} has not: sum it up in a kernel")
        if not has_gradient(array):
            word = "needs_grad" if isinstance(array, NDArray) else "requires_grad"
            raise ValueError(f"loss has no gradient: make it with {word}=True, got {array!r}")
        self.array = array

    def begin(self) -> None:
        """It becomes 0."""
        if isinstance(self.array, NDArray):
            self.array.fill(0)
        else:
            fill(self.array, 0)

    def seed(self) -> None:
        """Its gradient becomes 1."""
        fill_gradient(self.array, 1)
