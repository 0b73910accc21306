# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Quadrants' names: `import cuda_graphs.compat.quadrants as qd`."""

from typing import Any

import cuda_graphs as cg

from ..absent import absent_names
from ..decompositions import make_spd
from ..dispatch import perf_dispatch
from ..levels import CRITICAL, DEBUG, ERROR, INFO, TRACE, WARN, is_logging_effective, set_logging_level
from ..names import *
from ..names import __all__ as common
from ..tensors import Backend, tensor
from ..warp_tiles import OuterProduct
from . import _logging, algorithms, graph, lang

__version__ = (1, 3, 3)


def pure(function: Any) -> Any:
    """Return a function or kernel as it is: code on disk is kept here without this promise."""
    return function


QuadrantsCompilationError, QuadrantsSyntaxError = cg.CompileError, cg.CompileSyntaxError
QuadrantsTypeError, QuadrantsNameError = cg.CompileTypeError, cg.CompileNameError
QuadrantsRuntimeError, QuadrantsRuntimeTypeError = cg.CUDAError, TypeError
QuadrantsAssertionError = cg.KernelError  # also of indices that debug=True finds
Tensor = MatrixTensor = VectorTensor = cg.types.Tensor
graph_do_while, checkpoint = cg.graph_do_while, cg.checkpoint
graph_parallel, graph_parallel_context = cg.graph_section, cg.graph_parallel
atomic_exchange = cg.atomic_exchange
outer = OuterProduct

__all__ = [
    "Backend", "CRITICAL", "DEBUG", "ERROR", "INFO", "MatrixTensor", "QuadrantsAssertionError",
    "QuadrantsCompilationError", "QuadrantsNameError", "QuadrantsRuntimeError", "QuadrantsRuntimeTypeError",
    "QuadrantsSyntaxError", "QuadrantsTypeError", "TRACE", "Tensor", "VectorTensor", "WARN", "algorithms",
    "atomic_exchange",
    "checkpoint", "graph", "graph_do_while", "graph_parallel", "graph_parallel_context", "is_logging_effective",
    "make_spd",
    "lang", "outer", "perf_dispatch", "pure", "set_logging_level", "tensor", *common,
]  # fmt: skip
__getattr__ = absent_names("quadrants")
