# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Adapters for kernels of numba-cuda, CuPy and Triton as nodes of graphs, and `cg.kernel` as functions of PyTorch.

Each adapter takes a kernel of its library and returns an object that replaces a `Kernel` (adapted.py). No module here
imports these libraries: a caller with a kernel has imported its library. Functions for PyTorch import it when they are
made (torch_function.py).

Arrays and streams of other libraries are accepted everywhere by their protocols, without an adapter.

Other rooms may import:
    __init__  the functions `cg.interop.X`
    adapted   addresses as arguments
"""

from .adapted import Adapted
from .cupy_kernel import cupy
from .jax_function import JaxFunction, jax
from .numba_kernel import numba
from .torch_function import TorchFunction, torch
from .torch_graphs import GraphedCallable, make_graphed_callable
from .triton_kernel import triton

__all__ = [
    "Adapted",
    "GraphedCallable",
    "JaxFunction",
    "TorchFunction",
    "cupy",
    "jax",
    "make_graphed_callable",
    "numba",
    "torch",
    "triton",
]
