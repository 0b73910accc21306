# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""All kernels of the process, so that they can be told to forget what was compiled.

No lock is taken: a child that was forked while another thread has it would wait for ever where it decorates a kernel.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cuda_graphs.kernels.function import KernelFunction

__all__ = ["know", "reset"]

_kernels: weakref.WeakValueDictionary[int, KernelFunction] = weakref.WeakValueDictionary()


def know(kernel: KernelFunction) -> None:
    """Have `reset` tell this kernel too, as long as it lives."""
    _kernels[id(kernel)] = kernel


def reset() -> None:
    """Have every kernel forget what was compiled, its graphs, and the values of its templates, as
    `KernelFunction.forget` does: the next call of each compiles and builds again.

    Kernels, arrays and fields stay as they are, work that runs still does, and code on disk (`compile_cache`) is found
    again.
    """
    for each in _kernels.valuerefs():
        kernel = each()
        if kernel is not None:
            kernel.forget()
