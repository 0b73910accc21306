# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Quadrants' names: `import cuda_graphs.compat.quadrants as qd`."""

import cuda_graphs as cg

from ..absent import absent_names
from ..names import *  # noqa: F403
from ..names import __all__ as common

__version__ = (1, 3, 3)

QuadrantsCompilationError, QuadrantsSyntaxError = cg.CompileError, cg.CompileSyntaxError
QuadrantsTypeError, QuadrantsNameError = cg.CompileTypeError, cg.CompileNameError
QuadrantsRuntimeError, QuadrantsRuntimeTypeError = cg.CUDAError, TypeError
QuadrantsAssertionError = cg.KernelAssertionError
Tensor = MatrixTensor = VectorTensor = cg.types.Tensor
tensor = field  # noqa: F405
pure = func  # noqa: F405
graph_do_while, checkpoint = cg.graph_do_while, cg.checkpoint
graph_parallel, graph_parallel_context = cg.graph_section, cg.graph_parallel
atomic_exchange = cg.atomic_exchange

__all__ = [
    "MatrixTensor", "QuadrantsAssertionError", "QuadrantsCompilationError", "QuadrantsNameError", "QuadrantsRuntimeError",
    "QuadrantsRuntimeTypeError", "QuadrantsSyntaxError", "QuadrantsTypeError", "Tensor", "VectorTensor",
    "atomic_exchange", "checkpoint", "graph_do_while", "graph_parallel", "graph_parallel_context", "pure", "tensor", *common,
]  # fmt: skip
__getattr__ = absent_names("quadrants")
