# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The registry of all kernels of the process, so that `reset` can drop their compiled code.

The registry takes no lock. If a thread held a lock during a fork, the child would wait forever at its next kernel.
"""

from __future__ import annotations

import weakref
from typing import Protocol

__all__ = ["register_kernel", "reset"]


class Kernel(Protocol):
    """A KernelFunction."""

    def forget(self) -> None:
        """Drop the compiled code."""


_kernels: weakref.WeakValueDictionary[int, Kernel] = weakref.WeakValueDictionary()


def register_kernel(kernel: Kernel) -> None:
    """Register a kernel for `reset`, as long as the kernel is alive."""
    _kernels[id(kernel)] = kernel


def reset() -> None:
    """Drop the compiled code, the graphs and the template values of every kernel, as `KernelFunction.forget` does.

    The next call of each kernel compiles and builds again. Kernels, arrays and fields stay valid, and running work
    continues. Code on disk (`compile_cache`) stays and is used again.
    """
    for each in _kernels.valuerefs():
        kernel = each()
        if kernel is not None:
            kernel.forget()
