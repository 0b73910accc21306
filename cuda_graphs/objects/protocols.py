# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Protocols that objects of other libraries implement to be used here."""

from typing import Protocol


class SupportsCudaStream(Protocol):
    """A stream of any library that follows the CUDA stream protocol (PyTorch, CuPy, cuda.core, ...)."""

    def __cuda_stream__(self) -> tuple[int, int]:
        """Return (0, the CUstream as an int)."""
