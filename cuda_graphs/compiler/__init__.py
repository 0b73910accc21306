# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The kernel compiler: turns Python functions into code for CPUs and GPUs.

This package is pure Python on top of llvmlite. It knows no driver, no device and no graph, and imports nothing else of
cuda_graphs. Code that ties compiled kernels to graphs belongs above this package.

    artifact = compile_kernel(function, specialise(function, arguments), X86())
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cuda_graphs.compiler.language.signature import specialise

    from .artifact import Artifact
    from .pipeline import compile_kernel

__all__ = ["Artifact", "compile_kernel", "specialise"]

# `cg.f32` needs only the types. All other modules, and with them NumPy and LLVM, are imported on first use.
_HOME = {"Artifact": "artifact", "compile_kernel": "pipeline", "specialise": "language.signature"}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return globals().setdefault(name, getattr(import_module(f"{__name__}.{_HOME[name]}"), name))
