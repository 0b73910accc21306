# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch tensors with `requires_grad`, which keep their gradient in `grad`. This module does not import PyTorch."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np

__all__ = ["detached", "fill", "gradient_of", "is_tensor", "plain_values", "set_values", "values_of"]

WITHOUT_GRADIENT = r"The \.grad attribute of a Tensor that is not a leaf"  # a warning of PyTorch


def is_tensor(value: Any) -> bool:
    """Return True for an object with the gradient attributes of a PyTorch tensor."""
    return hasattr(value, "requires_grad") and hasattr(value, "detach") and hasattr(value, "is_leaf")


def detached(tensor: Any) -> Any:
    """Return a tensor with the same memory that exposes its memory; a tensor with `requires_grad` refuses this."""
    return tensor.detach()


def gradient_of(tensor: Any, path: str) -> Any:
    """Return the tensor with the gradient; a missing gradient is made with zeros.

    A result of an operation has the gradient that the program gave it, as in a `backward` that calls a kernel.

    Raises:
        ValueError: `tensor` is the result of an operation, and has no gradient.
    """
    if not tensor.is_leaf:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", WITHOUT_GRADIENT, UserWarning)
            if tensor.grad is not None:
                return tensor.grad
        raise ValueError(
            f"parameter {path!r} is a tensor that an operation made, and such a tensor keeps no gradient: pass "
            "x.detach().requires_grad_(), or let torch.autograd call the kernel (cg.interop.torch)"
        )
    if tensor.grad is None:
        tensor.grad = tensor.detach().new_zeros(tensor.shape)
        wait_for_stream(tensor)
    return tensor.grad


def values_of(tensor: Any) -> np.ndarray:
    """Return a copy of the values, in the order of PyTorch's current stream; floats of any type become f64."""
    plain = tensor.detach().cpu()
    found: np.ndarray = (plain.double() if plain.is_floating_point() else plain).numpy().copy()
    return found


def plain_values(tensor: Any) -> np.ndarray:
    """Return the values as a NumPy array on the host, in the order of PyTorch's stream; bfloat16 becomes f32."""
    plain = tensor.detach().cpu()
    found: np.ndarray = (plain.float() if str(plain.dtype).endswith("bfloat16") else plain).numpy()
    return found


def set_values(tensor: Any, values: np.ndarray) -> None:
    """Set the values, before all later launches on any stream."""
    tensor.detach().copy_(tensor.detach().new_tensor(values))
    wait_for_stream(tensor)


def fill(tensor: Any, value: float) -> None:
    """Set all elements to a value, before all later launches on any stream."""
    tensor.detach().fill_(value)
    wait_for_stream(tensor)


def wait_for_stream(tensor: Any) -> None:
    """Wait for PyTorch's current stream on the device of the tensor."""
    if getattr(tensor, "is_cuda", False):
        sys.modules["torch"].cuda.current_stream(tensor.device).synchronize()
