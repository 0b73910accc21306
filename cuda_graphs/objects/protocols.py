# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Protocols that objects of other libraries implement to be used here."""

from collections.abc import Sequence
from typing import Any, Protocol


class SupportsCudaStream(Protocol):
    """A stream of any library that follows the CUDA stream protocol (PyTorch, CuPy, cuda.core, ...)."""

    def __cuda_stream__(self) -> tuple[int, int]:
        """Return (0, the CUstream as an int)."""


class SupportsGraphKernel(Protocol):
    """A kernel of any compiler that follows the protocol of kernel objects (docs/guide/interop.md)."""

    def __cuda_graph_kernel__(self, config: Any, args: Sequence[Any], /) -> Any:
        """Return the LaunchConfig, the Kernel and its arguments for a call."""
