# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The constructor of kernels. The class of gradients derives from kernels, so each kernel gets the constructor of its
gradient."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from cuda_graphs.kernels.specialisation.options import Options

from .function import KernelFunction, make_kernel
from .outside_arrays import OutsideArrays

__all__ = ["kernel_of"]


def kernel_of(
    function: Callable[..., Any],
    options: Options,
    annotations: Mapping[str, Any] | None = None,
    takes_outside: bool = False,
) -> KernelFunction:
    """Return the kernel of a function.

    Args:
        annotations: Those that its source lacks, by parameter.
        takes_outside: Whether it takes arrays by the names of objects around it.
    """
    outside = OutsideArrays(function, options, annotations, kernel_of) if takes_outside else None
    return make_kernel(function, options, annotations, make_gradient, outside)


def make_gradient(kernel: KernelFunction) -> Any:
    """Return the GradientFunction of a kernel. The first gradient imports its module, which is slow."""
    from cuda_graphs.kernels.gradients.gradient import gradient_of

    return gradient_of(kernel)
