# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels of other compilers as nodes of graphs: adapters for numba-cuda, CuPy and Triton; and the other way round our
kernels as functions that PyTorch differentiates.

Each adapter takes a kernel as its library makes it, and gives what stands where a `Kernel` does (adapted.py). None of
these libraries is imported here: who has a kernel has its library. PyTorch is when such a function is called.

Not here: arrays and streams of other libraries, which are taken everywhere by their protocols.
"""

from cuda_graphs.interop.adapted import Adapted
from cuda_graphs.interop.cupy_kernel import cupy
from cuda_graphs.interop.numba_kernel import numba
from cuda_graphs.interop.torch_function import TorchFunction, torch
from cuda_graphs.interop.triton_kernel import triton

__all__ = ["Adapted", "TorchFunction", "cupy", "numba", "torch", "triton"]
