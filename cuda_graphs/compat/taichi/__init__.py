# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Taichi's names: `import cuda_graphs.compat.taichi as ti`."""

import cuda_graphs as cg

from ..absent import absent_names
from ..names import *  # noqa: F403
from ..names import __all__ as common

__version__ = (1, 7, 3)

TaichiCompilationError, TaichiSyntaxError, TaichiTypeError = cg.CompileError, cg.CompileSyntaxError, cg.CompileTypeError
TaichiNameError, TaichiRuntimeError, TaichiRuntimeTypeError = cg.CompileNameError, cg.CUDAError, TypeError
TaichiAssertionError = cg.KernelAssertionError

__all__ = [
    "TaichiAssertionError", "TaichiCompilationError", "TaichiNameError", "TaichiRuntimeError", "TaichiRuntimeTypeError",
    "TaichiSyntaxError", "TaichiTypeError", *common,
]  # fmt: skip
__getattr__ = absent_names("taichi")
