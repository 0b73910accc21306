# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What objects of other libraries must have to be used here."""

from typing import Protocol


class SupportsCudaStream(Protocol):
    """A stream of any library that follows the CUDA stream protocol (PyTorch, CuPy, cuda.core, ...)."""

    def __cuda_stream__(self) -> tuple[int, int]:
        """(0, the CUstream as an int)."""
