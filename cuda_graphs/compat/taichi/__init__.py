# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Taichi's names: `import cuda_graphs.compat.taichi as ti`."""

import cuda_graphs as cg

from ..absent import absent_names
from ..names import *
from ..names import __all__ as common
from . import algorithms

__version__ = (1, 7, 3)

TaichiCompilationError, TaichiSyntaxError = cg.CompileError, cg.CompileSyntaxError
TaichiTypeError = cg.CompileTypeError
TaichiNameError, TaichiRuntimeError, TaichiRuntimeTypeError = cg.CompileNameError, cg.CUDAError, TypeError
TaichiAssertionError = cg.KernelError  # also of indices that debug=True finds

__all__ = [
    "TaichiAssertionError", "TaichiCompilationError", "TaichiNameError", "TaichiRuntimeError", "TaichiRuntimeTypeError",
    "TaichiSyntaxError", "TaichiTypeError", "algorithms", *common,
]  # fmt: skip
__getattr__ = absent_names("taichi")
