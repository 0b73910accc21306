# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Tensors of PyTorch that want a gradient: they say `requires_grad`, and keep it in `grad`. PyTorch is not imported."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

__all__ = ["fill", "gradient_of", "is_tensor", "set_values", "shown", "values_of"]


def is_tensor(value: Any) -> bool:
    """Whether it has what gradients of tensors take."""
    return hasattr(value, "requires_grad") and hasattr(value, "detach") and hasattr(value, "is_leaf")


def shown(tensor: Any) -> Any:
    """A tensor of the same memory that shows it to others: one that wants a gradient does not."""
    return tensor.detach()


def gradient_of(tensor: Any, path: str) -> Any:
    """The tensor that the gradient is in, with zeros if there was none.

    Raises:
        ValueError: It is not kept, as of what an operation has made.
    """
    if not tensor.is_leaf:
        raise ValueError(
            f"parameter {path!r} is a tensor that an operation has made, which keeps no gradient: pass "
            "x.detach().requires_grad_(), or let torch.autograd call the kernel (cg.interop.torch)"
        )
    if tensor.grad is None:
        tensor.grad = tensor.detach().new_zeros(tensor.shape)
        settle(tensor)
    return tensor.grad


def values_of(tensor: Any) -> np.ndarray:
    """A copy of what it holds, after what PyTorch does on its current stream; floats of any type as f64."""
    plain = tensor.detach().cpu()
    found: np.ndarray = (plain.double() if plain.is_floating_point() else plain).numpy().copy()
    return found


def set_values(tensor: Any, values: np.ndarray) -> None:
    """Have it hold other values, before what is launched later on any stream."""
    tensor.detach().copy_(tensor.detach().new_tensor(values))
    settle(tensor)


def fill(tensor: Any, value: float) -> None:
    """Set all elements, before what is launched later on any stream."""
    tensor.detach().fill_(value)
    settle(tensor)


def settle(tensor: Any) -> None:
    """Wait for what PyTorch has done to it."""
    if getattr(tensor, "is_cuda", False):
        sys.modules["torch"].cuda.current_stream(tensor.device).synchronize()
